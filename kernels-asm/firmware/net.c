/* Mode `queues` of the command queues: hardware notices what the warps publish, fetches it, and
 * completes it by counters. Each hart takes the next command, whichever queue it is of, and says
 * which queue pair and region it goes to. docs/shmem.md says what the host sends and what kernels
 * see. */
#include "hermes_net.h"

NET_MODE("queues");

#define MOST_HARTS 8u
/* Commands that hart 0 serves, though there are more, before it looks for a message or goes on with
 * its own work. */
#define SOME 64u

/* What is written to POST for a command, by its domain and PE. */
LOCAL static uint32_t posts[NET_NEXT_DOMAINS * NET_NEXT_PES];
LOCAL static volatile uint32_t stopping, stopped[MOST_HARTS];

/* Serves commands until there is none, or so many; 0: any number. `next`: NET_WINDOW_NEXT or
 * NET_WINDOW_NEXT_NOW. */
static inline __attribute__((always_inline)) void serve(uint32_t next, uint32_t most)
{
    for (uint32_t left = most; !most || left; left--) {
        uint32_t command = NET_WINDOW(next);
        if (command & NET_NEXT_SPECIAL) {
            if (command & NET_NEXT_NOTHING)
                return;
            /* It has no operations of its own. */
            NET_WINDOW(NET_WINDOW_POST) = NET_POST_COMPLETE(NET_ERROR_OPERATION);
            continue;
        }
        NET_WINDOW(NET_WINDOW_POST) = *(const uint32_t *)((const char *)posts + NET_NEXT_PLACE(command));
    }
}

/* Harts other than 0: until hart 0 says that it is over. What hart_start left may end the first
 * NEXT too. */
static void serve_queues(void *argument)
{
    (void)argument;
    csr_set(mie, 1u << INTERRUPT_SOFTWARE);
    while (!stopping) {
        serve(NET_WINDOW_NEXT, 0);
        hart_interrupt_clear();
    }
    stopped[hart_number()] = 1;
}

/* What hart 0 does while there is no message: it serves too. Firmware that has work of its own
 * defines it before it includes this file (examples/net-events.c). */
#ifndef UNTIL_A_MESSAGE
#define UNTIL_A_MESSAGE() serve(NET_WINDOW_NEXT, SOME)
#endif

static uint32_t queue_command(uint32_t command)
{
    uint32_t answer;
    REGISTER(QUEUE_COMMAND) = command;
    do
        answer = REGISTER(QUEUE_COMMAND);
    while (answer & NET_QUEUE_BUSY);
    return answer;
}

static uint32_t queue_word(uint32_t queue, uint32_t word)
{
    REGISTER(NET_INDEX) = NET_INDEX_QUEUE(queue, word);
    return REGISTER(NET_DATA);
}

/* Where the queues are: those of domain 0, then those of the next one. */
struct areas {
    uint32_t base, bytes_log2, slots, queues;
};

static volatile struct net_command *ring_of(const struct areas *areas, uint32_t queue)
{
    uint32_t domain = queue / areas->slots;
    return net_ring(areas->base + (domain << areas->bytes_log2), queue % areas->slots);
}

static volatile struct net_control *control_of(const struct areas *areas, uint32_t queue)
{
    uint32_t domain = queue / areas->slots;
    return net_control(areas->base + (domain << areas->bytes_log2), areas->slots, queue % areas->slots);
}

/* Switches a queue off, if it is on, and empties it. */
static void empty(const struct areas *areas, uint32_t queue)
{
    if (queue_word(queue, NET_QUEUE_STATE) & 1)
        queue_command(queue);
    volatile struct net_command *ring = ring_of(areas, queue);
    for (uint32_t i = 0; i < NET_QUEUE_ENTRIES; i++)
        ring[i].command = 0;
}

/* Switches queues on that are empty. It is refused while commands of them are under way, which take
 * as long as their peers do; others are served meanwhile. Gives 0 if there are no queue areas any
 * more. */
static int switch_on(uint32_t first, uint32_t behind, uint32_t epoch)
{
    release();
    REGISTER(NET_EPOCH) = epoch;
    for (uint32_t queue = first; queue < behind; queue++)
        while (queue_command(NET_QUEUE_ON | queue) & NET_QUEUE_REFUSED) {
            if (!(REGISTER(NET_STATUS) & NET_STATUS_AREAS))
                return 0;
            serve(NET_WINDOW_NEXT_NOW, SOME);
        }
    return 1;
}

