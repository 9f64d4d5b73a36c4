/* Puts, gets and atomic operations on the memories of other nodes for packet kernels in C, after
 * OpenSHMEM and ComP-Net (docs/shmem.md).
 *
 * All functions but my_pe and n_pes are called by the running lanes of a warp together, with the
 * same arguments: the lowest of them acts, and all return together, with the same value. Kernels
 * need cores with atomic instructions and a network interface. */
#ifndef HERMES_SHMEM_H
#define HERMES_SHMEM_H

#include <stdint.h>

/* What the host tells: the first words of the kernel's argument block. The kernel's own follow. */
struct hermes_arguments {
    uint32_t area;           /* the queue area: rings, control lines, heap */
    uint32_t heap;           /* the symmetric heap: at the same address on every node */
    uint32_t my_pe;          /* number of this node */
    uint32_t n_pes;          /* number of nodes */
    uint32_t slots;          /* warp slots that have a queue, a power of two */
    uint32_t heap_bytes;
    uint32_t slots_of_core;  /* warp slots of a core */
    uint32_t zero;
    uint32_t own[];
};

/* A context: commands that are waited for together. Each warp slot has three. What
 * hermes_ctx_create gives is for this warp slot only. */
typedef uint32_t hermes_ctx_t;
#define HERMES_CTX_DEFAULT 0u /* its number */

/* Codes beside those of commands: 0 is success. */
#define HERMES_ERROR_OPERATION 0x80u     /* a call that gives a value of another node, in mode paper */
#define HERMES_ERROR_LOCAL_RANGE 0x82u   /* the bytes here are not in the heap, or may not be read */
#define HERMES_ERROR_REMOTE_RANGE 0x83u  /* those there are not */
#define HERMES_ERROR_LENGTH 0x84u        /* none, or more than 2^30 */
#define HERMES_ERROR_ALIGNMENT 0x85u     /* an address that is no multiple of 8 */
#define HERMES_ERROR_OFF 0x88u           /* the queue is not switched on */
#define HERMES_ERROR_CONTEXT 0x8bu       /* there is no such context */

/* The argument block of the host. */
static inline const struct hermes_arguments *hermes_arguments(void)
{
    const struct hermes_arguments *block;
    __asm__("csrr %0, 0xcc5" : "=r"(block));
    return block;
}
static inline uint32_t hermes_my_pe(void) { return hermes_arguments()->my_pe; }
static inline uint32_t hermes_n_pes(void) { return hermes_arguments()->n_pes; }

/* Gives context `number`, 0 to 2, of the queue of this warp. Every warp begins with it. 0,
 * HERMES_ERROR_OFF, or HERMES_ERROR_CONTEXT for another number: then `ctx` stays as it is. */
uint32_t hermes_ctx_create(hermes_ctx_t *ctx, uint32_t number);

/* Copies `bytes` bytes, 1 to 2^30, from `source` to `target`, a symmetric address, of node `pe`. Up
 * to 16 bytes may stand anywhere; more stand in the heap. Errors of what is not waited for are told
 * by hermes_quiet. put returns when the source may change: at once for 16 bytes or less; else when
 * the bytes are visible there, with 0 or the code of the error. put_nbi returns at once: more than
 * 16 bytes may change behind hermes_quiet. 0 or HERMES_ERROR_OFF. */
uint32_t hermes_put(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint32_t pe);
uint32_t hermes_put_nbi(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint32_t pe);

/* A put of 1 to 16 bytes that is written to the queue, and published later by a store or two:
 * hermes_put_fire, or with another word as its bytes 0 to 3 hermes_put_fire_value. The running
 * lanes fire together. A queue has one such put at a time: it is gone with the next call but quiet
 * that commands in any context of the warp, which takes its place, and with the end of the warp;
 * only what was fired counts. 0, or a code, and then it must not be fired. */
