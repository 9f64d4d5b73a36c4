# The kernel of the rig: packet n puts 1 + n modulo 16 bytes of value n to the peer outside, the
# last node, at 17 n of its memory; but each eighth, n = 8 k + 7, fills 1,104 bytes at 49,152 +
# 1,104 k of the heap with n, and puts 1,100 of them, from the byte k modulo 4 on, at 2,048 + 1,104
# k. The argument block is that of `hermes cluster` (docs/cluster.md).

    .include "packet.inc"

    .equ    PUT, 1                          # w0: operation
    .equ    INLINE, 1 << 10                 # bytes inline
    .equ    PUBLISHED, 1 << 8
    .equ    LONG, 1104

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      t0, 0(a2)
    slli    t1, a0, 6
    add     t0, t0, t1                      # the entry
    lw      a1, 4(a2)                       # the heap
    andi    a3, a0, 255
    slli    t1, a3, 8
    or      a3, a3, t1
    slli    t1, a3, 16
    or      a3, a3, t1                      # four bytes of value n
    andi    t1, a0, 7
    li      t2, 7
    beq     t1, t2, long

    slli    t2, a0, 4
    add     t2, t2, a0
    add     t2, a1, t2
    sw      t2, 4(t0)                       # REMOTE
    andi    t1, a0, 15
    addi    t1, t1, 1
    sw      t1, 12(t0)                      # BYTES
    sw      a3, 16(t0)
    sw      a3, 20(t0)
    sw      a3, 24(t0)
    sw      a3, 28(t0)
    li      t2, PUT | INLINE | PUBLISHED
    j       publish

long:
    srli    a4, a0, 3                       # k
    li      t2, LONG
    mul     t2, t2, a4
    li      t1, 2048
    add     t1, t1, t2
    add     t1, a1, t1
    sw      t1, 4(t0)                       # REMOTE
    li      t1, 49152
    add     t1, t1, t2
    add     t1, a1, t1                      # where the bytes are
    andi    t2, a4, 3
    add     t2, t1, t2
    sw      t2, 8(t0)                       # LOCAL
    li      t2, LONG - 4
    sw      t2, 12(t0)                      # BYTES
    addi    t2, t1, LONG - 4
fill:
    sw      a3, 0(t1)
    addi    t1, t1, 4
    bgeu    t2, t1, fill
    li      t2, PUT | PUBLISHED

publish:
    lw      t1, 12(a2)
    addi    t1, t1, -1                      # whom it goes to
    slli    t1, t1, 16
    or      t2, t2, t1
    sw      t2, 0(t0)                       # COMMAND
    li      a0, VERDICT_FORWARD
    ret
