# reservation: every thread adds 1 to one word with `lr.w` and `sc.w`. Verdict: the value before.
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
    bnez    a4, 1b
    ret
    .size   kernel, . - kernel
