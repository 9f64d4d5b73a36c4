/* Calls on a queue that is off: the kernel says so itself, in its control line. What they give goes
 * to the heap, from word 64 on, two words for each. Own word: threads of a warp. */
#include <hermes.h>
#include <hermes_shmem.h>

#define VALUE 0x123456789abcdef0u

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)slot;
    const struct hermes_arguments *node = arguments;
    volatile uint32_t *control = (volatile uint32_t *)(node->area + node->slots * 4096 + hermes_warp_slot() * 64);
    volatile uint64_t *results = (volatile uint64_t *)node->heap + 32;
    uint64_t *target = (uint64_t *)node->heap;
    uint32_t peer = 1 - hermes_my_pe(), n = 0;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    if (!code)
        code = hermes_p64(ctx, target, VALUE, peer);
    if (!code)
        code = hermes_quiet(ctx);
    if (code)
        return VERDICT_DROP | code;
    control[1] = 0;
    __asm__ volatile("fence rw, rw" ::: "memory");
    results[n++] = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    results[n++] = hermes_p32(ctx, (uint32_t *)target, 1, peer);
    results[n++] = hermes_p64(ctx, target, VALUE + 1, peer);
    results[n++] = hermes_put(ctx, target, target + 8, 64, peer);
    results[n++] = hermes_add64(ctx, target, VALUE, peer);
    results[n++] = hermes_g64(ctx, target, peer);
    results[n++] = hermes_fetch_add64(ctx, target, VALUE, peer);
    results[n++] = hermes_compare_swap64(ctx, target, VALUE, VALUE + 2, peer);
    results[n++] = hermes_value_code(ctx);
    results[n++] = hermes_quiet(ctx);
    return VERDICT_FORWARD;
}
