/* The collective calls of hermes_collectives.h. docs/collectives.md says how they are ordered.
 *
 * Branches here are the same for all lanes. Where lanes go different ways, or a different number of
 * times through a loop, they do so in a function of its own (APART): deeper calls come first, so
 * its lanes meet again at its return. */
#include <hermes_collectives.h>

#define APART __attribute__((noinline, noclone))

/* Stores of all lanes are performed, and loads find no older bytes in the L1. */
static inline void fence_lanes(void)
{
    __asm__ volatile("fence rw, rw" ::: "memory");
}

/* A message to node `pe`: bytes, if there are any, and behind them the count of messages as the
 * signal. Counts of a pair of nodes only grow, and its puts are performed in order, so none is lost
 * or taken for another. All lanes count: each sees its own store. */
static APART uint32_t send(hermes_ctx_t ctx, struct hermes_collectives *work, uint32_t pe, void *target, const void *source, uint32_t bytes)
{
    uint64_t count = work->sent[pe] + 1, *signal = &work->here[hermes_my_pe()];
    uint32_t code = bytes ? hermes_put_signal_check(target, source, bytes, signal) : 0;
    /* What is not sent does not count. */
    if (code)
        return code;
    work->sent[pe] = count;
    if (bytes)
        code = hermes_put_nbi(ctx, target, source, bytes, pe);
    return code ? code : hermes_p64(ctx, signal, count, pe);
}

/* Waits for the next message of node `pe`; its bytes are then seen. */
static APART void take(struct hermes_collectives *work, uint32_t pe)
{
    uint64_t count = work->taken[pe] + 1;
    work->taken[pe] = count;
    hermes_signal_wait_until(&work->here[pe], HERMES_GE, count);
}

/* How many lanes run, and which of them this one is: its place in bits 7:0, their number in bits
 * 15:8. There is no register for that. */
static APART uint32_t count_lanes(struct hermes_collectives *work)
{
    uint32_t place, lanes;
    *(volatile uint32_t *)&work->lanes = 0;
    __asm__ volatile(".option push\n.option arch, +a\n"
                     "fence rw, rw\namoadd.w %0, %3, (%2)\nfence rw, rw\namoor.w %1, zero, (%2)\nfence rw, rw\n.option pop"
                     : "=&r"(place), "=&r"(lanes)
                     : "r"(&work->lanes), "r"(1)
                     : "memory");
    return lanes << 8 | place;
}

static APART void copy_words(uint32_t *target, const uint32_t *source, uint32_t words, uint32_t share)
{
    for (uint32_t at = share & 0xff; at < words; at += share >> 8)
        target[at] = source[at];
}

static APART void copy_bytes(uint8_t *target, const uint8_t *source, uint32_t bytes, uint32_t share)
{
    for (uint32_t at = share & 0xff; at < bytes; at += share >> 8)
        target[at] = source[at];
}

/* The running lanes share a copy within this node. */
static void copy(struct hermes_collectives *work, void *target, const void *source, uint32_t bytes)
{
    if (target == source)
        return;
    uint32_t share = count_lanes(work);
    if (((uint32_t)target | (uint32_t)source | bytes) & 3)
        copy_bytes(target, source, bytes, share);
    else
        copy_words(target, source, bytes / 4, share);
    fence_lanes();
}

/* One operation more than in the header: the words become the other ones. */
#define REPLACE 6u
static APART void combine(uint32_t *sum, const uint32_t *other, uint32_t words, uint32_t share, uint32_t operation)
{
    for (uint32_t at = share & 0xff; at < words; at += share >> 8) {
        uint32_t a = sum[at], b = other[at];
        switch (operation) {
        case HERMES_REDUCE_SUM: a += b; break;
        case HERMES_REDUCE_MIN: a = (int32_t)a < (int32_t)b ? a : b; break;
        case HERMES_REDUCE_MAX: a = (int32_t)a > (int32_t)b ? a : b; break;
        case HERMES_REDUCE_AND: a &= b; break;
        case HERMES_REDUCE_OR: a |= b; break;
        case HERMES_REDUCE_XOR: a ^= b; break;
        default: a = b;
        }
        sum[at] = a;
    }
}

