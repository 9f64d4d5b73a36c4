/* Mode `paper` of the command queues (ComP-Net, section 4.2.1): the harts poll the rings of the
 * warps, post what they find as their own commands, and write how it ended into the entry.
 * docs/shmem.md says what the host sends and what kernels see.
 *
 * Hart h serves queues h, h + harts, h + 2 harts, ... A command under way has one of the four
 * contexts of its hart: that tells which one is complete. If a hart may have fewer commands under
 * way (NET_CAPS), it uses as many contexts. */
#include "hermes_net.h"

NET_MODE("paper");

#define MOST_QUEUES 256u
#define MOST_PES 64u
#define MOST_HARTS 8u
#define CONTEXTS 4u
#define ALL_CONTEXTS ((1u << CONTEXTS) - 1)
#define MUNCACHED 0x7c0

struct queue {
    uint32_t taken;       /* commands that were taken */
    uint32_t head;        /* HEAD: all before are complete, or want no status */
    uint32_t complete[2]; /* entries behind HEAD that are, by their place in the ring */
};

/* A command under way. */
struct flight {
    uint32_t queue, index, command;
};

struct hart {
    struct flight flights[CONTEXTS];
    uint32_t busy;            /* contexts with a command under way, and those that are not used */
    uint8_t ended[CONTEXTS];  /* commands of each context that were complete when it was looked at last, modulo 256 */
    uint32_t taken, failed;
};

LOCAL static struct queue queues[MOST_QUEUES];
LOCAL static uint32_t posts[MOST_PES]; /* what is written to POST; 0: no such PE */
LOCAL static struct hart harts[MOST_HARTS];
LOCAL static uint32_t area, slots, area_log2, epoch, rounds, served_by, unused_contexts;
LOCAL static volatile uint32_t stopping, stopped[MOST_HARTS];

/* An entry is complete, or wants no status: HEAD goes on when those before it are. */
static void advance(uint32_t number, uint32_t index)
{
    struct queue *queue = &queues[number];
    uint32_t place = index % NET_QUEUE_ENTRIES;
    queue->complete[place / 32] |= 1u << place % 32;
    uint32_t head = queue->head;
    for (;;) {
        place = head % NET_QUEUE_ENTRIES;
        if (!(queue->complete[place / 32] >> place % 32 & 1))
            break;
        queue->complete[place / 32] &= ~(1u << place % 32);
        head++;
    }
    if (head == queue->head)
        return;
    queue->head = head;
    /* Whoever finds the entry free must not get the status of the command that was in it. */
    release();
    ((volatile struct net_control *)net_control(area, slots, number))->head = head;
}

static void finish(struct hart *hart, uint32_t number, uint32_t index, uint32_t command, uint32_t code)
{
    if (code != NET_DONE) {
        volatile struct net_control *control = net_control(area, slots, number);
        volatile uint32_t *error = &control->error[NET_COMMAND_CONTEXT(command)];
        *error = index << 16 | ((*error + 0x100u) & 0xff00u) | code;
        hart->failed++;
        /* The status tells of it. */
        release();
    }
    if (command & NET_COMMAND_STATUS_WANTED) {
        volatile struct net_command *entry = net_ring(area, number) + index % NET_QUEUE_ENTRIES;
        entry->status = (command & NET_COMMAND_PHASE) | code;
        advance(number, index);
    }
}

/* Finishes the commands of this hart that are complete. */
static void complete(struct hart *hart)
{
    for (uint32_t context = 0; context < CONTEXTS; context++) {
        if (!(hart->busy >> context & 1))
            continue;
        uint32_t own = NET_WINDOW(NET_WINDOW_OWN_CONTEXT(context));
        uint8_t ended = (uint8_t)(own >> 8);
        if (ended == hart->ended[context])
            continue;
        hart->ended[context] = ended;
        hart->busy &= ~(1u << context);
        const struct flight *flight = &hart->flights[context];
        finish(hart, flight->queue, flight->index, flight->command, own & 0xff);
    }
}

/* Takes the next command of a queue if there is one, and room for it. Each word of the entry is
 * read once: what a kernel writes meanwhile changes nothing. */
