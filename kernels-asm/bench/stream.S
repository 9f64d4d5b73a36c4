# stream: reads a buffer once, as fast as memory gives it. The threads take turns at the words:
# neighbours load neighbouring words, so that a warp's load touches as few lines as it can, and all
# warps go through the buffer together. Four loads are under way before the first result is used.
#
# Argument block: word 0 = address of the buffer, word 1 = bytes from a thread's word to its next
# one, 4 * threads; word 2 = words of a thread, a multiple of 4. Verdict: forward; the port is the
# sum of the thread's words without its highest bit. Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      a1, 0(a2)
    lw      a3, 4(a2)
    lw      a4, 8(a2)
    slli    a0, a0, 2
    add     a1, a1, a0
    slli    s0, a3, 1               # two words on
    add     s1, s0, a3              # three
    slli    a2, a3, 2               # four
    li      a0, 0
loop:
    add     t0, a1, a3
    add     t1, a1, s0
    add     t2, a1, s1
    lw      a5, 0(a1)
    lw      t0, 0(t0)
    lw      t1, 0(t1)
    lw      t2, 0(t2)
    add     a1, a1, a2
    addi    a4, a4, -4
    add     a0, a0, a5
    add     a0, a0, t0
    add     a0, a0, t1
    add     a0, a0, t2
    bnez    a4, loop

    slli    a0, a0, 1
    srli    a0, a0, 1
    ret
    .size   kernel, . - kernel
