#include <hermes.h>

/* A loop whose end is never reached: the counter is read from the packet again and again. */
uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    volatile uint8_t *ttl = &slot->ipv4[8];
    while (*ttl != 0)
        packet++;
    return packet;
}
