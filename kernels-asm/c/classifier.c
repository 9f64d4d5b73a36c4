/* classifier in C: the same verdicts as ../classifier.S. docs/tables.md has the layout of the rule
 * list. */
#include <hermes.h>

struct rule {
    uint32_t source, source_mask;
    uint32_t destination, destination_mask;
    uint16_t source_port, source_ports;           /* lowest; highest less lowest */
    uint16_t destination_port, destination_ports;
    uint8_t unused_0, protocol, unused_1, protocol_mask;
    uint32_t verdict;
};

struct arguments {
    const struct rule *rules;
};

uint32_t kernel(uint32_t packet, struct packet_slot *slot, const struct arguments *arguments)
{
    (void)packet;
    uint32_t reason = require_ipv4(slot);
    if (reason)
        return VERDICT_DROP | reason;
    const uint8_t *ip = slot->ipv4;
    uint32_t header = (ip[0] & 15u) * 4;
    if (header < 20 || slot->length < 14 + header)
        return VERDICT_DROP | DROP_HEADER_LENGTH;

    /* Ports of TCP and UDP, not of later fragments, as far as they are there */
    uint8_t protocol = ip[9];
    uint32_t total = (uint32_t)ip[2] << 8 | ip[3];
    uint32_t source_port = 0, destination_port = 0;
    if ((protocol == 6 || protocol == 17) && (ip[6] & 0x1f) == 0 && ip[7] == 0 &&
        slot->length >= 14 + header + 4 && total >= header + 4) {
        const uint8_t *ports = ip + header;
        source_port = (uint32_t)ports[0] << 8 | ports[1];
        destination_port = (uint32_t)ports[2] << 8 | ports[3];
    }

    uint32_t source = *(uint32_t *)(ip + 12), destination = *(uint32_t *)(ip + 16);
    const struct rule *rule = arguments->rules;
    /* The last rule matches every packet. */
    while (((source ^ rule->source) & rule->source_mask) ||
           ((destination ^ rule->destination) & rule->destination_mask) ||
           (uint32_t)(source_port - rule->source_port) > rule->source_ports ||
           (uint32_t)(destination_port - rule->destination_port) > rule->destination_ports ||
           ((protocol ^ rule->protocol) & rule->protocol_mask))
        rule++;
    return rule->verdict;
}
