/* Commands of eight bytes by warps of node 0 to all other nodes in turn. The kernel's own words:
 * commands of a warp, threads of a warp, warps, kind: bit 0 gets, bit 1 each waits for its end. All
 * warps begin together. Each leaves the cycles at its first command and behind its last, and the
 * longest and the sum of its commands if they wait, in words 0 to 3 of its line of the second half
 * of the heap. A put writes its number and the warp's to the warp's line there, a get brings the
 * line's first word here. */
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
    uint32_t warp = packet / node->own[1], commands = node->own[0], kind = node->own[3];
    volatile uint32_t *line = (volatile uint32_t *)node->heap + warp * WORDS_OF_WARP;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    /* The last word of the heap counts threads. */
    uint32_t *present = (uint32_t *)(node->heap + node->heap_bytes - 4);
    for (uint32_t more = 1; add(present, more) < node->own[1] * node->own[2]; more = 0)
        ;
    uint32_t begin = hermes_cycle(), longest = 0, sum = 0, peer = 1 + warp % (node->n_pes - 1);
    for (uint32_t i = 0; i < commands && !code; i++) {
        uint32_t start = hermes_cycle();
        uint64_t value = (uint64_t)(i + 1) << 32 | warp;
        if (kind == 0)
            code = hermes_p64(ctx, (uint64_t *)line, value, peer);
        else if (kind == 1)
            code = hermes_get_nbi(ctx, (void *)line, (const void *)line, 8, peer);
        else if (kind == 2)
            code = hermes_put(ctx, (void *)line, &value, 8, peer);
        else
            code = hermes_get(ctx, (void *)line, (const void *)line, 8, peer);
        uint32_t delay = hermes_cycle() - start;
        longest = delay > longest ? delay : longest;
        sum += delay;
        peer = peer + 1 == node->n_pes ? 1 : peer + 1;
    }
    if (!code)
        code = hermes_quiet(ctx);
    volatile uint32_t *times = line + node->heap_bytes / 8;
    times[0] = begin;
    times[1] = hermes_cycle();
    times[2] = longest;
    times[3] = sum;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
