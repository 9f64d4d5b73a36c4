/* Allreduce by rings: the sums of the words of all nodes, modulo 2^32, come to all of them. Warp i
 * is ring i and has its own words; its nodes pass chunks to the next one.
 *
 * Own words: threads of a warp, rings, words of a ring (not less than nodes). The heap has 64 bytes
 * for the signal of each ring, zeroed; the words of the rings; and the landing words of each ring:
 * for each node but one the words of the longest chunk.
 *
 * In the first half (reduce-scatter) each node adds what comes to its own chunk and passes that on,
 * so that node i ends with the sum of chunk i + 1. In the second (all-gather) sums go round, into
 * the words themselves. A node may write words of the next one then which that one sent in the
 * first half: their sum has come round through all nodes, so they had arrived, and what is sent
 * again is not written again. */
#include <hermes.h>
#include <hermes_shmem.h>

struct ring {
    uint64_t *signal;
    uint32_t *words;
    uint32_t *landing;
    uint32_t count; /* of words */
    uint32_t nodes;
};

static inline uint32_t first_of(const struct ring *ring, uint32_t chunk)
{
    return chunk * (ring->count / ring->nodes) + (chunk < ring->count % ring->nodes ? chunk : ring->count % ring->nodes);
}

/* The lanes share a chunk. Out of line, so that they meet at its end. */
static __attribute__((noinline)) void add(uint32_t *sum, const uint32_t *other, uint32_t count, uint32_t lanes)
{
    for (uint32_t at = hermes_lane(); at < count; at += lanes)
        sum[at] += other[at];
}

/* A chunk to the next node, with the number of the step as signal. */
static __attribute__((noinline)) uint32_t pass(hermes_ctx_t ctx, const struct ring *ring, uint32_t *target, uint32_t chunk, uint32_t step)
{
    uint32_t first = first_of(ring, chunk), bytes = (first_of(ring, chunk + 1) - first) * 4, me = hermes_my_pe();
    __asm__ volatile("fence rw, rw" ::: "memory"); /* what all lanes stored */
    return hermes_put_signal_nbi(ctx, target ? target : ring->words + first, ring->words + first, bytes, ring->signal, step, HERMES_SIGNAL_SET, me + 1 == ring->nodes ? 0 : me + 1);
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t lanes = node->own[0], rings = node->own[1], number = packet / lanes, nodes = node->n_pes, me = node->my_pe;
    uint32_t longest = (node->own[2] + nodes - 1) / nodes;
    struct ring ring = {.count = node->own[2], .nodes = nodes};
    ring.signal = (uint64_t *)(node->heap + 64 * number);
    ring.words = (uint32_t *)(node->heap + 64 * rings) + number * ring.count;
    ring.landing = (uint32_t *)(node->heap + 64 * rings) + rings * ring.count + number * (nodes - 1) * longest;
    hermes_ctx_t ctx = 0;
    uint32_t code = ring.count < nodes ? HERMES_ERROR_LENGTH : hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT), step = 1;
    for (; step < nodes && !code; step++) {
        uint32_t *landing = ring.landing + (step - 1) * longest, chunk = (me + nodes - step) % nodes;
        code = pass(ctx, &ring, landing, (chunk + 1) % nodes, step);
        if (code)
            break;
        hermes_signal_wait_until(ring.signal, HERMES_GE, step);
        add(ring.words + first_of(&ring, chunk), landing, first_of(&ring, chunk + 1) - first_of(&ring, chunk), lanes);
    }
    for (; step < 2 * nodes - 1 && !code; step++) {
        code = pass(ctx, &ring, 0, (me + 2 * nodes + 1 - step) % nodes, step);
        if (!code)
            hermes_signal_wait_until(ring.signal, HERMES_GE, step);
    }
    uint32_t last = hermes_quiet(ctx);
    code = code ? code : last;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
