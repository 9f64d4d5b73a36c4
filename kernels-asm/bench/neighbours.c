/* Warps of node 0 that do different things at the same time, so that it can be seen what one kind
 * costs another. The kernel's own arguments: threads of a warp, then how many warps 1 put eight
 * bytes at a time into node 1, 2 put so into node 2, which need not be there, 3 read one line after
 * the other of the first half of the heap, 4 wait for a word, polling, 5 count in a loop; then 6
 * the puts of a warp of the first kind, 7 the turns of the loop. Warps behind these end at once.
 * Those that read or wait do so until all of the first and the last kind are through. All begin
 * together. Each warp of these leaves the cycles of its begin and its end in words 0 and 1 of its
 * line of the second half of the heap. */
#include <hermes.h>
#include <hermes_shmem.h>

#define WORDS_OF_WARP 16u
#define LINE 64u

static __attribute__((noinline)) void add(uint32_t *word)
{
    if (hermes_lane() == 0)
        __asm__ volatile(".option push; .option arch, +a; amoadd.w zero, %1, (%0); .option pop" : : "r"(word), "r"(1) : "memory");
}

static inline uint32_t look(uint32_t *word)
{
    uint32_t value;
    __asm__ volatile(".option push; .option arch, +a; amoor.w %0, zero, (%1); .option pop" : "=r"(value) : "r"(word) : "memory");
    return value;
}

/* Four loads at a time, each lane another line. */
static __attribute__((noinline)) void stream(const char *from, uint32_t bytes, uint32_t *over, uint32_t all)
{
    uint32_t at = hermes_lane() * LINE;
    while (look(over) < all) {
        for (uint32_t i = 0; i < 8; i++) {
            __asm__ volatile("lw t0, 0(%0)" : : "r"(from + at) : "t0");
            at = (at + 32 * LINE) & (bytes - 1);
        }
    }
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    const uint32_t *own = node->own;
    if (hermes_my_pe() != 0)
        return VERDICT_FORWARD;
    uint32_t warp = packet / own[0], ends[5], all = own[1] + own[5];
    ends[0] = own[1];
    for (uint32_t i = 1; i < 5; i++)
        ends[i] = ends[i - 1] + own[i + 1];
    if (warp >= ends[4])
        return VERDICT_FORWARD;
    uint32_t *here = (uint32_t *)(node->heap + node->heap_bytes - 4), *over = here - WORDS_OF_WARP;
    volatile uint32_t *times = (volatile uint32_t *)(node->heap + node->heap_bytes / 2) + warp * WORDS_OF_WARP;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    add(here);
    hermes_wait_until32(here, HERMES_GE, ends[4]);
    times[0] = hermes_cycle();
    if (warp < ends[1]) {
        uint64_t *target = (uint64_t *)(times + 2);
        uint32_t is_far = warp >= ends[0], puts = is_far ? 8 : own[6];
        for (uint32_t i = 1; i <= puts && !code; i++)
            code = hermes_p64(ctx, target, i, 1 + is_far);
        if (!code && !is_far)
            code = hermes_quiet(ctx);
        if (!is_far)
            add(over);
    } else if (warp < ends[2]) {
        stream((const char *)node->heap, node->heap_bytes / 2, over, all);
    } else if (warp < ends[3]) {
        hermes_wait_until32(over, HERMES_GE, all);
    } else {
        for (uint32_t i = own[7]; i; i--)
            __asm__ volatile("addi %0, %0, 3; xor %0, %0, %1; slli t0, %0, 1; add %0, %0, t0" : "+r"(code) : "r"(i) : "t0");
        code = 0;
        add(over);
    }
    times[1] = hermes_cycle();
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
