# A put by a kernel in assembly: the word at the beginning of the other node's heap becomes 1 more
# than the number of this node; then this node waits for its own.

    .include "packet.inc"
    .include "hermes_shmem.inc"

    .text
    .globl  kernel
kernel:
    addi    sp, sp, -16
    sw      ra, 12(sp)
    lw      s0, ARGUMENT_HEAP(a2)
    lw      s1, ARGUMENT_MY_PE(a2)
    mv      a0, sp                      # the context goes there
    li      a1, 0
    call    hermes_ctx_create
    bnez    a0, 1f
    addi    t0, s1, 1
    sw      t0, 4(sp)
    lw      a0, 0(sp)
    mv      a1, s0
    addi    a2, sp, 4
    li      a3, 4
    xori    a4, s1, 1
    call    hermes_put_nbi
    bnez    a0, 1f
    mv      a0, s0
    li      a1, HERMES_NE
    li      a2, 0
    call    hermes_wait_until32
    addi    s0, s0, 4
    # A prepared one: what came and 4 go into the next word.
    addi    t0, a0, 4
    sw      t0, 8(sp)
    lw      a0, 0(sp)
    mv      a1, s0
    addi    a2, sp, 4
    li      a3, 4
    xori    a4, s1, 1
    call    hermes_put_prepare_at
    beqz    a1, 1f
    lw      t0, 8(sp)
    sw      t0, 16(a0)
    put_fire a0, a1
    lw      a0, 0(sp)
    call    hermes_quiet
1:  beqz    a0, 2f                      # VERDICT_FORWARD
    li      t0, VERDICT_DROP
    or      a0, a0, t0
2:  lw      ra, 12(sp)
    addi    sp, sp, 16
    ret
