/* A firewall whose table of flows lies in the memories of all nodes: a warp looks the flows of its
 * packets up where they are, each lane its own, by hermes_each_lane_get64.
 *
 * A flow is source address, protocol and destination port. The hash of a flow says its node, and
 * two places of eight bytes there: word 0 is the address, word 1 the port in bits 31:16, the
 * protocol in 15:8, and 7:0 what to do: 0 no flow, 1 drop, 2 + p forward to port p. Packets of no
 * flow are dropped. Own word: the logarithm of the places of a node, 1 to 28. The heap has the
 * places, then 256 bytes for each warp slot. */
#include <hermes.h>
#include <hermes_collectives.h>

struct flow {
    uint32_t address;
    uint32_t rest; /* word 1, with 0 to do */
};

/* Gives the flow of a packet, or the reason to drop it. Those without ports have port 0, later
 * fragments too. */
static __attribute__((noinline)) uint32_t flow_of(const struct packet_slot *slot, struct flow *flow)
{
    uint32_t reason = require_ipv4(slot), port = 0;
    if (reason)
        return reason;
    const uint8_t *header = slot->ipv4;
    uint32_t bytes = (header[0] & 15) * 4, protocol = header[9];
    if (bytes < 20 || 14 + bytes > slot->length)
        return DROP_HEADER_LENGTH;
    if ((protocol == 6 || protocol == 17) && !((header[6] & 0x1f) | header[7])) {
        if (14 + bytes + 4 > slot->length)
            return DROP_SHORT;
        port = (uint32_t)header[bytes + 2] << 8 | header[bytes + 3];
    }
    flow->address = swap_bytes(*(const uint32_t *)(header + 12));
    flow->rest = port << 16 | protocol << 8;
    return 0;
}

/* What to do with a flow, 0 if it is not in the table. Two probes at most; lanes whose first one
 * hits are idle in the second. Adds 256 if a get fails. */
static __attribute__((noinline)) uint32_t look_up(hermes_ctx_t ctx, const struct hermes_arguments *node, const struct flow *flow)
{
    uint32_t places_log2 = node->own[0];
    uint64_t *table = (uint64_t *)node->heap;
    uint64_t *landing = table + (1u << places_log2) + 32 * (hermes_core() * node->slots_of_core + hermes_warp_slot());
    uint32_t hash = (flow->address ^ flow->rest * 0x9e3779b1u) * 0x85ebca6bu;
    uint32_t pe = (uint32_t)((uint64_t)hash * node->n_pes >> 32);
    for (uint32_t probe = 0; probe < 2; probe++) {
        hash = (hash ^ hash >> 15) * 0x2c1b3c6du;
        uint64_t entry;
        uint32_t code = hermes_each_lane_get64(ctx, landing, table + (hash >> (32 - places_log2)), pe, &entry);
        if (code)
            return 256 | code;
        uint32_t rest = (uint32_t)(entry >> 32), action = rest & 0xff;
        if (action && (uint32_t)entry == flow->address && (rest ^ action) == flow->rest)
            return action;
    }
    return 0;
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)packet;
    struct flow flow;
    hermes_ctx_t ctx;
    uint32_t code = hermes_ctx_create(&ctx, HERMES_CTX_DEFAULT);
    if (code)
        return VERDICT_DROP | code;
    uint32_t reason = flow_of(slot, &flow);
    if (reason)
        return VERDICT_DROP | reason;
    uint32_t action = look_up(ctx, arguments, &flow);
    if (action >= 256)
        return VERDICT_DROP | (action & 0xff);
    if (action < 2)
        return VERDICT_DROP | (action ? DROP_RULE : DROP_NO_RULE);
    return VERDICT_FORWARD | (action - 2);
}
