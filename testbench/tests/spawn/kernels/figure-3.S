# Figure 3 of the paper on Pangaea: the command processor arms a channel on the completion word of a
# job, starts the job's threads with one store, and works on; when the threads have ended, their
# completion word interrupts it in user level; the handler notes that, and returns.
#
# EMONITOR rd, rs1, rs2 is `.insn r 0x0b, 0, scenario << 3 | channel, rd, rs1, rs2`, ERETURN
# `.word 0x100b`, SIGNAL rs2, imm(rs1) `.insn s 0x0b, 2, rs2, imm(rs1)`, SIGNAL.RANGE rd, rs1
# `.insn r 0x0b, 3, 0, rd, rs1, x0`.

    .equ    THREADS, 100
    .equ    ROUNDS, 5

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    ret

# On the cores: thread n stores n + ARG1 to word n of the array at ARG0.
    .globl  threads
threads:
    slli    t0, a0, 2
    add     t0, t0, a1
    add     t1, a0, a2
    sw      t1, 0(t0)
    ret

# On the command processor.
    .globl  firmware
firmware:
    la      s0, page
    la      s1, state
    .insn   r 0x0b, 3, 0, t0, s0, x0        # SIGNAL.RANGE
    bnez    t0, failed
    la      t0, results
    sw      t0, 4(s0)                       # ARG0
    li      t0, THREADS
    sw      t0, 12(s0)                      # SHAPE
    sw      zero, 16(s0)
    sw      zero, 20(s0)                    # CORES: all
    la      s2, completion
    sw      s2, 24(s0)                      # COMPLETION
    la      s3, threads
    la      s4, handler
    li      s5, ROUNDS
    li      s6, 0                           # handlers that ran, as the main program has seen
    li      s9, 0                           # handlers that ran
    .globl  arm
arm:
    .insn   r 0x0b, 0, 8, t1, s4, s2        # EMONITOR: scenario 1, channel 0
    bnez    t1, failed
again:
    slli    t0, s5, 10
    sw      t0, 8(s0)                       # ARG1
    sw      s5, 28(s0)                      # TOKEN
    .globl  signal
signal:
    .insn   s 0x0b, 2, s3, 0(s0)            # SIGNAL: ENTRY
    li      s7, 0
work:
    addi    s7, s7, 1
    beq     s9, s6, work
    mv      s6, s9
    lw      t0, 0(s1)
    bne     t0, s6, failed
    lw      t1, 8(s1)                       # what the handler read: the token
    bne     t1, s5, failed
    sw      s7, 12(s1)
    # The slot is free again: the completion word was visible.
busy:
    csrr    t0, 0x805
    bnez    t0, busy
    addi    s5, s5, -1
    bnez    s5, again
    # Disarmed, the same store interrupts no more.
    .insn   r 0x0b, 0, 0, t1, x0, x0
    srli    t1, t1, 29
    li      t0, 2                           # it was armed, and not pending
    bne     t1, t0, failed
    li      t0, 4                           # and of four threads
    sw      t0, 12(s0)
    .globl  signal_few
signal_few:
    .insn   s 0x0b, 2, s3, 0(s0)
1:  csrr    t0, 0x805
    bnez    t0, 1b
    lw      t0, 0(s1)
    bne     t0, s6, failed
    ebreak
failed:
    sw      ra, 16(s1)
    li      t0, -1
    sw      t0, 0(s1)
    ebreak

# On the other harts: arithmetic, branches, local memory, for ever.
    .globl  other_hart
other_hart:
    csrr    t0, mhartid
    slli    t0, t0, 6
    lui     t1, 0xfffe0
    add     t1, t1, t0
    sw      x0, 0(t1)
    li      t2, 0
1:  addi    t2, t2, 1
    lw      t3, 0(t1)
    add     t3, t3, t2
    sw      t3, 0(t1)
    andi    t4, t2, 3
    bnez    t4, 1b
    xor     t5, t3, t2
    j       1b

# Counts in s9, which the main program only reads, and in memory; uses s10 and s11, which it leaves
# alone.
    .globl  handler
handler:
    la      s10, state
    csrr    s11, 0x804
    sw      s11, 4(s10)
    lw      s11, completion
    sw      s11, 8(s10)
    lw      s11, 0(s10)
    addi    s11, s11, 1
    sw      s11, 0(s10)
    addi    s9, s9, 1
    .globl  leave
leave:
    .word   0x100b                          # ERETURN

    .data
    .balign 1024
    .globl  page
page:
    .zero   1024
    .balign 64
    .globl  completion
completion:
    .zero   64
# Handlers that ran, cause, token, rounds of work, mark of a failure.
    .globl  state
state:
    .zero   64
    .globl  results
results:
    .zero   4 * THREADS
