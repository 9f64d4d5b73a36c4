#include <hermes.h>

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    const uint32_t *words = arguments;
    return words[400000 + packet] & 1;
}
