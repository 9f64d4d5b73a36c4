# The library of hermes_shmem.h, for kernels with 16 and with 32 registers. docs/shmem.md has the layouts.
#
# Every function is called by the running lanes of a warp. The lowest of them acts; the others go to the end of the function at once and wait there, since paths at
# lower addresses come first: so all that the acting lane executes stands before that end. No function uses the stack. What the acting lane finds goes to the
# others through the context of the warp slot.

    .option arch, +a
    .option norelax

# The context of a warp slot, 128 bytes of scratchpad from the link symbol hermes_contexts (kernel.ld) on, a multiple of 128. It outlives the warps.
    .equ    CONTEXT_BYTES, 128
    .equ    NEXT, 0             # 31:6 the entry that is written next, 5:0 how many may be before room is looked for again. 0 of them: no other bit counts
    .equ    LIMIT, 4            # commands that will have been published then
    .equ    EPOCH, 8            # the epoch for which the context is right; 0: the queue is off
    .equ    CONTROL, 12         # addresses
    .equ    RING, 16
    .equ    RESULT, 20          # what the function gives
    .equ    WANTED, 24          # the bit "status wanted" of word 0, if commands are completed by their status; else 0
    .equ    CODE, 28            # of the last call that gives a value
# What a hermes_ctx_t names: a record for each of the contexts 0 to 3
    .equ    RECORDS, 32
    .equ    RECORD_BYTES, 16
    .equ    COMMAND, 0          # word 0 of a short put in this lap, without the node
    .equ    ISSUED, 4           # commands that were published
    .equ    ERRORS, 8           # the word of the control line that was seen last
    .equ    FIRST, 12           # completion by status: the oldest command that no quiet has waited for
    .equ    INLINE, 96          # sixteen bytes of a put
    .equ    RESULT_HIGH, INLINE # a result of 64 bits: bits 63:32, written when those bytes are no more needed
    .equ    SAVED, 112          # registers, three
    .equ    GOT, 124            # a bit for each record, of bits 8:4 of its address: a get was published since the last quiet

# The queues
    .equ    ENTRIES, 64
    .equ    ENTRY_BYTES, 64
    .equ    CONTROL_EPOCH, 4
    .equ    CONTROL_MODE, 8
    .equ    CONTROL_DONE, 16
    .equ    CONTROL_VALUE, 32
    .equ    CONTROL_ERROR, 48
    .equ    MODE_STATUS, 1
    .equ    STATUS, 60
    .equ    COMMAND_PUT, 1
    .equ    COMMAND_PHASE, 1 << 8
    .equ    COMMAND_WANTED_SHIFT, 9
    .equ    COMMAND_INLINE, 1 << 10
    .equ    COMMAND_CONTEXT, 1 << 12
    .equ    BLOCKING, 3         # the context of calls that wait
    .equ    ERROR_OPERATION, 0x80
    .equ    ERROR_OFF, 0x88
# What is other in word 0 of a command than in that of a short put. Operands of atomic operations count as bytes that stand in the command.
    .equ    CHANGE_GET, 3 | COMMAND_INLINE
    .equ    CHANGE_GET_INLINE, 3
    .equ    CHANGE_FETCH_ADD, 5
    .equ    CHANGE_COMPARE_SWAP, 4

# hermes_arguments
    .equ    AREA, 0
    .equ    SLOTS, 16
    .equ    SLOTS_OF_CORE, 24

# The acting lane goes on, others go to \end.
    .macro  lead end, scratch, other
    csrr    \scratch, 0xccb
    csrr    \other, 0xcc1
    bne     \scratch, \other, \end
    .endm

# The context of the warp slot
    .macro  find_context rd, scratch
    csrr    \scratch, 0xcc2
    slli    \scratch, \scratch, 7
    lui     \rd, %hi(hermes_contexts)
    addi    \rd, \rd, %lo(hermes_contexts)
    add     \rd, \rd, \scratch
    .endm

