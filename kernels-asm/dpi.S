# dpi: drops the packets whose payload holds a pattern. A Bloom filter (Bloom, CACM 13(7), 1970)
# says at which aligned words a pattern may stand; only there patterns are compared. The threads of
# a warp share the work: each searches the first 40 bytes of its own packet, then all search what is
# left of all packets in turn, so that no thread waits for the one with the longest packet, and
# neighbours read the same lines. The packet is not changed; EtherType, version, header length and
# total length are checked.
#
# Argument block: address of the table (docs/tables.md has its layout), how far a hash is shifted to
# be the offset of a word of the filter of four bytes, the mask of this offset, 1 if there are
# patterns of 4 bytes. Verdict: drop by the rule with the lowest number of those whose pattern
# occurs, forward to port 0 if none does, or drop: NOT_IPV4, SHORT, VERSION, HEADER_LENGTH or
# TOTAL_LENGTH. Registers: RV32I, no stack; 8 words of the scratchpad for each thread.
#
# The threads that share work must be together where one reads what another has written. Threads
# that parted run on where the program counter is lowest (docs/shader-core.md), so they are together
# behind the last instruction of a loop or an alternative.

    .include "packet.inc"
    .include "check.inc"
    .include "payload.inc"

.equ SEEN_BITS,            0xdfdfdfdf   # bit 5 of a letter is its case
.equ MULTIPLIER,           0x9e3779b1   # 2^32 over the golden ratio
.equ CANDIDATE_NEXT,        0
.equ CANDIDATE_RULE,        4
.equ CANDIDATE_KEY,         8
.equ CANDIDATE_MASK,       12
.equ CANDIDATE_EXTENT,     16   # bits 15:0 place of the key in the pattern, signed; bits 31:16 length
.equ CANDIDATE_WORDS,      20   # bytes and mask of each word
.equ FOUR_BYTES_UPPER,     0x40 # place 0 and length 4 as one word, without its 12 low bits

.equ PARTS_BYTES,        1024   # of the filter of three bytes
.equ PARTS,      -PARTS_BYTES   # offsets of the filters from s5
.equ WHOLES,      PARTS_BYTES

.equ OWN_BYTES,            40   # of its own packet every thread searches these
.equ UNIT_LOG2,             8   # the rest of the packets is shared out in units of so many bytes
.equ TEAM_LOG2,             2   # to so many threads that take a unit's words in turn

# ---- Scratchpad: 1,024 bytes a warp, rows of a word for each lane; offsets from the warp's first
# byte
.equ CSR_LANE,          0xcc1
.equ CSR_SLOT,          0xcc2
.equ ROW_BYTES,           128
.equ ROW_COUNTS,          128   # row 1: units << 8 | 1; later the thread's place in the rows 2 to 6. Row 0 is cleared with it
.equ ROW_UNITS,           256   # units of this packet and those in front of it
.equ ROW_BASE,            384   # address of unit 0, if all units of the warp were in this payload
.equ ROW_FIRST,           512   # address of the payload
.equ ROW_END,             640   # its end
.equ ROW_RULE,            768   # lowest rule that was found
.equ WARP_SHARES,         896   # packetIdx of lane 0 if there is a rest to be searched
.equ WARP_TOTAL,          900   # all units << 8 | threads

# The text word \word: t1 and t2 the products of which the hashes are bits, t3 the offset from s5 of
# its word of the filter of four bytes. Changes \word.
.macro hash_word word
    and     \word, \word, s2
    mul     t1, \word, s3
    srli    \word, \word, 8
    mul     t2, \word, s3
    srl     t3, t1, s4
    and     t3, t3, s6
    add     t3, t3, s5
.endm

# \into = t4 >> \first & t4 >> \second
.macro both_bits into, first, second, temporary
    srl     \into, t4, \first
    srl     \temporary, t4, \second
    and     \into, \into, \temporary
.endm

# t4 = the address of the word of the filter of three bytes, from t2. The address of its first
# candidate is PARTS_BYTES behind.
.macro part_word
    srli    t4, t2, 6
    andi    t4, t4, 0x3fc
    add     t4, t4, s5
.endm

# Searches the words at s0, s0 + \step, ... below s9, at most 32. The payload is from gp to s1.
# a0 = the lowest rule whose pattern begins here, if it is lower. Uses: t0 to t6, a3 to a7, s8, s11.
.macro search step_log2
    .set    STEP, 1 << \step_log2
    # Bit 31 of s11: a pattern may stand at the last word, bit 30: at the one before, ...
    li      s11, 0
    mv      s8, s0
    bgeu    s8, s9, 12f
