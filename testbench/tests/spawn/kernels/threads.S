# Spawned threads. Thread n stores n + ARG1 to word n of the array at ARG0, then its job's slot,
# core and warp slot beside it: 16 bytes a thread. The `faults` entry does the same, but threads
# whose number is 5 modulo 16 execute an illegal instruction first; those of `endless` never end if
# their number is 3 modulo 16; those of `slow` wait for some hundred cycles; those of `stacked` keep
# what they store on their stack meanwhile, and number 5 modulo 16 stores below its stack.

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    ret                                     # packets forward to port packetIdx

    .globl  threads
threads:
    slli    t0, a0, 4
    add     t0, t0, a1
    add     t1, a0, a2
    sw      t1, 0(t0)
    csrr    t1, 0xcc7
    sw      t1, 4(t0)
    csrr    t1, 0xcc3
    sw      t1, 8(t0)
    csrr    t1, 0xcc2
    sw      t1, 12(t0)
    ret

    .globl  faults
faults:
    andi    t0, a0, 15
    addi    t0, t0, -5
    bnez    t0, threads
    .word   0

    .globl  endless
endless:
    andi    t0, a0, 15
    addi    t0, t0, -3
    bnez    t0, threads
1:  j       1b

    .globl  slow
slow:
    li      t0, 100
1:  addi    t0, t0, -1
    bnez    t0, 1b
    j       threads

    .globl  stacked
stacked:
    andi    t0, a0, 15
    addi    t0, t0, -5
    bnez    t0, 1f
    sw      a0, -512(sp)
1:  addi    sp, sp, -16
    add     t1, a0, a2
    sw      a0, 0(sp)
    sw      t1, 12(sp)
    li      t0, 100
2:  addi    t0, t0, -1
    bnez    t0, 2b
    lw      a0, 0(sp)
    lw      t1, 12(sp)
    sub     a2, t1, a0
    addi    sp, sp, 16
    j       threads
