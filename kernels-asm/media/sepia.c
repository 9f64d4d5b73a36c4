/* Sepia tone (Pangaea, section 6): the three channels of a pixel by a matrix, no more than 255.
 * Header: width, height. Then the pixels, three bytes each, row by row. */
#include "hermes_media.h"

/* Rows of a thread. */
#define ROWS 10u

static struct image {
    const uint32_t *in;
    uint32_t *out;
    uint32_t width, height, row_bytes;
    uint32_t reciprocal; /* of width */
} image;

/* The matrix, row by row, in 256ths. */
struct matrix {
    uint32_t of[9];
};
#define MATRIX                                                                                                             \
    {                                                                                                                      \
        {MEDIA_FACTOR(101), MEDIA_FACTOR(197), MEDIA_FACTOR(48), MEDIA_FACTOR(89), MEDIA_FACTOR(176), MEDIA_FACTOR(43),    \
         MEDIA_FACTOR(70), MEDIA_FACTOR(137), MEDIA_FACTOR(34)}                                                            \
    }

MEDIA_INLINE uint32_t tone(const uint32_t *row, uint32_t r, uint32_t g, uint32_t b)
{
    uint32_t value = (row[0] * r + row[1] * g + row[2] * b) >> 8;
    return value < 255 ? value : 255;
}

#define red(r, g, b) tone(matrix->of, r, g, b)
#define green(r, g, b) tone(matrix->of + 3, r, g, b)
#define blue(r, g, b) tone(matrix->of + 6, r, g, b)

/* Four pixels, which are three words. */
MEDIA_INLINE void four(const struct matrix *matrix, uint32_t x, uint32_t y, uint32_t z, uint32_t *to)
{
    uint32_t r0 = x & 255, g0 = x >> 8 & 255, b0 = x >> 16 & 255, r1 = x >> 24;
    uint32_t g1 = y & 255, b1 = y >> 8 & 255, r2 = y >> 16 & 255, g2 = y >> 24;
    uint32_t b2 = z & 255, r3 = z >> 8 & 255, g3 = z >> 16 & 255, b3 = z >> 24;
    to[0] = red(r0, g0, b0) | green(r0, g0, b0) << 8 | blue(r0, g0, b0) << 16 | red(r1, g1, b1) << 24;
    to[1] = green(r1, g1, b1) | blue(r1, g1, b1) << 8 | red(r2, g2, b2) << 16 | green(r2, g2, b2) << 24;
    to[2] = blue(r2, g2, b2) | red(r3, g3, b3) << 8 | green(r3, g3, b3) << 16 | blue(r3, g3, b3) << 24;
}

/* A pixel, which is three bytes. */
MEDIA_INLINE void one(const struct matrix *matrix, uint32_t r, uint32_t g, uint32_t b, uint8_t *to)
{
    uint32_t x = red(r, g, b), y = green(r, g, b), z = blue(r, g, b);
    to[0] = x;
    to[1] = y;
    to[2] = z;
}

#if MEDIA_PROGRAM == MEDIA_LANES
/* ROWS pixels of a column. The bytes of the next row are loaded before those of one are stored: a
 * load right behind a store of the same warp waits for its acknowledgement. */
static void thread(uint32_t number, const struct image *image)
{
    uint32_t band = media_divide(number, image->reciprocal), row_bytes = image->row_bytes;
    uint32_t place = band * ROWS * row_bytes + 3 * (number - band * image->width);
    const struct matrix matrix = MATRIX;
    const uint8_t *at = (const uint8_t *)image->in + place;
    uint8_t *to = (uint8_t *)image->out + place;
    uint32_t r = at[0], g = at[1], b = at[2];
#pragma GCC unroll 10
    for (uint32_t row = 0; row < ROWS; row++, to += row_bytes) {
        at += row_bytes;
        /* Behind the last row of the image they are not used. */
        uint32_t next_r = at[0], next_g = at[1], next_b = at[2];
        one(&matrix, r, g, b, to);
        r = next_r;
        g = next_g;
        b = next_b;
        MEDIA_ORDER();
    }
}

static void work(void)
{
    media_start(0, (media_thread)thread, image.width * (image.height / ROWS), &image, 0);
    media_wait(0);
}
#elif MEDIA_PROGRAM == MEDIA_SCALAR_1
/* Four pixels at a time. */
static void work(void)
{
    const struct matrix values = MATRIX, *matrix = &values;
    const uint32_t *at = image.in, *end = at + image.row_bytes / 4 * image.height;
    for (uint32_t *to = image.out; at < end; at += 3, to += 3)
        four(matrix, at[0], at[1], at[2], to);
}
#else
/* Byte by byte, as the threads go. */
static void work(void)
{
    const struct matrix values = MATRIX, *matrix = &values;
    const uint8_t *at = (const uint8_t *)image.in, *end = at + image.row_bytes * image.height;
    for (uint8_t *to = (uint8_t *)image.out; at < end; at += 3, to += 3)
        one(matrix, at[0], at[1], at[2], to);
}
#endif

int main(void)
{
    uint32_t width = input[0], height = input[1];
    media_expect("width", width, 8, 4096, 4);
    media_expect("height", height, ROWS, 4090, ROWS);
    media_expect_bytes(3 * width * height, 3 * width * height);
    image.in = input + MEDIA_HEADER / 4;
    image.out = output;
    image.width = width;
    image.height = height;
    image.row_bytes = 3 * width;
    image.reciprocal = media_reciprocal(width);
    return media_main(work);
}
