/* What a packet kernel in C needs: the packet slot and the verdicts.
 *
 * A kernel is one function: uint32_t kernel(uint32_t packet, struct packet_slot *slot, void
 * *arguments) It runs once for each packet and returns the verdict. */
#ifndef HERMES_H
#define HERMES_H

#include <stdint.h>

#include "hermes_atomic.h"

/* A packet in the ring. The frame is `length` bytes long (no FCS); fields are in network byte
 * order. */
struct packet_slot {
    uint32_t length;     /* bytes of the frame that are in the slot */
    uint32_t port;       /* input port */
    uint16_t cut;        /* bytes cut from the frame's end: length + cut = length on the wire */
    uint16_t reserved;   /* zero */
    uint32_t arrival;    /* arrival time in cycles */
    uint8_t padding[2];  /* aligns the IPv4 header */
    uint8_t ethernet[14];
    uint8_t ipv4[];      /* at offset 32 */
};

/* The scratchpad of the core, shared by its warps. Word n stands in bank n modulo the lanes: all
 * lanes are served at once where each uses the bank of its own number. */
#define SCRATCHPAD       ((volatile uint32_t *)0xfffe0000u)
#define SCRATCHPAD_BYTES 16384u

/* Which thread this is: the lane of its warp, the warp slot of its core, the core. */
static inline uint32_t hermes_lane(void)
{
    uint32_t lane;
    __asm__("csrr %0, 0xcc1" : "=r"(lane));
    return lane;
}
static inline uint32_t hermes_warp_slot(void)
{
    uint32_t slot;
    __asm__("csrr %0, 0xcc2" : "=r"(slot));
    return slot;
}
static inline uint32_t hermes_core(void)
{
    uint32_t core;
    __asm__("csrr %0, 0xcc3" : "=r"(core));
    return core;
}
/* Cycles, modulo 2^32. */
static inline uint32_t hermes_cycle(void)
{
    uint32_t now;
    __asm__ volatile("csrr %0, cycle" : "=r"(now));
    return now;
}

/* Verdicts: VERDICT_FORWARD | port, or VERDICT_DROP | reason. */
#define VERDICT_FORWARD    0x00000000u
#define VERDICT_DROP       0x80000000u

#define DROP_NOT_IPV4      1u /* EtherType is not 0x0800 */
#define DROP_SHORT         2u /* too few bytes for an Ethernet and an IPv4 header */
#define DROP_VERSION       3u /* IP version is not 4 */
#define DROP_HEADER_LENGTH 4u /* IHL below 5, or the header ends beyond the frame */
#define DROP_TOTAL_LENGTH  5u /* below the header length, or beyond the frame */
#define DROP_CHECKSUM      6u /* header checksum is wrong */
#define DROP_SOURCE        7u /* source address that no host may have */
#define DROP_TTL           8u /* time to live ran out */
#define DROP_NO_ROUTE      9u /* no prefix holds the destination */
#define DROP_NO_RULE      10u /* no rule matches */
#define DROP_FRAGMENT     11u /* larger than the MTU, and not to be fragmented: ICMP is needed */
#define DROP_RULE    0x10000u /* by this rule: plus its number, counted from 0 */

/* What every app asks of a packet first: an IPv4 packet with bytes for an Ethernet and an IPv4
 * header. Gives 0, or the reason to drop it. */
static inline uint32_t require_ipv4(const struct packet_slot *slot)
{
    int is_ipv4 = slot->ethernet[12] == 0x08 && slot->ethernet[13] == 0x00;
    if (slot->length < 14)
        return DROP_SHORT;
    if (!is_ipv4)
        return DROP_NOT_IPV4;
    if (slot->length < 34)
        return DROP_SHORT;
    return slot->ipv4[0] >> 4 == 4 ? 0 : DROP_VERSION;
}

/* The bytes of a word in the other order: a field of the packet in host order. */
static inline uint32_t swap_bytes(uint32_t word)
{
    return word << 24 | (word & 0xff00u) << 8 | (word >> 8 & 0xff00u) | word >> 24;
}

/* hermes_print("text %u %x", a, b): a line of `hermes run --print`, with up to four values of 32
 * bits. %u, %d, %x, %X, %c, %s (a text of the kernel), with width and 0 or - before it. With
 * `kernel build -D HERMES_PRINT` only; else nothing is left of it. */
#ifdef HERMES_PRINT
/* The rings in which prints wait for the host, which sets this before the run: a head of 16 words
 * with lanes, words of a ring as a power of two, records of a ring; then a ring for each thread. 0:
 * nobody wants them. */
__attribute__((weak)) volatile uint32_t *hermes_print_rings;

__attribute__((noinline, unused)) static void hermes_print_record(const char *format, uint32_t a, uint32_t b, uint32_t c,
                                                                  uint32_t d)
{
    volatile uint32_t *ring = hermes_print_rings;
    if (!ring)
        return;
    uint32_t room = ring[2];
    ring += 16 + (((hermes_core() << 5 | hermes_warp_slot()) * ring[0] + hermes_lane()) << ring[1]);
    uint32_t count = ring[0];
    ring[0] = count + 1;
    if (count >= room)
        return;
    ring += 8 * (count + 1);
    uint32_t packet;
    __asm__("csrr %0, 0xcc0" : "=r"(packet));
    ring[0] = (uint32_t)format;
    ring[1] = packet;
    ring[2] = a;
    ring[3] = b;
    ring[4] = c;
    ring[5] = d;
}
#define hermes_print_values(format, a, b, c, d, ...) \
    hermes_print_record(format, (uint32_t)(a), (uint32_t)(b), (uint32_t)(c), (uint32_t)(d))
#define hermes_print(...) hermes_print_values(__VA_ARGS__, 0, 0, 0, 0, 0)
#else
#define hermes_print(...) ((void)0)
#endif

#endif