struct hermes_prepared {
    volatile uint32_t *entry; /* in the ring */
    uint32_t command;         /* its word 0 */
};
uint64_t hermes_put_prepare_at(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint32_t pe);
static inline uint32_t hermes_put_prepare(hermes_ctx_t ctx, struct hermes_prepared *prepared, void *target, const void *source, uint32_t bytes, uint32_t pe)
{
    uint64_t both = hermes_put_prepare_at(ctx, target, source, bytes, pe);
    prepared->entry = (volatile uint32_t *)(uint32_t)both;
    prepared->command = (uint32_t)(both >> 32);
    return prepared->command ? 0 : (uint32_t)both;
}
static inline void hermes_put_fire(struct hermes_prepared prepared)
{
    prepared.entry[0] = prepared.command;
}
static inline void hermes_put_fire_value(struct hermes_prepared prepared, uint32_t value)
{
    prepared.entry[4] = value;
    prepared.entry[0] = prepared.command;
}

/* A put of this value. Returns at once. */
static inline uint32_t hermes_p8(hermes_ctx_t ctx, uint8_t *target, uint8_t value, uint32_t pe)
{
    return hermes_put_nbi(ctx, target, &value, sizeof value, pe);
}
/* The shortest way: the value goes from registers to the command. */
uint32_t hermes_p32(hermes_ctx_t ctx, uint32_t *target, uint32_t value, uint32_t pe);
uint32_t hermes_p64(hermes_ctx_t ctx, uint64_t *target, uint64_t value, uint32_t pe);

/* Copies `bytes` bytes, 1 to 2^30, from `source`, a symmetric address, of node `pe` to `target` in
 * the heap. It sees what this warp put there before. get returns when the bytes are here, with 0 or
 * the code of the error; get_nbi returns at once, and they are here behind hermes_quiet. */
uint32_t hermes_get(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint32_t pe);
uint32_t hermes_get_nbi(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint32_t pe);

/* Calls that give a value of another node wait for it. In mode queues only. hermes_value_code tells
 * how the last such call of the warp ended: 0, or the code of the error, which was its value
 * then. */
static inline uint32_t hermes_value_code(hermes_ctx_t ctx)
{
    return *(const volatile uint32_t *)((ctx & -128u) + 28); /* CODE of hermes_context.inc */
}
uint64_t hermes_get_value(hermes_ctx_t ctx, const void *source, uint32_t bytes, uint32_t pe); /* 1 to 8 bytes */
static inline uint8_t hermes_g8(hermes_ctx_t ctx, const uint8_t *source, uint32_t pe)
{
    return (uint8_t)hermes_get_value(ctx, source, sizeof *source, pe);
}
static inline uint32_t hermes_g32(hermes_ctx_t ctx, const uint32_t *source, uint32_t pe)
{
    return (uint32_t)hermes_get_value(ctx, source, sizeof *source, pe);
}
static inline uint64_t hermes_g64(hermes_ctx_t ctx, const uint64_t *source, uint32_t pe)
{
    return hermes_get_value(ctx, source, sizeof *source, pe);
}

/* Atomic operations on 64 bits of node `pe`, at a multiple of 8. add and set return at once, with 0
 * or HERMES_ERROR_OFF; the others give what was there. */
uint32_t hermes_add64(hermes_ctx_t ctx, uint64_t *target, uint64_t operand, uint32_t pe);
uint64_t hermes_fetch_add64(hermes_ctx_t ctx, uint64_t *target, uint64_t operand, uint32_t pe);
uint64_t hermes_compare_swap64_at(uint64_t *target, uint32_t pe, uint64_t expected, uint64_t value);
/* Writes `value` if `expected` is there. */
static inline uint64_t hermes_compare_swap64(hermes_ctx_t ctx, uint64_t *target, uint64_t expected, uint64_t value, uint32_t pe)
{
    (void)ctx;
    return hermes_compare_swap64_at(target, pe, expected, value);
}
static inline uint64_t hermes_fetch64(hermes_ctx_t ctx, const uint64_t *source, uint32_t pe)
{
    return hermes_fetch_add64(ctx, (uint64_t *)source, 0, pe);
}
static inline uint32_t hermes_set64(hermes_ctx_t ctx, uint64_t *target, uint64_t value, uint32_t pe)
{
    if ((uint32_t)target & 7)
        return HERMES_ERROR_ALIGNMENT;
    return hermes_p64(ctx, target, value, pe);
}