1:
    lw      t0, 0(s8)
    hash_word t0
    part_word
    lw      t0, WHOLES(t3)
    lw      t4, PARTS(t4)
    addi    s8, s8, STEP
    srli    t5, t1, 14
    srli    t6, t2, 27
    srli    a3, t1, 19
    srli    a4, t2, 22
    srli    s11, s11, 1
    srl     a5, t0, t5              # all four bytes
    srl     a6, t0, t6
    and     a5, a5, a6
    both_bits a6, t5, a3, t0        # the lower three
    or      a5, a5, a6
    both_bits a6, t6, a4, t0        # the upper three
    or      t5, a5, a6
    slli    t5, t5, 31
    or      s11, s11, t5
    bltu    s8, s9, 1b
    beqz    s11, 7f

    # From the last of these words on; a7 = its address
    mv      a7, s8
2:
    clz     t0, s11
    sll     s11, s11, t0
    slli    s11, s11, 1
    addi    t0, t0, 1
    slli    t0, t0, \step_log2
    sub     a7, a7, t0
    lw      t0, 0(a7)
    mv      t4, t0
    hash_word t4
    part_word
    add     t3, t3, s6
    lw      t1, PARTS + PARTS_BYTES(t4)     # candidates by three bytes come later
    lw      t2, WHOLES + 4(t3)      # behind the filter
    beqz    t2, 6f
3:
    # A candidate: the key, then whether the whole pattern is inside the payload, then its words
    lw      t3, CANDIDATE_RULE(t2)
    lw      t4, CANDIDATE_KEY(t2)
    lw      t5, CANDIDATE_MASK(t2)
    bgeu    t3, a0, 6f              # a lower one was found before
    xor     t4, t4, t0
    and     t4, t4, t5
    bnez    t4, 5f
    lw      a4, CANDIDATE_EXTENT(t2)
    slli    t6, a4, 16
    srai    t6, t6, 16
    srli    a4, a4, 16
    sub     a3, a7, t6
    add     a4, a4, a3
    bltu    a3, gp, 5f
    bltu    s1, a4, 5f
    andi    a3, a3, -4
    addi    a5, t2, CANDIDATE_WORDS
4:
    lw      t4, 0(a3)
    lw      t5, 0(a5)
    lw      t6, 4(a5)
    xor     t4, t4, t5
    and     t4, t4, t6
    bnez    t4, 5f
    addi    a3, a3, 4
    addi    a5, a5, 8
    bltu    a3, a4, 4b
    mv      a0, t3
    j       6f
5:
    lw      t2, CANDIDATE_NEXT(t2)
    bnez    t2, 3b
6:
    mv      t2, t1
    li      t1, 0
    bnez    t2, 3b
    bnez    s11, 2b

    # Patterns of 4 bytes also in the words that begin in the middle of these
7:
    bgez    s4, 12f
    addi    t0, s1, -5
    minu    s8, s9, t0              # behind the words that have one which ends in the payload
    mv      a7, s0
    bgeu    a7, s8, 12f
8:
    lw      t0, 0(a7)
    lw      t4, 4(a7)
    addi    a7, a7, STEP
    srli    t0, t0, 16
    slli    t4, t4, 16
    or      t0, t0, t4
    mv      t4, t0
    hash_word t4
    lw      t4, WHOLES(t3)
    srli    t5, t1, 14
    srli    t6, t2, 27
    both_bits t5, t5, t6, a3
    andi    t5, t5, 1
    beqz    t5, 11f
    add     t3, t3, s6
    lw      t2, WHOLES + 4(t3)
    lui     a3, FOUR_BYTES_UPPER
    beqz    t2, 11f
9:
    lw      t3, CANDIDATE_RULE(t2)
    lw      t4, CANDIDATE_KEY(t2)
    lw      t5, CANDIDATE_MASK(t2)
    lw      t6, CANDIDATE_EXTENT(t2)
    bgeu    t3, a0, 11f
    xor     t4, t4, t0
    and     t4, t4, t5
    bnez    t4, 10f
    bne     t6, a3, 10f
    mv      a0, t3
    j       11f
10:
    lw      t2, CANDIDATE_NEXT(t2)
    bnez    t2, 9b
11:
    bltu    a7, s8, 8b
12:
.endm

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    mv      s7, a0                  # packetIdx
    require_ipv4
    require_header_length
    find_payload
    lw      s5, 0(a2)
    addi    s5, s5, PARTS_BYTES     # so that PARTS and WHOLES fit a load
    lw      s4, 4(a2)
    lw      s6, 8(a2)
    lw      t0, 12(a2)
    li      a0, -1
    li      s2, SEEN_BITS
    li      s3, MULTIPLIER
    slli    t0, t0, 31              # bit 31 of s4: there are patterns of 4 bytes; shifts look at bits 4:0
    or      s4, s4, t0

    # The first bytes of the own packet; s10 = address behind them
    mv      gp, s0
    addi    s10, s0, OWN_BYTES
    minu    s9, s10, s1
    search  2

    # Is there more, in any packet of the warp? a1 = the thread's word of row 0, a2 = the warp's
    # first byte, s7 = packetIdx of lane 0: no other warp has this.
    csrr    t0, CSR_LANE
    csrr    t1, CSR_SLOT
    li      a2, SCRATCHPAD
    slli    t1, t1, 10
    add     a2, a2, t1
    slli    t1, t0, 2
    add     a1, a2, t1
    sub     s7, s7, t0
    bgeu    s10, s1, 1f
    sw      s7, WARP_SHARES(a2)
