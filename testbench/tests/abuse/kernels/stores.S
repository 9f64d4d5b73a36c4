# Stores a word, a half word or a byte of the packet where the packet says. Frame: bytes 2 to 5 the
# address, 6 to 9 the value, 10 the size as a power of two. Verdict: packetIdx.

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      t0, 20(a1)
    lw      t1, 24(a1)
    lbu     t2, 28(a1)
    beqz    t2, 1f
    addi    t2, t2, -1
    beqz    t2, 2f
    sw      t1, 0(t0)
    ret
1:  sb      t1, 0(t0)
    ret
2:  sh      t1, 0(t0)
    ret
