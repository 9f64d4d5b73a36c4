# Faults in three ways, by the last byte of the packet's source address: 1 in 4 packets each; the
# rest is forwarded to port 9.

    .include "packet.inc"

    .text
    .globl  kernel
kernel:
    lbu     t0, 47(a1)
    andi    t0, t0, 3
    li      t1, 1
    beqz    t0, illegal
    beq     t0, t1, misaligned
    li      t1, 2
    beq     t0, t1, call
    li      a0, VERDICT_FORWARD | 9
    ret
illegal:
    .word   0xffffffff
misaligned:
    lw      t0, 1(a1)
    ret
call:
    ecall
    ret