# All lanes: a0 is the result.
    .macro  result scratch
    find_context a0, \scratch
    lw      a0, RESULT(a0)
    .endm

# All lanes: a0 and a1 are the result.
    .macro  result64 scratch
    find_context a1, \scratch
    lw      a0, RESULT(a1)
    lw      a1, RESULT_HIGH(a1)
    .endm

# Loads a word from the L2.
    .macro  peek rd, address
    amoor.w \rd, zero, (\address)
    .endm

# Between two looks: a division, which takes only one turn of the core; then on at \again. Each 64th time the epoch is looked at too.
    .macro  look_again again, count, scratch, other, context, off
    addi    \count, \count, 1
    andi    \scratch, \count, 63
    bnez    \scratch, .Lpause\@
    lw      \scratch, CONTROL(\context)
    addi    \scratch, \scratch, CONTROL_EPOCH
    peek    \scratch, \scratch
    lw      \other, EPOCH(\context)
    bne     \scratch, \other, \off
.Lpause\@:
    divu    \scratch, \count, \count
    bnez    \scratch, \again
    .endm

# The words that every command has as zero, of the entry \behind bytes before \entry
    .macro  zeros entry, behind=0
    sw      zero, STATUS - \behind(\entry)
    sw      zero, 56 - \behind(\entry)
    sw      zero, 52 - \behind(\entry)
    sw      zero, 48 - \behind(\entry)
    sw      zero, 44 - \behind(\entry)
    sw      zero, 40 - \behind(\entry)
    sw      zero, 36 - \behind(\entry)
    sw      zero, 32 - \behind(\entry)
    .endm

# The entry that is written next is t0, and the node in a4 becomes its word 0. a0: the record, a5: the context. Changes t1 and t2.
    .macro  reserve
    lw      t0, NEXT(a5)
    andi    t1, t0, ENTRIES - 1
    bnez    t1, .Lroom\@
    jal     t2, make_room
.Lroom\@:
    lw      t1, COMMAND(a0)
    lw      t2, ISSUED(a0)
    xor     a4, a4, t1
    addi    t2, t2, 1
    sw      t2, ISSUED(a0)
    addi    t1, t0, ENTRY_BYTES - 1
    sw      t1, NEXT(a5)
    andi    t0, t0, -ENTRY_BYTES
    .endm

# The node of word 0. A number that has no 12 bits is none of a node.
    .macro  node_bits rd, scratch
    li      \scratch, 0xfff
    minu    \rd, \rd, \scratch
    slli    \rd, \rd, 16
    .endm

# Writes an entry whose words 4 to 7 are t1, t2, a0 and a2, and publishes it. a1: target, a3: bytes, a4: word 0.
    .macro  write_short
    zeros   t0
    sw      zero, 8(t0)
    sw      t1, 16(t0)
    sw      t2, 20(t0)
    sw      a0, 24(t0)
    sw      a2, 28(t0)
    sw      a1, 4(t0)
    sw      a3, 12(t0)
    sw      a4, 0(t0)
    .endm

# What is looked for, a bit each: equal, above, below. From GT on that is the number of the comparison.
    .macro  wanted_bits rd, scratch
    li      \scratch, 2
    bgeu    \rd, \scratch, .Lbits\@
    li      \scratch, 5
    neg     \rd, \rd
    and     \rd, \rd, \scratch
    addi    \rd, \rd, 1                 # EQ: 1, NE: 6
.Lbits\@:
    .endm

# Whether \word compares so with \value
    .macro  compare rd, word, bits, value, scratch
    sltu    \rd, \value, \word
    sltu    \scratch, \word, \value
    slli    \scratch, \scratch, 1
    or      \rd, \rd, \scratch
    srl     \rd, \bits, \rd
    andi    \rd, \rd, 1
    .endm

