# reservation-times: every thread adds 1 to one word with `lr.w` and `sc.w`. Verdict: the cycle,
# modulo 2^31, right after its `sc.w` stored. Lanes that try again stand at a higher PC, so those
# that are through read the time first.
#
# Argument block: word 0 = address of the word. Registers: RV32E, no stack.

    .option arch, +a

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      a1, 0(a2)
1:  lr.w    a0, (a1)
    addi    a3, a0, 1
    sc.w    a4, a3, (a1)
    bnez    a4, 2f
    csrr    a0, cycle
    slli    a0, a0, 1
    srli    a0, a0, 1
    ret
2:  j       1b
    .size   kernel, . - kernel
