/* Allreduce by rings: the sums of the words of all nodes, modulo 2^32, come to all of them. Warp i
 * is ring i and has its own words; its nodes pass chunks to the next one, in pieces, so that a
 * piece is added while the next one comes and the one before it goes on.
 *
 * Own words: threads of a warp, rings, words of a ring (not less than nodes), words of a piece,
 * rounds: the sums are summed again in each, so that the last one finds warm caches. The heap has
 * 64 bytes for the signal of each ring, zeroed; the words of the rings; and the landing words of
 * each ring: for each node but one the words of the longest chunk. At the end words 4 and 5 behind
 * a signal are the cycles at which the last round of the ring began and ended.
 *
 * In the first half (reduce-scatter) each node adds what comes to its own chunk and passes that on,
 * so that node i ends with the sum of chunk i + 1. In the second (all-gather) sums go round, into
 * the words themselves. A node may write words of the next one then which that one sent in the
 * first half: their sum has come round through all nodes, so they had arrived, and what is sent
 * again is not written again. The signal is the number of pieces that came: one node alone sets it,
 * in their order, so it needs no atomic operation. A round ends when what was put is there: then
 * all landing words have been added, as all sums have come. */
#include <hermes.h>
#include <hermes_shmem.h>

#define APART __attribute__((noinline, noclone))
#if defined(__riscv_32e) || defined(__riscv_e)
#define TOGETHER 2u /* words that a lane loads before it stores them */
#else
#define TOGETHER 8u
#endif

struct ring {
    uint64_t *signal;
    uint32_t *words;
    uint32_t *landing;
    uint32_t nodes, piece, pieces; /* pieces of the longest chunk */
    uint32_t share, rest;          /* chunks have so many words, the first ones one more */
    uint32_t before;               /* pieces of the rounds before */
};

static inline uint32_t first_of(const struct ring *ring, uint32_t chunk)
{
    return chunk * ring->share + (chunk < ring->rest ? chunk : ring->rest);
}

/* The chunk that is so many steps behind. */
static inline uint32_t chunk_behind(const struct ring *ring, uint32_t from, uint32_t steps)
{
    uint32_t chunk = from + 2 * ring->nodes - steps;
    while (chunk >= ring->nodes)
        chunk -= ring->nodes;
    return chunk;
}

/* Where a piece of a chunk begins, and its words: none if the chunk is shorter. */
static inline uint32_t piece_of(const struct ring *ring, uint32_t chunk, uint32_t piece, uint32_t *first)
{
    uint32_t begin = first_of(ring, chunk) + piece * ring->piece, end = first_of(ring, chunk + 1);
    *first = begin;
    if (begin >= end)
        return 0;
    return end - begin < ring->piece ? end - begin : ring->piece;
}

/* The lanes share the words, whose loads are in front of their stores: a load waits until the
 * stores before it were performed. */
static inline __attribute__((always_inline)) void add_by(uint32_t *sum, const uint32_t *other, uint32_t count, uint32_t lanes)
{
    uint32_t at = hermes_lane(), whole = count / (TOGETHER * lanes) * (TOGETHER * lanes);
    for (; at < whole; at += TOGETHER * lanes) {
        uint32_t words[TOGETHER];
#pragma GCC unroll 8
        for (uint32_t i = 0; i < TOGETHER; i++)
            words[i] = sum[at + i * lanes] + other[at + i * lanes];
        __asm__ volatile("" ::: "memory");
#pragma GCC unroll 8
        for (uint32_t i = 0; i < TOGETHER; i++)
            sum[at + i * lanes] = words[i];
    }
    for (; at < count; at += lanes)
        sum[at] += other[at];
}

/* Out of line, so that the lanes meet at their end. Eight lanes need no addresses of their own for
 * each word. */
static APART void add_by_eight(uint32_t *restrict sum, const uint32_t *restrict other, uint32_t count)
{
    add_by(sum, other, count, 8);
}

static APART void add(uint32_t *restrict sum, const uint32_t *restrict other, uint32_t count, uint32_t lanes)
{
    add_by(sum, other, count, lanes);
}

/* A piece to the next node, and with it how many that one has. */
static APART uint32_t pass(hermes_ctx_t ctx, const struct ring *ring, uint32_t step, uint32_t piece)
{
    uint32_t me = hermes_my_pe(), next = me + 1 == ring->nodes ? 0 : me + 1, first;
    uint32_t count = piece_of(ring, chunk_behind(ring, me + 1, step), piece, &first);
    uint32_t number = ring->before + (step - 1) * ring->pieces + piece + 1;
    uint32_t *source = ring->words + first, *target = source;
    if (step < ring->nodes)
        target = ring->landing + (step - 1) * (ring->share + (ring->rest > 0)) + piece * ring->piece;
    if (!count)
        return hermes_p64(ctx, ring->signal, number, next);
    __asm__ volatile("fence rw, rw" ::: "memory"); /* what all lanes stored */
    return hermes_put_signal_nbi(ctx, target, source, 4 * count, ring->signal, number, HERMES_SIGNAL_SET, next);
}

/* A piece that came is added to the own one, in the first half. */
static APART void take(const struct ring *ring, uint32_t step, uint32_t piece, uint32_t lanes)
{
    uint32_t first, count = piece_of(ring, chunk_behind(ring, hermes_my_pe(), step), piece, &first);
    hermes_wait_until32((const uint32_t *)ring->signal, HERMES_GE, ring->before + (step - 1) * ring->pieces + piece + 1);
    if (step >= ring->nodes)
        return;
    const uint32_t *came = ring->landing + (step - 1) * (ring->share + (ring->rest > 0)) + piece * ring->piece;
    if (lanes == 8)
        add_by_eight(ring->words + first, came, count);
    else
        add(ring->words + first, came, count, lanes);
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t lanes = node->own[0], rings = node->own[1], count = node->own[2], number = packet / lanes, nodes = node->n_pes;
    uint32_t longest = (count + nodes - 1) / nodes;
    struct ring ring = {.nodes = nodes, .piece = node->own[3], .share = count / nodes, .rest = count % nodes};
    if (count < nodes || ring.piece == 0)
        return VERDICT_DROP | HERMES_ERROR_LENGTH;
    ring.pieces = (longest + ring.piece - 1) / ring.piece;
    ring.signal = (uint64_t *)(node->heap + 64 * number);
    ring.words = (uint32_t *)(node->heap + 64 * rings) + number * count;
    ring.landing = (uint32_t *)(node->heap + 64 * rings) + rings * count + number * (nodes - 1) * longest;
    hermes_ctx_t ctx = 0;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    uint32_t begin = 0;
    for (uint32_t round = 0; round < node->own[4] && !code; round++) {
        begin = hermes_cycle();
        for (uint32_t piece = 0; piece < ring.pieces && nodes > 1 && !code; piece++)
            code = pass(ctx, &ring, 1, piece);
        for (uint32_t step = 1; step < 2 * nodes - 1 && !code; step++) {
            for (uint32_t piece = 0; piece < ring.pieces && !code; piece++) {
                take(&ring, step, piece, lanes);
                if (step < 2 * nodes - 2)
                    code = pass(ctx, &ring, step + 1, piece);
            }
        }
        uint32_t last = hermes_quiet(ctx);
        code = code ? code : last;
        ring.before += (2 * nodes - 2) * ring.pieces;
    }
    volatile uint32_t *times = (volatile uint32_t *)ring.signal + 4;
    times[0] = begin;
    times[1] = hermes_cycle();
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
