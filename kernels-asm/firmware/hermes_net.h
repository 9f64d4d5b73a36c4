/* The network interface for firmware: its window, and the command queues of the warps in memory.
 * docs/shmem.md has the layouts, docs/network.md the codes. */
#ifndef HERMES_NET_H
#define HERMES_NET_H

#include "hermes_cp.h"

/* Says once, in one source, which mode of the command queues the firmware serves, by the name that
 * `hermes cluster --queues` has for it. `hermes cluster` refuses firmware of the other one. */
#define NET_MODE(name) const char net_mode[] __attribute__((used, section(".hermes.mode"))) = name

/* ---- The window. Each hart has its own buffer and its own counts. Words only; what is not listed
 * is an access fault. */
#define NET_WINDOW(offset) (*(volatile uint32_t *)(0xffffc000u + (offset)))
/* Read: takes the oldest command that the hardware fetched from a queue: NET_NEXT_... below. Waits
 * until there is one, or an interrupt of the hart is pending and enabled in mie, whatever mstatus
 * says, or a channel of it is armed and pending: then it is NET_NEXT_NOTHING. */
#define NET_WINDOW_NEXT 0x000u
/* The same, and waits for nothing. */
#define NET_WINDOW_NEXT_NOW 0x00cu
/* Write: one of NET_POST_... below. Waits until the network interface takes it, some cycles. */
#define NET_WINDOW_POST 0x004u
/* Read: bit 31 the last POST was not taken, since as many commands of the hart were under way as
 * may be (NET_CAPS_ENTRIES); 30:16 commands under way; 15:8 commands that failed, modulo 256; 7:0
 * code of the last of them. */
#define NET_WINDOW_OWN_STATUS 0x01cu
/* Read: 15:8 commands of this context (0 to 3) that are complete, modulo 256; 7:0 code of the
 * last. */
#define NET_WINDOW_OWN_CONTEXT(context) (0x020u + 4u * (context))
/* Read, write: a word (0 to 15) of the buffer: of the command that was taken, as it was when it was
 * fetched, or of one that is posted. */
#define NET_WINDOW_BUFFER(word) (0x040u + 4u * (word))

#define NET_OWN_NO_ROOM (1u << 31)
/* What NEXT gives: the command goes on as it is, or the word is negative. Its bits 10:2 are then
 * the place of its domain and node in a table of words. */
#define NET_NEXT_SPECIAL (1u << 31)
#define NET_NEXT_NOTHING (1u << 30)  /* with the bit above: there is no command */
#define NET_NEXT_FIRMWARE (1u << 29) /* likewise: an operation 0x40 to 0x7f, which is the firmware's own; its words are in the buffer */
#define NET_NEXT_OPERATION(next) ((next) >> 25 & 15u) /* its low four bits */
#define NET_NEXT_PLACE(next) ((next) & 0x7fcu)        /* in bytes */
#define NET_NEXT_DOMAINS 8u
#define NET_NEXT_PES 64u
/* What is written to NET_WINDOW_POST: the command that was taken goes to this queue pair, with this
 * region of its local bytes. */
#define NET_POST_TAKEN(pair, region) ((uint32_t)(pair) | (uint32_t)(region) << 8)
/* The command in the buffer is posted as one of the hart's own, in this protection domain. */
#define NET_POST_OWN(pair, region, domain) (NET_POST_TAKEN(pair, region) | 1u << 12 | (uint32_t)(domain) << 24)
/* The command that was taken ends with this code, and is not sent. */
#define NET_POST_COMPLETE(code) (7u << 12 | (uint32_t)(code) << 24)

/* ---- Command queues. A queue area begins at a multiple of its size, a power of two: the rings of
 * `slots` warp slots (a power of two), then their control lines, then the symmetric heap. */
#define NET_QUEUE_ENTRIES 64u

