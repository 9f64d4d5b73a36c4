/* Commands that are wrong, of the library by warp 0 and by hand by warp 1. What came of each goes
 * to the heap, from word 64 on: what the library gave, and the code of the command. Own word:
 * threads of a warp. */
#include <hermes.h>
#include <hermes_shmem.h>

#define WARP_WORDS 64u

/* The word as the L2 has it. */
static uint32_t now(const volatile uint32_t *word)
{
    return hermes_wait_until32(word, HERMES_GE, 0);
}

/* Publishes entry `index`, in the first lap and context 0, and waits for its code. */
static uint32_t by_hand(const struct hermes_arguments *node, uint32_t index, uint32_t command, uint32_t remote, uint32_t bytes)
{
    volatile uint32_t *entry = (volatile uint32_t *)(node->area + hermes_warp_slot() * 4096 + index * 64);
    const volatile uint32_t *control = (const volatile uint32_t *)(node->area + node->slots * 4096 + hermes_warp_slot() * 64);
    uint32_t by_status = now(control + 2), done = now(control + 4), error = now(control + 12);
    for (uint32_t word = 1; word < 16; word++)
        entry[word] = 0;
    entry[1] = remote;
    entry[3] = bytes;
    entry[0] = command | 1u << 8 | by_status << 9;
    if (by_status)
        return hermes_wait_until32(entry + 15, HERMES_NE, 0) & 0xff;
    hermes_wait_until32(control + 4, HERMES_NE, done);
    uint32_t last = now(control + 12);
    return last == error ? 1 : last & 0xff;
}

static uint32_t library(const struct hermes_arguments *node, volatile uint32_t *codes)
{
    uint8_t *heap = (uint8_t *)node->heap, *end = heap + node->heap_bytes;
    uint32_t peer = 1 - hermes_my_pe(), word = 7, n = 0;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    if (code)
        return code;
    hermes_ctx_t other = 77;
    codes[n++] = hermes_ctx_create(&other, 3);                  /* the library's own */
    codes[n++] = hermes_ctx_create(&other, 0x80000001u);        /* no such context */
    if (other != 77)
        return 1;
    hermes_put_nbi(ctx, heap, &word, 4, 2);
    codes[n++] = hermes_quiet(ctx);                             /* no such node */
    hermes_put_nbi(ctx, heap, &word, 4, 0x12345);
    codes[n++] = hermes_quiet(ctx);                             /* no number of a node */
    hermes_put_nbi(ctx, end - 3, &word, 4, peer);
    codes[n++] = hermes_quiet(ctx);                             /* behind the heap */
    hermes_put_nbi(ctx, heap - 1, &word, 4, peer);
    codes[n++] = hermes_quiet(ctx);                             /* before it */
    hermes_put_nbi(ctx, heap, &word, 0, peer);
    codes[n++] = hermes_quiet(ctx);                             /* no bytes */
    codes[n++] = hermes_put(ctx, heap, heap, 0x40000001, peer); /* too many */
    codes[n++] = hermes_put(ctx, heap, heap - 64, 64, peer);    /* a source that may not be read */
    codes[n++] = hermes_put(ctx, heap, end - 32, 64, peer);
    codes[n++] = hermes_put(ctx, heap, heap, 64, 77);
    codes[n++] = hermes_quiet(ctx);                             /* all of this context is told */
    hermes_put_nbi(ctx, heap, &word, 4, peer);
    codes[n++] = hermes_quiet(ctx);                             /* the next one works */
    codes[n++] = hermes_put(ctx, heap + 8, heap + 4096, 20, peer);
    return 0;
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t warp = packet / node->own[0];
    volatile uint32_t *codes = (volatile uint32_t *)node->heap + WARP_WORDS * (1 + warp);
    if (warp == 0)
        return library(node, codes);
    if (hermes_lane() != 0)
        return 0;
    uint32_t peer = (1 - node->my_pe) << 16, put = peer | 1 << 10 | 1, heap = node->heap;
    codes[0] = by_hand(node, 0, peer | 3, heap, 4);        /* no such operation */
    codes[1] = by_hand(node, 1, peer | 0x40, heap, 4);     /* one of firmware, which it does not have */
    codes[2] = by_hand(node, 2, put | 1 << 11, heap, 4);   /* reserved bits */
    codes[3] = by_hand(node, 3, put | 1u << 28, heap, 4);
    codes[4] = by_hand(node, 4, 0, 0, 0);                  /* NOP */
    codes[5] = by_hand(node, 5, 5u << 16 | 1, heap, 4);    /* no such node */
    codes[6] = by_hand(node, 6, put, heap + 128, 17);      /* too long to stand in the command */
    codes[7] = by_hand(node, 7, put, heap + 128, 16);
    return 0;
}
