// What runs in the guest: a program of libibverbs (Linux rdma-core) with one reliable queue pair
// and one region, told what to do by lines on standard input. Every command answers with one line.
//
//     connect QPN PSN IP        takes the queue pair up; QPN and PSN are the peer's          connected
//     write ADDRESS KEY OFFSET BYTES VALUE   fills own bytes with VALUE, and puts them       done 0
//     read ADDRESS KEY OFFSET BYTES          gets bytes of the peer                          done 0
//     add ADDRESS KEY VALUE                  fetch and add; the old value                    done 0 17
//     show OFFSET BYTES                      own bytes                                       bytes 00ff...
//     quit
//
// `done` has the status of the work completion (enum ibv_wc_status); after any other than 0 the
// queue pair is in its error state.

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BYTES 65536
#define FIRST_PSN 0x123456

static void fail(const char *what)
{
    printf("fail %s\n", what);
    fflush(stdout);
    exit(1);
}

static void attribute(struct nlmsghdr *message, int type, const char *text)
{
    struct nlattr *a = (struct nlattr *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));
    a->nla_type = type;
    a->nla_len = NLA_HDRLEN + strlen(text) + 1;
    strcpy((char *)a + NLA_HDRLEN, text);
    message->nlmsg_len = NLMSG_ALIGN(message->nlmsg_len) + NLA_ALIGN(a->nla_len);
}

// As `rdma link add rxe0 type rxe netdev eth0`.
static void add_link(void)
{
    char buffer[512] = {0};
    struct nlmsghdr *message = (struct nlmsghdr *)buffer;
    int s = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
    message->nlmsg_len = NLMSG_HDRLEN;
    message->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK);
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    attribute(message, RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
    attribute(message, RDMA_NLDEV_ATTR_LINK_TYPE, "rxe");
    attribute(message, RDMA_NLDEV_ATTR_NDEV_NAME, "eth0");
    if (s < 0 || send(s, buffer, message->nlmsg_len, 0) < 0)
        fail("netlink");
    if (recv(s, buffer, sizeof buffer, 0) < 0 || message->nlmsg_type != NLMSG_ERROR)
        fail("netlink answer");
    if (((struct nlmsgerr *)NLMSG_DATA(message))->error)
        fail("rdma link add");
    close(s);
}

// The entry of the table of addresses that is the IPv4 address of the device.
static int find_gid(struct ibv_context *context)
{
    union ibv_gid gid;
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    for (int i = 0; i < 16; i++)
        if (!ibv_query_gid(context, 1, i, &gid) && !memcmp(gid.raw, mapped, 12))
            return i;
    fail("no IPv4 address");
    return 0;
}

static void connect_pair(struct ibv_qp *qp, int index, unsigned number, unsigned psn, const char *ip)
{
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    a.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        fail("INIT");
    memset(&a, 0, sizeof a);
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = IBV_MTU_1024;
    a.dest_qp_num = number;
    a.rq_psn = psn;
    a.max_dest_rd_atomic = 16;
    a.min_rnr_timer = 12;
    a.ah_attr.is_global = 1;
    a.ah_attr.port_num = 1;
    a.ah_attr.grh.sgid_index = index;
    a.ah_attr.grh.hop_limit = 64;
    a.ah_attr.grh.dgid.raw[10] = a.ah_attr.grh.dgid.raw[11] = 0xff;
    inet_pton(AF_INET, ip, a.ah_attr.grh.dgid.raw + 12);
    if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        fail("RTR");
    memset(&a, 0, sizeof a);
    a.qp_state = IBV_QPS_RTS;
    a.sq_psn = FIRST_PSN;
    a.timeout = 16; // 4.096 us * 2^16 = 0.27 s
    a.retry_cnt = 7;
    a.rnr_retry = 7;
    a.max_rd_atomic = 16;
    if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                  IBV_QP_MAX_QP_RD_ATOMIC))
        fail("RTS");
}

// Posts one work request and waits for its completion; the status, or -1.
static int perform(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_send_wr *request)
{
    struct ibv_send_wr *bad;
    struct ibv_wc wc;
    int n;
    request->send_flags = IBV_SEND_SIGNALED;
    if (ibv_post_send(qp, request, &bad))
        return -1;
    while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
        usleep(1000);
    return n < 0 ? -1 : (int)wc.status;
}

int main(void)
{
    add_link();
    int count;
    struct ibv_device **devices = ibv_get_device_list(&count);
    if (!devices || count < 1)
        fail("no device");
    struct ibv_context *context = ibv_open_device(devices[0]);
    if (!context)
        fail("open");
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    unsigned char *memory = malloc(BYTES); // any address, as malloc gives it
    memset(memory, 0, BYTES);
    struct ibv_mr *mr = ibv_reg_mr(pd, memory, BYTES,
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
    init.cap.max_send_wr = init.cap.max_recv_wr = 16;
    init.cap.max_send_sge = init.cap.max_recv_sge = 1;
    struct ibv_qp *qp = ibv_create_qp(pd, &init);
    if (!mr || !qp)
        fail("region or queue pair");
    printf("ready qpn=%u psn=%u rkey=%u addr=%llu bytes=%u\n", qp->qp_num, FIRST_PSN, mr->rkey, (unsigned long long)(size_t)memory, BYTES);
    fflush(stdout);
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        unsigned long long address, value;
        unsigned key, offset, bytes, number, psn;
        char ip[64];
        struct ibv_sge sge = {.addr = (size_t)memory, .lkey = mr->lkey};
        struct ibv_send_wr request = {.sg_list = &sge, .num_sge = 1};
        if (sscanf(line, "connect %u %u %63s", &number, &psn, ip) == 3) {
            connect_pair(qp, find_gid(context), number, psn, ip);
            printf("connected\n");
        } else if (sscanf(line, "write %llu %u %u %u %llu", &address, &key, &offset, &bytes, &value) == 5 && offset + bytes <= BYTES) {
            memset(memory + offset, (int)value, bytes);
            sge.addr += offset;
            sge.length = bytes;
            request.opcode = IBV_WR_RDMA_WRITE;
            request.wr.rdma.remote_addr = address;
            request.wr.rdma.rkey = key;
            printf("done %d\n", perform(qp, cq, &request));
        } else if (sscanf(line, "read %llu %u %u %u", &address, &key, &offset, &bytes) == 4 && offset + bytes <= BYTES) {
            sge.addr += offset;
            sge.length = bytes;
            request.opcode = IBV_WR_RDMA_READ;
            request.wr.rdma.remote_addr = address;
            request.wr.rdma.rkey = key;
            printf("done %d\n", perform(qp, cq, &request));
        } else if (sscanf(line, "add %llu %u %llu", &address, &key, &value) == 3) {
            // The last eight bytes take the old value.
            sge.addr += BYTES - 8;
            sge.length = 8;
            request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
            request.wr.atomic.remote_addr = address;
            request.wr.atomic.rkey = key;
            request.wr.atomic.compare_add = value;
            int status = perform(qp, cq, &request);
            printf("done %d %llu\n", status, *(unsigned long long *)(memory + BYTES - 8));
        } else if (sscanf(line, "show %u %u", &offset, &bytes) == 2 && offset + bytes <= BYTES) {
            printf("bytes ");
            for (unsigned i = 0; i < bytes; i++)
                printf("%02x", memory[offset + i]);
            printf("\n");
        } else if (!strncmp(line, "quit", 4)) {
            break;
        } else {
            printf("fail command %s", line);
        }
        fflush(stdout);
    }
    return 0;
}