# uint32_t hermes_ctx_create(hermes_ctx_t *ctx, uint32_t number)
    .text
    .balign 64
    .globl  hermes_ctx_create
    .type   hermes_ctx_create, @function
hermes_ctx_create:
    lead    8f, t0, t1
    find_context a5, t0
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
    # The first in this epoch: what was published is complete first.
1:  sw      t2, RING(a5)
    sw      a2, CONTROL(a5)
    addi    t0, a2, CONTROL_MODE
    peek    t0, t0
    li      t1, MODE_STATUS
    bltu    t1, t0, 7f
    slli    t0, t0, COMMAND_WANTED_SHIFT
    sw      t0, WANTED(a5)
2:  addi    t0, a2, CONTROL_EPOCH
    peek    t0, t0
    bne     t0, a3, 7f
    peek    t0, a2                      # HEAD
    andi    t1, t0, ENTRIES - 1
    slli    t1, t1, 6
    lw      t2, RING(a5)
    add     t1, t1, t2
    peek    t1, t1
    srli    t1, t1, 8
    srli    t2, t0, 6
    xor     t1, t1, t2
    andi    t1, t1, 1
    bnez    t1, 2b                      # it is published
    mv      a4, t0                      # HEAD - DONE of all: how many are under way, modulo 2^16
    .irp    n, 0, 1, 2, 3
    addi    t1, a2, CONTROL_DONE + 4 * \n
    peek    t1, t1
    sw      t1, RECORDS + \n * RECORD_BYTES + ISSUED(a5)
    sub     a4, a4, t1
    .endr
    slli    a4, a4, 16
    lw      t1, WANTED(a5)              # then HEAD counts what is complete
    seqz    t1, t1
    neg     t1, t1
    and     a4, a4, t1
    bnez    a4, 2b
    sw      t0, LIMIT(a5)
    sw      zero, NEXT(a5)
    sw      zero, GOT(a5)
    .irp    n, 0, 1, 2, 3
    sw      t0, RECORDS + \n * RECORD_BYTES + FIRST(a5)
    addi    t1, a2, CONTROL_ERROR + 4 * \n
    peek    t1, t1
    sw      t1, RECORDS + \n * RECORD_BYTES + ERRORS(a5)
    .endr
    sw      a3, EPOCH(a5)
    sw      zero, RESULT(a5)
    j       8f
7:  sw      zero, EPOCH(a5)
    sw      zero, NEXT(a5)
    li      t0, ERROR_OFF
    sw      t0, RESULT(a5)
8:  find_context t1, t0
    andi    a1, a1, 3
    slli    a1, a1, 4
    add     a1, a1, t1
    addi    a1, a1, RECORDS
    sw      a1, 0(a0)
    lw      a0, RESULT(t1)
    ret
    .size   hermes_ctx_create, . - hermes_ctx_create

# uint32_t hermes_wait_until32(const volatile uint32_t *word, uint32_t comparison, uint32_t value)
    .balign 64
    .globl  hermes_wait_until32
    .type   hermes_wait_until32, @function
hermes_wait_until32:
    lead    9f, t0, t1
    find_context a5, t0
    wanted_bits a1, t0
1:  peek    t0, a0
    compare t1, t0, a1, a2, t2
    beqz    t1, 1b
    sw      t0, RESULT(a5)
    fence   r, rw
9:  result  t0
    ret
    .size   hermes_wait_until32, . - hermes_wait_until32

# uint64_t hermes_wait_until64(const volatile uint64_t *word, uint32_t comparison, uint64_t value)
    .balign 64
    .globl  hermes_wait_until64
    .type   hermes_wait_until64, @function
hermes_wait_until64:
    lead    9f, t0, t1
    wanted_bits a1, t0
    # Its high word did not change while the low one was read.
