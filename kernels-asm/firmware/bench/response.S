# `hermes bench interrupts`: ways for the command processor to notice that somebody wrote to the
# word `completion`. `way` says which one, `events` how many writes to react to; then main gives 0.
# Each way has a label REACTION at the first instruction that runs because of the write.
#
# s0 completion, s1 handler, s2 writes still to come. EMONITOR rd, rs1, rs2 is
# `.insn r 0x0b, 0, scenario << 3 | channel, rd, rs1, rs2`, ERETURN `.word 0x100b`; CSR 0x801 is
# ulictl (bit 0: nothing is delivered), 0x802 ulipend.

    .text
    .globl  main
    .type   main, @function
main:
    la      s0, completion
    la      s1, handler
    lw      s2, events
    lw      t0, way
    mv      s11, ra
    li      t1, 1
    beqz    t0, load_poll
    .insn   r 0x0b, 0, 8, t2, s1, s0        # EMONITOR: scenario 1, channel 0
    beq     t0, t1, csr_poll
    li      t1, 2
    beq     t0, t1, interrupt
    li      t1, 3
    beq     t0, t1, interrupt_loads
    j       sleep

# The word is loaded until it is not 0. CSR 0x7c0, muncached: each load of it is a read of the L2,
# beside a data cache.
    .balign 64
load_poll:
    csrw    0x7c0, s0
1:  lw      t0, 0(s0)
    beqz    t0, 1b
    .globl  load_poll_reaction
load_poll_reaction:
    sw      zero, 0(s0)
    addi    s2, s2, -1
    bnez    s2, 1b
    j       done

# The pending bit of the channel is read until it is set; nothing is delivered.
    .balign 64
csr_poll:
    csrsi   0x801, 1
1:  csrr    t0, 0x802
    beqz    t0, 1b
    .globl  csr_poll_reaction
csr_poll_reaction:
    csrw    0x802, zero
    addi    s2, s2, -1
    bnez    s2, 1b
    csrci   0x801, 1
    j       done

# The handler interrupts useful work: arithmetic, and a word of local memory.
    .balign 64
interrupt:
    la      s3, scratch
    .globl  interrupt_useful
interrupt_useful:
    lw      t0, 0(s3)
    addi    s4, s4, 1
    xor     s5, s5, s4
    slli    t1, s5, 3
    add     t0, t0, t1
    mul     s6, s5, s4
    sw      t0, 0(s3)
    bgtz    s2, interrupt_useful
    .globl  interrupt_useful_end
interrupt_useful_end:
    j       done

# The same beside useful work with a load from the L2 in each turn: muncached covers the table.
    .balign 64
interrupt_loads:
    la      s3, table
    addi    t0, s3, 0x1ff
    csrw    0x7c0, t0
    .globl  interrupt_loads_useful
interrupt_loads_useful:
    andi    t0, s4, 0x3fc
    add     t0, t0, s3
    lw      t1, 0(t0)
    addi    s4, s4, 4
    add     s5, s5, t1
    bgtz    s2, interrupt_loads_useful
    .globl  interrupt_loads_useful_end
interrupt_loads_useful_end:
    j       done

# The hart sleeps in between, as uli_wait of hermes_cp.h does.
    .balign 64
sleep:
    csrsi   0x801, 1
    blez    s2, 1f
    wfi
    csrci   0x801, 1
    j       sleep
1:  csrci   0x801, 1

done:
    csrw    0x7c0, zero
    .insn   r 0x0b, 0, 0, x0, x0, x0        # disarmed
    mv      ra, s11
    li      a0, 0
    ret
    .size   main, . - main

    .balign 64
    .globl  handler
    .type   handler, @function
handler:
    addi    s2, s2, -1
    .word   0x100b                          # ERETURN
    .size   handler, . - handler

    .data
    .balign 64
    .globl  completion
completion:
    .zero   64
    .globl  way
way:
    .word   0
    .globl  events
events:
    .word   1
    .balign 1024
table:
    .zero   1024

    .section .local, "aw", @progbits
    .balign 4
scratch:
    .word   0