/* The others are loops of compare-swap: (there & keep) ^ change is written, the bits of `keep`
 * kept. */
static inline uint64_t hermes_fetch_change64(hermes_ctx_t ctx, uint64_t *target, uint64_t keep, uint64_t change, uint32_t pe)
{
    uint64_t there = hermes_fetch64(ctx, target, pe);
    while (!hermes_value_code(ctx)) {
        uint64_t seen = hermes_compare_swap64(ctx, target, there, (there & keep) ^ change, pe);
        if (seen == there)
            break;
        there = seen;
    }
    return there;
}
static inline uint64_t hermes_swap64(hermes_ctx_t ctx, uint64_t *target, uint64_t value, uint32_t pe)
{
    return hermes_fetch_change64(ctx, target, 0, value, pe);
}
static inline uint64_t hermes_fetch_and64(hermes_ctx_t ctx, uint64_t *target, uint64_t mask, uint32_t pe)
{
    return hermes_fetch_change64(ctx, target, mask, 0, pe);
}
static inline uint64_t hermes_fetch_or64(hermes_ctx_t ctx, uint64_t *target, uint64_t bits, uint32_t pe)
{
    return hermes_fetch_change64(ctx, target, ~bits, bits, pe);
}
static inline uint64_t hermes_fetch_xor64(hermes_ctx_t ctx, uint64_t *target, uint64_t bits, uint32_t pe)
{
    return hermes_fetch_change64(ctx, target, ~0ull, bits, pe);
}

/* On 32 bits, at a multiple of 4: loops of compare-swap on the 64 bits that hold them. */
static inline uint32_t hermes_fetch_change32(hermes_ctx_t ctx, uint32_t *target, uint32_t keep, uint32_t change, uint32_t addend, uint32_t pe)
{
    uint64_t *both = (uint64_t *)((uint32_t)target & ~7u);
    uint32_t shift = ((uint32_t)target & 4) * 8, was;
    uint64_t there = hermes_fetch64(ctx, both, pe);
    for (;;) {
        was = (uint32_t)(there >> shift);
        if (hermes_value_code(ctx))
            return was;
        uint32_t is = ((was & keep) ^ change) + addend;
        uint64_t seen = hermes_compare_swap64(ctx, both, there, there ^ (uint64_t)(was ^ is) << shift, pe);
        if (seen == there)
            return was;
        there = seen;
    }
}
static inline uint32_t hermes_fetch_add32(hermes_ctx_t ctx, uint32_t *target, uint32_t operand, uint32_t pe)
{
    return hermes_fetch_change32(ctx, target, ~0u, 0, operand, pe);
}
static inline uint32_t hermes_swap32(hermes_ctx_t ctx, uint32_t *target, uint32_t value, uint32_t pe)
{
    return hermes_fetch_change32(ctx, target, 0, value, 0, pe);
}
static inline uint32_t hermes_fetch_and32(hermes_ctx_t ctx, uint32_t *target, uint32_t mask, uint32_t pe)
{
    return hermes_fetch_change32(ctx, target, mask, 0, 0, pe);
}
static inline uint32_t hermes_fetch_or32(hermes_ctx_t ctx, uint32_t *target, uint32_t bits, uint32_t pe)
{
    return hermes_fetch_change32(ctx, target, ~bits, bits, 0, pe);
}
static inline uint32_t hermes_fetch_xor32(hermes_ctx_t ctx, uint32_t *target, uint32_t bits, uint32_t pe)
{
    return hermes_fetch_change32(ctx, target, ~0u, bits, 0, pe);
}

/* What this warp puts, adds and sets behind it is performed at a node behind what it put, added and
 * set there before. */
static inline void hermes_fence(hermes_ctx_t ctx)
{
    (void)ctx;
    __asm__ volatile("fence rw, w" ::: "memory");
}