struct net_command {
    uint32_t command; /* 7:0 operation, NET_COMMAND_... */
    uint32_t remote;  /* symmetric address */
    uint32_t local;
    uint32_t bytes;
    uint32_t data[4]; /* of an inline put */
    uint32_t zero[7];
    uint32_t status;  /* 8 phase, 7:0 code: written when it is complete, if that is wanted */
};
/* 1 in the first lap through the ring, 0 in the second, and so on: the entry is published. */
#define NET_COMMAND_PHASE (1u << 8)
#define NET_COMMAND_STATUS_WANTED (1u << 9)
#define NET_COMMAND_INLINE (1u << 10)
#define NET_COMMAND_CONTEXT(word) ((word) >> 12 & 3u)
#define NET_COMMAND_PE(word) ((word) >> 16 & 0xfffu)
#define NET_OPERATION_NOP 0u
#define NET_OPERATION_PUT 1u

struct net_control {
    uint32_t head;    /* commands consumed: their entries may be written again */
    uint32_t epoch;   /* another one each time the queue is switched on; 0: off */
    uint32_t mode;    /* NET_MODE_... */
    uint32_t zero;
    uint32_t done[4]; /* of each context: commands that are complete, modulo 2^16, if these are counted */
    uint32_t value[2];
    uint32_t zero2[2];
    uint32_t error[4]; /* of each context: 31:16 index of the last command that failed, 15:8 their count, 7:0 its code */
};
/* Commands are completed by counters, as hardware does; by their status, as firmware does. */
#define NET_MODE_COUNTERS 0u
#define NET_MODE_STATUS 1u

#define NET_DONE 0x01u
#define NET_ERROR_OPERATION 0x80u
#define NET_ERROR_PE 0x81u

static inline struct net_command *net_ring(uint32_t area, uint32_t slot)
{
    return (struct net_command *)(area + slot * NET_QUEUE_ENTRIES * sizeof(struct net_command));
}
static inline struct net_control *net_control(uint32_t area, uint32_t slots, uint32_t slot)
{
    return (struct net_control *)(area + slots * NET_QUEUE_ENTRIES * sizeof(struct net_command)) + slot;
}

/* ---- Queues that hardware serves: number domain * slots + slot. */
#define NET_CAPS_DOMAINS(caps) (1u << ((caps) >> 11 & 3u))
/* Commands of a hart that may be under way. */
#define NET_CAPS_ENTRIES(caps) (8u >> ((caps) >> 13 & 3u))
#define NET_CAPS_SLOTS(caps) ((caps) >> 17 & 0xfffu)
#define NET_STATUS_AREAS 2u          /* there are queue areas where NET_BASE and NET_AREA say */
#define NET_QUEUE_ON (1u << 31)      /* QUEUE_COMMAND: switch it on, else off */
#define NET_QUEUE_BUSY (1u << 31)    /* its answer: not done yet */
#define NET_QUEUE_REFUSED (1u << 30) /* it is on already, or commands of it are under way */
/* NET_INDEX: a word of a queue, which NET_DATA shows then. One user at a time. */
#define NET_INDEX_QUEUE(queue, word) (2u << 28 | (uint32_t)(queue) << 8 | (word))
#define NET_QUEUE_HEAD 0u
#define NET_QUEUE_STATE 1u /* bit 0 on; bit 1 a command is being fetched, is fetched or taken */
#define NET_QUEUE_UNDER_WAY 2u

/* ---- Messages of the host for net.c and net-paper.c, word 0 of four. */
#define NET_MESSAGE_AREA 1u  /* address of the queue area, that of domain 0, its warp slots, log2 of its bytes */
#define NET_MESSAGE_PE 2u    /* number of a PE; for its commands: queue pair in bits 7:0, region 11:8, domain 27:24 */
#define NET_MESSAGE_START 3u /* epoch of all queues; net-paper.c: rounds between two looks at what is complete. The answer, when they are on: NET_MESSAGE_START, epoch */
#define NET_MESSAGE_RESET 5u /* net.c: a queue, whose warp has ended, is emptied and switched on with the epoch in word 2. The answer: NET_MESSAGE_RESET, queue */
#define NET_MESSAGE_STOP 4u  /* the kernels have ended. The answer: NET_MESSAGE_STOP, commands taken, commands that failed */

#endif
