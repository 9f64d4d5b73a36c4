# two-way: every turn splits each warp in two, by the lowest bit of packetIdx, and joins it again.
# The bench counts what the core retires against the instructions of both paths, which it takes from
# the labels: all of them mark straight code.
#
# Argument block: the number of turns, at least 1.
# Verdict: forward; the port is what the loop computed, so that a wrong result shows.
# Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      a2, 0(a2)
    andi    a3, a0, 1
    mv      a4, a0
    addi    a5, a0, 0x55
loop:
    add     a4, a4, a5
    bnez    a3, odd
even:
    slli    t0, a4, 2
    xor     a5, a5, t0
    addi    a5, a5, 7
    srli    t1, a4, 3
    sub     a4, a4, t1
    j       join
odd:
    srli    t0, a4, 1
    add     a5, a5, t0
    xori    a4, a4, 0x3c
    slli    t1, a5, 4
    or      a4, a4, t1
    andi    t1, a5, 0xff
    sub     a4, a4, t1
join:
    addi    a2, a2, -1
    bnez    a2, loop
end:
    slli    a0, a4, 1
    srli    a0, a0, 1
    ret
exit:
    .size   kernel, . - kernel
