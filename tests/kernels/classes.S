# Work that depends on the packet: as many rounds as the last byte of its source address says,
# doubled for odd ones by a nested loop. The verdict is the sum of the rounds as a port.

    .include "packet.inc"

    .text
    .globl  kernel
kernel:
    lbu     t0, 47(a1)              # last byte of the source address
    li      a0, 0
    beqz    t0, 4f
1:
    andi    t1, t0, 1
    addi    t1, t1, 1
2:                                  # once, or twice for odd counts
    add     a0, a0, t0
    addi    t1, t1, -1
    bnez    t1, 2b
    addi    t0, t0, -1
    bnez    t0, 1b
4:
    ret
