# What every network function of these tests does, as its argument block says:
#
#   word 0: number of the function      word 1: packets that are dropped
#   word 2: cycles that are lost        word 3: packets that end with a fault
#   word 4: ports of the packets
#
# Bytes 2 to 5 of the frame are w. The function stores m = 31 w + number there, loses m AND word 2
# turns of a loop, and drops the packet if word 1 is not 0 and all of its bits are set in m / 32.
# Word 3 is the same for a fault. It forwards others to the port m / 2^16 AND word 4, or to that of
# its number if word 4 is 0.

    .text
    .balign 64
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      t1, 0(a2)
    j       mark
    .balign 64
    .globl  second
second:
    lw      t1, 0(a2)
mark:
    lw      t0, 20(a1)
    slli    t2, t0, 5
    sub     t2, t2, t0
    add     t2, t2, t1
    sw      t2, 20(a1)
    lw      t3, 8(a2)
    and     t3, t3, t2
spin:
    beqz    t3, spun
    addi    t3, t3, -1
    j       spin
spun:
    srli    t5, t2, 5
    lw      t4, 12(a2)
    beqz    t4, sound
    and     t6, t5, t4
    beq     t6, t4, fault
sound:
    lw      t4, 4(a2)
    beqz    t4, forward
    and     t6, t5, t4
    beq     t6, t4, drop
forward:
    mv      a0, t1
    lw      t4, 16(a2)
    beqz    t4, chosen
    srli    t5, t2, 16
    and     a0, t5, t4
chosen:
    ret
drop:
    li      a0, 0x80000009
    ret
fault:
    .word   0xffffffff
    .size   kernel, . - kernel
