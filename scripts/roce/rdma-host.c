// A host with an RDMA device, such as Soft-RoCE on an ordinary network card, that writes into the
// symmetric heap of a node and reads it back: a program of libibverbs.
//
//     cc -o rdma-host rdma-host.c -libverbs
//     rdma-host IP QPN PSN KEY ADDRESS TEXT
//
// IP: the node's IPv4 address; QPN and PSN: its queue pair for peers outside, and the first packet
// sequence number that comes from there; KEY and ADDRESS: of its heap.
// `hermes cluster --net-socket` prints them. TEXT is written to ADDRESS, read from there, and
// compared. Before, the program prints its own queue pair and first packet sequence number, which
// the node needs, and waits for a line. It ends with 1 and says what failed.

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_PSN 0x2000u
#define MOST_BYTES 1024u

// What is used until the program ends.
struct host {
    struct ibv_context *context;
    struct ibv_cq *completions;
    struct ibv_qp *pair;
    struct ibv_mr *region;
    char memory[2 * MOST_BYTES]; // what is written, then what was read
};

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "rdma-host: %s\n", what);
    exit(1);
}

static unsigned long number(const char *text, unsigned long most, const char *what)
{
    char *end;
    unsigned long value = strtoul(text, &end, 0);
    check(*text && !*end && value <= most, what);
    return value;
}

static void open_device(struct host *host)
{
    int count = 0;
    struct ibv_device **devices = ibv_get_device_list(&count);
    check(devices && count, "no RDMA device: `rdma link add rxe0 type rxe netdev DEVICE` makes one");
    host->context = ibv_open_device(devices[0]);
    ibv_free_device_list(devices);
    check(host->context != NULL, "the device cannot be opened");
    struct ibv_pd *domain = ibv_alloc_pd(host->context);
    check(domain != NULL, "no protection domain");
    host->completions = ibv_create_cq(host->context, 4, NULL, NULL, 0);
    host->region = ibv_reg_mr(domain, host->memory, sizeof host->memory, IBV_ACCESS_LOCAL_WRITE);
    check(host->completions && host->region, "no completion queue or no region");
    struct ibv_qp_init_attr wanted = {.send_cq = host->completions, .recv_cq = host->completions, .qp_type = IBV_QPT_RC};
    wanted.cap.max_send_wr = wanted.cap.max_recv_wr = 4;
    wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
    host->pair = ibv_create_qp(domain, &wanted);
    check(host->pair != NULL, "no queue pair");
}

// IPv4 addresses stand in the table of addresses as IPv6 ones, and twice: for version 1 and, behind
// it, for version 2, which is UDP.
static int address_index(struct ibv_context *context)
{
    int found = -1;
    union ibv_gid address;
    for (int index = 0; index < 16 && !ibv_query_gid(context, 1, index, &address); index++) {
        static const uint8_t ipv4[12] = {[10] = 0xff, [11] = 0xff};
        if (!memcmp(address.raw, ipv4, sizeof ipv4))
            found = index;
    }
    check(found >= 0, "the device has no IPv4 address");
    return found;
}

static void connect_pair(struct host *host, const char *ip, uint32_t pair, uint32_t sequence)
{
    struct ibv_qp_attr state = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    check(!ibv_modify_qp(host->pair, &state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");

    state = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = pair, .rq_psn = sequence, .min_rnr_timer = 12};
    state.ah_attr.port_num = 1;
    state.ah_attr.is_global = 1;
    state.ah_attr.grh.hop_limit = 64;
    state.ah_attr.grh.sgid_index = address_index(host->context);
    state.ah_attr.grh.dgid.raw[10] = state.ah_attr.grh.dgid.raw[11] = 0xff;
    check(inet_pton(AF_INET, ip, state.ah_attr.grh.dgid.raw + 12) == 1, "IP: expected an IPv4 address");
    int ready = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    check(!ibv_modify_qp(host->pair, &state, ready), "RTR");

    // An answer is waited for 0.27 s, since a simulated node takes its time.
    state = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .sq_psn = FIRST_PSN, .timeout = 16, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    int sends = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    check(!ibv_modify_qp(host->pair, &state, sends), "RTS");
}

// One command, until it is complete.
static void perform(struct host *host, enum ibv_wr_opcode operation, char *here, uint32_t bytes, uint64_t address, uint32_t key)
{
    struct ibv_sge part = {.addr = (uintptr_t)here, .length = bytes, .lkey = host->region->lkey};
    struct ibv_send_wr command = {.sg_list = &part, .num_sge = 1, .opcode = operation, .send_flags = IBV_SEND_SIGNALED};
    command.wr.rdma.remote_addr = address;
    command.wr.rdma.rkey = key;
    struct ibv_send_wr *refused;
    check(!ibv_post_send(host->pair, &command, &refused), "the command was refused");
    struct ibv_wc done;
    int count;
    do
        count = ibv_poll_cq(host->completions, 1, &done);
    while (!count);
    check(count == 1, "no completion");
    check(done.status == IBV_WC_SUCCESS, ibv_wc_status_str(done.status));
}

int main(int count, char **words)
{
    static struct host host;
    check(count == 7, "expected IP QPN PSN KEY ADDRESS TEXT");
    uint32_t pair = number(words[2], 0xffffff, "QPN: expected 24 bits"), sequence = number(words[3], 0xffffff, "PSN: expected 24 bits");
    uint32_t key = number(words[4], 0xffffffff, "KEY: expected 32 bits"), address = number(words[5], 0xffffffff, "ADDRESS: expected 32 bits");
    uint32_t bytes = strlen(words[6]);
    check(bytes && bytes <= MOST_BYTES, "TEXT: expected 1 to 1024 bytes");
    open_device(&host);
    printf("qp=%u,psn=%u; a line when the node knows them: ", host.pair->qp_num, FIRST_PSN);
    fflush(stdout);
    check(getchar() != EOF, "no line");
    connect_pair(&host, words[1], pair, sequence);
    memcpy(host.memory, words[6], bytes);
    perform(&host, IBV_WR_RDMA_WRITE, host.memory, bytes, address, key);
    perform(&host, IBV_WR_RDMA_READ, host.memory + MOST_BYTES, bytes, address, key);
    check(!memcmp(host.memory, host.memory + MOST_BYTES, bytes), "what was read is not what was written");
    printf("%u bytes written and read\n", bytes);
    return 0;
}
