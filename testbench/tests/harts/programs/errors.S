# What a hart writes to the descriptor page and what it does not start: stores of a part of a word,
# all stores while the spawner is disabled, and those to a busy slot. Behind each step the registers
# go to `found`, eight words a step.

    .option arch, +a
    .equ    REGISTERS, 0xffffe000

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    ret

    .balign 64
    .globl  add
add:                                        # adds ARG1 to the word at ARG0
    amoadd.w zero, a2, (a1)
    ret
    .balign 64
    .globl  wait
wait:                                       # until the word at ARG0 is not 0
    lw      t0, 0(a1)
    fence   r, rw
    beqz    t0, wait
    ret

    .balign 64
    .globl  hart
hart:
    la      s0, page
    li      s1, REGISTERS
    la      s2, found
    la      s3, words
1:  .insn   r 0x0b, 3, 0, t0, s0, x0        # SIGNAL.RANGE
    bnez    t0, 1b
    jal     note
    # Parts of words: of an argument, and of an ENTRY.
    li      t0, 0x55
    sb      t0, 5(s0)
    sh      t0, 12(s0)
    sh      t0, 64(s0)
    jal     note
    # The spawner is disabled: a whole descriptor, and a part of a word.
    sw      zero, 0x380(s1)
    la      t0, add
    addi    t1, s3, 0
    li      t2, 0x100
    jal     descriptor
    sb      t2, 8(s0)
    jal     note
    # Enabled again: what was written is not there, so that the slot has no threads yet. The same
    # with another number.
    li      t0, 1
    sw      t0, 0x380(s1)
    la      t0, add
    addi    t1, s3, 0
    li      t2, 1
    jal     descriptor
    jal     idle
    jal     note
    # A busy slot: an argument and ENTRY again. Then its thread may end.
    la      t0, wait
    addi    t1, s3, 64
    li      t2, 0
    jal     descriptor
    sw      t2, 8(s0)
    la      t0, add
    .insn   s 0x0b, 2, t0, 0(s0)            # SIGNAL
    jal     note
    li      t0, 1
    amoswap.w zero, t0, (t1)
    jal     idle
    jal     note
    ebreak

# Slot 0: t0 entry, t1 and t2 the arguments, one thread.
descriptor:
    sw      t1, 4(s0)
    sw      t2, 8(s0)
    li      t3, 1
    sw      t3, 12(s0)
    sw      zero, 16(s0)
    sw      zero, 20(s0)
    addi    t3, s3, 128
    sw      t3, 24(s0)
    sw      t2, 28(s0)
    .insn   s 0x0b, 2, t0, 0(s0)            # SIGNAL
    ret

# Until no job is under way.
idle:
    csrr    t3, 0x805
    bnez    t3, idle
    ret

note:
    fence   rw, rw
    lw      t3, 0x38c(s1)                   # SPAWN_BUSY
    sw      t3, 0(s2)
    lw      t3, 0x39c(s1)                   # SPAWN_JOBS
    sw      t3, 4(s2)
    lw      t3, 0x3a0(s1)                   # SPAWN_ERRORS
    sw      t3, 8(s2)
    lw      t3, 0x310(s1)                   # CP_IRQ_PENDING
    sw      t3, 12(s2)
    sw      t3, 0x310(s1)                   # taken
    addi    s2, s2, 32
    ret

    .data
    .balign 1024
    .globl  page
page:
    .zero   1024
    .globl  words
words:
    .zero   192
    .globl  found
found:
    .zero   256
