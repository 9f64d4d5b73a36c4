/* Atomic operations and a short get on the first 64 bits of the other node's heap, written by hand,
 * one by one, in context 3 but for the last. What VALUE was behind each goes to the words from 64
 * on, two for each. */
#include <hermes.h>
#include <hermes_shmem.h>

#define GET_INLINE (2u | 1u << 10)
#define FETCH_ADD 4u
#define COMPARE_SWAP 5u

static void by_hand(const struct hermes_arguments *node, uint32_t index, uint32_t command, uint32_t context, uint32_t operand, uint32_t compare)
{
    volatile uint32_t *entry = (volatile uint32_t *)(node->area + hermes_warp_slot() * 4096 + index * 64);
    const volatile uint32_t *control = (const volatile uint32_t *)(node->area + node->slots * 4096 + hermes_warp_slot() * 64);
    uint32_t done = hermes_wait_until32(control + 4 + context, HERMES_GE, 0);
    for (uint32_t word = 1; word < 16; word++)
        entry[word] = 0;
    entry[1] = node->heap;
    entry[3] = 8;
    entry[4] = operand;
    entry[6] = compare;
    entry[7] = compare ? 1 : 0;
    entry[0] = command | 1u << 8 | context << 12 | (1 - node->my_pe) << 16;
    hermes_wait_until32(control + 4 + context, HERMES_NE, done);
    uint32_t *values = (uint32_t *)node->heap + 64 + 2 * index;
    values[0] = hermes_wait_until32(control + 8, HERMES_GE, 0);
    values[1] = hermes_wait_until32(control + 9, HERMES_GE, 0);
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)slot;
    const struct hermes_arguments *node = arguments;
    if (hermes_lane() != 0)
        return 0;
    by_hand(node, 0, FETCH_ADD, 3, 5, 0);
    by_hand(node, 1, COMPARE_SWAP, 3, 77, 4); /* the sum, with 1 above */
    by_hand(node, 2, GET_INLINE, 3, 0, 0);
    by_hand(node, 3, FETCH_ADD, 0, 100, 0);
    return 0;
}
