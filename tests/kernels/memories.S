# The lanes of one load or store take different ways: even lanes go to the packet's slot and odd
# ones to the scratchpad; then by the lane modulo 4, 1 is misaligned, 2 is outside the windows that
# the array has after reset, 0 and 3 go on. Verdict: 3 * packetIdx + 7.

    .include "packet.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    csrr    t0, 0xcc1               # lane
    csrr    t1, 0xcc2               # warp slot
    addi    a3, a1, 64
    andi    a4, t0, 1
    beqz    a4, 1f
    slli    t1, t1, 7               # 32 words for each warp slot, the lane's own bank
    slli    a3, t0, 2
    add     a3, a3, t1
    li      a4, SCRATCHPAD
    add     a3, a3, a4
1:  slli    a4, a0, 1
    add     a4, a4, a0
    sw      a4, 0(a3)
    fence
    lw      a4, 0(a3)
    addi    a0, a4, 7
    andi    t0, t0, 3
    li      t1, 1
    bne     t0, t1, 2f
    addi    a3, a3, 2
2:  li      t1, 2
    bne     t0, t1, 3f
    li      a3, 0xffffffc0          # the last line belongs to no window
3:  lw      a4, 0(a3)
    ret
