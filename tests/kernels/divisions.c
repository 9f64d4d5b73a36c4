/* Quotients and remainders of 64 bits, for which the compiler calls its library: of the first 8
 * bytes of the frame by the next 8, with and without sign, each number shifted right by the
 * packet's number so that they are of all sizes. The verdict is the XOR of the results' words. */
#include <hermes.h>

static uint64_t number(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

static uint32_t fold(uint64_t value)
{
    return (uint32_t)value ^ (uint32_t)(value >> 32);
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)arguments;
    uint64_t a = number(slot->ethernet) >> packet % 64;
    uint64_t b = number(slot->ethernet + 8) >> packet * 7 % 64 | 1;
    uint32_t result = fold(a / b) ^ fold(a % b) ^ fold((uint64_t)((int64_t)a / (int64_t)b)) * 3
                      ^ fold((uint64_t)((int64_t)a % (int64_t)b)) * 5;
    return result & 0x7fffffff;
}
