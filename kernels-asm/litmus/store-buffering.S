# store-buffering: thread 0 stores x and loads y, thread 1 stores y and loads x.
#
# Verdict: what the thread loaded. That both load 0 is forbidden. Each has loaded the other's
# variable once before, so that its cache may hold the old line.

    .include "roles.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    roles
    li      a2, 1
    slli    a3, a3, 6
    add     a4, a1, a3              # my variable
    xori    a3, a3, VARIABLE_Y
    add     a1, a1, a3              # the other one
    lw      a0, 0(a1)
    add     a0, a0, a0              # waits for the line
    delay
    sw      a2, 0(a4)
    full_fence
    lw      a0, 0(a1)
    ret
    .size   kernel, . - kernel
