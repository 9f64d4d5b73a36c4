/* ipsec: ESP in tunnel mode (RFC 4303) with AES-128 in counter mode (RFC 3686) and HMAC-SHA1-96
 * (RFC 2404). The packet becomes, in place, the payload of one from the tunnel's source to its
 * destination. Packet n has the sequence number n + 1, which is also its IV: no counter is shared.
 *
 * Verdict: forward to port 0, or drop: NOT_IPV4, SHORT, VERSION, HEADER_LENGTH, TOTAL_LENGTH (also
 * if not all of the packet is in the slot), FRAGMENT (the result does not fit). docs/tables.md has
 * the layout of the association. */
#include <hermes.h>

#define IPV4_WORDS   5  /* outer header */
#define ESP_WORDS    4  /* SPI, sequence number, IV */
#define TAG_WORDS    3
#define FRONT_WORDS  (IPV4_WORDS + ESP_WORDS)
#define PROTOCOL_IPV4 4
#define PROTOCOL_ESP 50
#define TTL          64

struct association {
    uint32_t spi, source, destination, nonce;  /* network byte order */
    uint32_t frame_bytes;
    uint32_t inner[5], outer[5];               /* SHA-1 after the padded keys of HMAC */
    uint32_t round_keys[44];
    uint32_t columns[256];                     /* SubBytes and MixColumns of one byte */
};

