/* Values that are put and got as such, by warp 0 of each node: what each call gave goes to the
 * words from 64 on, two for each. Words 0 to 15 of the other node's heap are got, puts go to word
 * 32 and on. Own word: 0 in mode paper. The last two words: cycles of a get of 8 bytes, of a
 * fetch-add. */
#include <hermes.h>
#include <hermes_shmem.h>

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t peer = 1 - hermes_my_pe(), n = 0;
    uint8_t *heap = (uint8_t *)node->heap, *end = heap + node->heap_bytes;
    volatile uint64_t *values = (volatile uint64_t *)(heap + 256);
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, 2);
    if (code)
        return VERDICT_DROP | code;
    /* Every length from some bytes. The upper bytes of a value are zeros. */
    for (uint32_t bytes = 1; bytes <= 8; bytes++) {
        values[n++] = hermes_get_value(ctx, heap + 5 * bytes - 3, bytes, peer);
        values[n++] = hermes_value_code(ctx);
    }
    values[n++] = hermes_g8(ctx, heap + 7, peer);
    values[n++] = hermes_g32(ctx, (uint32_t *)(heap + 9), peer);
    values[n++] = hermes_g64(ctx, (uint64_t *)(heap + 17), peer);
    /* Errors have codes, and the next call works. */
    values[n++] = hermes_get_value(ctx, heap, 9, peer);
    values[n++] = hermes_value_code(ctx);
    values[n++] = hermes_g64(ctx, (uint64_t *)(end - 7), peer);
    values[n++] = hermes_value_code(ctx);
    values[n++] = hermes_g64(ctx, (uint64_t *)heap, 77);
    values[n++] = hermes_value_code(ctx);
    values[n++] = hermes_g64(ctx, (uint64_t *)heap, 0x10000);
    values[n++] = hermes_value_code(ctx);
    values[n++] = hermes_fetch_add64(ctx, (uint64_t *)(heap + 4), 1, peer);
    values[n++] = hermes_value_code(ctx);
    values[n++] = hermes_compare_swap64(ctx, (uint64_t *)end, 0, 1, peer);
    values[n++] = hermes_value_code(ctx);
    values[n++] = hermes_set64(ctx, (uint64_t *)(heap + 4), 1, peer);
    values[n++] = hermes_get(ctx, heap + 128, heap - 1, 64, peer);
    values[n++] = hermes_get(ctx, end - 31, heap, 32, peer);
    values[n++] = hermes_get(ctx, heap + 128, heap, 0, peer);
    values[n++] = hermes_get(ctx, heap + 128, heap, 4, 77);
    hermes_get_nbi(ctx, heap + 128, heap, 4, 77);
    values[n++] = hermes_quiet(ctx);
    values[n++] = hermes_g32(ctx, (uint32_t *)heap, peer);
    values[n++] = hermes_value_code(ctx);
    /* Own puts are seen. */
    hermes_p8(ctx, heap + 131, 0xa5, peer);
    hermes_p32(ctx, (uint32_t *)(heap + 132), 0x12345678, peer);
    hermes_p64(ctx, (uint64_t *)(heap + 137), 0x0123456789abcdefull, peer);
    values[n++] = hermes_g64(ctx, (uint64_t *)(heap + 131), peer);
    values[n++] = hermes_g64(ctx, (uint64_t *)(heap + 137), peer);
    uint32_t last = hermes_quiet(ctx);
    uint32_t times[2];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t began = hermes_cycle();
        sum += hermes_g64(ctx, (uint64_t *)(heap + 8), peer);
        __asm__ volatile("" : "+r"(sum));
        times[0] = hermes_cycle() - began;
        began = hermes_cycle();
        sum += hermes_fetch_add64(ctx, (uint64_t *)(heap + 192), 0, peer);
        __asm__ volatile("" : "+r"(sum));
        times[1] = hermes_cycle() - began;
    }
    values[n++] = sum;
    values[n++] = (uint64_t)times[1] << 32 | times[0];
    return last ? VERDICT_DROP | last : VERDICT_FORWARD;
}
