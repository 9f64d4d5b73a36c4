/* All warps of both nodes count in words of both nodes by atomic operations, of each kind so many.
 * Own words: threads of a warp, warps, rounds, whether calls that give a value work. Heap, as
 * doubles: 0 added to; 1 fetched and added to; 2 counted by compare-swap; 3 a bit of each warp and
 * round flips; 4 swapped along; 5 32-bit adds, in both halves. From 8 on the sums of what a warp
 * saw: of fetch-adds, and of swaps. */
#include <hermes.h>
#include <hermes_shmem.h>

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t warp = packet / node->own[0] + hermes_my_pe() * node->own[1], rounds = node->own[2], last, code;
    uint64_t *heap = (uint64_t *)node->heap, added = 0, swapped = 0, bit = 1ull << 8 * warp;
    hermes_ctx_t ctx;
    code = hermes_ctx_create(&ctx, warp % 3);
    for (uint32_t round = 0; round < rounds && !code; round++)
        for (uint32_t pe = 0; pe < hermes_n_pes() && !code; pe++) {
            code = hermes_add64(ctx, heap, 0x40000000ull + warp, pe);
            if (code || !node->own[3])
                continue;
            added += hermes_fetch_add64(ctx, heap + 1, 0x80000001ull, pe);
            code = hermes_value_code(ctx);
            uint64_t there = hermes_fetch64(ctx, heap + 2, pe), seen;
            while ((seen = hermes_compare_swap64(ctx, heap + 2, there, there + 3, pe)) != there)
                there = seen;
            switch (round % 3) {
            case 0: hermes_fetch_or64(ctx, heap + 3, bit, pe); break;
            case 1: hermes_fetch_and64(ctx, heap + 3, ~bit, pe); break;
            default: hermes_fetch_xor64(ctx, heap + 3, bit, pe);
            }
            swapped += hermes_swap64(ctx, heap + 4, ((uint64_t)warp << 32 | round) + 1, pe);
            hermes_fetch_add32(ctx, (uint32_t *)(heap + 5) + warp % 2, 0x10000001u, pe);
        }
    last = hermes_quiet(ctx);
    code = code ? code : last;
    ((volatile uint64_t *)heap)[8 + 2 * warp] = added;
    ((volatile uint64_t *)heap)[9 + 2 * warp] = swapped;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
