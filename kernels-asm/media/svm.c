/* Support vector machine that classifies blocks of 16x16 pixels (Pangaea, section 6): the sum over
 * 100 vectors of alpha times the dot product of block and vector. Header: width, height. Then the
 * alphas, a word each; the vectors, 256 signed bytes each; the pixels, a byte each. The output has
 * a word for each block: the decision, and in the lowest bit the class. */
#include "hermes_media.h"

#define VECTORS 100u
#define SIDE 16u
#define DIMENSIONS (SIDE * SIDE)
/* Vectors that a pixel is multiplied by when it is loaded; parts of the vectors, a thread each. */
#define AT_ONCE 5u
#define PARTS 4u

static struct image {
    const int32_t *alphas;
    const uint32_t *vectors;
    const uint32_t *in;
    uint32_t words, columns, blocks; /* words of a row */
    uint32_t reciprocal;             /* of columns */
} image;

MEDIA_INLINE int32_t byte(uint32_t word, uint32_t at) { return (int32_t)(word << (24 - 8 * at)) >> 24; }

/* The sum of four products of a word of pixels and one of a vector. */
MEDIA_INLINE int32_t dot(uint32_t p0, uint32_t p1, uint32_t p2, uint32_t p3, uint32_t vector)
{
    return p0 * byte(vector, 0) + p1 * byte(vector, 1) + p2 * byte(vector, 2) + p3 * byte(vector, 3);
}

/* alpha times the dot products of AT_ONCE vectors from `first` on and the block at `at`. */
MEDIA_INLINE int32_t some(const struct image *image, const uint32_t *at, uint32_t first)
{
    const uint32_t *vector = image->vectors + first * (DIMENSIONS / 4);
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0;
    for (uint32_t row = 0; row < SIDE; row++, at += image->words) {
#pragma GCC unroll 2
        for (uint32_t word = 0; word < SIDE / 4; word++, vector++) {
            uint32_t pixels = at[word];
            uint32_t p0 = pixels & 255, p1 = pixels >> 8 & 255, p2 = pixels >> 16 & 255, p3 = pixels >> 24;
            s0 += dot(p0, p1, p2, p3, vector[0]);
            s1 += dot(p0, p1, p2, p3, vector[DIMENSIONS / 4]);
            s2 += dot(p0, p1, p2, p3, vector[2 * (DIMENSIONS / 4)]);
            s3 += dot(p0, p1, p2, p3, vector[3 * (DIMENSIONS / 4)]);
            s4 += dot(p0, p1, p2, p3, vector[4 * (DIMENSIONS / 4)]);
            MEDIA_ORDER();
        }
    }
    const int32_t *alpha = image->alphas + first;
    return alpha[0] * (s0 >> 8) + alpha[1] * (s1 >> 8) + alpha[2] * (s2 >> 8) + alpha[3] * (s3 >> 8) +
           alpha[4] * (s4 >> 8);
}

MEDIA_INLINE const uint32_t *place(const struct image *image, uint32_t block)
{
    uint32_t row = media_divide(block, image->reciprocal), column = block - row * image->columns;
    return image->in + row * SIDE * image->words + column * (SIDE / 4);
}

static void decide(uint32_t block, int32_t decision) { output[block] = (uint32_t)decision << 1 | (decision > 0); }

#if MEDIA_PROGRAM == MEDIA_LANES
/* Sums of the parts of each block, part by part. */
#define MOST_BLOCKS 4096u
static int32_t parts[PARTS][MOST_BLOCKS] __attribute__((aligned(64)));

/* A part of the vectors for a block. */
static void thread(uint32_t block, const struct image *image, int32_t *sums)
{
    uint32_t first = (sums - parts[0]) / MOST_BLOCKS * (VECTORS / PARTS);
    const uint32_t *at = place(image, block);
    int32_t sum = 0;
    for (uint32_t number = 0; number < VECTORS / PARTS; number += AT_ONCE)
        sum += some(image, at, first + number);
    sums[block] = sum;
}

static void work(void)
{
    for (uint32_t part = 0; part < PARTS; part++)
        media_start(part, (media_thread)thread, image.blocks, &image, parts[part]);
    for (uint32_t part = 0; part < PARTS; part++)
        media_wait(part);
    for (uint32_t block = 0; block < image.blocks; block++) {
        int32_t sum = 0;
        for (uint32_t part = 0; part < PARTS; part++)
            sum += parts[part][block];
        decide(block, sum);
    }
}
#elif MEDIA_PROGRAM == MEDIA_SCALAR_1
/* AT_ONCE vectors at a time, as the threads go. */
static void work(void)
{
    for (uint32_t block = 0; block < image.blocks; block++) {
        const uint32_t *at = place(&image, block);
        int32_t sum = 0;
        for (uint32_t number = 0; number < VECTORS; number += AT_ONCE)
            sum += some(&image, at, number);
        decide(block, sum);
    }
}
#else
/* A vector at a time, of a block that lies in local memory, a byte at a time. */
static LOCAL uint32_t pixels[DIMENSIONS / 4];

static void work(void)
{
    for (uint32_t block = 0; block < image.blocks; block++) {
        const uint32_t *at = place(&image, block);
        for (uint32_t word = 0; word < DIMENSIONS / 4; word++)
            pixels[word] = at[word / 4 * image.words + word % 4];
        const int8_t *vector = (const int8_t *)image.vectors;
        const uint8_t *end = (const uint8_t *)(pixels + DIMENSIONS / 4);
        int32_t sum = 0;
        for (uint32_t number = 0; number < VECTORS; number++) {
            int32_t product = 0;
            for (const uint8_t *pixel = (const uint8_t *)pixels; pixel < end; pixel += 8, vector += 8)
#pragma GCC unroll 8
                for (uint32_t byte = 0; byte < 8; byte++)
                    product += pixel[byte] * vector[byte];
            sum += image.alphas[number] * (product >> 8);
        }
        decide(block, sum);
    }
}
#endif

int main(void)
{
    uint32_t width = input[0], height = input[1];
    media_expect("width", width, 2 * SIDE, 1024, SIDE);
    media_expect("height", height, SIDE, 1024, SIDE);
    image.columns = width / SIDE;
    image.blocks = image.columns * (height / SIDE);
    media_expect_bytes(4 * VECTORS + VECTORS * DIMENSIONS + width * height, 4 * image.blocks);
    image.alphas = (const int32_t *)(input + MEDIA_HEADER / 4);
    image.vectors = (const uint32_t *)(image.alphas + VECTORS);
    image.in = image.vectors + VECTORS * DIMENSIONS / 4;
    image.words = width / 4;
    image.reciprocal = media_reciprocal(image.columns);
    return media_main(work);
}
