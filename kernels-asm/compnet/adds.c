/* The adds of ring.c alone, on one node: what of the time of an allreduce they take at least. Own
 * words, heap and times are those of ring.c, but each ring has as many landing words as words,
 * which are added to them piece by piece in each round. */
#define kernel allreduce
#include "../c/ring.c"
#undef kernel

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    const struct hermes_arguments *node = arguments;
    uint32_t lanes = node->own[0], rings = node->own[1], count = node->own[2], most = node->own[3], number = packet / lanes;
    uint32_t *words = (uint32_t *)(node->heap + 64 * rings) + number * count, *came = words + rings * count;
    if (most == 0)
        return VERDICT_DROP | HERMES_ERROR_LENGTH;
    uint32_t begin = 0;
    for (uint32_t round = 0; round < node->own[4]; round++) {
        begin = hermes_cycle();
        for (uint32_t at = 0; at < count; at += most) {
            uint32_t piece = count - at < most ? count - at : most;
            if (lanes == 8)
                add_by_eight(words + at, came + at, piece);
            else
                add(words + at, came + at, piece, lanes);
        }
        __asm__ volatile("fence rw, rw" ::: "memory");
    }
    volatile uint32_t *times = (volatile uint32_t *)(node->heap + 64 * number) + 4;
    times[0] = begin;
    times[1] = hermes_cycle();
    return VERDICT_FORWARD;
}
