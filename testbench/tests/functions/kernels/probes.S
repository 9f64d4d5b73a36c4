# A network function that tries what it must not. Argument block: word 0: number of its probes less
# one, all ones in binary; from byte 16 on 16 bytes for each of them:
#
#   word 0: what it tries      word 1: an address
#   word 2: 0, or what makes the address one behind the packet in lane 0
#
# Each thread makes the probe of its packet's number. If it goes on, it forwards the packet to the
# port of the probe's number; stores have this number too.

    .text
    .balign 64
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      t0, 0(a2)
    and     t0, t0, a0
    slli    t1, t0, 4
    add     t1, t1, a2
    lw      t2, 16(t1)
    lw      t3, 20(t1)
    lw      t4, 24(t1)
    beqz    t4, absolute
    csrr    t5, 0xcc1
    slli    t5, t5, 7
    sub     t5, a1, t5
    add     t3, t3, t5
absolute:
    mv      a0, t0
    beqz    t2, try_load
    addi    t2, t2, -1
    beqz    t2, try_store
    addi    t2, t2, -1
    beqz    t2, try_atomic
    addi    t2, t2, -1
    beqz    t2, try_reserve
    jr      t3
try_load:
    lw      t5, 0(t3)
    ret
try_store:
    sw      t0, 0(t3)
    ret
try_atomic:
    .word   0x005e2f2f          # amoadd.w t5, t0, (t3)
    ret
try_reserve:
    .word   0x100e2f2f          # lr.w t5, (t3)
    ret
    .size   kernel, . - kernel
