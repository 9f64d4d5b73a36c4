/* Puts of eight bytes without pause, by all warps of node 0, to a line of each warp on node 1. The
 * kernel's own arguments: puts of a warp, threads of a warp, warps. All begin together. Each warp
 * leaves the cycles at its first call and behind its quiet in words 0 and 1 of its line of the
 * second half of the heap. */
#include <hermes.h>
#include <hermes_shmem.h>

#define WORDS_OF_WARP 16u

static inline uint32_t add(uint32_t *word, uint32_t value)
{
    uint32_t old;
    __asm__ volatile(".option push; .option arch, +a; amoadd.w %0, %2, (%1); .option pop" : "=r"(old) : "r"(word), "r"(value) : "memory");
    return old;
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    if (hermes_my_pe() != 0)
        return VERDICT_FORWARD;
    volatile uint32_t *line = (volatile uint32_t *)node->heap + packet / node->own[1] * WORDS_OF_WARP;
    uint32_t puts = node->own[0];
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    /* The last word of the heap counts threads. */
    uint32_t *here = (uint32_t *)(node->heap + node->heap_bytes - 4);
    for (uint32_t more = 1; add(here, more) < node->own[1] * node->own[2]; more = 0)
        ;
    uint32_t begin = hermes_cycle();
    for (uint32_t i = 0; i < puts && !code; i++)
        code = hermes_p64(ctx, (uint64_t *)line, (uint64_t)i << 32 | packet, 1);
    if (!code)
        code = hermes_quiet(ctx);
    volatile uint32_t *times = line + node->heap_bytes / 8;
    times[0] = begin;
    times[1] = hermes_cycle();
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
