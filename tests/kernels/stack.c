/* Keeps eight words on the stack and forwards to port packetIdx if they are there still. Packet 7
 * stores below its stack. */
#include <hermes.h>

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot;
    (void)arguments;
    volatile uint32_t kept[8];
    for (uint32_t i = 0; i < 8; i++)
        kept[i] = 8 * packet + i;
    if (packet == 7)
        ((volatile uint32_t *)((uint32_t)kept - 400))[0] = 1;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 8; i++)
        sum += kept[i];
    return sum == 64 * packet + 28 ? packet : VERDICT_DROP;
}
