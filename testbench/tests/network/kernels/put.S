# Packets that leave commands: packet n writes entry n of the ring at word 0 of the argument block,
# a put of eight bytes to the symmetric address in word 1 plus 8 n: the first word behind its
# Ethernet header, and n. The word with the phase is written last; all stores are of one line, and
# so in order.

    .include "packet.inc"

    .equ    PUT_INLINE, 1 | 1 << 10         # w0: operation, bytes inline
    .equ    PHASE, 1 << 8                   # its first lap

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    lw      t0, 0(a2)
    andi    t1, a0, 63
    slli    t1, t1, 6
    add     t0, t0, t1                      # the entry
    lw      t1, 4(a2)
    slli    t2, a0, 3
    add     t1, t1, t2
    sw      t1, 4(t0)                       # REMOTE
    sw      zero, 8(t0)                     # LOCAL
    li      t2, 8
    sw      t2, 12(t0)                      # BYTES
    lw      t2, SLOT_IPV4(a1)
    sw      t2, 16(t0)
    sw      a0, 20(t0)
    sw      zero, 24(t0)
    sw      zero, 28(t0)
    sw      zero, 32(t0)
    sw      zero, 36(t0)
    sw      zero, 40(t0)
    sw      zero, 44(t0)
    sw      zero, 48(t0)
    sw      zero, 52(t0)
    sw      zero, 56(t0)
    sw      zero, 60(t0)
    li      t2, PUT_INLINE | PHASE
    sw      t2, 0(t0)                       # COMMAND
    li      a0, VERDICT_FORWARD
    ret
