# fragment: splits packets that are larger than the MTU (RFC 791, sections 2.3 and 3.2). The packet
# in the slot is not changed: its egress list describes the fragments, with a header of their own
# each and payloads that stay where they are. docs/tables.md has the list's layout.
#
# Argument block: word 0 = MTU in bytes (68 to 65535), word 1 = address of the egress list of ring
# slot 0, word 2 = bytes of a list as a power of two, word 3 = ring slots - 1. Verdict: forward to
# port 0, or drop: NOT_IPV4, SHORT, VERSION, HEADER_LENGTH, TOTAL_LENGTH (below the header length;
# or the packet is to be split and not all of it is in the slot, or it would end beyond 65,535
# bytes), FRAGMENT (to be split, but DF is set). Registers: RV32I, no stack.

    .include "packet.inc"
    .include "check.inc"

.equ LIST_COUNT,       0
.equ LIST_OPTIONS,     4            # the options of later fragments are put together here
.equ LIST_ENTRIES,    48
.equ ENTRY_PAYLOAD,    0
.equ ENTRY_BYTES,      4
.equ ENTRY_HEADER,     8
.equ ENTRY_IPV4,      12
.equ ENTRY_NEXT,      72

.equ OPTION_END,       0
.equ OPTION_NOP,       1
.equ OPTION_COPIED, 0x80
.equ FLAG_DF_WORD,  0x40            # in the upper half of the word with identification, flags and offset
.equ FLAG_MF,     0x2000

# \sum += \value in one's complement. Uses: \carry.
.macro add_carry sum, value, carry
    add     \sum, \sum, \value
    sltu    \carry, \sum, \value
    add     \sum, \sum, \carry
.endm

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    # The list of this packet's slot, empty at first: a2 = its address, t6 = MTU
    lw      t6, 0(a2)
    lw      t1, 4(a2)
    lw      t2, 8(a2)
    lw      t3, 12(a2)
    and     t3, t3, a0
    sll     t3, t3, t2
    add     a2, t1, t3
    sw      zero, LIST_COUNT(a2)

    require_ipv4
    require_header_length
    total_length t1
    bltu    t1, a4, drop_total_length
    bltu    t6, t1, split
    li      a0, VERDICT_FORWARD
    ret

    # All of the packet must be there, and it may be split
split:
    addi    t2, t1, ETHERNET_HEADER_BYTES
    bltu    t0, t2, drop_total_length
    lw      a5, IPV4_FRAGMENT_WORD(a1)
    srli    t2, a5, 16
    andi    t0, t2, FLAG_DF_WORD
    bnez    t0, drop_fragment

    # s0 entry, s1 payload, s2 bytes that remain, s3 flags that stay (all but DF), s4 fragment
    # offset
    addi    s0, a2, LIST_ENTRIES
    addi    s1, a1, SLOT_IPV4
    add     s1, s1, a4
    sub     s2, t1, a4
    rev8    t2, t2
    srli    t2, t2, 16
    srli    s3, t2, 13
    slli    s3, s3, 13
    slli    s4, t2, 19
    srli    s4, s4, 19

    # An offset beyond 65,535 bytes cannot be written down
    slli    t2, s4, 3
    add     t2, t2, s2
    srli    t2, t2, 16
    bnez    t2, drop_total_length

    # s5 first word of the header without length, s6 identification, s7 third word without checksum,
    # s11 entries
    slli    s5, a3, 16
    srli    s5, s5, 16
    slli    s6, a5, 16
    srli    s6, s6, 16
    lw      s7, IPV4_TTL_WORD(a1)
    slli    s7, s7, 16
    srli    s7, s7, 16
    lw      a6, IPV4_SOURCE_WORD(a1)
    lw      a7, IPV4_DESTINATION_WORD(a1)
    li      s11, 0

    # s8 sum of the words that all fragments have; s9 header length and s10 options of the first
    # fragment
    mv      s8, s7
    add_carry s8, a6, t0
    add_carry s8, a7, t0
    mv      s9, a4
    addi    s10, a1, IPV4_OPTIONS

fragment:
    # Sum of this kind of fragment: a3 = s8 + its options. The first fragment and the second come
    # here, a0 unused.
    mv      a3, s8
    addi    t1, s9, -IPV4_MIN_HEADER_BYTES
    add     t1, t1, s10
    mv      t0, s10
    bgeu    t0, t1, 2f
