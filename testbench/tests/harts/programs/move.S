# Hart 0 moves the descriptor page while hart 1 starts a job by SIGNAL, ROUNDS times, each time at
# another distance. What became of a round is in `results`: bit 0 the move was refused, bit 1 the
# page is where it was, from bit 8 on the jobs that were started.

    .option arch, +a
    .equ    REGISTERS, 0xffffe000
    .equ    ROUNDS, 96

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    ret

    .balign 64
    .globl  job
job:                                        # counts, and runs for longer than a round's distances
    li      t0, 1
    amoadd.w zero, t0, (a1)
    li      t0, 60
1:  addi    t0, t0, -1
    bnez    t0, 1b
    ret

    .balign 64
    .globl  hart
hart:
    la      s0, page
    la      s1, other
    la      s2, counter
    la      s3, results
    la      s4, job
    la      s5, nops
    lui     s8, 0xfffe0                     # local memory: 0 the round may start, 4 hart 1 has started its job
    li      s9, REGISTERS
    li      s6, 0                           # the round
    csrr    t0, mhartid
    bnez    t0, second
    sw      zero, 0(s8)
    sw      zero, 4(s8)

first:
1:  .insn   r 0x0b, 3, 0, t0, s0, x0        # SIGNAL.RANGE
    bnez    t0, 1b
    sw      s2, 4(s0)                       # ARG0
    sw      zero, 8(s0)
    li      t0, 1
    sw      t0, 12(s0)                      # threads
    sw      zero, 16(s0)
    sw      zero, 20(s0)
    sw      zero, 24(s0)
    sw      zero, 28(s0)
    sw      zero, 0(s2)
    fence   rw, rw
    addi    s6, s6, 1
    sw      s6, 0(s8)
    andi    t0, s6, 1                       # one more in every other round
    slli    t0, t0, 2
    sub     t0, s5, t0
    addi    t0, t0, -100
    jalr    ra, t0
    .insn   r 0x0b, 3, 0, s10, s1, x0
2:  lw      t0, 4(s8)
    bne     t0, s6, 2b
3:  csrr    t0, 0x805
    bnez    t0, 3b
    fence   rw, rw
    lw      t1, 0(s2)
    slli    t1, t1, 8
    or      s10, s10, t1
    lw      t1, 0x384(s9)                   # SPAWN_BASE
    bne     t1, s0, 4f
    ori     s10, s10, 2
4:  sw      s10, 0(s3)
    addi    s3, s3, 4
    li      t0, ROUNDS
    bne     s6, t0, first
    fence   rw, rw
    ebreak

second:
    addi    s6, s6, 1
1:  lw      t0, 0(s8)
    bne     t0, s6, 1b
    srli    t0, s6, 1
    slli    t0, t0, 2
    sub     t0, s5, t0
    jalr    ra, t0
    .insn   s 0x0b, 2, s4, 0(s0)            # SIGNAL
    fence   w, w
    sw      s6, 4(s8)
    li      t0, ROUNDS
    bne     s6, t0, second
    ebreak

    .balign 64
    .rept   ROUNDS / 2
    nop
    .endr
nops:
    jr      ra

    .data
    .balign 1024
    .globl  page
page:
    .zero   1024
    .globl  other
other:
    .zero   1024
    .globl  counter
counter:
    .zero   64
    .globl  results
results:
    .zero   4 * ROUNDS