static inline uint32_t rotate_right(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

/* One column of a round: a byte of each of four columns, from the first row to the last. */
static inline uint32_t column(const uint32_t *columns, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return columns[a >> 24] ^ rotate_right(columns[b >> 16 & 255], 8) ^
           rotate_right(columns[c >> 8 & 255], 16) ^ rotate_right(columns[d & 255], 24);
}

/* The same without MixColumns: the last round. The second byte of a table word is the S-box. */
static inline uint32_t last_column(const uint32_t *columns, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return (columns[a >> 24] << 8 & 0xff000000) | (columns[b >> 16 & 255] & 0x00ff0000) |
           (columns[c >> 8 & 255] & 0x0000ff00) | (columns[d & 255] >> 8 & 0xff);
}

/* Encrypts a block of four big-endian words (FIPS 197, section 5.1). */
static void aes_encrypt(const struct association *sa, uint32_t block[4])
{
    const uint32_t *key = sa->round_keys, *columns = sa->columns;
    uint32_t a = block[0] ^ key[0], b = block[1] ^ key[1], c = block[2] ^ key[2], d = block[3] ^ key[3];
    for (int round = 1; round < 10; round++) {
        key += 4;
        uint32_t e = column(columns, a, b, c, d) ^ key[0];
        uint32_t f = column(columns, b, c, d, a) ^ key[1];
        uint32_t g = column(columns, c, d, a, b) ^ key[2];
        d = column(columns, d, a, b, c) ^ key[3];
        a = e, b = f, c = g;
    }
    key += 4;
    block[0] = last_column(columns, a, b, c, d) ^ key[0];
    block[1] = last_column(columns, b, c, d, a) ^ key[1];
    block[2] = last_column(columns, c, d, a, b) ^ key[2];
    block[3] = last_column(columns, d, a, b, c) ^ key[3];
}

/* One block of SHA-1 (FIPS 180-4, section 6.1.2). The rounds are unrolled so that the message
 * schedule stays in registers: on the stack, every access would be a memory line of its own for
 * each thread, or two for all of them with a local window. */
static __attribute__((noinline)) void sha1_block(uint32_t state[5], const uint32_t block[16])
{
    uint32_t w[16];
#pragma GCC unroll 16
    for (int t = 0; t < 16; t++)
        w[t] = block[t];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
#pragma GCC unroll 80
    for (int t = 0; t < 80; t++) {
        if (t >= 16)
            w[t & 15] = rotate_right(w[(t - 3) & 15] ^ w[(t - 8) & 15] ^ w[(t - 14) & 15] ^ w[t & 15], 31);
        uint32_t f;
        if (t < 20)
            f = (d ^ (b & (c ^ d))) + 0x5a827999;
        else if (t < 40)
            f = (b ^ c ^ d) + 0x6ed9eba1;
        else if (t < 60)
            f = ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
        else
            f = (b ^ c ^ d) + 0xca62c1d6;
        uint32_t sum = rotate_right(a, 27) + f + e + w[t & 15];
        e = d, d = c, c = rotate_right(b, 2), b = a, a = sum;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

/* HMAC-SHA1 (RFC 2104) of `words` words of a packet; the result goes to state. */
static void hmac(const struct association *sa, const uint32_t *message, uint32_t words, uint32_t state[5])
{
    uint32_t w[16];
    for (int i = 0; i < 5; i++)
        state[i] = sa->inner[i];
    /* The message, then a 1, zeros, and the length in bits with that of the padded key. */
    uint32_t bits = (words + 16) * 32, position = 0, ended = 0;
    for (;;) {
        int i = 0;
        for (; i < 16 && position < words; i++)
            w[i] = swap_bytes(message[position++]);
        if (i < 16 && !ended) {
            w[i++] = 0x80000000;
            ended = 1;
        }
        int last = ended && i <= 14;
        for (; i < 16; i++)
            w[i] = 0;
        if (last)
            w[15] = bits;
        sha1_block(state, w);
        if (last)
            break;
    }
    for (int i = 0; i < 5; i++)
        w[i] = state[i], state[i] = sa->outer[i];
    w[5] = 0x80000000;
    for (int i = 6; i < 15; i++)
        w[i] = 0;
    w[15] = (16 + 5) * 32;
    sha1_block(state, w);
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, const struct association *const *arguments)
{
    const struct association *sa = *arguments;
    uint32_t reason = require_ipv4(slot);
    if (reason)
        return VERDICT_DROP | reason;
    uint8_t *ip = slot->ipv4;
    uint32_t *words = (uint32_t *)ip;
    uint32_t header = (ip[0] & 15u) * 4, total = (uint32_t)ip[2] << 8 | ip[3];
    if (header < 20 || slot->length < 14 + header)
        return VERDICT_DROP | DROP_HEADER_LENGTH;
    if (total < header || slot->length < 14 + total)
        return VERDICT_DROP | DROP_TOTAL_LENGTH;

    /* Payload: the packet, padding 1, 2, 3, its length, the protocol; whole words */
    uint32_t padding = -(total + 2) & 3;
    uint32_t payload = (total + padding + 2) / 4;
    uint32_t bytes = (FRONT_WORDS + payload + TAG_WORDS) * 4;
    if (14 + bytes > sa->frame_bytes || bytes > 0xffff)
        return VERDICT_DROP | DROP_FRAGMENT;
    uint32_t dont_fragment = ip[6] & 0x40u, service = ip[1];
    for (uint32_t i = 0; i < padding; i++)
        ip[total + i] = i + 1;
    ip[total + padding] = padding;
    ip[total + padding + 1] = PROTOCOL_IPV4;

    /* Encrypted from the last block to the first, since the payload moves to higher addresses */
    uint32_t sequence = packet + 1;
    for (uint32_t block = (payload + 3) / 4; block-- > 0;) {
        uint32_t stream[4] = { swap_bytes(sa->nonce), 0, sequence, block + 1 };
        aes_encrypt(sa, stream);
        uint32_t count = payload - 4 * block < 4 ? payload - 4 * block : 4;
        for (uint32_t i = count; i-- > 0;)
            words[FRONT_WORDS + 4 * block + i] = words[4 * block + i] ^ swap_bytes(stream[i]);
    }

    /* Outer header, SPI, sequence number, IV */
    words[0] = 0x45 | service << 8 | (bytes >> 8) << 16 | bytes << 24;
    words[1] = (sequence >> 8 & 0xff) | (sequence & 0xff) << 8 | dont_fragment << 16;
    words[2] = TTL | PROTOCOL_ESP << 8;
    words[3] = sa->source;
    words[4] = sa->destination;
    uint32_t sum = 0;
    for (int i = 0; i < IPV4_WORDS; i++)
        sum += (words[i] & 0xffff) + (words[i] >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    words[2] |= ~sum << 16;
    words[5] = sa->spi;
    words[6] = swap_bytes(sequence);
    words[7] = 0;
    words[8] = swap_bytes(sequence);

    uint32_t tag[5];
    hmac(sa, words + IPV4_WORDS, ESP_WORDS + payload, tag);
    for (int i = 0; i < TAG_WORDS; i++)
        words[FRONT_WORDS + payload + i] = swap_bytes(tag[i]);
    slot->length = 14 + bytes;
    slot->cut = 0;
    return VERDICT_FORWARD;
}
