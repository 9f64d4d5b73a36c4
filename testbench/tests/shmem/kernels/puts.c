/* Each warp fills its part of the heap of both nodes with pieces of the first 4 KiB of its own, one
 * behind the other: 1 to 16 bytes, each fifth 17 to 116, from any byte on. Own words: threads of a
 * warp, warps, bytes of a part, seed. */
#include <hermes.h>
#include <hermes_shmem.h>

#define SOURCE_BYTES 4096u

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t warp = packet / node->own[0] + hermes_my_pe() * node->own[1], part = node->own[2];
    uint8_t *source = (uint8_t *)node->heap, *target = source + SOURCE_BYTES + warp * part;
    uint32_t random = node->own[3] + warp, code = 0;
    hermes_ctx_t contexts[3];
    for (uint32_t number = 0; number < 3 && !code; number++)
        code = hermes_ctx_create(&contexts[number], number);
    uint32_t at = 0;
    for (uint32_t i = 0; !code; i++) {
        random = random * 1664525u + 1013904223u;
        uint32_t bytes = i % 5 == 4 ? 17 + (random >> 8) % 100 : 1 + (random >> 8) % 16;
        uint32_t from = (random >> 16) % (SOURCE_BYTES - 128);
        if (at + bytes > part)
            break;
        for (uint32_t pe = 0; pe < hermes_n_pes() && !code; pe++)
            if (random & 0x80)
                code = hermes_put(contexts[i % 3], target + at, source + from, bytes, pe);
            else
                code = hermes_put_nbi(contexts[i % 3], target + at, source + from, bytes, pe);
        at += bytes;
    }
    for (uint32_t number = 0; number < 3; number++) {
        uint32_t last = hermes_quiet(contexts[number]);
        code = code ? code : last;
    }
    return code ? VERDICT_DROP | code : VERDICT_FORWARD;
}
