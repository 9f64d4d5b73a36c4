# The calls of hermes_shmem.h that look at words which others put.

    .include "hermes_context.inc"

# What is looked for, a bit each: equal, above, below. From GT on that is the number of the
# comparison.
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

# 64 bits at a0 are in t0, their high word, and t1; whether they compare so with a2 and a3 is a4.
# a1: what is looked for. Changes a5 and t2.
    .macro  look64
    # The high word did not change while the low one was read.
.Lagain\@:
    addi    a4, a0, 4
    peek    t0, a4
    peek    t1, a0
    peek    t2, a4
    bne     t0, t2, .Lagain\@
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
    .endm

# uint32_t hermes_wait_until32(const volatile uint32_t *word, uint32_t comparison, uint32_t value)
    .text
    .balign 64
    .globl  hermes_wait_until32
    .type   hermes_wait_until32, @function
hermes_wait_until32:
    lead    9f, t0, t1
    find_context a5, t0
    presume HERMES_ERROR_LOCAL_RANGE, t0
    wanted_bits a1, t0
1:  peek    t0, a0
    compare t1, t0, a1, a2, t2
    bnez    t1, 2f
    sleep
    j       1b
2:  sw      t0, RESULT(a5)
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
    find_context a5, t0
    presume HERMES_ERROR_LOCAL_RANGE, t0
    sw      zero, RESULT_HIGH(a5)
    wanted_bits a1, t0
1:  look64
    bnez    a4, 2f
    sleep
    j       1b
2:  find_context a5, a4
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
    sw      zero, RESULT(a5)
    wanted_bits a1, t0
    peek    t0, a0
    compare t1, t0, a1, a2, t2
    beqz    t1, 9f
    sw      t1, RESULT(a5)
    fence   r, rw
9:  result  t0
    ret
    .size   hermes_test32, . - hermes_test32

# uint32_t hermes_test64(const volatile uint64_t *word, uint32_t comparison, uint64_t value)
    .balign 64
    .globl  hermes_test64
    .type   hermes_test64, @function
hermes_test64:
    lead    9f, t0, t1
    find_context a5, t0
    sw      zero, RESULT(a5)
    wanted_bits a1, t0
    look64
    beqz    a4, 9f
    find_context a5, t0
    sw      a4, RESULT(a5)
    fence   r, rw
9:  result  t0
    ret
    .size   hermes_test64, . - hermes_test64
