#include <hermes.h>

/* A store to an address at which there is no memory. */
uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    *(volatile uint32_t *)0x50000000u = packet;
    return VERDICT_FORWARD;
}
