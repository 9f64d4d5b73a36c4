# All kinds of operations, each on data of its hart, in rounds: counters of atomic operations, of
# reservations, in memory, in local memory and in a register of the array, quotients. A hart that
# starts anew finds each of them as it was, or one further: what was interrupted happened or did
# not. ebreak: something was wrong; `states` says what.

    .option arch, +a
    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    ret

# t4: number of the check.
    .macro check one, other, number
    li      t4, \number
    bne     \one, \other, failed
    .endm
    # `one` is `other` or one more.
    .macro near one, other, number
    sub     t0, \one, \other
    li      t1, 1
    li      t4, \number
    bltu    t1, t0, failed
    .endm

    .balign 64
    .globl  hart
hart:
    csrr    s0, mhartid
    slli    t0, s0, 9
    la      s1, data
    add     s1, s1, t0                      # eight lines a hart
    addi    s2, s1, 256                     # another line
    slli    t0, s0, 6
    la      s3, states
    add     s3, s3, t0
    lui     s4, 0xfffe0
    add     s4, s4, t0
    li      s5, 0xffffe320                  # CP_IRQ_ENABLE_h
    slli    t0, s0, 2
    add     s5, s5, t0
    lw      t0, 0(s3)                       # starts
    addi    t0, t0, 1
    sw      t0, 0(s3)
    # 1 to 3: as they were
    fence   rw, rw
    lw      s6, 0(s1)
    lw      t2, 64(s1)
    near    t2, s6, 1
    lw      t2, 128(s1)
    near    t2, s6, 2
    lw      t2, 4(s2)
    near    t2, s6, 3
    # All zero again. A reservation is none: sc.w fails.
    sc.w    t2, s6, (s2)
    li      t0, 1
    check   t2, t0, 4
    sw      zero, 0(s1)
    sw      zero, 64(s1)
    sw      zero, 128(s1)
    sw      zero, 4(s2)
    sw      zero, 0(s4)
    sw      zero, 0(s5)
    li      s6, 0                           # the round
round:
    amoadd.w t2, s8, (s1)                   # adds 0: s8 is set below
    li      s8, 0
    addi    t5, s1, 64
    li      t0, 1
    amoadd.w t2, t0, (t5)
    check   t2, s6, 5
    lw      t2, 0(s1)
    check   t2, s6, 6
    # Fills of two lines of one set, and what is stored around them
    lw      t2, 4(s2)
    check   t2, s6, 7
    addi    t2, s6, 1
    sw      t2, 4(s2)
    lw      t3, 4(s2)
    check   t3, t2, 8
    # A reservation
    addi    t5, s1, 128
1:  lr.w    t2, (t5)
    addi    t3, t2, 1
    sc.w    t0, t3, (t5)
    bnez    t0, 1b
    check   t2, s6, 9
    # A register of the array, read and written; bits that it keeps
    lw      t2, 0(s5)
    slli    t3, s6, 16
    check   t2, t3, 10
    addi    t2, s6, 1
    slli    t2, t2, 16
    sw      t2, 0(s5)
    # Local memory
    lw      t2, 0(s4)
    check   t2, s6, 11
    addi    t2, s6, 1
    sw      t2, 0(s4)
    # A quotient
    li      t0, 7
    mul     t2, s6, t0
    addi    t2, t2, 3
    divu    t2, t2, t0
    check   t2, s6, 12
    fence   rw, rw
    addi    s6, s6, 1
    sw      s6, 0(s1)
    lw      t0, 4(s3)                       # rounds
    addi    t0, t0, 1
    sw      t0, 4(s3)
    # Before the counters leave their bits
    li      t0, 30000
    bltu    s6, t0, round
    j       hart
failed:
    sw      t4, 8(s3)
    sw      s6, 12(s3)
    sw      t2, 16(s3)
    ebreak

    .data
    .balign 64
data:
    .zero   2048
# Of each hart a line: starts, rounds, the check that failed, the round, what was found.
    .globl  states
states:
    .zero   256
