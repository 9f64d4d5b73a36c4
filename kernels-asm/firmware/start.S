# What runs before main of a program for the command processor: every register gets a value, then
# main is called. Its value is in a0 and in the word exit_value at the ebreak that ends the program.
    .section .text.start, "ax"
    .globl _start
_start:
    .irp register, ra, gp, tp, t0, t1, t2, s0, s1, a0, a1, a2, a3, a4, a5, a6, a7
    li   \register, 0
    .endr
    .irp register, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, t3, t4, t5, t6
    li   \register, 0
    .endr
    la   sp, __stack_top
    call main
    la   t0, exit_value
    sw   a0, 0(t0)
    ebreak
    .bss
    .balign 4
    .globl exit_value
exit_value:
    .zero 4
