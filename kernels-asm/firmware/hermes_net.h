/* The network interface for firmware: its window, and the command queues of the warps in memory. docs/shmem.md has the layouts,
 * docs/network.md the codes. */
#ifndef HERMES_NET_H
#define HERMES_NET_H

#include "hermes_cp.h"

/* ---- The window. Each hart has its own buffer and its own counts. Words only; what is not listed is an access fault. */
#define NET_WINDOW(offset) (*(volatile uint32_t *)(0xffffc000u + (offset)))
/* Write: posts the command in the buffer, NET_POST_OWN. Waits until the network interface takes it, some cycles. */
#define NET_WINDOW_POST 0x004u
/* Read: bit 31 the last POST was not taken, since eight commands of the hart were under way; 30:16 commands under way; 15:8 commands that failed,
 * modulo 256; 7:0 code of the last of them. */
#define NET_WINDOW_OWN_STATUS 0x01cu
/* Read: 15:8 commands of this context (0 to 3) that are complete, modulo 256; 7:0 code of the last. */
#define NET_WINDOW_OWN_CONTEXT(context) (0x020u + 4u * (context))
/* Read, write: a word (0 to 15) of the buffer, that of the command. */
#define NET_WINDOW_BUFFER(word) (0x040u + 4u * (word))

#define NET_OWN_NO_ROOM (1u << 31)
/* What is written to NET_WINDOW_POST: queue pair, region of the local bytes, protection domain. */
#define NET_POST_OWN(pair, region, domain) ((uint32_t)(pair) | (uint32_t)(region) << 8 | 1u << 12 | (uint32_t)(domain) << 24)

/* ---- Command queues. A queue area begins at a multiple of its size, a power of two: the rings of `slots` warp slots (a power of two), then
 * their control lines, then the symmetric heap. */
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
    uint32_t done[4];
    uint32_t value[2];
    uint32_t zero2[2];
    uint32_t error[4]; /* of each context: 31:16 index of the last command that failed, 15:8 their count, 7:0 its code */
};
/* Commands are completed by their status, as firmware does. */
#define NET_MODE_STATUS 1u

#define NET_DONE 0x01u
#define NET_ERROR_PE 0x81u

static inline struct net_command *net_ring(uint32_t area, uint32_t slot)
{
    return (struct net_command *)(area + slot * NET_QUEUE_ENTRIES * sizeof(struct net_command));
}
static inline struct net_control *net_control(uint32_t area, uint32_t slots, uint32_t slot)
{
    return (struct net_control *)(area + slots * NET_QUEUE_ENTRIES * sizeof(struct net_command)) + slot;
}

/* ---- Messages of the host for net-paper.c, word 0 of four. */
#define NET_MESSAGE_AREA 1u  /* address of the queue area, its warp slots, log2 of its bytes */
#define NET_MESSAGE_PE 2u    /* number of a PE, what is written to NET_WINDOW_POST for it */
#define NET_MESSAGE_START 3u /* epoch of all queues, rounds between two looks at what is complete. The answer, when they are on: NET_MESSAGE_START, epoch */
#define NET_MESSAGE_STOP 4u  /* the kernels have ended. The answer: NET_MESSAGE_STOP, commands taken, commands that failed */

#endif
