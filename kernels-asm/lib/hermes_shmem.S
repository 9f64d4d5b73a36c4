# The calls of hermes_shmem.h that command, and those that wait for commands; for kernels with 16
# and with 32 registers. docs/shmem.md has the layouts.
#
# They are one piece, as the lanes that do not act wait at its end, put_end_slow.

    .include "hermes_context.inc"
    .include "hermes_queue.inc"

# uint32_t hermes_get(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint32_t
# pe) uint32_t hermes_get_nbi(the same)
    .balign 64
    .globl  hermes_get
    .type   hermes_get, @function
hermes_get:
    andi    a0, a0, -CONTEXT_BYTES
    addi    a0, a0, RECORDS + BLOCKING * RECORD_BYTES
    .globl  hermes_get_nbi
    .type   hermes_get_nbi, @function
hermes_get_nbi:
    lead    put_end_slow, t0, t1
    andi    a5, a0, -CONTEXT_BYTES
    lw      t0, EPOCH(a5)
    beqz    t0, off
    lw      t0, GOT(a5)
    srli    t2, a0, 4
    li      t1, 1
    sll     t1, t1, t2
    or      t0, t0, t1
    sw      t0, GOT(a5)
    node_bits a4, t0
    xori    a4, a4, CHANGE_GET
    # Word 1 is the address there.
    mv      t0, a1
    mv      a1, a2
    mv      a2, t0
    reserve
    j       publish_long
    .size   hermes_get_nbi, . - hermes_get_nbi
    .size   hermes_get, . - hermes_get

# uint32_t hermes_add64(hermes_ctx_t ctx, uint64_t *target, uint64_t operand, uint32_t pe)
    .balign 64
    .globl  hermes_add64
    .type   hermes_add64, @function
hermes_add64:
    lead    put_end_slow, t0, t1
    andi    a5, a0, -CONTEXT_BYTES
    lw      t0, EPOCH(a5)
    beqz    t0, off
    node_bits a4, t0
    xori    a4, a4, CHANGE_FETCH_ADD
    reserve
    mv      t1, a2
    mv      t2, a3
    li      a0, 0
    li      a2, 0
    li      a3, 8
    write_short
    sw      zero, RESULT(a5)
    j       put_end_slow
    .size   hermes_add64, . - hermes_add64

# Calls that give a value: VALUE of the control line, behind a command of the context of calls that
# wait. Only hardware writes it. Their end is value_end, which is near: the instruction cache has
# few lines.
    .macro  value_context
    andi    a5, a0, -CONTEXT_BYTES
    value_context_is
    .endm
    .macro  value_context_is
    lw      t0, EPOCH(a5)
    lw      t1, WANTED(a5)
    seqz    t0, t0
    or      t0, t0, t1
    bnez    t0, no_value
    addi    a0, a5, RECORDS + BLOCKING * RECORD_BYTES
    .endm

# uint64_t hermes_fetch_add64(hermes_ctx_t ctx, uint64_t *target, uint64_t operand, uint32_t pe)
    .balign 64
    .globl  hermes_fetch_add64
    .type   hermes_fetch_add64, @function
hermes_fetch_add64:
    lead    value_end, t0, t1
    value_context
    node_bits a4, t0
    xori    a4, a4, CHANGE_FETCH_ADD
    reserve
    mv      t1, a2
    mv      t2, a3
    li      a0, 0
    li      a2, 0
    li      a3, 8
    j       publish_value
    .size   hermes_fetch_add64, . - hermes_fetch_add64

# uint64_t hermes_compare_swap64_at(uint64_t *target, uint32_t pe, uint64_t expected, uint64_t
# value): without the context, which has no register of 16.
    .balign 64
    .globl  hermes_compare_swap64_at
    .type   hermes_compare_swap64_at, @function
hermes_compare_swap64_at:
    lead    value_end, t0, t1
    find_context t0, t1
    sw      a4, INLINE(t0)
    sw      a5, INLINE + 4(t0)
    mv      a5, t0
    mv      a4, a1
    mv      a1, a0
    value_context_is
    node_bits a4, t0
    xori    a4, a4, CHANGE_COMPARE_SWAP
    reserve
    lw      t1, INLINE(a5)
    lw      t2, INLINE + 4(a5)
    mv      a0, a2
    mv      a2, a3
    li      a3, 8
    j       publish_value
    .size   hermes_compare_swap64_at, . - hermes_compare_swap64_at

# A get of a value without room, and other calls
get_value_slow:
    value_context_is
    mv      a4, a3
    mv      a3, a2
    node_bits a4, t0
    xori    a4, a4, CHANGE_GET_INLINE
    reserve
    li      t1, 0
    li      t2, 0
    li      a0, 0
    li      a2, 0
publish_value:
    write_short
    addi    a0, a5, RECORDS + BLOCKING * RECORD_BYTES
    lw      a3, ISSUED(a0)
    j       await_value
no_value:
    beqz    t1, off
    li      t0, HERMES_ERROR_OPERATION
    j       value_code

