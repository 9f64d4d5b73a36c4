# All divisions of the words in bytes 2 to 5 and 6 to 9 of the frame, to bytes 10 to 25. Verdict:
# packetIdx.

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      t0, 20(a1)
    lw      t1, 24(a1)
    div     t2, t0, t1
    divu    t3, t0, t1
    rem     t4, t0, t1
    remu    t5, t0, t1
    sw      t2, 28(a1)
    sw      t3, 32(a1)
    sw      t4, 36(a1)
    sw      t5, 40(a1)
    ret
