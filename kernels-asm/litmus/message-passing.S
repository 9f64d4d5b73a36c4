# message-passing: thread 0 stores data (x) and then a flag (y); thread 1 loads the flag and then
# the data.
#
# Verdict of thread 0: 0. Of thread 1: 2 * flag + data; 2, the flag without the data, is forbidden.
# Thread 1 has loaded the data once before, so that its cache may hold the old line.

    .include "roles.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    roles
    li      a2, 1
    bnez    a3, consumer
    lw      a4, VARIABLE_Y(a1)
    add     a4, a4, a4              # as long as the consumer's first load
    delay
    sw      a2, 0(a1)
    release
    sw      a2, VARIABLE_Y(a1)
    li      a0, 0
    ret

consumer:
    lw      a4, 0(a1)
    add     a4, a4, a4              # waits for the line
    delay
    lw      a0, VARIABLE_Y(a1)
    acquire
    lw      a4, 0(a1)
    slli    a0, a0, 1
    add     a0, a0, a4
    ret
    .size   kernel, . - kernel
