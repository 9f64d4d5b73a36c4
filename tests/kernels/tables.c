/* The verdict is an element of a table, scaled and moved by the argument block, and the last byte
 * of another table. */
#include <hermes.h>

uint32_t *squares;
uint32_t squares_bytes;
const uint8_t *more;
uint32_t more_bytes;
uint32_t seen[64];

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    const uint32_t *argument = arguments;
    (void)slot;
    uint32_t n = packet % (squares_bytes / 4);
    uint32_t verdict = (n ? squares[n] : 1) * argument[0] + argument[1] + more[more_bytes - 1];
    if (packet == 0)
        squares[0] = 0xabcd;
    seen[packet & 63] = verdict ^ 0xff;
    return verdict;
}
