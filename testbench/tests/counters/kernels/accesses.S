# Accesses that are known beforehand. The first word of the frame's bytes 2 to 5: lines to read,
# rounds of reading them, lines to write, and 1 for a fault at the end, a byte each. The packet has
# 64 lines of its own in the area whose address is the first word of the argument block: it reads
# the first ones and writes those from the 32nd on. An atomic addition counts it in the line behind
# the argument block's.

    .include "packet.inc"
    .option arch, +a

    .text
    .balign 64
    .globl  kernel
    .type   kernel, @function
kernel:
load_slot:
    lw      t0, 20(a1)
load_argument:
    lw      t1, 0(a2)
    slli    t2, a0, 12
    add     t1, t1, t2              # the packet's own lines
    srli    t2, t0, 8
    andi    t2, t2, 255             # rounds
    beqz    t2, written
round:
    mv      t3, t1
    andi    t4, t0, 255             # lines to read
    beqz    t4, next
load_line:
    lw      t5, 0(t3)
    addi    t3, t3, 64
    addi    t4, t4, -1
    bnez    t4, load_line
next:
    addi    t2, t2, -1
    bnez    t2, round
written:
    srli    t4, t0, 16
    andi    t4, t4, 255             # lines to write
    beqz    t4, count
    li      t3, 2048
    add     t3, t1, t3
store_line:
    sw      t4, 0(t3)
    addi    t3, t3, 64
    addi    t4, t4, -1
    bnez    t4, store_line
count:
    addi    t3, a2, 64
    li      t4, 1
atomic:
    amoadd.w zero, t4, (t3)
    srli    t4, t0, 24
    bnez    t4, fault
    ret
fault:
    .word   0xffffffff
