/* Cycles of a get of eight bytes from another node into registers, from the call until the value is
 * there. For one warp of each of two nodes. The kernel's own argument: rounds. Node 0 leaves sum,
 * least and most in words 32 to 34 of its heap, without the first round, whose lines come from
 * memory, and that one in word 35. */
#include <hermes.h>
#include <hermes_shmem.h>

#define DONE 16u  /* word that ends node 1 */
#define FOUND 32u /* words of the result */

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)slot;
    const struct hermes_arguments *node = arguments;
    volatile uint32_t *heap = (volatile uint32_t *)node->heap;
    uint32_t rounds = node->own[0], sum = 0, least = ~0u, most = 0, first = 0;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    if (code)
        return VERDICT_DROP | code;
    if (hermes_my_pe() != 0) {
        hermes_wait_until32(heap + DONE, HERMES_EQ, 1);
        return VERDICT_FORWARD;
    }
    for (uint32_t round = 1; round <= rounds && !code; round++) {
        uint32_t begin = hermes_cycle();
        uint64_t value = hermes_g64(ctx, (const uint64_t *)heap, 1);
        uint32_t delay = hermes_cycle() - begin;
        code = value ? 1 : hermes_value_code(ctx); /* the heap holds zeros */
        if (round == 1) {
            first = delay;
        } else {
            sum += delay;
            least = delay < least ? delay : least;
            most = delay > most ? delay : most;
        }
    }
    uint32_t one = 1;
    if (!code)
        code = hermes_put_nbi(ctx, (void *)(heap + DONE), &one, sizeof one, 1);
    if (!code)
        code = hermes_quiet(ctx);
    if (hermes_lane() == 0) {
        heap[FOUND] = sum;
        heap[FOUND + 1] = least;
        heap[FOUND + 2] = most;
        heap[FOUND + 3] = first;
    }
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