/* Waits until all that was put in this context is visible, and what was got is here, or failed. 0,
 * or the code of the last that failed since the last call. */
uint32_t hermes_quiet(hermes_ctx_t ctx);
/* The end of a context for this warp: the same. Its number may be created again. */
static inline uint32_t hermes_ctx_destroy(hermes_ctx_t ctx)
{
    return hermes_quiet(ctx);
}

/* Waits until a word that other nodes put compares so with `value`, as unsigned numbers; what was
 * put before it is then seen by loads. Gives the word. */
#define HERMES_EQ 0u
#define HERMES_NE 1u
#define HERMES_GT 2u
#define HERMES_GE 3u
#define HERMES_LT 4u
#define HERMES_LE 5u
uint32_t hermes_wait_until32(const volatile uint32_t *word, uint32_t comparison, uint32_t value);
/* The same of 64 bits. It reads high, low, high: a value that never falls is exact, others may be
 * put together from two if the high word changes and comes back. */
uint64_t hermes_wait_until64(const volatile uint64_t *word, uint32_t comparison, uint64_t value);
/* Whether it does now, 1 or 0. */
uint32_t hermes_test32(const volatile uint32_t *word, uint32_t comparison, uint32_t value);
uint32_t hermes_test64(const volatile uint64_t *word, uint32_t comparison, uint64_t value);

/* The warp sleeps until the line of the word that hermes_test32 or hermes_test64 looked at last is
 * written, by whomever; after looks at several lines, or if that time passes, it goes on by itself
 * (docs/shmem.md): so look again in a loop. */
static inline void hermes_sleep(void)
{
    __asm__ volatile(".word 0x00d00073" ::: "memory"); /* wrs.nto */
}

/* The same of `count` words, without those whose `status` is not 0; status 0: of all. any gives the
 * number of one that compares so; HERMES_NONE if none is asked for, and test also if none does now.
 * all waits for each, one after the other; test_all tells whether all do now. */
