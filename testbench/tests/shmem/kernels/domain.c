/* A put of 8 bytes and one of 200 into the heap of the other node, a get of them back, and an
 * addition. Gives the first code that is not 0. */
#include <hermes.h>
#include <hermes_shmem.h>

#define BYTES 200

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint8_t *heap = (uint8_t *)node->heap;
    uint32_t peer = 1 - hermes_my_pe();
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    if (!code)
        code = hermes_p64(ctx, (uint64_t *)(heap + 1024), 0x0123456789abcdefu, peer);
    if (!code)
        code = hermes_put(ctx, heap + 1088, heap, BYTES, peer);
    if (!code)
        code = hermes_get(ctx, heap + 2048, heap + 1088, BYTES, peer);
    if (!code)
        code = hermes_add64(ctx, (uint64_t *)(heap + 1024), 1, peer);
    if (!code)
        code = hermes_quiet(ctx);
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
