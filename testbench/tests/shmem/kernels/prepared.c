/* Puts that are prepared, 4 to 16 bytes from any byte on. Round r of a warp has bytes 16 r on of
 * its part: 0 fired with another first word; 1 not fired, a word is put in its place; 2 fired, and
 * a word put into the warp's word at once; 3 fired behind a quiet. Own words: threads of a warp,
 * rounds. The heap has a word for each warp, the source from byte 256 on, 32 bytes for each round,
 * and the parts. The last words hold the codes of warp 0. */
#include <hermes.h>
#include <hermes_shmem.h>

static uint32_t round_of(hermes_ctx_t ctx, uint32_t round, uint8_t *target, const uint8_t *source, uint32_t *word, uint32_t pe)
{
    struct hermes_prepared prepared;
    uint32_t code = hermes_put_prepare(ctx, &prepared, target, source + round % 7, 4 + round % 13, pe);
    if (code)
        return code;
    switch (round % 4) {
    case 0:
        hermes_put_fire_value(prepared, round * 0x01030507u);
        return 0;
    case 1:
        return hermes_p32(ctx, (uint32_t *)target, round, pe);
    case 2:
        hermes_put_fire(prepared);
        return hermes_p32(ctx, word, round, pe);
    default:
        code = hermes_quiet(ctx);
        hermes_put_fire(prepared);
        return code;
    }
}

static uint32_t codes_of(hermes_ctx_t ctx, hermes_ctx_t other, volatile uint32_t *codes, uint8_t *heap, uint32_t *word, uint32_t pe)
{
    struct hermes_prepared prepared;
    uint32_t n = 0;
    codes[n++] = hermes_put_prepare(ctx, &prepared, heap, heap, 0, pe);
    codes[n++] = hermes_put_prepare(ctx, &prepared, heap, heap, 17, pe);
    codes[n++] = hermes_put_prepare(ctx, &prepared, heap, heap, 4, 77);
    hermes_put_fire(prepared);
    codes[n++] = hermes_quiet(ctx);
    codes[n++] = hermes_quiet(ctx);
    /* It is not fired, and leaves nothing. Its entry is that of the first command that quiet has
     * not seen. */
    for (uint32_t i = 0; i < 64; i++)
        hermes_p32(other, word, i, pe);
    codes[n++] = hermes_put_prepare(ctx, &prepared, heap, heap, 16, pe);
    return hermes_ctx_destroy(ctx);
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t warp = packet / node->own[0], rounds = node->own[1], pe = 1 - hermes_my_pe(), code = 0;
    uint8_t *heap = (uint8_t *)node->heap, *source = heap + 256, *part = source + 32 * rounds + warp * 16 * rounds;
    hermes_ctx_t contexts[3];
    for (uint32_t number = 0; number < 3 && !code; number++)
        code = hermes_ctx_create(&contexts[number], number);
    for (uint32_t round = 0; round < rounds && !code; round++)
        code = round_of(contexts[round % 3], round, part + 16 * round, source + 32 * round, (uint32_t *)heap + warp, pe);
    for (uint32_t number = 0; number < 3; number++) {
        uint32_t last = hermes_quiet(contexts[number]);
        code = code ? code : last;
    }
    if (warp == 0 && !code)
        code = codes_of(contexts[1], contexts[0], (volatile uint32_t *)(heap + node->heap_bytes - 64), heap, (uint32_t *)heap + 63, pe);
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