static int serve(struct hart *hart, uint32_t number)
{
    struct queue *queue = &queues[number];
    uint32_t index = queue->taken;
    volatile struct net_command *entry = net_ring(area, number) + index % NET_QUEUE_ENTRIES;
    uint32_t command = entry->command;
    uint32_t phase = index / NET_QUEUE_ENTRIES % 2 ? 0 : NET_COMMAND_PHASE;
    if ((command & NET_COMMAND_PHASE) != phase)
        return 0;
    uint32_t pe = NET_COMMAND_PE(command);
    uint32_t post = pe < MOST_PES ? posts[pe] : 0;
    uint32_t code = 0;
    if ((command & 0xff) == NET_OPERATION_NOP)
        code = NET_DONE;
    else if (!post)
        code = NET_ERROR_PE;
    else if (hart->busy == ALL_CONTEXTS) {
        complete(hart);
        return 1;
    }
    queue->taken = index + 1;
    hart->taken++;
    if (!(command & NET_COMMAND_STATUS_WANTED))
        advance(number, index);
    if (code) {
        finish(hart, number, index, command, code);
        return 1;
    }
    uint32_t context = 0;
    while (hart->busy >> context & 1)
        context++;
    NET_WINDOW(NET_WINDOW_BUFFER(0)) = (command & ~(3u << 12)) | context << 12;
    NET_WINDOW(NET_WINDOW_BUFFER(1)) = entry->remote;
    NET_WINDOW(NET_WINDOW_BUFFER(2)) = entry->local;
    NET_WINDOW(NET_WINDOW_BUFFER(3)) = entry->bytes;
    if (command & NET_COMMAND_INLINE)
        for (uint32_t i = 0; i < 4; i++)
            NET_WINDOW(NET_WINDOW_BUFFER(4 + i)) = entry->data[i];
    hart->flights[context] = (struct flight){ number, index, command };
    hart->busy |= 1u << context;
    /* Never without room: a hart uses no more contexts than it may have commands under way. */
    NET_WINDOW(NET_WINDOW_POST) = post;
    return 1;
}

/* Serves this hart's queues until the host says that the kernels have ended, and all that they
 * published is done. */
static void serve_queues(void *argument)
{
    (void)argument;
    uint32_t number = hart_number();
    struct hart *hart = &harts[number];
    /* Loads from the area go to the L2. */
    csr_write(MUNCACHED, area | ((1u << (area_log2 - 1)) - 1));
    for (uint32_t context = 0; context < CONTEXTS; context++)
        hart->ended[context] = (uint8_t)(NET_WINDOW(NET_WINDOW_OWN_CONTEXT(context)) >> 8);
    hart->busy = unused_contexts;
    uint32_t round = 0;
    for (;;) {
        uint32_t stops = stopping;
        int found = 0;
        for (uint32_t queue = number; queue < slots; queue += served_by)
            found |= serve(hart, queue);
        if (++round >= rounds || stops) {
            round = 0;
            complete(hart);
        }
        if (stops && !found && hart->busy == unused_contexts)
            break;
        if (number == 0 && !stops) {
            uint32_t words[4];
            if (mailbox_receive(words) && words[0] == NET_MESSAGE_STOP)
                stopping = 1;
        }
    }
    stopped[number] = 1;
}

/* Empties the rings, and says that the queues are on. */
static void switch_on(void)
{
    for (uint32_t number = 0; number < slots; number++) {
        volatile struct net_command *ring = net_ring(area, number);
        for (uint32_t i = 0; i < NET_QUEUE_ENTRIES; i++)
            ring[i].command = 0;
        volatile uint32_t *words = (volatile uint32_t *)net_control(area, slots, number);
        for (uint32_t i = 0; i < sizeof(struct net_control) / 4; i++)
            words[i] = 0;
        queues[number] = (struct queue){ 0 };
    }
    release();
    for (uint32_t number = 0; number < slots; number++) {
        volatile struct net_control *control = net_control(area, slots, number);
        control->mode = NET_MODE_STATUS;
        control->epoch = epoch;
    }
    release();
}

/* An array without data cache has no CSR muncached, and needs none. */
static int without_cache(uint32_t cause, uint32_t value, struct trap_frame *frame)
{
    (void)value;
    if (cause != 2)
        return 1;
    frame->pc += 4;
    return 0;
}

int main(void)
{
    uint32_t words[4];
    for (words[0] = 0; words[0] != NET_MESSAGE_START;) {
        if (!mailbox_receive(words))
            continue;
        if (words[0] == NET_MESSAGE_AREA) {
            area = words[1];
            slots = words[2];
            area_log2 = words[3];
        } else if (words[0] == NET_MESSAGE_PE && words[1] < MOST_PES) {
            posts[words[1]] = words[2] | NET_POST_OWN(0, 0, 0);
        }
    }
    if (slots == 0 || slots > MOST_QUEUES)
        return 1;
    epoch = words[1];
    rounds = words[2];
    served_by = hart_count();
    unused_contexts = ALL_CONTEXTS << NET_CAPS_ENTRIES(REGISTER(NET_CAPS)) & ALL_CONTEXTS;
    exception_handle(without_cache);
    switch_on();
    for (uint32_t hart = 1; hart < served_by; hart++)
        hart_start(hart, serve_queues, 0);
    mailbox_send((uint32_t[]){ NET_MESSAGE_START, epoch, 0, 0 });
    serve_queues(0);
    uint32_t taken = 0, failed = 0;
    for (uint32_t hart = 0; hart < served_by; hart++) {
        while (!stopped[hart])
            ;
        taken += harts[hart].taken;
        failed += harts[hart].failed;
    }
    for (uint32_t number = 0; number < slots; number++)
        ((volatile struct net_control *)net_control(area, slots, number))->epoch = 0;
    release();
    mailbox_send((uint32_t[]){ NET_MESSAGE_STOP, taken, failed, 0 });
    return 0;
}
