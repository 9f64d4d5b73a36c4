# hermes_p32 and hermes_p64: puts whose bytes are in registers, the shortest way to the wire; for
# kernels with 16 and with 32 registers.

    .include "hermes_context.inc"

# Publishes a put of \bytes bytes, a2 and a3, to a1 of node a4. a0: the record. Each branch takes
# seven cycles, that which parts the lanes fourteen, and a load and what waits for it a dozen: so
# all lanes see together whether there is room, and the acting lane stores zeros while its loads are
# under way.
    .macro  put_value bytes
    andi    t0, a0, -CONTEXT_BYTES
    lw      t0, NEXT(t0)
    csrr    t1, 0xccb                   # the acting lane
    csrr    t2, 0xcc1
    sub     t1, t1, t2
    srli    a5, a4, 12
    snez    a5, a5
    slli    a5, a5, 6                   # not less than the number in NEXT: no node
    andi    t2, t0, ENTRIES - 1
    bgeu    a5, t2, .Lslow\@
    bnez    t1, .Lend\@
    lw      a5, COMMAND(a0)
    lw      t1, ISSUED(a0)
    addi    t0, t0, ENTRY_BYTES - 1
    andi    t2, t0, -ENTRY_BYTES        # behind the entry
    slli    a4, a4, 16
    short_words t2, a2, a3, ENTRY_BYTES
    li      a3, \bytes
    sw      a3, 12 - ENTRY_BYTES(t2)
    or      a4, a4, a5
    sw      a4, -ENTRY_BYTES(t2)
    # It is published, then counted: ISSUED before NEXT.
    addi    t1, t1, 1
    sw      t1, ISSUED(a0)
    andi    a5, a0, -CONTEXT_BYTES
    sw      t0, NEXT(a5)
.Lend\@:
    li      a0, 0
    ret
.Lslow\@:
    andi    a5, a0, -CONTEXT_BYTES
    sw      a2, INLINE(a5)
    sw      a3, INLINE + 4(a5)
    addi    a2, a5, INLINE
    li      a3, \bytes
    j       hermes_put_nbi
    .endm

# uint32_t hermes_p32(hermes_ctx_t ctx, uint32_t *target, uint32_t value, uint32_t pe)
    .text
    .balign 64
    .globl  hermes_p32
    .type   hermes_p32, @function
hermes_p32:
    mv      a4, a3
    li      a3, 0
    put_value 4
    .size   hermes_p32, . - hermes_p32

# uint32_t hermes_p64(hermes_ctx_t ctx, uint64_t *target, uint64_t value, uint32_t pe)
    .balign 64
    .globl  hermes_p64
    .type   hermes_p64, @function
hermes_p64:
    put_value 8
    .size   hermes_p64, . - hermes_p64