/* Whether all that a warp published, which has ended, is complete. A queue whose entries cannot be
 * read is off. */
static int is_drained(const struct areas *areas, uint32_t queue)
{
    if (queue_word(queue, NET_QUEUE_STATE) & 1) {
        /* First that nothing is left to be taken: what was taken is under way then, or complete. */
        uint32_t head = queue_word(queue, NET_QUEUE_HEAD);
        acquire();
        uint32_t command = ring_of(areas, queue)[head % NET_QUEUE_ENTRIES].command;
        uint32_t phase = head / NET_QUEUE_ENTRIES % 2 ? 0 : NET_COMMAND_PHASE;
        if ((command & NET_COMMAND_PHASE) == phase)
            return 0;
    }
    return queue_word(queue, NET_QUEUE_UNDER_WAY) == 0;
}

static void set_pe(const uint32_t words[4])
{
    uint32_t domain = words[2] >> 24 & 15;
    if (words[1] < NET_NEXT_PES && domain < NET_NEXT_DOMAINS)
        posts[domain * NET_NEXT_PES + words[1]] = NET_POST_TAKEN(words[2] & 0xff, words[2] >> 8 & 15);
}

int main(void)
{
    uint32_t words[4];
    struct areas areas = { 0 };
    for (uint32_t i = 0; i < NET_NEXT_DOMAINS * NET_NEXT_PES; i++)
        posts[i] = NET_POST_COMPLETE(NET_ERROR_PE);
    for (words[0] = 0; words[0] != NET_MESSAGE_START;) {
        if (!mailbox_receive(words))
            continue;
        if (words[0] == NET_MESSAGE_AREA) {
            areas.base = words[1];
            areas.slots = words[2];
            areas.bytes_log2 = words[3];
        } else if (words[0] == NET_MESSAGE_PE) {
            set_pe(words);
        }
    }
    /* Hardware has the queues elsewhere, or none. */
    uint32_t caps = REGISTER(NET_CAPS);
    if (areas.slots != NET_CAPS_SLOTS(caps) || !(REGISTER(NET_STATUS) & NET_STATUS_AREAS)
        || areas.base != REGISTER(NET_BASE) || areas.bytes_log2 != REGISTER(NET_AREA))
        return 1;
    areas.queues = areas.slots * NET_CAPS_DOMAINS(caps);
    for (uint32_t queue = 0; queue < areas.queues; queue++)
        empty(&areas, queue);
    if (!switch_on(0, areas.queues, words[1]))
        return 1;
    uint32_t harts = hart_count();
    for (uint32_t hart = 1; hart < harts; hart++)
        hart_start(hart, serve_queues, 0);
    mailbox_send((uint32_t[]){ NET_MESSAGE_START, words[1], 0, 0 });

    /* A message ends NEXT on this hart. Interrupts are not taken. */
    events_enable(EVENT_MAILBOX);
    csr_set(mie, 1u << INTERRUPT_EXTERNAL);
    while (words[0] != NET_MESSAGE_STOP) {
        UNTIL_A_MESSAGE();
        if (!mailbox_receive(words))
            continue;
        if (words[0] == NET_MESSAGE_PE)
            set_pe(words);
        if (words[0] == NET_MESSAGE_RESET && words[1] < areas.queues) {
            empty(&areas, words[1]);
            if (!switch_on(words[1], words[1] + 1, words[2]))
                return 1;
            mailbox_send((uint32_t[]){ NET_MESSAGE_RESET, words[1], 0, 0 });
        }
    }

    for (uint32_t queue = 0; queue < areas.queues; queue++)
        while (!is_drained(&areas, queue))
            serve(NET_WINDOW_NEXT_NOW, SOME);
    stopping = 1;
    for (uint32_t hart = 1; hart < harts; hart++) {
        hart_interrupt(hart);
        while (!stopped[hart])
            ;
    }
    uint32_t taken = 0, failed = 0;
    for (uint32_t queue = 0; queue < areas.queues; queue++) {
        queue_command(queue);
        taken += queue_word(queue, NET_QUEUE_HEAD);
        acquire();
        volatile struct net_control *control = control_of(&areas, queue);
        for (uint32_t context = 0; context < 4; context++)
            failed += control->error[context] >> 8 & 0xff;
    }
    mailbox_send((uint32_t[]){ NET_MESSAGE_STOP, taken, failed, 0 });
    return 0;
}
