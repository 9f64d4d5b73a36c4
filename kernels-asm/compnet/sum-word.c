/* Cycles of hermes_sum32_word on all nodes. The kernel's own word: calls. One warp of each node.
 * Every call adds the node's number and the call's; a sum that is wrong is a dropped packet. Each
 * node leaves the cycles of all calls but the first in word 64 of its heap, and the last sum in the
 * next one. */
#include <hermes.h>
#include <hermes_collectives.h>

#define TIMES 64u
#define STEP 0x21000193u

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)slot;
    const struct hermes_arguments *node = arguments;
    volatile uint32_t *heap = (volatile uint32_t *)node->heap;
    struct hermes_sum_word *work = (struct hermes_sum_word *)heap;
    uint32_t calls = node->own[0], me = hermes_my_pe(), nodes = hermes_n_pes(), begin = 0, sum = 0;
    uint32_t mine = me, all = nodes * (nodes - 1) / 2;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    for (uint32_t call = 0; call < calls && !code; call++) {
        if (call == 1)
            begin = hermes_cycle();
        sum = mine;
        code = hermes_sum32_word(ctx, work, &sum);
        if (!code && sum != all)
            code = 1;
        mine += STEP;
        all += nodes * STEP;
    }
    heap[TIMES] = hermes_cycle() - begin;
    heap[TIMES + 1] = sum;
    if (!code)
        code = hermes_quiet(ctx);
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
