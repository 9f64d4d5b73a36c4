# Between crt0.S and main in firmware with constructors, which the build links with --wrap=main:
# hart 0 calls them in their order (.init_array), then main.
    .text
    .globl  __wrap_main
    .type   __wrap_main, @function
__wrap_main:
    addi    sp, sp, -16
    sw      ra, 12(sp)
    sw      s0, 8(sp)
    sw      s1, 4(sp)
    la      s0, __init_array_start
    la      s1, __init_array_end
1:  bgeu    s0, s1, 2f
    lw      t0, 0(s0)
    addi    s0, s0, 4
    jalr    t0
    j       1b
2:  lw      ra, 12(sp)
    lw      s0, 8(sp)
    lw      s1, 4(sp)
    addi    sp, sp, 16
    tail    __real_main
    .size   __wrap_main, . - __wrap_main
