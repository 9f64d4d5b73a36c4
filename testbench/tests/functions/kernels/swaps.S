# A network function that swaps a word of its packet with `amocas.w`, once by the word that is
# there, once by another one, then back; of the packets whose number is 5 modulo 8 the word of the
# packet in the same lane of the next warp. If each did what it should it forwards to port 6, else
# to port 7.

    .text
    .balign 64
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      t0, 20(a1)
    not     t1, t0
    addi    t2, a1, 20
    andi    t4, a0, 7
    addi    t4, t4, -5
    bnez    t4, own
    addi    t2, t2, 512
own:
    mv      t3, t0
    .word   0x2863ae2f          # amocas.w t3, t1, (t2)
    bne     t3, t0, wrong
    .word   0x2863ae2f          # amocas.w t3, t1, (t2): t1 is there
    bne     t3, t1, wrong
    .word   0x2853ae2f          # amocas.w t3, t0, (t2)
    bne     t3, t1, wrong
    lw      t4, 20(a1)
    bne     t4, t0, wrong
    li      a0, 6
    ret
wrong:
    li      a0, 7
    ret
    .size   kernel, . - kernel
