/* Rounds of all collective calls; each leaves what it gave in its part of the heap. Own words:
 * rounds, then five of each round: words that are reduced, the operation, bytes of a broadcast, its
 * root, bytes of a block. Heap: work space; at SOURCE 512 bytes of this node; at SHARED a target
 * that all rounds use; at SCRATCH a source that changes behind the call; from RESULTS on six parts
 * of 512 bytes a round. */
#include <hermes.h>
#define HERMES_OPENSHMEM_NAMES
#include <hermes_collectives.h>

#define SOURCE 2048u
#define SHARED 2560u
#define BALL 3584u
#define LINE 3648u
#define LANDING 3712u
#define SCRATCH 3776u
#define RESULTS 4096u
#define PART 512u
#define HALF 256u

/* Takes its time, so that others are ahead. */
static __attribute__((noinline)) void linger(uint32_t turns)
{
    while (turns--)
        __asm__ volatile("");
}

/* Each lane of its own, read before and after: what others put must not be hidden by what the L1
 * held. */
static __attribute__((noinline)) uint32_t sum_of(const volatile uint32_t *words, uint32_t count)
{
    uint32_t sum = 0;
    while (count--)
        sum = sum * 31 + *words++;
    return sum;
}

/* Each lane writes all of them. */
static __attribute__((noinline)) void fill(volatile uint8_t *target, const uint8_t *source, uint32_t bytes)
{
    for (uint32_t at = 0; at < bytes; at++)
        target[at] = source ? source[at] : 0xee;
}

/* A broadcast and a collection of bytes that change as soon as the call returns. */
static __attribute__((noinline)) uint32_t changing(hermes_ctx_t ctx, struct hermes_collectives *work, uint8_t *heap, uint8_t *part, const uint32_t *own)
{
    uint8_t *scratch = heap + SCRATCH;
    fill(scratch, heap + SOURCE, own[2]);
    uint32_t code = hermes_broadcast(ctx, work, part + PART + HALF, scratch, own[2], own[3]);
    fill(scratch, 0, own[2]);
    fill(scratch, heap + SOURCE, own[4]);
    if (!code)
        code = hermes_fcollect(ctx, work, part + 2 * PART + HALF, scratch, own[4]);
    fill(scratch, 0, own[4]);
    return code;
}

/* Stores of each lane, and puts to all nodes, are there for others behind a barrier; nobody leaves
 * it before the last one came. What is not so is counted: who gave up here would leave the others
 * waiting. */
static __attribute__((noinline)) uint32_t barriers(hermes_ctx_t ctx, struct hermes_collectives *work, uint8_t *heap, uint32_t round, uint32_t *wrong)
{
    uint32_t me = hermes_my_pe(), nodes = hermes_n_pes(), next = (me + 1) % nodes, lane = hermes_lane(), code = 0;
    volatile uint32_t *ball = (volatile uint32_t *)(heap + BALL), *line = (volatile uint32_t *)(heap + LINE);
    volatile uint32_t *landing = (volatile uint32_t *)(heap + LANDING);
    (void)*ball; /* the L1 holds the line then */
    line[lane] = me * 1000 + round * 10 + lane;
    if ((round + 1) % nodes == me)
        linger(1500);
    for (uint32_t pe = 0; pe < nodes && !code; pe++)
        code = hermes_p32(ctx, (uint32_t *)&ball[me], me * 1000 + round + 1, pe);
    if (!code)
        code = hermes_barrier_all(ctx, work);
    if (!code)
        code = hermes_get(ctx, (void *)landing, (void *)line, 12, next);
    for (uint32_t from = 0; from < nodes; from++)
        *wrong += ball[from] != from * 1000 + round + 1;
    for (uint32_t at = 0; at < 3; at++)
        *wrong += landing[at] != next * 1000 + round * 10 + at;
    /* The next ball comes once all have looked. */
    if (!code)
        code = shmem_sync_all(work);
    return code;
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet, (void)slot;
    const struct hermes_arguments *node = arguments;
    uint8_t *heap = (uint8_t *)node->heap, *source = heap + SOURCE, *part = heap + RESULTS;
    struct hermes_collectives *work = (struct hermes_collectives *)heap;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, 0), me = hermes_my_pe(), nodes = hermes_n_pes(), wrong = 0;
    for (uint32_t round = 0; round < node->own[0] && !code; round++) {
        const uint32_t *own = node->own + 1 + 5 * round;
        if (round % nodes == me)
            linger(150);
        code = barriers(ctx, work, heap, round, &wrong);
        if (!code)
            code = hermes_reduce32(ctx, work, (uint32_t *)part, (uint32_t *)source, own[0], own[1]);
        if (!code)
            code = hermes_broadcast(ctx, work, part + PART, source, own[2], own[3]);
        if (!code)
            code = changing(ctx, work, heap, part, own);
        if ((me + round) % 3 == 1)
            linger(100);
        /* In place, and behind a call that does not wait for all. */
        if (!code)
            code = hermes_max32_reduce(ctx, work, (uint32_t *)(part + PART), (uint32_t *)(part + PART), (own[2] + 3) / 4);
        if (!code)
            code = hermes_fcollect(ctx, work, part + 2 * PART, source + round, own[4]);
        if (!code)
            code = hermes_alltoall(ctx, work, part + 3 * PART, source + round, own[4]);
        if (!code)
            code = shmem_uint32_sum_reduce(work, (uint32_t *)(part + 4 * PART), (uint32_t *)(part + 3 * PART), 3);
        /* The same target in each round. */
        uint32_t before = sum_of((uint32_t *)(heap + SHARED), nodes * 4);
        if (!code)
            code = hermes_sync_all(ctx, work);
        if (!code)
            code = hermes_fcollect(ctx, work, heap + SHARED, source + 64 * round, 16);
        ((volatile uint32_t *)(part + 5 * PART))[0] = before;
        ((volatile uint32_t *)(part + 5 * PART))[1] = sum_of((uint32_t *)(heap + SHARED), nodes * 4);
        part += 6 * PART;
    }
    if (!code && wrong)
        code = 0xe0;
    if (!code && hermes_broadcast(ctx, work, source, source, 4, nodes) != HERMES_ERROR_COLLECTIVE)
        code = 0xf0;
    if (!code && hermes_sum32_reduce(ctx, work, (uint32_t *)part, (uint32_t *)source, 0) != HERMES_ERROR_LENGTH)
        code = 0xf1;
    if (!code && nodes > 1 && hermes_alltoall(ctx, work, part, source, 0) != HERMES_ERROR_LENGTH)
        code = 0xf2;
    if (!code && nodes > 1 && hermes_fcollect(ctx, work, heap + node->heap_bytes - 16, source, 32) != HERMES_ERROR_REMOTE_RANGE)
        code = 0xf3;
    uint32_t last = hermes_quiet(ctx);
    code = code ? code : last;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
