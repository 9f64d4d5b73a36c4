/* Warps that the watchdog ends within a call, and warps of the same slots behind them. Each odd
 * warp waits until it has been there for some cycles, makes its call, and does not end by itself;
 * an even one puts some words, makes the same call and ends. Own words: threads of a warp, call,
 * cycles of warp 1 and of the last one, warps, words.
 *
 * A warp has a line in the heap: words 0 to 7 are what the other node's warp of this number does
 * here, or what this one gets; words 8 to 15 are a source. Behind the lines is a word for each
 * warp, and one for all that an even warp puts first: bits 7:0 what it found in its queue, bit 8
 * its call returned, bits 31:16 its code. */
#include <hermes.h>
#include <hermes_shmem.h>

enum { PUT, PUT_BYTES, PUT_LONG, PUT_LONG_BLOCKING, GET, VALUE, ADD, FETCH_ADD, QUIET, PREPARED, CREATE, BAD, NO_ROOM, PUT_VALUE };

extern const uint8_t hermes_contexts[];

/* A while without taking turns from other warps. */
static void pause(void)
{
    uint32_t number = 1;
    __asm__ volatile("divu %0, %0, %0" : "+r"(number));
}

/* What the warp before left: 0 nothing that is wrong, 1 a command that is published and counts
 * nowhere, 2 one that counts in ISSUED. The words of the context are those of
 * hermes_context.inc. */
static uint32_t left(const struct hermes_arguments *node)
{
    const volatile uint32_t *context = (const volatile uint32_t *)(hermes_contexts + 128 * hermes_warp_slot());
    const volatile uint32_t *ring = (const volatile uint32_t *)(node->area + 4096 * hermes_warp_slot());
    const volatile uint32_t *control = (const volatile uint32_t *)(node->area + 4096 * node->slots + 64 * hermes_warp_slot());
    if (context[2] == 0 || hermes_wait_until32(control + 1, HERMES_GE, 0) != context[2])
        return 0;
    uint32_t number = context[1] - ((context[1] - (context[0] >> 6)) & 63);
    uint32_t command = hermes_wait_until32(ring + 16 * (number & 63), HERMES_GE, 0);
    if (((command >> 8 ^ number >> 6) & 1) == 0)
        return 0;
    uint32_t issued = context[9] + context[13] + context[17] + context[21];
    return 1 + ((issued - number) & 0xffff);
}

static uint32_t call(hermes_ctx_t ctx, uint32_t kind, volatile uint32_t *line, uint32_t warp, uint32_t pe)
{
    uint32_t *target = (uint32_t *)line, *source = target + 8, code;
    struct hermes_prepared prepared;
    uint64_t value;
    switch (kind) {
    case PUT:
        return hermes_put_nbi(ctx, target, source, 8, pe);
    case PUT_BYTES:
        return hermes_put_nbi(ctx, (uint8_t *)target + 1, (const uint8_t *)source + 1, 13, pe);
    case PUT_LONG:
        return hermes_put_nbi(ctx, target, source, 32, pe);
    case PUT_LONG_BLOCKING:
        return hermes_put(ctx, target, source, 32, pe);
    case GET:
        return hermes_get(ctx, target, source, 32, pe);
    case VALUE:
        target[0] = hermes_g32(ctx, source, pe);
        return hermes_value_code(ctx);
    case ADD:
        return hermes_add64(ctx, (uint64_t *)target, 1, pe);
    case FETCH_ADD:
        value = hermes_fetch_add64(ctx, (uint64_t *)target, 1, pe);
        return value ? 0xff : hermes_value_code(ctx);
    case QUIET:
        code = hermes_put_nbi(ctx, target, source, 32, pe);
        return code ? code : hermes_quiet(ctx);
    case NO_ROOM:
        /* A prepared put leaves no room. */
        if (warp % 2)
            return hermes_put_nbi(ctx, target, source, 8, pe);
        /* fall through */
    case PREPARED:
        code = hermes_put_prepare(ctx, &prepared, target, source, 8, pe);
        if (!code)
            hermes_put_fire(prepared);
        return code;
    case PUT_VALUE:
        return hermes_p64(ctx, (uint64_t *)target, (uint64_t)source[1] << 32 | source[0], pe);
    case BAD:
        return hermes_put(ctx, target, source, 32, warp % 2 ? 77 : pe);
    default:
        code = hermes_ctx_create(&ctx, 0);
        return code ? code : hermes_put_nbi(ctx, target, source, 8, pe);
    }
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    uint32_t began = hermes_cycle();
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t warp = packet / node->own[0], pe = 1 - hermes_my_pe(), kind = node->own[1], warps = node->own[4];
    volatile uint32_t *line = (volatile uint32_t *)node->heap + 16 * warp, *note = (volatile uint32_t *)node->heap + 16 * warps + warp;
    uint32_t found = left(node), code = 0;
    if (hermes_lane() == 0)
        *note = found;
    hermes_ctx_t ctx = hermes_ctx_default();
    if (kind != CREATE || warp % 2 == 0)
        code = hermes_ctx_create(&ctx, warp % 3);
    uint32_t wait = node->own[2] + (node->own[3] - node->own[2]) * warp / warps;
    for (uint32_t i = 0; i < node->own[5] && warp % 2 == 0 && !code; i++)
        code = hermes_put_nbi(ctx, (uint32_t *)node->heap + 17 * warps, (const uint32_t *)line + 8, 4, pe);
    while (warp % 2 && hermes_cycle() - began + 100 < wait)
        pause();
    while (warp % 2 && hermes_cycle() - began < wait)
        ;
    if (!code)
        code = call(ctx, kind, line, warp, pe);
    if (hermes_lane() == 0)
        *note = found | 1u << 8 | code << 16;
    while (warp % 2)
        pause();
    uint32_t last = hermes_quiet(ctx);
    code = code ? code : last;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
