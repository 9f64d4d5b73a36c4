/* route-lookup in C: the same verdicts as ../route-lookup.S. docs/tables.md has the table's
 * layout. */
#include <hermes.h>

#define SEGMENT 0x8000u            /* the entry leads to the second table */
#define MISS    0x7fffu            /* no route */

struct arguments {
    const uint16_t *table;         /* DIR-24-8 */
};

uint32_t kernel(uint32_t packet, struct packet_slot *slot, const struct arguments *arguments)
{
    (void)packet;
    uint32_t reason = require_ipv4(slot);
    if (reason)
        return VERDICT_DROP | reason;

    uint32_t destination = swap_bytes(*(uint32_t *)(slot->ipv4 + 16));
    const uint16_t *table = arguments->table;
    uint32_t entry = table[destination >> 8];
    if (entry & SEGMENT) {
        const uint16_t *second = table + (1u << 24);
        entry = second[(entry & ~SEGMENT) << 8 | (destination & 0xff)];
    }
    return entry == MISS ? VERDICT_DROP | DROP_NO_ROUTE : VERDICT_FORWARD | entry;
}
