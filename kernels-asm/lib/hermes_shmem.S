# The library of hermes_shmem.h, for kernels with 16 and with 32 registers. docs/shmem.md has the layouts.
#
# Every function is called by the running lanes of a warp. The lowest of them acts; the others go to its end at once and wait there, since paths at lower addresses
# come first. No function uses the stack. What the acting lane finds goes to the others through the context of the warp slot.

    .option arch, +a
    .option norelax

# The context of a warp slot, 128 bytes of scratchpad from the link symbol hermes_contexts (kernel.ld) on. It outlives the warps.
    .equ    WRITE, 0            # commands that were published
    .equ    HEAD, 4             # HEAD of the control line, as it was seen last
    .equ    EPOCH, 8            # the epoch for which the context is right
    .equ    RING, 32            # addresses
    .equ    CONTROL, 36
    .equ    RESULT, 40          # what the function gives
    .equ    FIRST, 44           # of each context 0 to 2: the oldest command that no quiet has waited for
    .equ    ERRORS, 60          # of each context 0 to 2: the word of the control line that was seen last
    .equ    INLINE, 80          # sixteen bytes of a put

# The queues
    .equ    ENTRIES, 64
    .equ    CONTROL_HEAD, 0
    .equ    CONTROL_EPOCH, 4
    .equ    CONTROL_MODE, 8
    .equ    CONTROL_ERROR, 48
    .equ    MODE_STATUS, 1
    .equ    STATUS, 60
    .equ    PUT_WITH_STATUS, 1 | 1 << 9
    .equ    COMMAND_INLINE, 1 << 10
    .equ    DONE, 1
    .equ    BLOCKING, 3         # the context of calls that wait
    .equ    ERROR_OFF, 0x88

# hermes_arguments
    .equ    AREA, 0
    .equ    SLOTS, 16
    .equ    SLOTS_OF_CORE, 24

# The acting lane goes on; \context: its context. Others go to \end.
    .macro  lead end, context, scratch
    csrr    \context, 0xccb
    csrr    \scratch, 0xcc1
    bne     \context, \scratch, \end
    csrr    \scratch, 0xcc2
    slli    \scratch, \scratch, 7
    lui     \context, %hi(hermes_contexts)
    addi    \context, \context, %lo(hermes_contexts)
    add     \context, \context, \scratch
    .endm

# All lanes: a0 is the result.
    .macro  result scratch
    csrr    \scratch, 0xcc2
    slli    \scratch, \scratch, 7
    lui     a0, %hi(hermes_contexts)
    add     a0, a0, \scratch
    lw      a0, %lo(hermes_contexts) + RESULT(a0)
    .endm

# Loads a word from the L2.
    .macro  peek rd, address
    amoor.w \rd, zero, (\address)
    .endm

# Waits until the word at \address is not 0: \value. Between two looks is a division, which takes only one turn of the core. Each 64th time the epoch is looked at too.
    .macro  await address, count, value, scratch, context, off
.Lpoll\@:
    peek    \value, \address
    bnez    \value, .Lend\@
    addi    \count, \count, 1
    andi    \scratch, \count, 63
    bnez    \scratch, .Lpause\@
    lw      \scratch, CONTROL(\context)
    addi    \scratch, \scratch, CONTROL_EPOCH
    peek    \scratch, \scratch
    lw      \value, EPOCH(\context)
    bne     \scratch, \value, \off
.Lpause\@:
    divu    \scratch, \count, \count
    bnez    \scratch, .Lpoll\@
.Lend\@:
    .endm

# The words of an entry that every command has as zero
    .macro  zeros entry
    sw      zero, STATUS(\entry)
    sw      zero, 56(\entry)
    sw      zero, 52(\entry)
    sw      zero, 48(\entry)
    sw      zero, 44(\entry)
    sw      zero, 40(\entry)
    sw      zero, 36(\entry)
    sw      zero, 32(\entry)
    .endm

# uint32_t hermes_ctx_create(hermes_ctx_t *ctx, uint32_t number)
    .text
    .balign 64
    .globl  hermes_ctx_create
    .type   hermes_ctx_create, @function
hermes_ctx_create:
    lead    8f, a5, t0
    csrr    t0, 0xcc5
    lw      t1, SLOTS_OF_CORE(t0)
    csrr    t2, 0xcc3
    mul     t1, t1, t2
    csrr    t2, 0xcc2
    add     t1, t1, t2                  # the queue
    lw      t2, AREA(t0)
    lw      a2, SLOTS(t0)
    slli    a2, a2, 12
    add     a2, a2, t2
    slli    a3, t1, 6
    add     a2, a2, a3                  # its control line
    slli    t1, t1, 12
    add     t2, t2, t1                  # its ring
    addi    a3, a2, CONTROL_EPOCH
    peek    a3, a3
    beqz    a3, 7f
    lw      t0, EPOCH(a5)
    bne     t0, a3, 1f
    lw      t0, RING(a5)
    bne     t0, t2, 1f
    lw      t0, CONTROL(a5)
    bne     t0, a2, 1f
    # The context of the warp before: its commands still count.
    sw      zero, RESULT(a5)
    j       8f
    # The first in this epoch: what is published is consumed first.
