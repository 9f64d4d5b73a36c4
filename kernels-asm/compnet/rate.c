/* Commands of eight bytes by warps of node 0 to all other nodes in turn. The kernel's own words:
 *
 *   0  commands of a warp
 *   1  threads of a warp
 *   2  warps
 *   3  kind: bit 0 gets, bit 1 each waits for its end, bit 2 the cycles of each call are kept
 *   4  cycles from a command of a warp to its next one; 0: as fast as they go
 *   5  cycles by which a warp begins behind the one before it
 *
 * All warps begin together. Each leaves the cycles at its first command and behind its last, and
 * the longest and the sum of its calls, in words 0 to 3 of its line at TIMES. A put writes its
 * number and the warp's to the warp's line at the begin of the heap there, a get brings the line's
 * first word here. Calls that are kept stand at CALLS, those of a warp side by side. */
#include <hermes.h>
#include <hermes_shmem.h>

#define WORDS_OF_WARP 16u
#define TIMES (8u << 10)          /* bytes from the begin of the heap */
#define PRESENT ((16u << 10) - 4) /* word that counts threads */
#define CALLS (16u << 10)

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
    uint32_t warp = packet / node->own[1], commands = node->own[0], kind = node->own[3] & 3;
    uint32_t keeps = node->own[3] & 4, interval = node->own[4];
    volatile uint32_t *line = (volatile uint32_t *)node->heap + warp * WORDS_OF_WARP;
    volatile uint32_t *calls = (volatile uint32_t *)(node->heap + CALLS) + warp * commands;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    uint32_t *present = (uint32_t *)(node->heap + PRESENT);
    for (uint32_t more = 1; add(present, more) < node->own[1] * node->own[2]; more = 0)
        ;
    uint32_t begin = hermes_cycle(), longest = 0, sum = 0, peer = 1 + warp % (node->n_pes - 1);
    uint32_t due = begin + warp * node->own[5];
    for (uint32_t i = 0; i < commands && !code; i++) {
        if (interval) {
            while ((int32_t)(hermes_cycle() - due) < 0)
                ;
            due += interval;
        }
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
        if (keeps)
            calls[i] = delay;
        peer = peer + 1 == node->n_pes ? 1 : peer + 1;
    }
    if (!code)
        code = hermes_quiet(ctx);
    volatile uint32_t *times = line + TIMES / 4;
    times[0] = begin;
    times[1] = hermes_cycle();
    times[2] = longest;
    times[3] = sum;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