/* Dissemination: in round k a message goes to the node 2^k further, and one comes from the node 2^k
 * before. */
uint32_t hermes_sync_all(hermes_ctx_t ctx, struct hermes_collectives *work)
{
    uint32_t me = hermes_my_pe(), nodes = hermes_n_pes(), code = nodes > HERMES_COLLECTIVES_NODES ? HERMES_ERROR_COLLECTIVE : 0;
    fence_lanes();
    for (uint32_t step = 1; step < nodes && !code; step *= 2) {
        code = send(ctx, work, (me + step) % nodes, 0, 0, 0);
        if (!code)
            take(work, (me + nodes - step) % nodes);
    }
    return code;
}

uint32_t hermes_barrier_all(hermes_ctx_t ctx, struct hermes_collectives *work)
{
    uint32_t code = hermes_quiet(ctx);
    return code ? code : hermes_sync_all(ctx, work);
}

/* A binomial tree: the node at a distance of d from the root has the bytes from that at d less its
 * highest bit. */
uint32_t hermes_broadcast(hermes_ctx_t ctx, struct hermes_collectives *work, void *target, const void *source, uint32_t bytes, uint32_t root)
{
    uint32_t me = hermes_my_pe(), nodes = hermes_n_pes(), step = 1, code = 0;
    if (nodes > HERMES_COLLECTIVES_NODES || root >= nodes)
        return HERMES_ERROR_COLLECTIVE;
    if (!bytes)
        return HERMES_ERROR_LENGTH;
    uint32_t distance = (me + nodes - root) % nodes;
    fence_lanes();
    while (step <= distance)
        step *= 2;
    if (distance) {
        take(work, (me + nodes - step / 2) % nodes);
        source = target;
    }
    for (; distance + step < nodes && !code; step *= 2)
        code = send(ctx, work, (me + step) % nodes, target, source, bytes);
    if (!code)
        copy(work, target, source, bytes);
    return code ? code : hermes_quiet(ctx);
}

/* Each node sends to each other one, the next one first, so that no node gets all at once. Block i
 * of the source is for node i, or there is but one (stride 0). */
static APART uint32_t exchange(hermes_ctx_t ctx, struct hermes_collectives *work, uint8_t *target, const uint8_t *source, uint32_t bytes, uint32_t stride)
{
    uint32_t me = hermes_my_pe(), nodes = hermes_n_pes(), code = nodes > HERMES_COLLECTIVES_NODES ? HERMES_ERROR_COLLECTIVE : bytes ? 0 : HERMES_ERROR_LENGTH;
    uint8_t *block = target + me * bytes;
    fence_lanes();
    for (uint32_t step = 1; step < nodes && !code; step++) {
        uint32_t pe = (me + step) % nodes;
        code = send(ctx, work, pe, block, source + pe * stride, bytes);
    }
    if (code)
        return code;
    copy(work, block, source + me * stride, bytes);
    code = hermes_quiet(ctx);
    for (uint32_t step = 1; step < nodes && !code; step++)
        take(work, (me + step) % nodes);
    return code;
}

uint32_t hermes_fcollect(hermes_ctx_t ctx, struct hermes_collectives *work, void *target, const void *source, uint32_t bytes)
{
    return exchange(ctx, work, target, source, bytes, 0);
}

uint32_t hermes_alltoall(hermes_ctx_t ctx, struct hermes_collectives *work, void *target, const void *source, uint32_t bytes)
{
    return exchange(ctx, work, target, source, bytes, bytes);
}

/* One message of a reduction: the words of this node go to the landing words of `round`. They may
 * change when it returns. */
static APART uint32_t send_sum(hermes_ctx_t ctx, struct hermes_collectives *work, uint32_t pe, uint32_t round)
{
    fence_lanes();
    uint32_t code = send(ctx, work, pe, work->landing[work->pieces & 1][round], work->sum, work->words * 4);
    return code ? code : hermes_quiet(ctx);
}

/* Takes such a message, and combines the words with those of this node; or they become those
 * (REPLACE). */