1:
    lw      t2, 0(t0)
    addi    t0, t0, 4
    add_carry a3, t2, t3
    bltu    t0, t1, 1b
2:
    # t5 = the most bytes behind the header: whole units of 8
    sub     t5, t6, s9
    andi    t5, t5, -8
same_kind:
    # t4 = bytes of this fragment, t1 = its flags and offset: more fragments follow unless the rest
    # fits
    mv      t4, s2
    or      t1, s3, s4
    bgeu    t5, s2, 3f
    mv      t4, t5
    li      t2, FLAG_MF
    or      t1, t1, t2
3:
    # Second word: identification, flags, offset
    rev8    t1, t1                  # bits 31:16 were zero
    or      t1, t1, s6
    # First word: with the total length
    add     t2, s9, t4
    rev8    t2, t2
    or      t2, t2, s5
    # Checksum
    mv      t0, a3
    add_carry t0, t1, t3
    add_carry t0, t2, t3
    rori    t3, t0, 16
    add     t0, t0, t3
    srli    t0, t0, 16
    not     t0, t0
    slli    t0, t0, 16
    or      t0, t0, s7

    # The entry
    sw      s1, ENTRY_PAYLOAD(s0)
    sw      t4, ENTRY_BYTES(s0)
    sw      s9, ENTRY_HEADER(s0)
    sw      t2, ENTRY_IPV4(s0)
    sw      t1, ENTRY_IPV4 + 4(s0)
    sw      t0, ENTRY_IPV4 + 8(s0)
    sw      a6, ENTRY_IPV4 + 12(s0)
    sw      a7, ENTRY_IPV4 + 16(s0)
    addi    t1, s9, -IPV4_MIN_HEADER_BYTES
    beqz    t1, 5f
    add     t1, t1, s10
    mv      t0, s10
    mv      t2, s0
4:
    lw      t3, 0(t0)
    sw      t3, ENTRY_IPV4 + IPV4_MIN_HEADER_BYTES(t2)
    addi    t0, t0, 4
    addi    t2, t2, 4
    bltu    t0, t1, 4b
5:
    # On to the next
    addi    s11, s11, 1
    sub     s2, s2, t4
    beqz    s2, finished
    addi    s0, s0, ENTRY_NEXT
    add     s1, s1, t4
    srli    t4, t4, 3
    add     s4, s4, t4
    li      t0, 1
    bne     s11, t0, same_kind
    addi    t0, s9, -IPV4_MIN_HEADER_BYTES
    beqz    t0, same_kind

    # After the first fragment of a packet with options: only those with the copied flag go on,
    # filled up with OPTION_END. t0 the option, t1 their end, t2 where the next copied byte goes
    addi    t0, a1, IPV4_OPTIONS
    add     t1, a1, s9
    addi    t1, t1, SLOT_IPV4
    addi    s10, a2, LIST_OPTIONS
    mv      t2, s10
option:
    bgeu    t0, t1, options_end
    lbu     t3, 0(t0)
    beqz    t3, options_end         # OPTION_END
    addi    t4, t3, -OPTION_NOP
    bnez    t4, 1f
    addi    t0, t0, 1
    j       option
1:
    # Type, length, data; what has a length that cannot be is not copied, nor what is behind it
    addi    t4, t0, 1
    bgeu    t4, t1, options_end
    lbu     t4, 1(t0)
    sltiu   t5, t4, 2
    bnez    t5, options_end
    add     t4, t4, t0
    bltu    t1, t4, options_end
    andi    t3, t3, OPTION_COPIED
    bnez    t3, 2f
    mv      t0, t4
    j       option
2:
    lbu     t3, 0(t0)
    sb      t3, 0(t2)
    addi    t0, t0, 1
    addi    t2, t2, 1
    bltu    t0, t4, 2b
    j       option
options_end:
    andi    t3, t2, 3
    beqz    t3, 3f
    sb      zero, 0(t2)
    addi    t2, t2, 1
    j       options_end
3:
    # Header length of the later fragments, in s9 and in the first word
    sub     t2, t2, s10
    addi    s9, t2, IPV4_MIN_HEADER_BYTES
    srli    s5, s5, 4
    slli    s5, s5, 4
    srli    t2, s9, 2
    or      s5, s5, t2
    j       fragment

finished:
    sw      s11, LIST_COUNT(a2)
    li      a0, VERDICT_FORWARD
    ret

drop_fragment:
    drop    DROP_FRAGMENT
    header_drops
    .size   kernel, . - kernel
