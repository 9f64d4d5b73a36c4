/* A router: the longest prefix in a DIR-24-8 table (docs/tables.md). */
#include <hermes_nf.h>

struct nf_arguments { const uint16_t *routes; };
struct nf_job { uint32_t destination, port; };

static uint32_t parse(const struct packet_slot *slot, struct nf_job *job) {
    job->destination = swap_bytes(*(const uint32_t *)(slot->ipv4 + 16));
    uint32_t reason = require_ipv4(slot);
    return reason ? VERDICT_DROP | reason : NF_GO_ON;
}

static void look_up(struct nf_job *job, const struct nf_arguments *arguments) {
    job->port = arguments->routes[job->destination >> 8];
    if (job->port & 0x8000)
        job->port = arguments->routes[1 << 24 | (job->port & 0x7fff) << 8 | (job->destination & 255)];
}

static uint32_t decide(const struct packet_slot *slot, const struct nf_job *job) {
    return job->port == 0x7fff ? VERDICT_DROP | DROP_NO_ROUTE : VERDICT_FORWARD | job->port;
}

HERMES_NF(parse, look_up, decide)
