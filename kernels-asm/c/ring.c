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
    uint32_t nodes, me, next;
    uint32_t piece, pieces;        /* words of a piece; pieces of the longest chunk */
    uint32_t share, rest, longest; /* chunks have so many words, the first ones one more */
    uint32_t before;               /* pieces of the rounds before */
};

/* Where a round is. */
struct place {
    uint32_t chunk, number; /* pieces that the next node has */
    uint32_t *to;           /* its landing words */
};

static inline uint32_t first_of(const struct ring *ring, uint32_t chunk)
{
    return chunk * ring->share + (chunk < ring->rest ? chunk : ring->rest);
}

/* Keeps the loads of these words in front of what follows. Otherwise the compiler uses one register
 * for several of them, and each load waits for the addition before it. */
static inline __attribute__((always_inline)) void loaded(uint32_t *words, uint32_t count)
{
    if (count == 8)
        __asm__ volatile("" : "+r"(words[0]), "+r"(words[1]), "+r"(words[2]), "+r"(words[3]), "+r"(words[4]), "+r"(words[5]), "+r"(words[6]), "+r"(words[7]));
    else if (count == 4)
        __asm__ volatile("" : "+r"(words[0]), "+r"(words[1]), "+r"(words[2]), "+r"(words[3]));
    else if (count == 2)
        __asm__ volatile("" : "+r"(words[0]), "+r"(words[1]));
}

/* The lanes share the words, whose loads are in front of their stores: a load waits until the
 * stores before it were performed. */
static inline __attribute__((always_inline)) void add_by(uint32_t *sum, const uint32_t *other, uint32_t count, uint32_t lanes, uint32_t together)
{
    uint32_t at = hermes_lane(), whole = count / (together * lanes) * (together * lanes);
    for (; at < whole; at += together * lanes) {
        uint32_t words[TOGETHER], others[TOGETHER];
#pragma GCC unroll 8
        for (uint32_t i = 0; i < together; i++) {
            words[i] = sum[at + i * lanes];
            others[i] = other[at + i * lanes];
        }
        loaded(words, together);
        loaded(others, together);
#pragma GCC unroll 8
        for (uint32_t i = 0; i < together; i++)
            sum[at + i * lanes] = words[i] + others[i];
    }
    for (; at < count; at += lanes)
        sum[at] += other[at];
}

/* Out of line, so that the lanes meet at their end. Eight lanes need no addresses of their own for
 * each word, others load fewer words together. */
static APART void add_by_eight(uint32_t *restrict sum, const uint32_t *restrict other, uint32_t count)
{
    add_by(sum, other, count, 8, TOGETHER);
}

static APART void add(uint32_t *restrict sum, const uint32_t *restrict other, uint32_t count, uint32_t lanes)
{
    add_by(sum, other, count, lanes, TOGETHER / 2);
}

/* A chunk of a step, in which pieces come or not, are added or not, and go on to the landing words
 * of the next node, or to its words, or not. What a piece needs is known before it is waited for,
 * in registers: the wait takes all out of the L1, the stack too. It is put without the checks of
 * hermes_put_signal_nbi, which read there. */
static inline __attribute__((always_inline)) uint32_t pass_chunk(hermes_ctx_t ctx, const struct ring *ring, uint32_t lanes, struct place *place, uint32_t comes, uint32_t adds, uint32_t goes, uint32_t lands)
{
    uint64_t *signal = ring->signal;
    uint32_t most = ring->piece, next = ring->next, number = place->number, last = number + ring->pieces;
    uint32_t *source = ring->words + first_of(ring, place->chunk), *target = lands ? place->to : source;
    uint32_t *came = place->to - ring->longest, left = ring->words + first_of(ring, place->chunk + 1) - source;
    uint32_t behind = comes ? ring->pieces : 0;
    while (number != last) {
        uint32_t count = left < most ? left : most;
        number++;
        if (comes)
            hermes_wait_until32((const uint32_t *)signal, HERMES_GE, number - behind);
        if (adds && count) {
            if (lanes == 8)
                add_by_eight(source, came, count);
            else
                add(source, came, count, lanes);
            __asm__ volatile("fence rw, rw" ::: "memory"); /* what all lanes stored */
        }
        if (goes) {
            uint32_t code = count ? hermes_put_nbi(ctx, target, source, 4 * count, next) : 0;
            if (!code)
                code = hermes_p64(ctx, signal, number, next);
            if (code)
                return code;
        }
        source += count;
        target += count;
        came += count;
        left -= count;
    }
    place->number = last;
    place->to += ring->longest;
    place->chunk = place->chunk ? place->chunk - 1 : ring->nodes - 1;
    return 0;
}

/* A round: the own chunk goes out; then chunks come and are added, the last one to go into the
 * words; then sums come and go on, but the last one. */
static inline __attribute__((always_inline)) uint32_t pass_round(hermes_ctx_t ctx, const struct ring *ring, uint32_t lanes)
{
    struct place place = {.chunk = ring->me, .number = ring->before, .to = ring->landing};
    uint32_t nodes = ring->nodes;
    if (nodes == 1)
        return 0;
    uint32_t code = pass_chunk(ctx, ring, lanes, &place, 0, 0, 1, 1);
    for (uint32_t step = 1; step + 1 < nodes && !code; step++)
        code = pass_chunk(ctx, ring, lanes, &place, 1, 1, 1, 1);
    if (!code)
        code = pass_chunk(ctx, ring, lanes, &place, 1, 1, 1, 0);
    for (uint32_t step = nodes; step < 2 * nodes - 2 && !code; step++)
        code = pass_chunk(ctx, ring, lanes, &place, 1, 0, 1, 0);
    return code ? code : pass_chunk(ctx, ring, lanes, &place, 1, 0, 0, 0);
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t lanes = node->own[0], rings = node->own[1], count = node->own[2], number = packet / lanes, nodes = node->n_pes;
    uint32_t longest = (count + nodes - 1) / nodes;
    struct ring ring = {.nodes = nodes, .me = node->my_pe, .piece = node->own[3], .share = count / nodes, .rest = count % nodes, .longest = longest};
    if (count < nodes || ring.piece == 0)
        return VERDICT_DROP | HERMES_ERROR_LENGTH;
    ring.next = ring.me + 1 == nodes ? 0 : ring.me + 1;
    ring.pieces = (longest + ring.piece - 1) / ring.piece;
    ring.signal = (uint64_t *)(node->heap + 64 * number);
    ring.words = (uint32_t *)(node->heap + 64 * rings) + number * count;
    ring.landing = (uint32_t *)(node->heap + 64 * rings) + rings * count + number * (nodes - 1) * longest;
    hermes_ctx_t ctx = 0;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    uint32_t begin = 0;
    for (uint32_t round = 0; round < node->own[4] && !code; round++) {
        begin = hermes_cycle();
        code = pass_round(ctx, &ring, lanes);
        uint32_t last = hermes_quiet(ctx);
        code = code ? code : last;
        ring.before += (2 * nodes - 2) * ring.pieces;
    }
    volatile uint32_t *times = (volatile uint32_t *)ring.signal + 4;
    times[0] = begin;
    times[1] = hermes_cycle();
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
