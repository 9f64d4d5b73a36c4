/* Puts without pause, by all warps of nodes 1 to `senders`, to a place of each warp on node 0, or
 * to those on all other nodes in turn. The kernel's own arguments: puts of a warp, bytes of a put
 * (1 to 4,096), threads of a warp, warps, senders, 1 for all other nodes, puts of a burst with
 * 5,000 cycles between two of them, or 0. All begin at the next multiple of 65,536 cycles, which
 * the nodes count together. */
#include <hermes.h>
#include <hermes_shmem.h>

#define PAUSE 5000u

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t me = hermes_my_pe(), nodes = hermes_n_pes();
    uint32_t puts = node->own[0], bytes = node->own[1], threads = node->own[2], warps = node->own[3], burst = node->own[6];
    if (me == 0 || me > node->own[4])
        return VERDICT_FORWARD;
    uint32_t warp = packet / threads;
    uint8_t *place = (uint8_t *)node->heap + (me * warps + warp) * ((bytes + 63u) & ~63u);
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    uint32_t begin = (hermes_cycle() | 0xffff) + 1, peer = 0;
    while ((int32_t)(hermes_cycle() - begin) < 0)
        ;
    for (uint32_t i = 0; i < puts && !code; i++) {
        if (node->own[5]) {
            peer = peer + 1 == nodes ? 0 : peer + 1;
            if (peer == me)
                peer = peer + 1 == nodes ? 0 : peer + 1;
        }
        if (burst && i % burst == 0) {
            uint32_t next = begin + i / burst * PAUSE;
            while ((int32_t)(hermes_cycle() - next) < 0)
                ;
        }
        code = hermes_put_nbi(ctx, place, place, bytes, peer);
    }
    if (!code)
        code = hermes_quiet(ctx);
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
