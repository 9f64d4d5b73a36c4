# Every packet leaves a command: packet n writes entry n of the list at word 0 of the argument
# block, a put of eight bytes to node n modulo the number of nodes (word 3): our number and n to the
# symmetric address in word 1 plus 512 times our number (word 2) plus 8 n.

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
    slli    t2, a0, 3
    add     t1, t1, t2
    lw      t2, 8(a2)
    sw      t2, 16(t0)                      # our number
    slli    t2, t2, 9
    add     t1, t1, t2
    sw      t1, 4(t0)                       # REMOTE
    sw      zero, 8(t0)                     # LOCAL
    li      t2, 8
    sw      t2, 12(t0)                      # BYTES
    sw      a0, 20(t0)
    sw      zero, 24(t0)
    sw      zero, 28(t0)
    sw      zero, 32(t0)
    sw      zero, 36(t0)
    sw      zero, 40(t0)
    sw      zero, 44(t0)
    sw      zero, 48(t0)
    sw      zero, 52(t0)
    sw      zero, 56(t0)
    sw      zero, 60(t0)
    lw      t2, 12(a2)
    remu    t2, a0, t2                      # whom it goes to
    slli    t2, t2, 16
    ori     t2, t2, PUBLISHED
    ori     t2, t2, PUT_INLINE
    sw      t2, 0(t0)                       # COMMAND
    li      a0, VERDICT_FORWARD
    ret