# uint64_t hermes_get_value(hermes_ctx_t ctx, const void *source, uint32_t bytes, uint32_t pe)
    .balign 64
    .globl  hermes_get_value
    .type   hermes_get_value, @function
hermes_get_value:
    andi    a5, a0, -CONTEXT_BYTES
    lead    value_end, t0, t1
    # With room for a command the queue is on. What is needed is loaded together, and one branch
    # sees to all else.
    lw      t0, NEXT(a5)
    lw      t1, WANTED(a5)
    lw      a4, RECORDS + BLOCKING * RECORD_BYTES + COMMAND(a5)
    lw      a0, RECORDS + BLOCKING * RECORD_BYTES + ISSUED(a5)
    srli    t2, a3, 12
    or      t1, t1, t2
    andi    t2, t0, ENTRIES - 1
    seqz    t2, t2
    or      t2, t2, t1
    bnez    t2, get_value_slow
    xori    a4, a4, CHANGE_GET_INLINE
    slli    a3, a3, 16
    xor     a4, a4, a3
    addi    t0, t0, ENTRY_BYTES - 1
    andi    t1, t0, -ENTRY_BYTES        # behind the entry
    short_words t1, zero, zero, ENTRY_BYTES
    sw      a2, 12 - ENTRY_BYTES(t1)
    sw      a4, -ENTRY_BYTES(t1)
    addi    a3, a0, 1
    addi    a0, a5, RECORDS + BLOCKING * RECORD_BYTES
    sw      a3, ISSUED(a0)
    sw      t0, NEXT(a5)
await_value:
    lw      t0, CONTROL(a5)
    addi    a2, t0, CONTROL_DONE + 4 * BLOCKING
    li      t1, 0
1:  peek    t0, a2
    sub     t0, t0, a3
    slli    t0, t0, 16
    beqz    t0, 2f
    look_again 1b, t1, t2, t0, a5, off
    # Error and value came with that in one write, and the last look took the line out of the L1.
2:  lw      t1, CONTROL_ERROR - CONTROL_DONE(a2)
    lw      t2, CONTROL_VALUE - CONTROL_DONE - 4 * BLOCKING(a2)
    lw      a1, CONTROL_VALUE + 4 - CONTROL_DONE - 4 * BLOCKING(a2)
    lw      t0, ERRORS(a0)
    sw      t1, ERRORS(a0)
    sw      zero, CODE(a5)
    sw      t2, RESULT(a5)
    sw      a1, RESULT_HIGH(a5)
    beq     t0, t1, value_end
    andi    t0, t1, 0xff
value_code:
    sw      t0, CODE(a5)
    sw      t0, RESULT(a5)
    sw      zero, RESULT_HIGH(a5)
value_end:
    result64 t0
    ret
    .size   hermes_get_value, . - hermes_get_value

# All puts that do not go the shortest way, below. a0: the record of the context.
    .balign 64
put_slow:
    andi    a5, a0, -CONTEXT_BYTES
    lw      t0, EPOCH(a5)
    beqz    t0, off
    presume HERMES_ERROR_LOCAL_RANGE, t0
    node_bits a4, t0
    reserve
    li      t1, 16
    bltu    t1, a3, 8f
    # A short one: its bytes are words 4 to 7 of the entry, in t1, t2, a0 and a2.
    li      t1, 0
    li      t2, 0
    li      a0, 0
    beqz    a3, 5f
    or      t1, a2, a3
    andi    t1, t1, 3
    bnez    t1, 7f
    lw      t1, 0(a2)
    addi    t2, a3, -4
    beqz    t2, 5f
    lw      t2, 4(a2)
    addi    a0, a3, -8
    beqz    a0, 5f
    lw      a0, 8(a2)
    addi    a3, a3, -12
    beqz    a3, 4f
    lw      a2, 12(a2)
    li      a3, 16
    j       6f
4:  li      a3, 12
5:  li      a2, 0
6:  write_short
    sw      zero, RESULT(a5)
    j       put_end_slow
    # One that is not in words: shifted, by way of the context. What is read lies in the words of
    # its bytes.
7:  sw      a1, SAVED(a5)
    sw      a3, SAVED + 4(a5)
    sw      a4, SAVED + 8(a5)
    add     a0, a2, a3
    addi    a0, a0, -1
    andi    a0, a0, -4                  # the last word
    slli    a4, a2, 3                   # bits of the first word that are not wanted, modulo 32
    not     t2, a4
    andi    a2, a2, -4
9:  lw      t1, 0(a2)
    addi    a2, a2, 4
    minu    a1, a2, a0
    lw      a1, 0(a1)
    srl     t1, t1, a4
    slli    a1, a1, 1
    sll     a1, a1, t2
    or      t1, t1, a1
    sw      t1, INLINE(a5)
    addi    a5, a5, 4
    addi    a3, a3, -4
    bgtz    a3, 9b
    andi    a5, a5, -CONTEXT_BYTES
    lw      a1, SAVED(a5)
    lw      a3, SAVED + 4(a5)
    lw      a4, SAVED + 8(a5)
    lw      t1, INLINE(a5)
    lw      t2, INLINE + 4(a5)
    lw      a0, INLINE + 8(a5)
    lw      a2, INLINE + 12(a5)
    j       6b
    # A long one: its bytes are performed before it is published.
