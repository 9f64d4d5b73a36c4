# A hart that waits for one event in each round in all ways: delivery, a look at ulipend, wfi. It
# tells the host when a round begins by HOST_IRQ_RAISE; the host makes the event some cycles later.
# `parameters`: word 0 the parameter of EMONITOR, word 1 0: the round begins when the channel is
# armed, 1: before that, and then what came before is looked for: word 2 address, word 3 mask. The
# scenario is that of the entry.

    .equ    REGISTERS, 0xffffe000

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    ret

    .macro entry scenario
    .balign 64
    .globl  scenario_\scenario
scenario_\scenario:
    la      s11, arm_\scenario
    j       begin
    .balign 64
arm_\scenario:
    .insn   r 0x0b, 0, \scenario << 3 | 1, zero, s2, s3
    jr      t6
    .endm
    entry   1
    entry   2
    entry   3

begin:
    la      s0, parameters
    la      s1, results
    la      s2, handler
    lw      s3, 0(s0)
    lw      s4, 4(s0)
    lw      s5, 8(s0)
    lw      s6, 12(s0)
    li      s9, REGISTERS
    li      s7, 0                           # the round
    lui     t5, 0xfffe0                     # the handler counts in local memory
round:
    lw      t0, 32(s0)                      # the host has seen the round before: rounds that may begin
    fence   r, rw
    beq     t0, s7, round
    csrsi   0x801, 1                        # block
    sw      zero, 0(t5)
    li      s8, 0                           # found in ulipend, or by the look
    bnez    s4, 1f
    jalr    t6, s11
1:  li      t0, 1
    sw      t0, 0x36c(s9)                   # HOST_IRQ_RAISE: the round begins
    beqz    s4, 2f
    nop
    nop
    nop
    jalr    t6, s11
    lw      t0, 0(s5)
    fence   r, rw
    and     t0, t0, s6
    snez    t0, t0
    add     s8, s8, t0
2:  .rept   9
    nop
    nop
    csrrw   t0, 0x802, x0                   # ulipend: takes what is there
    srli    t0, t0, 1
    add     s8, s8, t0
    csrci   0x801, 1
    nop
    nop
    nop
    csrsi   0x801, 1
    .endr
    # As uli_wait does
3:  csrsi   0x801, 1
    lw      t0, 0(t5)
    add     t0, t0, s8
    bnez    t0, 4f
    wfi
    csrci   0x801, 1
    j       3b
4:  csrci   0x801, 1
    # Another delivery of the same event?
    .rept   24
    nop
    .endr
    .insn   r 0x0b, 0, 1, t1, x0, x0        # disarm
    lw      t0, 0(t5)
    slli    t2, s7, 3
    add     t2, t2, s1
    sw      t0, 0(t2)                       # deliveries
    sw      s8, 4(t2)                       # found otherwise
    fence   rw, rw
    addi    s7, s7, 1
    sw      s7, 36(s0)
    j       round

    .balign 64
handler:                                    # uses s10 alone
    lw      s10, 0(t5)
    addi    s10, s10, 1
    sw      s10, 0(t5)
    .word   0x100b

    .balign 64
    .globl  job
job:
    ret

    .data
    .balign 64
    .globl  parameters
parameters:
    .zero   64
    .globl  flag
flag:
    .zero   64
    .globl  results
results:
    .zero   8192
