# dpi: drops the packets whose payload holds a pattern. Each pattern has a key, 4 bytes in a row that few other patterns
# have. A Bloom filter says at which positions a key may stand (Bloom, CACM 13(7), 1970); only there patterns are compared,
# found by a hash table. The packet is not
# changed; EtherType, version, header length and total length are checked.
#
# Argument block: word 0 = address of the filter (docs/tables.md has its layout).
# Verdict: drop by the rule with the lowest number of those whose pattern occurs, forward to port 0 if none does, or drop:
# NOT_IPV4, SHORT, VERSION, HEADER_LENGTH or TOTAL_LENGTH.
# Registers: RV32I, no stack.

    .include "packet.inc"
    .include "check.inc"
    .include "payload.inc"

.equ FILTER_BYTES_UPPER,   0x2      # bytes of the filter, without the 12 low bits: 8,192
.equ CANDIDATE_NEXT,       0
.equ CANDIDATE_RULE,       4
.equ CANDIDATE_LENGTH,     8        # bits 15:0; bits 30:16 place of the key; bit 31: upper and lower case are the same
.equ CANDIDATE_BYTES,     12

# Four bytes to lower case at once: s2 = 0x7f7f7f7f, s3 = 0x80 - 'A' and s4 = 0x80 - 'Z' - 1 in every byte; a sum's bit 7
# says that the byte is at least 'A', or above 'Z'. Uses: t3 to t5.
.macro fold word
    and     t3, \word, s2
    add     t4, t3, s3
    add     t5, t3, s4
    or      t5, t5, \word           # no letter of ASCII has bit 7
    or      t5, t5, s2
    not     t5, t5
    and     t4, t4, t5
    srli    t4, t4, 2               # 0x20 where an upper case letter stands
    or      \word, \word, t4
.endm

# The window t6, at address s0 + \offset: two bits of the filter, chosen by a hash and shifted to the sign; if both are 1,
# the candidates of the hash's lower half are compared. Uses: t0, t3 to t5, s6 and what `compare` uses.
.macro probe offset
    slli    t3, t6, 9
    add     t3, t3, t6
    srli    t4, t3, 13
    xor     t3, t3, t4
    slli    t4, t3, 5
    add     t3, t3, t4
    srli    t4, t3, 21
    slli    t4, t4, 2
    add     t4, t4, s5
    lw      t4, 0(t4)
    sll     t4, t4, t3
    bgez    t4, 1f
    slli    t4, t3, 16
    srli    t4, t4, 21
    slli    t4, t4, 2
    add     t4, t4, s5
    lw      t4, 0(t4)
    srli    t5, t3, 16
    sll     t4, t4, t5
    bgez    t4, 1f
    addi    s6, s0, \offset
    jal     t0, compare
1:
.endm

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    require_ipv4
    require_header_length
    find_payload
    li      a0, -1
    lw      s5, 0(a2)
    li      s2, 0x7f7f7f7f
    li      s3, 0x3f3f3f3f
    li      s4, 0x25252525

    mv      gp, s0                  # the first byte
    # t1 the word at s0 and t2 the next one, in lower case; s7 the last address at which a whole window fits
    addi    s7, s1, -4
    bltu    s7, s0, done
    lw      t1, 0(s0)
    fold    t1
scan:
    li      t2, 0
    addi    t3, s0, 4
    bgeu    t3, s1, 1f              # nothing is there
    lw      t2, 4(s0)
    fold    t2
1:
    # Windows that begin in t1. Those that end behind the payload have no candidate that fits.
    mv      t6, t1
    probe   0
    srli    t6, t1, 8
    slli    t3, t2, 24
    or      t6, t6, t3
    probe   1
    srli    t6, t1, 16
    slli    t3, t2, 16
    or      t6, t6, t3
    probe   2
    srli    t6, t1, 24
    slli    t3, t2, 8
    or      t6, t6, t3
    probe   3
    mv      t1, t2
    addi    s0, s0, 4
    bgeu    s7, s0, scan
done:
    pattern_verdict

# Compares the payload round the window at s6 with the candidates of hash t3, which have ascending rule numbers; a0 = the number of the first
# that is there, if it is lower. Returns through t0. Uses: t3 to t5, a3 to a5, s8 to s11.
compare:
    slli    t3, t3, 16
    srli    t3, t3, 14              # 4 * lower half
    lui     t4, FILTER_BYTES_UPPER
    add     t3, t3, t4
    add     t3, t3, s5
    lw      t3, 0(t3)
    beqz    t3, compared
candidate:
    lw      s8, CANDIDATE_RULE(t3)
    bgeu    s8, a0, compared        # a lower one was found before
    lw      t4, CANDIDATE_LENGTH(t3)
    slli    s9, t4, 1
    srli    s9, s9, 17
    sub     s10, s6, s9             # the text to compare, and its end
    bltu    s10, gp, next_candidate
    slli    s9, t4, 16
    srli    s9, s9, 16
    add     s9, s10, s9
    bltu    s1, s9, next_candidate
    addi    s11, t3, CANDIDATE_BYTES
byte:
    lbu     a3, 0(s10)
    lbu     a4, 0(s11)
    bgez    t4, exact
    addi    a5, a3, -'A'
    sltiu   a5, a5, 26
    slli    a5, a5, 5
    or      a3, a3, a5
exact:
    bne     a3, a4, next_candidate
    addi    s10, s10, 1
    addi    s11, s11, 1
    bltu    s10, s9, byte
    mv      a0, s8
    j       compared
next_candidate:
    lw      t3, CANDIDATE_NEXT(t3)
    bnez    t3, candidate
compared:
    jr      t0

    header_drops
    .size   kernel, . - kernel