1:  addi    t0, a2, CONTROL_MODE
    peek    t0, t0
    addi    t0, t0, -MODE_STATUS
    bnez    t0, 7f
2:  peek    t0, a2                      # HEAD
    andi    t1, t0, ENTRIES - 1
    slli    t1, t1, 6
    add     t1, t1, t2
    peek    t1, t1
    srli    t1, t1, 8
    srli    a4, t0, 6
    xor     t1, t1, a4
    andi    t1, t1, 1
    bnez    t1, 2b
    sw      t0, WRITE(a5)
    sw      t0, HEAD(a5)
    sw      t0, FIRST(a5)
    sw      t0, FIRST + 4(a5)
    sw      t0, FIRST + 8(a5)
    addi    t0, a2, CONTROL_ERROR
    peek    t1, t0
    sw      t1, ERRORS(a5)
    addi    t0, t0, 4
    peek    t1, t0
    sw      t1, ERRORS + 4(a5)
    addi    t0, t0, 4
    peek    t1, t0
    sw      t1, ERRORS + 8(a5)
    sw      t2, RING(a5)
    sw      a2, CONTROL(a5)
    sw      a3, EPOCH(a5)
    sw      zero, RESULT(a5)
    j       8f
7:  sw      zero, EPOCH(a5)
    li      t0, ERROR_OFF
    sw      t0, RESULT(a5)
8:  sw      a1, 0(a0)
    result  t0
    ret
    .size   hermes_ctx_create, . - hermes_ctx_create

# uint32_t hermes_put(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint32_t pe)
# uint32_t hermes_put_nbi(the same)
    .balign 64
    .globl  hermes_put
    .type   hermes_put, @function
hermes_put:
    li      t0, 16
    bgeu    t0, a3, hermes_put_nbi
    li      a0, BLOCKING
    .globl  hermes_put_nbi
    .type   hermes_put_nbi, @function
hermes_put_nbi:
    lead    9f, a5, t0
    lw      t0, EPOCH(a5)
    beqz    t0, 8f
    # Word 0 in a4. A number that has no 12 bits is none of a node.
    li      t0, 0xfff
    bltu    a4, t0, 1f
    mv      a4, t0
1:  slli    a4, a4, 16
    slli    a0, a0, 12
    or      a4, a4, a0
    ori     a4, a4, PUT_WITH_STATUS
    # Room: HEAD is looked at again only when there is none.
2:  lw      t0, WRITE(a5)
    lw      t1, HEAD(a5)
    sub     t1, t0, t1
    li      t2, ENTRIES
    bltu    t1, t2, 3f
    lw      t1, CONTROL(a5)
    peek    t2, t1
    sw      t2, HEAD(a5)
    addi    t1, t1, CONTROL_EPOCH
    peek    t2, t1
    lw      t1, EPOCH(a5)
    bne     t1, t2, 8f
    j       2b
3:  addi    t1, t0, 1
    sw      t1, WRITE(a5)
    srli    t1, t0, 6                   # the lap
    andi    t1, t1, 1
    xori    t1, t1, 1
    slli    t1, t1, 8
    or      a4, a4, t1
    andi    t0, t0, ENTRIES - 1
    slli    t0, t0, 6
    lw      t2, RING(a5)
    add     t2, t2, t0                  # the entry
    li      t0, 16
    bltu    t0, a3, 6f
    # A short put: its bytes are words 4 to 7 of the entry, in t0, t1, a0 and a2.
    ori     a4, a4, COMMAND_INLINE
    li      t0, 0
    li      t1, 0
    li      a0, 0
    beqz    a3, 2f
    or      t0, a2, a3
    andi    t0, t0, 3
    bnez    t0, 4f
    lw      t0, 0(a2)
    addi    t1, a3, -4
    beqz    t1, 2f
    lw      t1, 4(a2)
    addi    a0, a3, -8
    beqz    a0, 2f
    lw      a0, 8(a2)
    addi    a3, a3, -12
    beqz    a3, 1f
    lw      a2, 12(a2)
    li      a3, 16
    j       3f
