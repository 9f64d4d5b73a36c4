/* Warps of node 0 put bytes with a signal, those of node 1 wait for it and look at the bytes; their
 * answer is a signal too. Then the calls that are refused. Own words: threads of a warp, rounds,
 * bytes of a part. The heap has a line of signals for each warp, then the parts; the last words
 * hold the codes of warp 0. */
#include <hermes.h>
#include <hermes_shmem.h>

#define LINES 1024u

static uint8_t byte_of(uint32_t round, uint32_t at)
{
    return (uint8_t)(round * 61 + at * 7);
}

static uint32_t play(hermes_ctx_t ctx, uint64_t *signals, uint8_t *part, uint32_t bytes, uint32_t round)
{
    /* Sums pass 2^32. */
    uint32_t adds = round % 2;
    uint64_t step = 0xc0000000ull, value = round * step;
    if (hermes_my_pe() == 0) {
        for (uint32_t at = 0; at < bytes; at++)
            part[at] = byte_of(round, at);
        uint32_t operation = adds ? HERMES_SIGNAL_ADD : HERMES_SIGNAL_SET;
        uint64_t operand = adds ? step : value;
        uint32_t code = round % 3 ? hermes_put_signal_nbi(ctx, part, part, bytes, signals, operand, operation, 1)
                                  : hermes_put_signal(ctx, part, part, bytes, signals, operand, operation, 1);
        if (!code && hermes_signal_wait_until(signals + 1, HERMES_GE, value) != value)
            code = 0xfd;
        return code;
    }
    if (hermes_signal_wait_until(signals, HERMES_EQ, value) != value || hermes_signal_fetch(signals) != value)
        return 0xfe;
    for (uint32_t at = 0; at < bytes; at++)
        if (part[at] != byte_of(round, at))
            return 0xff;
    return hermes_set64(ctx, signals + 1, value, 0);
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t warp = packet / node->own[0], bytes = node->own[2], peer = 1 - hermes_my_pe(), n = 0;
    uint8_t *heap = (uint8_t *)node->heap, *end = heap + node->heap_bytes;
    uint64_t *signals = (uint64_t *)(heap + 64 * warp);
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, 0);
    for (uint32_t round = 1; round <= node->own[1] && !code; round++)
        code = play(ctx, signals, heap + LINES + warp * bytes, round % 4 ? bytes : 1 + round % 16, round);
    uint32_t last = hermes_quiet(ctx);
    code = code ? code : last;
    if (warp || code)
        return code ? VERDICT_DROP | code : VERDICT_FORWARD;
    volatile uint32_t *codes = (volatile uint32_t *)(end - 128);
    uint64_t *signal = (uint64_t *)(heap + 512);
    codes[n++] = hermes_put_signal_nbi(ctx, end - 31, heap, 32, signal, 1, HERMES_SIGNAL_ADD, peer);
    codes[n++] = hermes_put_signal(ctx, heap - 1, heap, 32, signal, 1, HERMES_SIGNAL_SET, peer);
    codes[n++] = hermes_put_signal_nbi(ctx, heap + 576, end - 31, 32, signal, 1, HERMES_SIGNAL_ADD, peer);
    codes[n++] = hermes_put_signal_nbi(ctx, heap + 576, heap, 0, signal, 1, HERMES_SIGNAL_ADD, peer);
    codes[n++] = hermes_put_signal_nbi(ctx, heap + 576, heap, 32, (uint64_t *)end, 1, HERMES_SIGNAL_ADD, peer);
    codes[n++] = hermes_put_signal_nbi(ctx, heap + 576, heap, 32, (uint64_t *)(heap + 516), 1, HERMES_SIGNAL_SET, peer);
    codes[n++] = hermes_put_signal(ctx, heap + 576, heap, 32, signal, 1, HERMES_SIGNAL_ADD, 77);
    codes[n++] = hermes_quiet(ctx);
    codes[n++] = hermes_put_signal_nbi(ctx, heap + 576, heap, 32, signal, 1, HERMES_SIGNAL_ADD, 77);
    codes[n++] = hermes_quiet(ctx);
    hermes_fence(ctx);
    /* Comparisons of what stands still: words 5 and 2^32 + 5. */
    volatile uint32_t *word = (volatile uint32_t *)(heap + 704);
    volatile uint64_t *both = (volatile uint64_t *)(heap + 712);
    uint32_t tests = 0;
    for (uint32_t comparison = HERMES_EQ; comparison <= HERMES_LE; comparison++)
        for (uint32_t value = 4; value <= 6; value++)
            tests = tests << 1 | hermes_test32(word, comparison, value);
    codes[n++] = tests;
    uint64_t sum = hermes_wait_until64(both, HERMES_EQ, 0x100000005ull);
    sum += hermes_wait_until64(both, HERMES_NE, 5) + hermes_wait_until64(both, HERMES_GT, 0xffffffff);
    sum += hermes_wait_until64(both, HERMES_GT, 0x100000004ull) + hermes_wait_until64(both, HERMES_GE, 0x100000005ull);
    sum += hermes_wait_until64(both, HERMES_LT, 0x100000006ull) + hermes_wait_until64(both, HERMES_LT, 0x200000000ull);
    sum += hermes_wait_until64(both, HERMES_LE, 0x100000005ull);
    codes[n++] = (uint32_t)(sum >> 32);
    codes[n++] = (uint32_t)sum;
    return VERDICT_FORWARD;
}
