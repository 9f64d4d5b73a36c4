#include <hermes.h>

/* The words of a header from the last to the first, one call for each: deeper than the stack. */
static __attribute__((noinline)) uint32_t backwards(const uint8_t *bytes, uint32_t left)
{
    volatile uint32_t word = bytes[left & 15];
    return left == 0 ? word : word + 3 * backwards(bytes, left - 1) + word;
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    return backwards(slot->ipv4, 40) & 0xff;
}
