/* Every second warp hands an address over that may not be read; the others put. Own words: threads
 * of a warp, warps that may do so. Word `warp` of the other node's heap gets what a warp puts
 * behind that; the words from 256 on get what the lanes got that did not end, a line for each
 * warp. */
#include <hermes.h>
#include <hermes_shmem.h>

#define NOWHERE 0xd0000000u
#define FIRST_LINE 256u

/* The last lane alone ends by calls 0 to 3, the lowest of those that call by the others. */
static uint32_t misuse(hermes_ctx_t ctx, uint32_t *target, uint32_t kind, uint32_t last, uint32_t pe)
{
    struct hermes_prepared prepared;
    const void *nowhere = (const void *)NOWHERE;
    uint32_t alone = hermes_lane() == last;
    switch (kind) {
    case 0:
        return alone ? hermes_put_nbi(ctx, target, nowhere, 8, pe) : 0;
    case 1:
        return alone ? hermes_put_nbi(ctx, target, (const uint8_t *)nowhere + 1, 5, pe) : 0;
    case 2:
        return alone ? hermes_put(ctx, target, nowhere, 12, pe) : 0;
    case 3:
        return alone ? hermes_put_prepare(ctx, &prepared, target, nowhere, 4, pe) : 0;
    case 4:
        return hermes_put_nbi(ctx, target, nowhere, 4, pe);
    case 5:
        return hermes_put_nbi(ctx, target, (const uint8_t *)nowhere + 2, 4, pe);
    case 6:
        return hermes_put(ctx, target, nowhere, 16, pe);
    case 7:
        return hermes_put_prepare(ctx, &prepared, target, nowhere, 4, pe);
    case 8:
        return hermes_wait_until32(nowhere, HERMES_EQ, 0);
    case 9:
        return (uint32_t)hermes_wait_until64(nowhere, HERMES_EQ, 0);
    case 10:
        return hermes_test32(nowhere, HERMES_EQ, 0);
    default:
        return hermes_test64(nowhere, HERMES_EQ, 0);
    }
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t warp = packet / node->own[0], pe = 1 - hermes_my_pe(), value = warp + 1;
    volatile uint32_t *heap = (volatile uint32_t *)node->heap;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, 1);
    if (code)
        return VERDICT_DROP | code;
    /* A result of before, which nobody must get. */
    hermes_wait_until32(heap + FIRST_LINE - 1, HERMES_EQ, 77);
    if (warp % 2 && warp < node->own[1])
        heap[FIRST_LINE + warp * 16 + hermes_lane()] = 1 + misuse(ctx, (uint32_t *)heap + 128, warp / 2, node->own[0] - 1, pe);
    code = hermes_p32(ctx, (uint32_t *)heap + warp, value, pe);
    uint32_t last = hermes_quiet(ctx);
    code = code ? code : last;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
