/* Ping and pong between two nodes (ComP-Net, figure 5): each warp puts a number into its word on
 * the other node, and waits for the same number to come back. The first word of the kernel's own
 * arguments: rounds. The second: threads of a warp. */
#include <hermes.h>
#include <hermes_shmem.h>

#define WORDS_OF_WARP 16u /* a line of its own for each warp */

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t rounds = node->own[0], pe = hermes_my_pe(), peer = hermes_n_pes() - 1 - pe;
    volatile uint32_t *ball = (volatile uint32_t *)node->heap + packet / node->own[1] * WORDS_OF_WARP;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    for (uint32_t round = 1; round <= rounds && !code; round++) {
        if (pe != 0)
            hermes_wait_until32(ball, HERMES_EQ, round);
        code = hermes_put_nbi(ctx, (void *)ball, &round, sizeof round, peer);
        if (pe == 0 && !code)
            hermes_wait_until32(ball, HERMES_EQ, round);
    }
    if (!code)
        code = hermes_quiet(ctx);
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
