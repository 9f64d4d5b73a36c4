/* A warp puts the words of the first part of the heap into the second part of that of the other
 * node, and gets those of the other node into its own third part, in turns and all of them before
 * it waits. Own word: how many words a part has. */
#include <hermes.h>
#include <hermes_shmem.h>

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t words = node->own[0], peer = 1 - hermes_my_pe();
    uint32_t *source = (uint32_t *)node->heap, *target = source + words, *got = target + words;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, 1);
    for (uint32_t i = 0; i < words && !code; i++) {
        code = hermes_put_nbi(ctx, target + i, source + i, 4, peer);
        if (!code)
            code = hermes_get_nbi(ctx, got + i, source + i, 4, peer);
    }
    uint32_t last = hermes_quiet(ctx);
    code = code ? code : last;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
