# rings: some warps write commands to their rings at fixed times, the others read a buffer in lines
# of their own, over and over, as fast as memory gives them.
#
# Argument block: word 0 warps that write commands: those in the slots below word 1 address of the
# first ring; a ring has 64 entries of 64 bytes word 2 cycle of the first command of slot 0 word 3
# cycles by which the next slot is later word 4 cycles from a command of a ring to the next word 5
# commands of a ring, at least 1 word 6 cycle until which the others read word 7 address of their
# buffer word 8 its bytes, a power of two, at least 2 KiB for each of 8 slots word 9 1: the eight
# lanes of a warp write a command together, half of it at a time; 0: lane 0 writes it, a word at a
# time A command is 1, its phase in bit 8 (1 in the first lap), then its number and the cycle in
# which it is written; the rest is zero. All of its line is written, the word with the phase last.
# Verdict: forward. Registers: RV32E (x0 to x15), no stack.

    .include "packet.inc"

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    csrr    a0, 0xcc2                       # warp slot
    csrr    t1, 0xcc1                       # lane
    lw      t0, 0(a2)
    bltu    a0, t0, publish

# A lane reads a line, four of them before it waits; the next ones are 2 KiB on.
stream:
    lw      a4, 28(a2)
    lw      a5, 32(a2)
    lw      s0, 24(a2)
    srli    t0, a5, 3
    mul     a3, a0, t0                      # each warp begins elsewhere
    slli    t1, t1, 6
    add     a3, a3, t1
    addi    a5, a5, -1
    li      gp, 2048
1:  and     t0, a3, a5
    add     t0, t0, a4
    lw      a0, 0(t0)
    lw      a1, 512(t0)
    lw      t1, 1024(t0)
    lw      t2, 1536(t0)
    add     a3, a3, gp
    add     a0, a0, a1
    add     a0, a0, t1
    add     a0, a0, t2
    csrr    t0, cycle
    sub     t0, t0, s0
    bltz    t0, 1b
    li      a0, VERDICT_FORWARD
    ret

publish:
    lw      gp, 36(a2)
    bnez    gp, 1f
    bnez    t1, end
1:  lw      a3, 4(a2)
    slli    t0, a0, 12
    add     a3, a3, t0
    lw      s0, 8(a2)
    lw      t0, 12(a2)
    mul     t0, t0, a0
    add     s0, s0, t0
    lw      a4, 16(a2)
    lw      a5, 20(a2)
    # What is all ones in lane 0, lane 1 and lane 2
    slli    tp, t1, 2
    seqz    a1, t1
    neg     a1, a1
    addi    t0, t1, -1
    seqz    a2, t0
    neg     a2, a2
    addi    t0, t1, -2
    seqz    sp, t0
    neg     sp, sp
    li      a0, 0                           # number of the command
wait:
    csrr    t1, cycle
    sub     t1, t1, s0
    bltz    t1, wait
    slli    t0, a0, 26
    srli    t0, t0, 20
    add     t0, t0, a3                      # its entry
    srli    t2, a0, 6
    xori    t2, t2, 1
    andi    t2, t2, 1
    slli    t2, t2, 8
    ori     t2, t2, 1
    csrr    t1, cycle
    beqz    gp, alone
    add     t0, t0, tp
    and     t2, t2, a1
    and     t1, t1, sp
    or      t2, t2, t1
    and     t1, a0, a2
    or      t2, t2, t1
    sw      zero, 32(t0)
    sw      t2, 0(t0)
    j       written
alone:
    .set    offset, 60
    .rept   13
    sw      zero, offset(t0)
    .set    offset, offset - 4
    .endr
    sw      t1, 8(t0)
    sw      a0, 4(t0)
    sw      t2, 0(t0)
written:
    addi    a0, a0, 1
    add     s0, s0, a4
    bltu    a0, a5, wait
end:
    li      a0, VERDICT_FORWARD
    ret
    .size   kernel, . - kernel
