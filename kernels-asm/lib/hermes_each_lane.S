# uint32_t hermes_each_lane_get64(hermes_ctx_t ctx, uint64_t *landing, const uint64_t *source,
# uint32_t pe, uint64_t *value) of hermes_collectives.h. The lowest running lane goes on, the others
# wait at 2. When it waits at 3 they come next, since their path has the lower address, and the
# lowest of them goes on; all meet at 3. A function that is called runs to its return first.

    .option norelax
    .equ    STACK_BYTES, 16

    .text
    .balign 64
    .globl  hermes_each_lane_get64
    .type   hermes_each_lane_get64, @function
hermes_each_lane_get64:
    addi    sp, sp, -STACK_BYTES
    sw      ra, 12(sp)
    sw      s0, 8(sp)
    sw      a0, 4(sp)
    sw      a4, 0(sp)
    csrr    t0, 0xcc1
    slli    t0, t0, 3
    add     s0, a1, t0                  # the landing word of this lane
1:  csrr    t0, 0xccb
    csrr    t1, 0xcc1
    bne     t0, t1, 2f
    mv      a1, s0
    mv      a4, a3
    li      a3, 8
    call    hermes_get_nbi              # an error is told by quiet
    j       3f
2:  j       1b
3:  lw      a0, 4(sp)
    call    hermes_quiet
    lw      t0, 0(s0)
    lw      t1, 4(s0)
    lw      a4, 0(sp)
    sw      t0, 0(a4)
    sw      t1, 4(a4)
    lw      s0, 8(sp)
    lw      ra, 12(sp)
    addi    sp, sp, STACK_BYTES
    ret
    .size   hermes_each_lane_get64, . - hermes_each_lane_get64
