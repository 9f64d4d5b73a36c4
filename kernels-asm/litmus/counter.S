# counter: every thread adds 1 to one word with `amoadd.w`. Verdict: the value before.
#
# Argument block: word 0 = address of the word. Registers: RV32E, no stack.

    .option arch, +a

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      a1, 0(a2)
    li      a2, 1
    amoadd.w a0, a2, (a1)
    ret
    .size   kernel, . - kernel
