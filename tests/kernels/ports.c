/* Spreads flows over eight ports by a hash of the addresses; recursion and a table exercise stack
 * and data. */
#include <hermes.h>

static const uint8_t rotation[4] = {3, 5, 7, 11};

static __attribute__((noinline)) uint32_t mix(const uint8_t *bytes, uint32_t count)
{
    if (count == 0)
        return 1;
    uint32_t rest = mix(bytes + 1, count - 1);
    return (rest << rotation[count & 3]) ^ (rest >> 9) ^ bytes[0];
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)arguments;
    if (slot->length < 34 || slot->ethernet[12] != 8 || slot->ethernet[13] != 0)
        return VERDICT_DROP | DROP_NOT_IPV4;
    slot->ethernet[0] = 0x02;
    return VERDICT_FORWARD | (mix(slot->ipv4 + 12, 8) & 7);
}