1:  addi    a4, a0, 4
    peek    t0, a4
    peek    t1, a0
    peek    t2, a4
    bne     t0, t2, 1b
    xor     t2, t0, a3
    seqz    t2, t2                      # then the low words say it
    sltu    a5, a2, t1
    sltu    a4, t1, a2
    and     a5, a5, t2
    and     a4, a4, t2
    sltu    t2, a3, t0
    or      a5, a5, t2                  # above
    sltu    t2, t0, a3
    or      a4, a4, t2                  # below
    slli    a4, a4, 1
    or      a4, a4, a5
    srl     a4, a1, a4
    andi    a4, a4, 1
    beqz    a4, 1b
    find_context a5, a4
    sw      t1, RESULT(a5)
    sw      t0, RESULT_HIGH(a5)
    fence   r, rw
9:  result64 t0
    ret
    .size   hermes_wait_until64, . - hermes_wait_until64

# uint32_t hermes_test32(const volatile uint32_t *word, uint32_t comparison, uint32_t value)
    .balign 64
    .globl  hermes_test32
    .type   hermes_test32, @function
hermes_test32:
    lead    9f, t0, t1
    find_context a5, t0
    wanted_bits a1, t0
    peek    t0, a0
    compare t1, t0, a1, a2, t2
    sw      t1, RESULT(a5)
    fence   r, rw
9:  result  t0
    ret
    .size   hermes_test32, . - hermes_test32

# uint32_t hermes_quiet(hermes_ctx_t ctx)
    .balign 64
    .globl  hermes_quiet
    .type   hermes_quiet, @function
hermes_quiet:
    lead    put_end_slow, t0, t1
    andi    a5, a0, -CONTEXT_BYTES
quiet:
    lw      t0, EPOCH(a5)
    beqz    t0, off
    andi    a1, a0, CONTEXT_BYTES - 1
    srli    a1, a1, 2
    lw      t0, CONTROL(a5)
    add     a1, a1, t0
    addi    a1, a1, -RECORDS / 4        # the control line, and a word for each context before this one
    lw      t0, WANTED(a5)
    bnez    t0, 2f
    # DONE = ISSUED, modulo 2^16
    addi    a2, a1, CONTROL_DONE
    lw      a3, ISSUED(a0)
    li      t1, 0
1:  peek    t0, a2
    sub     t0, t0, a3
    slli    t0, t0, 16
    beqz    t0, 6f
    look_again 1b, t1, t2, t0, a5, off
    # The status of each command. What was overwritten is complete.
2:  lw      t0, NEXT(a5)
    andi    t0, t0, ENTRIES - 1
    lw      a3, LIMIT(a5)
    sub     a3, a3, t0                  # commands that were published
    lw      a2, FIRST(a0)
    sw      a3, FIRST(a0)
    sub     t0, a3, a2
    li      t1, ENTRIES
    bgeu    t1, t0, 3f
    addi    a2, a3, -ENTRIES
3:  beq     a2, a3, 6f
    andi    t0, a2, ENTRIES - 1
    slli    t0, t0, 6
    lw      a4, RING(a5)
    add     a4, a4, t0
    peek    t0, a4
    lw      t1, COMMAND(a0)
    xor     t0, t0, t1
    srli    t0, t0, 12
    andi    t0, t0, 3
    bnez    t0, 5f                      # of another context
    addi    a4, a4, STATUS
    li      t1, 0
4:  peek    t0, a4
    bnez    t0, 5f
    look_again 4b, t1, t2, t0, a5, off
5:  addi    a2, a2, 1
    j       3b
    # What was got is seen by loads.
6:  lw      t0, GOT(a5)
    srli    t2, a0, 4
    li      t1, 1
    sll     t1, t1, t2
    and     t1, t1, t0
    beqz    t1, 7f
    xor     t0, t0, t1
    sw      t0, GOT(a5)
    fence   r, rw
    # Errors since the last call