1:  li      a3, 12
2:  li      a2, 0
3:  zeros   t2
    sw      zero, 8(t2)
    sw      t0, 16(t2)
    sw      t1, 20(t2)
    sw      a0, 24(t2)
    sw      a2, 28(t2)
    j       7f
    # Single bytes, by way of the context
4:  sw      zero, INLINE(a5)
    sw      zero, INLINE + 4(a5)
    sw      zero, INLINE + 8(a5)
    sw      zero, INLINE + 12(a5)
    addi    t1, a5, INLINE
    add     a0, a2, a3                  # behind the last
5:  lbu     t0, 0(a2)
    sb      t0, 0(t1)
    addi    a2, a2, 1
    addi    t1, t1, 1
    bltu    a2, a0, 5b
    lw      t0, INLINE(a5)
    lw      t1, INLINE + 4(a5)
    lw      a0, INLINE + 8(a5)
    lw      a2, INLINE + 12(a5)
    j       3b
    # A long one: its bytes are performed before it is published.
6:  fence   rw, w
    zeros   t2
    sw      a2, 8(t2)
    sw      zero, 16(t2)
    sw      zero, 20(t2)
    sw      zero, 24(t2)
    sw      zero, 28(t2)
7:  sw      a1, 4(t2)
    sw      a3, 12(t2)
    sw      a4, 0(t2)
    sw      zero, RESULT(a5)
    srli    t0, a4, 12
    andi    t0, t0, 3
    addi    t0, t0, -BLOCKING
    bnez    t0, 9f
    addi    t2, t2, STATUS
    li      t1, 0
    await   t2, t1, t0, a0, a5, 8f
    andi    t0, t0, 0xff
    addi    t1, t0, -DONE
    beqz    t1, 9f
    sw      t0, RESULT(a5)
    j       9f
8:  li      t0, ERROR_OFF
    sw      t0, RESULT(a5)
9:  result  t0
    ret
    .size   hermes_put_nbi, . - hermes_put_nbi
    .size   hermes_put, . - hermes_put

# uint32_t hermes_quiet(hermes_ctx_t ctx)
    .balign 64
    .globl  hermes_quiet
    .type   hermes_quiet, @function
hermes_quiet:
    lead    9f, a5, t0
    lw      t0, EPOCH(a5)
    beqz    t0, 8f
    slli    t0, a0, 2
    add     t0, t0, a5
    lw      a1, FIRST(t0)
    lw      a2, WRITE(a5)
    sw      a2, FIRST(t0)
    # What was overwritten is complete.
    sub     t0, a2, a1
    li      t1, ENTRIES
    bgeu    t1, t0, 1f
    addi    a1, a2, -ENTRIES
1:  beq     a1, a2, 3f
    andi    t0, a1, ENTRIES - 1
    slli    t0, t0, 6
    lw      a3, RING(a5)
    add     a3, a3, t0
    peek    t0, a3
    srli    t0, t0, 12
    andi    t0, t0, 3
    bne     t0, a0, 2f
    addi    a3, a3, STATUS
    li      t1, 0
    await   a3, t1, t0, t2, a5, 8f
2:  addi    a1, a1, 1
    j       1b
    # Errors since the last call
3:  lw      t0, CONTROL(a5)
    slli    a0, a0, 2
    add     t0, t0, a0
    addi    t0, t0, CONTROL_ERROR
    peek    t1, t0
    add     a0, a0, a5
    lw      t0, ERRORS(a0)
    sw      t1, ERRORS(a0)
    sw      zero, RESULT(a5)
    beq     t0, t1, 9f
    andi    t1, t1, 0xff
    sw      t1, RESULT(a5)
    j       9f
8:  li      t0, ERROR_OFF
    sw      t0, RESULT(a5)
9:  result  t0
    ret
    .size   hermes_quiet, . - hermes_quiet

# uint32_t hermes_wait_until32(const volatile uint32_t *word, uint32_t comparison, uint32_t value)
    .balign 64
    .globl  hermes_wait_until32
    .type   hermes_wait_until32, @function
hermes_wait_until32:
    lead    9f, a5, t0
    # What is looked for, a bit each: equal, above, below. From GT on that is the number of the comparison.
    li      t0, 2
    bgeu    a1, t0, 1f
    li      t0, 5
    neg     a1, a1
    and     a1, a1, t0
    addi    a1, a1, 1                   # EQ: 1, NE: 6
1:  peek    t0, a0
    sltu    t1, a2, t0
    sltu    t2, t0, a2
    slli    t2, t2, 1
    or      t1, t1, t2
    srl     t1, a1, t1
    andi    t1, t1, 1
    beqz    t1, 1b
    sw      t0, RESULT(a5)
    fence   r, rw
9:  result  t0
    ret
    .size   hermes_wait_until32, . - hermes_wait_until32