#define HERMES_NONE 0xffffffffu
#define HERMES_OF_MANY(bits)                                                                                                                                          \
    static inline uint32_t hermes_test##bits##_any(const volatile uint##bits##_t *words, uint32_t count, const int *status, uint32_t comparison, uint##bits##_t value) \
    {                                                                                                                                                                 \
        for (uint32_t i = 0; i < count; i++)                                                                                                                          \
            if (!(status && status[i]) && hermes_test##bits(words + i, comparison, value))                                                                            \
                return i;                                                                                                                                             \
        return HERMES_NONE;                                                                                                                                           \
    }                                                                                                                                                                 \
    static inline uint32_t hermes_test##bits##_all(const volatile uint##bits##_t *words, uint32_t count, const int *status, uint32_t comparison, uint##bits##_t value) \
    {                                                                                                                                                                 \
        for (uint32_t i = 0; i < count; i++)                                                                                                                          \
            if (!(status && status[i]) && !hermes_test##bits(words + i, comparison, value))                                                                           \
                return 0;                                                                                                                                             \
        return 1;                                                                                                                                                     \
    }                                                                                                                                                                 \
    static inline uint32_t hermes_wait_until##bits##_any(const volatile uint##bits##_t *words, uint32_t count, const int *status, uint32_t comparison, uint##bits##_t value) \
    {                                                                                                                                                                 \
        uint32_t asked = 0;                                                                                                                                           \
        for (uint32_t i = 0; i < count; i++)                                                                                                                          \
            asked |= !(status && status[i]);                                                                                                                          \
        uint32_t found = HERMES_NONE;                                                                                                                                 \
        while (asked && (found = hermes_test##bits##_any(words, count, status, comparison, value)) == HERMES_NONE)                                                    \
            hermes_sleep();                                                                                                                                           \
        return found;                                                                                                                                                 \
    }                                                                                                                                                                 \
    static inline void hermes_wait_until##bits##_all(const volatile uint##bits##_t *words, uint32_t count, const int *status, uint32_t comparison, uint##bits##_t value) \
    {                                                                                                                                                                 \
        for (uint32_t i = 0; i < count; i++)                                                                                                                          \
            if (!(status && status[i]))                                                                                                                               \
                hermes_wait_until##bits(words + i, comparison, value);                                                                                                \
    }
HERMES_OF_MANY(32)
HERMES_OF_MANY(64)

/* The 64 bits of a signal in this node's heap. */
static inline uint64_t hermes_signal_fetch(const volatile uint64_t *signal)
{
    return hermes_wait_until64(signal, HERMES_GE, 0);
}
static inline uint64_t hermes_signal_wait_until(const volatile uint64_t *signal, uint32_t comparison, uint64_t value)
{
    return hermes_wait_until64(signal, comparison, value);
}

/* A put and then a signal to the same node: 64 bits at a multiple of 8 are set to `value`, or it is
 * added to them. Who sees the signal sees the bytes. Calls that are refused are told at once, and
 * send neither. */
#define HERMES_SIGNAL_SET 0u
#define HERMES_SIGNAL_ADD 1u
static inline uint32_t hermes_outside_heap(const volatile void *first, uint32_t bytes)
{
    const struct hermes_arguments *node = hermes_arguments();
    return bytes > node->heap_bytes || (uint32_t)first - node->heap > node->heap_bytes - bytes;
}
static inline uint32_t hermes_signal(hermes_ctx_t ctx, uint64_t *signal, uint64_t value, uint32_t operation, uint32_t pe)
{
    return operation == HERMES_SIGNAL_ADD ? hermes_add64(ctx, signal, value, pe) : hermes_p64(ctx, signal, value, pe);
}
static inline uint32_t hermes_put_signal_check(const void *target, const void *source, uint32_t bytes, const uint64_t *signal)
{
    if (bytes - 1 >= 1u << 30)
        return HERMES_ERROR_LENGTH;
    if ((uint32_t)signal & 7)
        return HERMES_ERROR_ALIGNMENT;
    if (hermes_outside_heap(target, bytes) || hermes_outside_heap(signal, sizeof *signal))
        return HERMES_ERROR_REMOTE_RANGE;
    return bytes > 16 && hermes_outside_heap(source, bytes) ? HERMES_ERROR_LOCAL_RANGE : 0;
}
static inline uint32_t hermes_put_signal_nbi(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint64_t *signal, uint64_t value, uint32_t operation, uint32_t pe)
{
    uint32_t code = hermes_put_signal_check(target, source, bytes, signal);
    if (!code)
        code = hermes_put_nbi(ctx, target, source, bytes, pe);
    return code ? code : hermes_signal(ctx, signal, value, operation, pe);
}
/* Returns when the source may change; the signal is on its way then. */
static inline uint32_t hermes_put_signal(hermes_ctx_t ctx, void *target, const void *source, uint32_t bytes, uint64_t *signal, uint64_t value, uint32_t operation, uint32_t pe)
{
    uint32_t code = hermes_put_signal_check(target, source, bytes, signal);
    if (!code)
        code = hermes_put(ctx, target, source, bytes, pe);
    return code ? code : hermes_signal(ctx, signal, value, operation, pe);
}

/* Context 0 of this warp, which hermes_ctx_create must have given it. */
static inline hermes_ctx_t hermes_ctx_default(void)
{
    extern const uint8_t hermes_contexts[];
    uint32_t slot;
    __asm__("csrr %0, 0xcc2" : "=r"(slot));
    return (uint32_t)hermes_contexts + slot * 128 + 32;
}

/* Names of OpenSHMEM 1.5, for what is here and means the same. Those without a context take context
 * 0, which shmem_ctx_create(0, &ctx) gives: a warp begins with it. */
#ifdef HERMES_OPENSHMEM_NAMES
typedef hermes_ctx_t shmem_ctx_t;
#define SHMEM_CTX_DEFAULT hermes_ctx_default()
#define SHMEM_SIGNAL_SET HERMES_SIGNAL_SET
#define SHMEM_SIGNAL_ADD HERMES_SIGNAL_ADD
#define SHMEM_CMP_EQ HERMES_EQ
#define SHMEM_CMP_NE HERMES_NE
#define SHMEM_CMP_GT HERMES_GT
#define SHMEM_CMP_GE HERMES_GE
#define SHMEM_CMP_LT HERMES_LT
#define SHMEM_CMP_LE HERMES_LE
#define shmem_my_pe hermes_my_pe
#define shmem_n_pes hermes_n_pes
#define shmem_ctx_create(number, ctx) hermes_ctx_create(ctx, number)
#define shmem_ctx_destroy hermes_ctx_destroy
#define shmem_ctx_quiet hermes_quiet
#define shmem_quiet() hermes_quiet(SHMEM_CTX_DEFAULT)
#define shmem_ctx_fence hermes_fence
#define shmem_fence() hermes_fence(SHMEM_CTX_DEFAULT)
#define shmem_ctx_putmem hermes_put
#define shmem_ctx_putmem_nbi hermes_put_nbi
#define shmem_ctx_getmem hermes_get
#define shmem_ctx_getmem_nbi hermes_get_nbi
#define shmem_ctx_putmem_signal hermes_put_signal
#define shmem_ctx_putmem_signal_nbi hermes_put_signal_nbi
#define shmem_putmem(...) hermes_put(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_putmem_nbi(...) hermes_put_nbi(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_getmem(...) hermes_get(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_getmem_nbi(...) hermes_get_nbi(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_putmem_signal(...) hermes_put_signal(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_putmem_signal_nbi(...) hermes_put_signal_nbi(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_signal_fetch hermes_signal_fetch
#define shmem_signal_wait_until hermes_signal_wait_until
#define shmem_uint32_wait_until hermes_wait_until32
#define shmem_uint64_wait_until hermes_wait_until64
#define shmem_uint32_test hermes_test32
#define shmem_uint64_test hermes_test64
#define shmem_uint32_wait_until_any hermes_wait_until32_any
#define shmem_uint32_wait_until_all hermes_wait_until32_all
#define shmem_uint64_wait_until_any hermes_wait_until64_any
#define shmem_uint64_wait_until_all hermes_wait_until64_all
#define shmem_uint32_test_any hermes_test32_any
#define shmem_uint32_test_all hermes_test32_all
#define shmem_uint64_test_any hermes_test64_any
#define shmem_uint64_test_all hermes_test64_all
#define shmem_uint8_p(...) hermes_p8(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint32_p(...) hermes_p32(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint64_p(...) hermes_p64(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint8_g(...) hermes_g8(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint32_g(...) hermes_g32(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint64_g(...) hermes_g64(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint64_atomic_add(...) hermes_add64(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint64_atomic_inc(target, pe) hermes_add64(SHMEM_CTX_DEFAULT, target, 1, pe)
#define shmem_uint64_atomic_fetch_add(...) hermes_fetch_add64(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint64_atomic_fetch_inc(target, pe) hermes_fetch_add64(SHMEM_CTX_DEFAULT, target, 1, pe)
#define shmem_uint64_atomic_compare_swap(...) hermes_compare_swap64(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint64_atomic_swap(...) hermes_swap64(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint64_atomic_fetch(...) hermes_fetch64(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint64_atomic_set(...) hermes_set64(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint64_atomic_fetch_and(...) hermes_fetch_and64(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint64_atomic_fetch_or(...) hermes_fetch_or64(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint64_atomic_fetch_xor(...) hermes_fetch_xor64(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint32_atomic_fetch_add(...) hermes_fetch_add32(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint32_atomic_swap(...) hermes_swap32(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint32_atomic_fetch_and(...) hermes_fetch_and32(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint32_atomic_fetch_or(...) hermes_fetch_or32(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define shmem_uint32_atomic_fetch_xor(...) hermes_fetch_xor32(SHMEM_CTX_DEFAULT, __VA_ARGS__)
#endif

#endif