8:  xori    a4, a4, COMMAND_INLINE
publish_long:
    fence   rw, w
    zeros   t0
    sw      a2, 8(t0)
    sw      zero, 16(t0)
    sw      zero, 20(t0)
    sw      zero, 24(t0)
    sw      zero, 28(t0)
    sw      a1, 4(t0)
    sw      a3, 12(t0)
    publish
    sw      zero, RESULT(a5)
    andi    t0, a0, CONTEXT_BYTES - 1
    addi    t0, t0, -(RECORDS + BLOCKING * RECORD_BYTES)
    bnez    t0, put_end_slow
    # One that waits: it is the only one of its context.
    published t0, t1
    addi    t0, t0, -1
    sw      t0, FIRST(a0)
    j       quiet

# uint64_t hermes_put_prepare_at(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes,
# uint32_t pe): the entry in the low word, its word 0 in the high one; or a code, and 0.
    .balign 64
    .globl  hermes_put_prepare_at
    .type   hermes_put_prepare_at, @function
hermes_put_prepare_at:
    lead    put_end_slow, t0, t1
    andi    a5, a0, -CONTEXT_BYTES
    sw      zero, RESULT_HIGH(a5)
    lw      t0, EPOCH(a5)
    beqz    t0, off
    presume HERMES_ERROR_LENGTH, t0
    addi    t0, a3, -1
    li      t1, 16
    bgeu    t0, t1, put_end_slow
    presume HERMES_ERROR_LOCAL_RANGE, t0
    node_bits a4, t0
    reserve
    short_words t0
    sw      a3, 12(t0)
    xori    t1, a4, COMMAND_PHASE       # that of the lap before
    sw      t1, 0(t0)
    mv      t2, t0
1:  lbu     t1, 0(a2)
    sb      t1, 16(t2)
    addi    a2, a2, 1
    addi    t2, t2, 1
    addi    a3, a3, -1
    bnez    a3, 1b
    # No room: the next call looks whether it was fired.
    sw      t0, NEXT(a5)
    sw      t0, RESULT(a5)
    sw      a4, RESULT_HIGH(a5)
    j       put_end_slow
    .size   hermes_put_prepare_at, . - hermes_put_prepare_at

# uint32_t hermes_put(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint32_t
# pe) uint32_t hermes_put_nbi(the same)
    .balign 64
    .globl  hermes_put
    .type   hermes_put, @function
hermes_put:
    li      t0, 16
    bgeu    t0, a3, hermes_put_nbi
    andi    a0, a0, -CONTEXT_BYTES
    addi    a0, a0, RECORDS + BLOCKING * RECORD_BYTES
    # Each branch takes seven cycles, each load and what waits for it a dozen. So a put of four or
    # eight bytes from words has two branches, that of the acting lane and that to put_slow, and
    # stores behind all loads.
    .globl  hermes_put_nbi
    .type   hermes_put_nbi, @function
hermes_put_nbi:
    csrr    a5, 0xccb                   # the acting lane
    csrr    t2, 0xcc1
    addi    t1, a3, -4
    andi    t1, t1, ~4
    andi    t0, a2, 3
    or      t1, t1, t0
    srli    t0, a4, 12
    or      t1, t1, t0
    snez    t1, t1
    slli    t1, t1, 6                   # not less than the number in NEXT: another put than that
    andi    t0, a0, -CONTEXT_BYTES
    lw      t0, NEXT(t0)
    bne     a5, t2, put_end
    lw      a5, COMMAND(a0)
    andi    t2, t0, ENTRIES - 1
    bgeu    t1, t2, put_slow
    addi    t2, a3, -4
    add     t2, t2, a2                  # the last word
    lw      a2, 0(a2)
    lw      t2, 0(t2)
    lw      t1, ISSUED(a0)
    slli    a4, a4, 16
    or      a4, a4, a5
    addi    t0, t0, ENTRY_BYTES - 1
    addi    t1, t1, 1
    andi    a5, t0, -ENTRY_BYTES        # behind the entry
    short_words a5, a2, t2, ENTRY_BYTES
    sw      a3, 12 - ENTRY_BYTES(a5)
    sw      a4, -ENTRY_BYTES(a5)
    # As in publish
    andi    a5, a0, -CONTEXT_BYTES
    sw      t1, ISSUED(a0)
    sw      t0, NEXT(a5)
    csrr    a5, 0xccb
    li      t0, 1
    li      t1, 0
    # All lanes: as the branch above. If the acting lane has ended, its source could not be read,
    # and it has put nothing.
put_end:
    csrr    a0, 0xccb
    andi    t2, t0, ENTRIES - 1
    sltu    a0, a5, a0
    neg     a0, a0
    andi    a0, a0, HERMES_ERROR_LOCAL_RANGE
    bgeu    t1, t2, put_end_slow
    ret
put_end_slow:
    result64 t0
    ret
    .size   hermes_put_nbi, . - hermes_put_nbi
    .size   hermes_put, . - hermes_put
