# The kernel of the rig: packet n puts 1 + n modulo 16 bytes of value n to the peer outside, the last node, at 17 n of its memory. The argument block is that of
# `hermes cluster` (docs/cluster.md).

    .include "packet.inc"

    .equ    PUT_INLINE, 1 | 1 << 10         # w0: operation, bytes inline
    .equ    PUBLISHED, 1 << 8

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      t0, 0(a2)
    slli    t1, a0, 6
    add     t0, t0, t1                      # the entry
    lw      t1, 4(a2)
    slli    t2, a0, 4
    add     t2, t2, a0
    add     t1, t1, t2
    sw      t1, 4(t0)                       # REMOTE
    andi    t1, a0, 15
    addi    t1, t1, 1
    sw      t1, 12(t0)                      # BYTES
    andi    t1, a0, 255
    slli    t2, t1, 8
    or      t1, t1, t2
    slli    t2, t1, 16
    or      t1, t1, t2
    sw      t1, 16(t0)
    sw      t1, 20(t0)
    sw      t1, 24(t0)
    sw      t1, 28(t0)
    lw      t1, 12(a2)
    addi    t1, t1, -1                      # whom it goes to
    slli    t1, t1, 16
    ori     t1, t1, PUBLISHED
    ori     t1, t1, PUT_INLINE
    sw      t1, 0(t0)                       # COMMAND
    li      a0, VERDICT_FORWARD
    ret
