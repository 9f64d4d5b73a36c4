# coherence: thread 0 stores 1 to 8 to one variable and loads it; thread 1 loads it ten times.
#
# Verdict of thread 0: what it loaded; anything but 8 is forbidden. Of thread 1: the last value,
# plus 16 for each load that gave less than the one before it, which is forbidden. It holds with and
# without fences: each location is coherent for itself.

    .include "roles.inc"

.equ STORES,    8
.equ LOADS,     10

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    roles
    li      a2, 0
    bnez    a3, reader
    delay
    li      a3, STORES
2:
    addi    a2, a2, 1
    sw      a2, 0(a1)
    release
    blt     a2, a3, 2b
    lw      a0, 0(a1)
    ret

reader:
    delay
    li      a3, LOADS
    li      a0, 0
2:
    lw      a4, 0(a1)
    acquire
    sltu    t0, a4, a2
    slli    t0, t0, 4
    add     a0, a0, t0
    mv      a2, a4
    addi    a3, a3, -1
    bnez    a3, 2b
    add     a0, a0, a2
    ret
    .size   kernel, . - kernel
