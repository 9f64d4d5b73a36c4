#include <hermes.h>

/* An array of 400 bytes on a stack of 256. */
uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    volatile uint8_t copy[400];
    uint32_t sum = 0;
    for (uint32_t i = 0; i < sizeof copy; i++)
        copy[i] = (uint8_t)(slot->ipv4[i & 15] + packet);
    for (uint32_t i = 0; i < sizeof copy; i++)
        sum += copy[i];
    return sum & 0xff;
}
