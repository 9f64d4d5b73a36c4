/* Film grain (Pangaea, section 6: H.264's film grain technology): a block of a pattern, at an
 * offset that the number of the block gives, scaled by the block's brightness, is added to each
 * block of 8x8 pixels; its first and last columns are smoothed. Header: width, height. Then 16
 * scales, a word each; the pattern of 64x64 signed bytes; the pixels, a byte each. */
#include "hermes_media.h"

#define BLOCK 8u
#define PATTERN 64u
#define LEVELS 16u
#define HALVES 0x00ff00ffu

static struct image {
    const int32_t *scales;
    const uint32_t *pattern;
    const uint32_t *in;
    uint32_t *out;
    uint32_t words, columns, rows; /* words of a row; blocks */
    uint32_t reciprocal;           /* of columns */
} image;

/* The first word of the block of the pattern for block `number`. */
MEDIA_INLINE uint32_t offset(uint32_t number)
{
    uint32_t mixed = (number + 1) * 0x9e3779b1u;
    mixed ^= mixed >> 15;
    mixed *= 0x85ebca6bu;
    mixed ^= mixed >> 13;
    uint32_t down = (mixed & 255) * 57 >> 8, right = (mixed >> 8 & 255) * 15 >> 8;
    return down * (PATTERN / 4) + right;
}

/* Sums of bytes 0 and 2, and of bytes 1 and 3, of a word. */
MEDIA_INLINE uint32_t halves(uint32_t word) { return (word & HALVES) + (word >> 8 & HALVES); }

/* The scale for a block whose halves are summed. */
MEDIA_INLINE int32_t scale_of(const int32_t *scales, uint32_t sum)
{
    return scales[((sum & 0xffff) + (sum >> 16)) >> 10];
}

MEDIA_INLINE uint32_t clip(int32_t value)
{
    value = value < 0 ? 0 : value;
    return value > 255 ? 255 : value;
}

/* Byte `at` of a word with signed bytes, scaled. */
MEDIA_INLINE int32_t grain(uint32_t word, uint32_t at, int32_t scale)
{
    return ((int32_t)(word << (24 - 8 * at)) >> 24) * scale >> 6;
}

/* Eight pixels of a block with its grain. */
MEDIA_INLINE void eight(uint32_t x, uint32_t y, uint32_t p, uint32_t q, int32_t scale, uint32_t *low, uint32_t *high)
{
    int32_t g0 = grain(p, 0, scale), g1 = grain(p, 1, scale), g2 = grain(p, 2, scale), g3 = grain(p, 3, scale);
    int32_t g4 = grain(q, 0, scale), g5 = grain(q, 1, scale), g6 = grain(q, 2, scale), g7 = grain(q, 3, scale);
    g0 = (3 * g0 + g1) >> 2;
    g7 = (3 * g7 + g6) >> 2;
    *low = clip((x & 255) + g0) | clip((x >> 8 & 255) + g1) << 8 | clip((x >> 16 & 255) + g2) << 16 | clip((x >> 24) + g3) << 24;
    *high = clip((y & 255) + g4) | clip((y >> 8 & 255) + g5) << 8 | clip((y >> 16 & 255) + g6) << 16 | clip((y >> 24) + g7) << 24;
}

/* A block. The words of the next row are loaded before those of one are stored: a load right behind
 * a store of the same warp waits for its acknowledgement. */
MEDIA_INLINE void block(const struct image *image, uint32_t row, uint32_t column)
{
    uint32_t words = image->words, place = row * BLOCK * words + 2 * column;
    const uint32_t *at = image->in + place;
    uint32_t sum = 0;
#pragma GCC unroll 8
    for (uint32_t y = 0; y < BLOCK; y++, at += words)
        sum += halves(at[0]) + halves(at[1]);
    int32_t scale = scale_of(image->scales, sum);
    const uint32_t *pattern = image->pattern + offset(row * image->columns + column);
    at = image->in + place;
    uint32_t *to = image->out + place;
    uint32_t x = at[0], y = at[1], p = pattern[0], q = pattern[1];
#pragma GCC unroll 2
    for (uint32_t line = 0; line < BLOCK; line++) {
        at += words;
        pattern += PATTERN / 4;
        /* Behind the last line they are not used. */
        uint32_t next_x = at[0], next_y = at[1], next_p = pattern[0], next_q = pattern[1];
        eight(x, y, p, q, scale, to, to + 1);
        to += words;
        x = next_x;
        y = next_y;
        p = next_p;
        q = next_q;
        MEDIA_ORDER();
    }
}

#if MEDIA_PROGRAM == MEDIA_LANES
static void thread(uint32_t number, const struct image *image)
{
    uint32_t row = media_divide(number, image->reciprocal);
    block(image, row, number - row * image->columns);
}

static void work(void)
{
    media_start(0, (media_thread)thread, image.columns * image.rows, &image, 0);
    media_wait(0);
}
#elif MEDIA_PROGRAM == MEDIA_SCALAR_1
/* Block by block, as the threads go. */
static void work(void)
{
    for (uint32_t row = 0; row < image.rows; row++)
        for (uint32_t column = 0; column < image.columns; column++)
            block(&image, row, column);
}
#else
/* The means of a row of blocks first, then row by row. */
static LOCAL uint32_t sums[512];

static void work(void)
{
    for (uint32_t row = 0; row < image.rows; row++) {
        uint32_t words = image.words, place = row * BLOCK * words;
        for (uint32_t column = 0; column < image.columns; column++)
            sums[column] = 0;
        for (uint32_t y = 0; y < BLOCK; y++)
            for (uint32_t column = 0; column < image.columns; column++) {
                const uint32_t *at = image.in + place + y * words + 2 * column;
                sums[column] += halves(at[0]) + halves(at[1]);
            }
        for (uint32_t column = 0; column < image.columns; column++) {
            int32_t scale = scale_of(image.scales, sums[column]);
            const uint32_t *pattern = image.pattern + offset(row * image.columns + column);
            const uint32_t *at = image.in + place + 2 * column;
            uint32_t *to = image.out + place + 2 * column;
            for (uint32_t y = 0; y < BLOCK; y++, at += words, to += words, pattern += PATTERN / 4)
                eight(at[0], at[1], pattern[0], pattern[1], scale, to, to + 1);
        }
    }
}
#endif

int main(void)
{
    uint32_t width = input[0], height = input[1];
    media_expect("width", width, 16, 4096, BLOCK);
    media_expect("height", height, BLOCK, 4096, BLOCK);
    media_expect_bytes(4 * LEVELS + PATTERN * PATTERN + width * height, width * height);
    image.scales = (const int32_t *)(input + MEDIA_HEADER / 4);
    image.pattern = (const uint32_t *)(image.scales + LEVELS);
    image.in = image.pattern + PATTERN * PATTERN / 4;
    image.out = output;
    image.words = width / 4;
    image.columns = width / BLOCK;
    image.rows = height / BLOCK;
    image.reciprocal = media_reciprocal(image.columns);
    return media_main(work);
}
