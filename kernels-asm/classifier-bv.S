# classifier-bv: as classifier, by bit vectors: seven loads find the fields' vectors, then 32
# filters are checked at a time.
#
# Argument block: word 0 = address of the bit vector tables (docs/tables.md), word 1 = number of
# filters. Verdict: as classifier. Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"
    .include "check.inc"
    .include "classify.inc"

.equ INDEX_UPPER,    0x20           # bytes of a field's index, without the 12 low bits: 2 << 16
.equ VERDICTS,       512            # from the index of the protocols on
.equ VECTORS,        512 + 4 * 256

# \vector = 32 * the number of the vector of the field's value, 2 * which is in \vector; \index =
# address of the field's index.
.macro vector_of vector, index
    add     \vector, \vector, \index
    lhu     \vector, 0(\vector)
    slli    \vector, \vector, 5
.endm

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      s0, 0(a2)
    require_ipv4
    require_header_length
    load_ports

    # The value of each field, as halfwords of the packet. The indices are made for their byte
    # order.
    lw      t1, IPV4_SOURCE_WORD(a1)
    lw      a3, IPV4_DESTINATION_WORD(a1)
    slli    t0, t1, 16
    srli    t0, t0, 15
    srli    t1, t1, 16
    slli    t1, t1, 1
    slli    t2, a3, 16
    srli    t2, t2, 15
    srli    a3, a3, 16
    slli    a3, a3, 1
    slli    a4, gp, 16
    srli    a4, a4, 15
    srli    gp, gp, 16
    slli    gp, gp, 1
    slli    a5, a5, 16
    srli    a5, a5, 24
    slli    a5, a5, 1

    # Vectors of the fields, as offsets
    lui     tp, INDEX_UPPER
    vector_of t0, s0
    add     s0, s0, tp
    vector_of t1, s0
    add     s0, s0, tp
    vector_of t2, s0
    add     s0, s0, tp
    vector_of a3, s0
    add     s0, s0, tp
    vector_of a4, s0
    add     s0, s0, tp
    vector_of gp, s0
    add     s0, s0, tp
    vector_of a5, s0

    # Addresses of the vectors; s0 = address of the verdicts of the next 32 filters, s1 = where they
    # end
    addi    a0, s0, VECTORS
    add     t0, t0, a0
    add     t1, t1, a0
    add     t2, t2, a0
    add     a3, a3, a0
    add     a4, a4, a0
    add     gp, gp, a0
    add     a5, a5, a0
    lw      s1, 4(a2)
    addi    s0, s0, VERDICTS
    slli    s1, s1, 2
    add     s1, s1, s0

    # 32 filters a round, until one of them matches
1:
    bgeu    s0, s1, no_rule
    lw      a0, 0(t0)
    lw      tp, 0(t1)
    and     a0, a0, tp
    lw      tp, 0(t2)
    and     a0, a0, tp
    lw      tp, 0(a3)
    and     a0, a0, tp
    lw      tp, 0(a4)
    and     a0, a0, tp
    lw      tp, 0(gp)
    and     a0, a0, tp
    lw      tp, 0(a5)
    addi    t0, t0, 4
    and     a0, a0, tp
    addi    t1, t1, 4
    addi    t2, t2, 4
    addi    a3, a3, 4
    addi    a4, a4, 4
    addi    gp, gp, 4
    addi    a5, a5, 4
    addi    s0, s0, 4 * 32
    beqz    a0, 1b

    # The lowest 1
    ctz     t1, a0
    addi    s0, s0, -4 * 32
    slli    t1, t1, 2
    add     s0, s0, t1
    lw      a0, 0(s0)
    ret

no_rule:
    drop    DROP_NO_RULE
    header_drops
    .size   kernel, . - kernel
