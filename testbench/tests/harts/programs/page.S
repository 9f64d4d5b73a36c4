# A hart that writes all descriptors, waits until the host has let a hostile lane at them, and
# starts each by its ENTRY alone.

    .option arch, +a
    .equ    REGISTERS, 0xffffe000
    .equ    SLOTS, 15                       # the last is the host's

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    ret

    .balign 64
    .globl  job
job:                                        # adds ARG1 to the word at ARG0
    amoadd.w zero, a2, (a1)
    ret

# The lane: every word of the page at ARG0, with stores of all sizes and all kinds of atomic
# operations; ARG1 the entry of a job, so that a word that counted would start one.
    .balign 64
    .globl  hostile
hostile:
    li      t0, 256
    mv      t1, a1
1:  sw      a2, 0(t1)
    amoswap.w t2, a2, (t1)
    amoadd.w t2, zero, (t1)
    amoor.w t2, a2, (t1)
    amomaxu.w t2, a2, (t1)
2:  lr.w    t2, (t1)
    sc.w    t2, a2, (t1)
    bnez    t2, 2b
    sb      a0, 1(t1)
    sh      a0, 2(t1)
    sw      a2, 0(t1)
    addi    t1, t1, 4
    addi    t0, t0, -1
    bnez    t0, 1b
    ret

    .balign 64
    .globl  hart
hart:
    la      s0, page
    li      s9, REGISTERS
1:  .insn   r 0x0b, 3, 0, t0, s0, x0        # SIGNAL.RANGE
    bnez    t0, 1b
    la      s1, counters
    li      s2, 0
    la      s3, job
2:  slli    t0, s2, 6
    add     t1, s0, t0
    add     t2, s1, t0
    sw      t2, 4(t1)                       # ARG0
    addi    t3, s2, 1
    sw      t3, 8(t1)                       # ARG1
    sw      t3, 12(t1)                      # threads
    sw      zero, 16(t1)
    sw      zero, 20(t1)
    addi    t2, t2, 32
    sw      t2, 24(t1)                      # COMPLETION
    sw      t3, 28(t1)                      # TOKEN
    addi    s2, s2, 1
    li      t0, SLOTS
    bne     s2, t0, 2b
    fence   rw, rw
    li      t0, 1
    sw      t0, 0x36c(s9)                   # HOST_IRQ_RAISE: the descriptors are there
    # The lane has been at them when the host rings. A hart's atomic operations start nothing
    # either.
3:  lw      t0, 0x310(s9)
    srli    t0, t0, 16
    andi    t0, t0, 1
    beqz    t0, 3b
    li      s2, 0
4:  slli    t0, s2, 6
    add     t1, s0, t0
    amoswap.w zero, s3, (t1)
    amoor.w zero, s3, (t1)
5:  lr.w    t2, (t1)
    sc.w    t2, s3, (t1)
    bnez    t2, 5b
    addi    s2, s2, 1
    li      t0, SLOTS
    bne     s2, t0, 4b
    lw      s10, 0x38c(s9)                  # SPAWN_BUSY
    lw      s11, 0x39c(s9)                  # SPAWN_JOBS
    la      t0, found
    sw      s10, 0(t0)
    sw      s11, 4(t0)
    # Each by its ENTRY
    li      s2, 0
6:  slli    t0, s2, 6
    add     t1, s0, t0
    .insn   s 0x0b, 2, s3, 0(t1)            # SIGNAL
    addi    s2, s2, 1
    li      t0, SLOTS
    bne     s2, t0, 6b
7:  csrr    t0, 0x805
    bnez    t0, 7b
    fence   rw, rw
    ebreak

    .data
    .balign 1024
    .globl  page
page:
    .zero   1024
    .globl  counters
counters:
    .zero   1024
    .globl  found
found:
    .zero   64
