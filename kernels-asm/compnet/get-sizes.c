/* Cycles of a blocking get by its size, 1 byte to 2^own[1] bytes, each four times the one before;
 * own[0] of each. One warp of node 0 gets from node 1. The results are triples of words from word
 * RESULTS of the heap of node 0 on, one for each size: the sum of all but the first, the least of
 * these, and the first. What was got stands at TARGET, from SOURCE of node 1. */
#include <hermes.h>
#include <hermes_shmem.h>

#define DONE 16u            /* word that ends node 1 */
#define RESULTS 32u         /* words of the results */
#define TARGET (64u << 10)  /* bytes from the begin of the heap */

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)slot;
    const struct hermes_arguments *node = arguments;
    volatile uint32_t *heap = (volatile uint32_t *)node->heap;
    uint32_t rounds = node->own[0], most = 1u << node->own[1];
    char *target = (char *)heap + TARGET, *source = target + most;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    if (code)
        return VERDICT_DROP | code;
    if (hermes_my_pe() != 0) {
        hermes_wait_until32(heap + DONE, HERMES_EQ, 1);
        return VERDICT_FORWARD;
    }
    volatile uint32_t *result = heap + RESULTS;
    for (uint32_t bytes = 1; bytes <= most && !code; bytes <<= 2, result += 3) {
        uint32_t sum = 0, least = ~0u, first = 0;
        for (uint32_t round = 0; round < rounds && !code; round++) {
            uint32_t begin = hermes_cycle();
            code = hermes_get(ctx, target, source, bytes, 1);
            uint32_t delay = hermes_cycle() - begin;
            if (round == 0) {
                first = delay;
            } else {
                sum += delay;
                least = delay < least ? delay : least;
            }
        }
        if (hermes_lane() == 0) {
            result[0] = sum;
            result[1] = least;
            result[2] = first;
        }
    }
    uint32_t one = 1;
    if (!code)
        code = hermes_put_nbi(ctx, (void *)(heap + DONE), &one, sizeof one, 1);
    if (!code)
        code = hermes_quiet(ctx);
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
