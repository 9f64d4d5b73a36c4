#include <hermes.h>

struct flow { uint32_t packets, bytes; };
static struct flow *flows[4];

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    flows[packet & 3]->packets++;
    return VERDICT_FORWARD;
}
