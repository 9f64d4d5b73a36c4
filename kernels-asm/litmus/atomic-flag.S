# atomic-flag: message-passing with a flag that atomic operations write and read; `aq` and `rl`
# stand in the place of the fences.
#
# Verdict of thread 0: 0. Of thread 1: 2 * flag + data; 2, the flag without the data, is forbidden.
# Thread 1 has loaded the data once before, so that its cache may hold the old line.

    .include "roles.inc"
    .option arch, +a

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    roles
    li      a2, 1
    addi    t0, a1, VARIABLE_Y
    bnez    a3, consumer
    lw      a4, 0(t0)
    add     a4, a4, a4              # as long as the consumer's first load
    delay
    sw      a2, 0(a1)
    .if FENCES
    amoswap.w.rl zero, a2, (t0)
    .else
    amoswap.w zero, a2, (t0)
    .endif
    li      a0, 0
    ret

consumer:
    lw      a4, 0(a1)
    add     a4, a4, a4              # waits for the line
    delay
    .if FENCES
    amoor.w.aq a0, zero, (t0)
    .else
    amoor.w a0, zero, (t0)
    .endif
    lw      a4, 0(a1)
    slli    a0, a0, 1
    add     a0, a0, a4
    ret
    .size   kernel, . - kernel