7:  addi    a1, a1, CONTROL_ERROR
    peek    t1, a1
    lw      t0, ERRORS(a0)
    sw      t1, ERRORS(a0)
    sub     t0, t0, t1
    snez    t0, t0
    neg     t0, t0
    andi    t1, t1, 0xff
    and     t1, t1, t0
    sw      t1, RESULT(a5)
    j       put_end_slow
    .size   hermes_quiet, . - hermes_quiet

off:
    li      t0, ERROR_OFF
    sw      t0, RESULT(a5)
    sw      t0, CODE(a5)
    j       put_end_slow

# Room for commands, of which there is none: t0 is NEXT. Changes t1 and t2.
make_room:
    sw      t2, SAVED(a5)
    # Room: HEAD is looked at once a lap, or when there is none.
1:  lw      t1, CONTROL(a5)
    addi    t2, t1, CONTROL_EPOCH
    peek    t2, t2
    lw      t0, EPOCH(a5)
    bne     t0, t2, off
    peek    t1, t1                      # HEAD
    lw      t0, LIMIT(a5)               # commands that were published
    sub     t1, t1, t0
    addi    t1, t1, ENTRIES             # room
    bnez    t1, 2f
    li      t1, 1
    divu    t1, t1, t1
    bnez    t1, 1b
    # As many as there is room, at most to the end of the lap, and 63
2:  andi    t2, t0, ENTRIES - 1
    xori    t2, t2, ENTRIES - 1
    addi    t2, t2, 1
    minu    t1, t1, t2
    li      t2, ENTRIES - 1
    minu    t1, t1, t2
    add     t2, t0, t1
    sw      t2, LIMIT(a5)
    andi    t2, t0, ENTRIES - 1
    slli    t2, t2, 6
    add     t1, t1, t2
    lw      t2, RING(a5)
    add     t1, t1, t2
    sw      t1, NEXT(a5)
    # Word 0 of the lap
    slli    t0, t0, 2
    andi    t0, t0, COMMAND_PHASE
    xori    t0, t0, COMMAND_PUT | COMMAND_PHASE | COMMAND_INLINE
    lw      t2, WANTED(a5)
    or      t0, t0, t2
    li      t2, COMMAND_CONTEXT
    sw      t0, RECORDS + COMMAND(a5)
    add     t0, t0, t2
    sw      t0, RECORDS + RECORD_BYTES + COMMAND(a5)
    add     t0, t0, t2
    sw      t0, RECORDS + 2 * RECORD_BYTES + COMMAND(a5)
    add     t0, t0, t2
    sw      t0, RECORDS + 3 * RECORD_BYTES + COMMAND(a5)
    mv      t0, t1
    lw      t2, SAVED(a5)
    jr      t2

# uint32_t hermes_get(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint32_t pe)
# uint32_t hermes_get_nbi(the same)
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

# Calls that give a value: VALUE of the control line, behind a command of the context of calls that wait. Only hardware writes it.
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

# uint64_t hermes_get_value(hermes_ctx_t ctx, const void *source, uint32_t bytes, uint32_t pe)
    .balign 64
    .globl  hermes_get_value
    .type   hermes_get_value, @function
hermes_get_value:
    lead    put_end_slow, t0, t1
    value_context
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
    lw      t0, CONTROL(a5)
    lw      a3, ISSUED(a0)
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
    beq     t0, t1, put_end_slow
    andi    t0, t1, 0xff
3:  sw      t0, CODE(a5)
    sw      t0, RESULT(a5)
    sw      zero, RESULT_HIGH(a5)
    j       put_end_slow
no_value:
    bnez    t1, 4f
    j       off
4:  li      t0, ERROR_OPERATION
    j       3b
    .size   hermes_get_value, . - hermes_get_value

# uint64_t hermes_fetch_add64(hermes_ctx_t ctx, uint64_t *target, uint64_t operand, uint32_t pe)
    .balign 64
    .globl  hermes_fetch_add64
    .type   hermes_fetch_add64, @function
