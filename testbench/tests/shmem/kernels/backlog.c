/* A warp puts the words of the first part of the heap into the second part of that of the other
 * node, all of them before it waits. How many were not consumed then goes to the word behind. Own
 * word: how many. */
#include <hermes.h>
#include <hermes_shmem.h>

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t words = node->own[0], *source = (uint32_t *)node->heap, *target = source + words;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, 1);
    for (uint32_t i = 0; i < words && !code; i++)
        code = hermes_put_nbi(ctx, target + i, source + i, 4, 1 - hermes_my_pe());
    const uint32_t *head = (const uint32_t *)(node->area + 4096 * node->slots + 64 * hermes_warp_slot());
    uint32_t outstanding = words - hermes_wait_until32(head, HERMES_GE, 0);
    uint32_t last = hermes_quiet(ctx);
    target[words] = outstanding;
    code = code ? code : last;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