1:
    lw      t1, WARP_SHARES(a2)
    bne     t1, s7, found

    # Units t0 of the own packet; the units of all lower lanes, and how many these are, in t1. Lanes
    # may be missing: their words are cleared by those that are there.
    maxu    t0, s1, s10
    sub     t0, t0, s10
    addi    t0, t0, (1 << UNIT_LOG2) - 1
    srli    t0, t0, UNIT_LOG2
    .set    LANE, 1
    .rept   31
    sw      zero, ROW_COUNTS - 4 * LANE(a1)
    .set    LANE, LANE + 1
    .endr
    slli    t1, t0, 8
    addi    t1, t1, 1
    sw      t1, ROW_COUNTS(a1)
    li      t1, 0
    .set    LANE, 1
    .rept   7
    lw      t2, ROW_COUNTS - 4 * LANE(a1)
    lw      t3, ROW_COUNTS - 4 * LANE - 4(a1)
    lw      t4, ROW_COUNTS - 4 * LANE - 8(a1)
    lw      t5, ROW_COUNTS - 4 * LANE - 12(a1)
    add     t1, t1, t2
    add     t1, t1, t3
    add     t1, t1, t4
    add     t1, t1, t5
    .set    LANE, LANE + 4
    .endr
    lw      t2, ROW_COUNTS - 4 * 29(a1)
    lw      t3, ROW_COUNTS - 4 * 30(a1)
    lw      t4, ROW_COUNTS - 4 * 31(a1)
    add     t1, t1, t2
    add     t1, t1, t3
    add     t1, t1, t4

    # What the others must know of this packet, at t3: the words that belong to its number among
    # those of the warp. The highest lane writes last: it knows the sums.
    andi    s7, t1, 255             # number of this thread
    slli    t3, s7, 2
    add     t3, t3, a2
    sw      t3, ROW_COUNTS(a1)
    srli    t2, t1, 8
    slli    t4, t2, UNIT_LOG2
    sub     t4, s10, t4
    add     t2, t2, t0
    sw      t2, ROW_UNITS(t3)
    sw      t4, ROW_BASE(t3)
    sw      gp, ROW_FIRST(t3)
    sw      s1, ROW_END(t3)
    sw      a0, ROW_RULE(t3)
    slli    t2, t2, 8
    add     t2, t2, s7
    addi    t2, t2, 1
    sw      t2, WARP_TOTAL(a2)

    # s7 = unit * 4 + number in the team: this thread's first, then others; below s10. a2 = threads,
    # s10 as it is * 4
    lw      t2, WARP_TOTAL(a2)
    addi    tp, a2, ROW_UNITS       # the first packet
    andi    t3, t2, 255
    srli    s10, t2, 8
    slli    s10, s10, TEAM_LOG2
    sw      tp, ROW_COUNTS - ROW_BYTES(a1)  # kept in row 0
    mv      a2, t3
    bgeu    s7, s10, shared

next_unit:
    # Whose unit is it? tp = the first packet with more units up to it than the number of this one,
    # by bisection. t0 = the unit.
    lw      tp, ROW_COUNTS - ROW_BYTES(a1)
    srli    t0, s7, TEAM_LOG2
    slli    t1, a2, 2
    add     t1, t1, tp
    addi    t1, t1, -4              # the last packet
    .irp    distance, 16, 8, 4, 2, 1
    addi    t2, tp, 4 * \distance - 4
    minu    t2, t2, t1
    lw      t2, 0(t2)
    sltu    t2, t0, t2
    addi    t2, t2, -1
    andi    t2, t2, 4 * \distance
    add     tp, tp, t2
    .endr
    lw      s0, ROW_BASE - ROW_UNITS(tp)
    lw      gp, ROW_FIRST - ROW_UNITS(tp)
    lw      s1, ROW_END - ROW_UNITS(tp)
    lw      a0, ROW_RULE - ROW_UNITS(tp)
    slli    t0, t0, UNIT_LOG2
    add     s0, s0, t0
    addi    s9, s0, 1 << UNIT_LOG2
    minu    s9, s9, s1
    andi    t1, s7, (1 << TEAM_LOG2) - 1
    slli    t1, t1, 2
    add     s0, s0, t1
    search  4

    # The lowest rule is kept. Of several threads that write at once the highest lane wins; the
    # others look again.
1:
    lw      t0, ROW_RULE - ROW_UNITS(tp)
    bgeu    a0, t0, 2f
    sw      a0, ROW_RULE - ROW_UNITS(tp)
    j       1b
2:
    add     s7, s7, a2
    bltu    s7, s10, next_unit

shared:
    lw      t0, ROW_COUNTS(a1)
    lw      a0, ROW_RULE(t0)
found:
    pattern_verdict
    header_drops
    .size   kernel, . - kernel