static APART void take_sum(struct hermes_collectives *work, uint32_t pe, uint32_t round, uint32_t share, uint32_t operation)
{
    take(work, pe);
    combine(work->sum, work->landing[work->pieces & 1][round], work->words, share, operation);
}

/* Recursive doubling among the first nodes, a power of two; each node beyond has one of those that
 * counts for it. What all lanes know stands in the work space, since stacks are small. */
static APART uint32_t reduce_piece(hermes_ctx_t ctx, struct hermes_collectives *work, uint32_t share)
{
    uint32_t me = hermes_my_pe(), power = 1, code = 0;
    while (power * 2 <= hermes_n_pes())
        power *= 2;
    if (me >= power) {
        code = send_sum(ctx, work, me - power, 2);
        if (!code)
            take_sum(work, me - power, 2, share, REPLACE);
        return code;
    }
    if (me + power < hermes_n_pes())
        take_sum(work, me + power, 2, share, work->operation);
    for (uint32_t step = 1; step < power && !code; step *= 2) {
        code = send_sum(ctx, work, me ^ step, step / 2);
        if (!code)
            take_sum(work, me ^ step, step / 2, share, work->operation);
    }
    if (!code && me + power < hermes_n_pes())
        code = send_sum(ctx, work, me + power, 2);
    return code;
}

uint32_t hermes_reduce32(hermes_ctx_t ctx, struct hermes_collectives *work, uint32_t *target, const uint32_t *source, uint32_t words, uint32_t operation)
{
    if (hermes_n_pes() > HERMES_COLLECTIVES_NODES)
        return HERMES_ERROR_COLLECTIVE;
    if (!words)
        return HERMES_ERROR_LENGTH;
    uint32_t share = count_lanes(work), code;
    work->operation = operation;
    do {
        work->words = words < HERMES_COLLECTIVES_WORDS ? words : HERMES_COLLECTIVES_WORDS;
        copy_words(work->sum, source, work->words, share);
        code = reduce_piece(ctx, work, share);
        fence_lanes();
        copy_words(target, work->sum, work->words, share);
        work->pieces++;
        source += work->words;
        target += work->words;
        words -= work->words;
    } while (words && !code);
    fence_lanes();
    return code;
}

/* The place of the nodes beyond a power of two, behind the rounds. */
#define BEYOND 3u

/* The value of another node. Count and value are written together, so the value is there with its
 * count. The place is written again two calls later, and no node begins that one before this one
 * has ended the call between. */
static inline uint32_t take_word(const volatile uint64_t *place, uint32_t call)
{
    const volatile uint32_t *words = (const volatile uint32_t *)place;
    hermes_wait_until32(words + 1, HERMES_EQ, call);
    return words[0];
}

/* Recursive doubling, as reduce_piece. The count of calls stays in a register: a load behind its
 * store would wait for the memory. */
uint32_t hermes_sum32_word(hermes_ctx_t ctx, struct hermes_sum_word *work, uint32_t *value)
{
    uint32_t me = hermes_my_pe(), nodes = hermes_n_pes(), sum = *value, code = 0;
    if (nodes > HERMES_COLLECTIVES_NODES)
        return HERMES_ERROR_COLLECTIVE;
    uint32_t power = nodes >= 4 ? nodes & 8 ? 8 : 4 : nodes >= 2 ? 2 : 1;
    uint32_t call = work->calls + 1;
    uint64_t *here = work->here[call & 1], count = (uint64_t)call << 32;
    if (me >= power) {
        code = hermes_p64(ctx, here + BEYOND, count | sum, me - power);
        if (!code)
            sum = take_word(here + BEYOND, call);
    } else {
        if (me + power < nodes)
            sum += take_word(here + BEYOND, call);
        for (uint32_t step = 1; step < power && !code; step *= 2) {
            code = hermes_p64(ctx, here + step / 2, count | sum, me ^ step);
            if (!code)
                sum += take_word(here + step / 2, call);
        }
        if (!code && me + power < nodes)
            code = hermes_p64(ctx, here + BEYOND, count | sum, me + power);
    }
    work->calls = call;
    *value = sum;
    return code;
}
