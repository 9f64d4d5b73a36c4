/* dec-ttl in C: the same verdicts and the same packets as ../dec-ttl.S. */
#include <hermes.h>

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    (void)arguments;
    uint32_t reason = require_ipv4(slot);
    if (reason)
        return VERDICT_DROP | reason;

    /* TTL and protocol in the lower half word, the checksum, bytes swapped, in the upper one */
    uint32_t *word = (uint32_t *)(slot->ipv4 + 8);
    uint32_t ttl = *word;
    if ((ttl & 0xff) < 2)
        return VERDICT_DROP | DROP_TTL;

    /* RFC 1624, equation 3: HC' = ~(~HC + ~m + m'). The sum does not depend on the byte order. */
    uint32_t sum = (~ttl >> 16) + (~ttl & 0xffff) + ((ttl - 1) & 0xffff);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    *word = ((ttl - 1) & 0xffff) | ~sum << 16;
    return VERDICT_FORWARD;
}