hermes_fetch_add64:
    lead    put_end_slow, t0, t1
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

# uint64_t hermes_compare_swap64_at(uint64_t *target, uint32_t pe, uint64_t expected, uint64_t value): without the context, which has no register of 16.
    .balign 64
    .globl  hermes_compare_swap64_at
    .type   hermes_compare_swap64_at, @function
hermes_compare_swap64_at:
    lead    put_end_slow, t0, t1
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

# All puts that do not go the shortest way, below. a0: the record of the context.
    .balign 64
put_slow:
    andi    a5, a0, -CONTEXT_BYTES
    lw      t0, EPOCH(a5)
    beqz    t0, off
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
    # One that is not in words: shifted, by way of the context. What is read lies in the words of its bytes.
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
    sw      a4, 0(t0)
    sw      zero, RESULT(a5)
    andi    t0, a0, CONTEXT_BYTES - 1
    addi    t0, t0, -(RECORDS + BLOCKING * RECORD_BYTES)
    bnez    t0, put_end_slow
    # One that waits: it is the only one of its context.
    lw      t0, NEXT(a5)
    andi    t0, t0, ENTRIES - 1
    lw      t1, LIMIT(a5)
    sub     t1, t1, t0
    addi    t1, t1, -1
    sw      t1, FIRST(a0)
    j       quiet

# uint32_t hermes_put(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint32_t pe)
# uint32_t hermes_put_nbi(the same)
    .balign 64
    .globl  hermes_put
    .type   hermes_put, @function
hermes_put:
    li      t0, 16
    bgeu    t0, a3, hermes_put_nbi
    andi    a0, a0, -CONTEXT_BYTES
    addi    a0, a0, RECORDS + BLOCKING * RECORD_BYTES
    # Each branch takes seven cycles, each load and what waits for it a dozen. So a put of four or eight bytes from words has two branches, that of the acting lane
    # and that to put_slow, and stores behind all loads.
    .globl  hermes_put_nbi
    .type   hermes_put_nbi, @function
hermes_put_nbi:
    csrr    t1, 0xccb
    csrr    t2, 0xcc1
    sub     t2, t2, t1                  # 0: the acting lane
    addi    t1, a3, -4
    andi    t1, t1, ~4
    andi    t0, a2, 3
    or      t1, t1, t0
    srli    t0, a4, 12
    or      t1, t1, t0
    snez    t1, t1
    slli    t1, t1, 6                   # not less than the number in NEXT: another put than that
    andi    a5, a0, -CONTEXT_BYTES
    lw      t0, NEXT(a5)
    bnez    t2, put_end
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
    andi    a5, a0, -CONTEXT_BYTES
    addi    t0, t0, ENTRY_BYTES - 1
    addi    t1, t1, 1
    sw      t1, ISSUED(a0)
    sw      t0, NEXT(a5)
    andi    t0, t0, -ENTRY_BYTES        # behind the entry
    zeros   t0, ENTRY_BYTES
    sw      zero, 8 - ENTRY_BYTES(t0)
    sw      a2, 16 - ENTRY_BYTES(t0)
    sw      t2, 20 - ENTRY_BYTES(t0)
    sw      zero, 24 - ENTRY_BYTES(t0)
    sw      zero, 28 - ENTRY_BYTES(t0)
    sw      a1, 4 - ENTRY_BYTES(t0)
    sw      a3, 12 - ENTRY_BYTES(t0)
    sw      a4, -ENTRY_BYTES(t0)
    li      t0, 1
    li      t1, 0
    # All lanes: as the branch above.
put_end:
    andi    t2, t0, ENTRIES - 1
    bgeu    t1, t2, put_end_slow
    li      a0, 0
    ret
put_end_slow:
    result64 t0
    ret
    .size   hermes_put_nbi, . - hermes_put_nbi
    .size   hermes_put, . - hermes_put
