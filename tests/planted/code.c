#include <hermes.h>

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    uint32_t *table = (uint32_t *)(uintptr_t)&kernel;
    table[2] = packet;
    return VERDICT_FORWARD;
}
