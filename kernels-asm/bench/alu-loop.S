# alu-loop: keeps the core busy with integer instructions, to measure how many it retires a cycle.
# No memory but for the number of turns; no divergence. A turn is 16 instructions and a branch:
# three values that depend on each other, with two to four independent instructions between a result
# and its use, as a compiler schedules such code.
#
# Argument block: the number of turns, at least 1.
# Verdict: forward; the port is what the loop computed, so that a wrong result shows.
# Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      a2, 0(a2)
    mv      a3, a0
    addi    a4, a0, 0x123
    li      a5, 0x5a5a5
loop:
    slli    t0, a3, 3
    add     t1, a4, a5
    srli    t2, a5, 5
    xor     t0, t0, a3
    andi    a1, a4, 0x7ff
    sub     t1, t1, t2
    add     a3, t0, t1
    or      a5, a5, a1
    addi    a4, a4, 13
    sltu    t2, a3, a4
    xor     a5, a5, t1
    srai    t0, a3, 7
    add     a3, a3, t2
    sub     a4, a4, t0
    xor     a3, a3, a5
    addi    a2, a2, -1
    bnez    a2, loop

    slli    a0, a3, 1
    srli    a0, a0, 1
    ret
    .size   kernel, . - kernel
