/* Gets of 1 to 200 bytes of the first 4 KiB of the other node's heap, from every byte of a line to
 * every byte of a line, each behind the one before, blocking or not; then a piece that was put
 * there just before is got. Own words: threads of a warp, gets, seed, bytes of a part. */
#include <hermes.h>
#include <hermes_shmem.h>

#define SOURCE_BYTES 4096u

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t warp = packet / node->own[0], peer = 1 - hermes_my_pe(), random = node->own[2] + warp, part = node->own[3];
    uint8_t *source = (uint8_t *)node->heap, *mine = source + SOURCE_BYTES + warp * part, *at = mine;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, 1);
    for (uint32_t i = 0; i < node->own[1] && !code; i++) {
        random = random * 1664525u + 1013904223u;
        uint32_t bytes = 1 + (random >> 8) % 200, from = (random >> 16) % (SOURCE_BYTES - 200);
        if (random & 0x80) {
            code = hermes_get(ctx, at, source + from, bytes, peer);
            /* It is seen. */
            for (uint32_t byte = 1; byte < bytes && !code; byte += 37)
                if (at[byte] != (uint8_t)((from + byte) * 89 >> 3 ^ (from + byte) >> 8 ^ peer << 6))
                    code = 0xff;
        } else {
            code = hermes_get_nbi(ctx, at, source + from, bytes, peer);
        }
        at += bytes;
    }
    /* The last 48 bytes of the part there are written by this warp, and come back; loads have seen
     * other bytes here before. */
    volatile uint32_t *back = (volatile uint32_t *)(mine + part - 96);
    uint32_t before = back[0] | back[11];
    if (!code)
        code = hermes_put_nbi(ctx, mine + part - 48, source + 64, 48, peer);
    if (!code)
        code = hermes_get_nbi(ctx, (void *)back, mine + part - 48, 48, peer);
    uint32_t last = hermes_quiet(ctx);
    code = code ? code : last;
    volatile uint32_t *here = (volatile uint32_t *)(source + 64);
    if (!code && (before || back[0] != here[0] || back[11] != here[11]))
        code = 0xfe;
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
