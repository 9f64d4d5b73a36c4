#include <hermes.h>

/* The time to live goes down by two. */
uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    slot->ipv4[8] -= 2;
    return VERDICT_FORWARD;
}
