//! Filters of images.

use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

/// The mean of each channel of a pixel and the eight around it, rounded down; pixels at the border
/// stay.
pub fn linear(pixels: &[u8], width: usize, height: usize) -> Vec<u8> {
    let mut out = pixels.to_vec();
    for y in 1..height - 1 {
        for x in 1..width - 1 {
            for channel in 0..3 {
                let mut sum = 0;
                for row in y - 1..=y + 1 {
                    for column in x - 1..=x + 1 {
                        sum += u32::from(pixels[3 * (row * width + column) + channel]);
                    }
                }
                out[3 * (y * width + x) + channel] = (sum / 9) as u8;
            }
        }
    }
    out
}

/// The matrix of the sepia tone, in 256ths.
const SEPIA: [[u32; 3]; 3] = [[101, 197, 48], [89, 176, 43], [70, 137, 34]];

/// Each pixel by the matrix, no more than 255.
pub fn sepia(pixels: &[u8]) -> Vec<u8> {
    let tone = |pixel: &[u8]| {
        let channels = [pixel[0], pixel[1], pixel[2]].map(u32::from);
        SEPIA.map(|row| (row.iter().zip(channels).map(|(a, b)| a * b).sum::<u32>() / 256).min(255) as u8)
    };
    pixels.chunks_exact(3).flat_map(tone).collect()
}

/// Side of a block, and of the pattern.
const BLOCK: usize = 8;
const PATTERN: usize = 64;
/// Levels of brightness that have a scale of their own.
const LEVELS: usize = 16;

/// Film grain as the H.264 standard's supplement has it, simplified: of a pattern of 64x64, a block
/// of 8x8 at an offset that its number gives, scaled by the mean of the block of the picture, with
/// its first and last column smoothed, is added to each block. Pattern and scales are of the seed;
/// they stand in front of the picture.
pub fn fgt(width: usize, height: usize, random: &mut ChaCha8Rng) -> (Vec<u8>, Vec<u8>) {
    let pixels = super::picture(width, height, random);
    // A sum of three gives something like a bell.
    let noise = |random: &mut ChaCha8Rng| (0..3).map(|_| random.gen_range(-42..=42)).sum::<i32>();
    let pattern: Vec<i32> = (0..PATTERN * PATTERN).map(|_| noise(random)).collect();
    let scales: Vec<i32> = (0..LEVELS).map(|_| random.gen_range(0..=40)).collect();
    let mut input: Vec<u8> = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
    input.extend(pattern.iter().map(|value| *value as i8 as u8));
    input.extend(&pixels);
    let mut out = pixels.clone();
    let columns = width / BLOCK;
    for number in 0..columns * (height / BLOCK) {
        let (top, left) = (number / columns * BLOCK, number % columns * BLOCK);
        let place = |y: usize, x: usize| (top + y) * width + left + x;
        let all = || (0..BLOCK).flat_map(|y| (0..BLOCK).map(move |x| (y, x)));
        let sum: u32 = all().map(|(y, x)| u32::from(pixels[place(y, x)])).sum();
        let scale = scales[(sum / 64) as usize * LEVELS / 256];
        let (down, right) = offset(number as u32);
        let grain = |y: usize, x: usize| (pattern[(down + y) * PATTERN + right + x] * scale) >> 6;
        for (y, x) in all() {
            let smooth = |inner: usize| (3 * grain(y, x) + grain(y, inner)) >> 2;
            let added = match x {
                0 => smooth(1),
                7 => smooth(6),
                _ => grain(y, x),
            };
            out[place(y, x)] = (i32::from(pixels[place(y, x)]) + added).clamp(0, 255) as u8;
        }
    }
    (input, out)
}

/// Rows and columns from the corner of the pattern, columns in words: numbers that follow each
/// other are scattered.
fn offset(block: u32) -> (usize, usize) {
    let mut mixed = block.wrapping_add(1).wrapping_mul(0x9e37_79b1);
    mixed ^= mixed >> 15;
    mixed = mixed.wrapping_mul(0x85eb_ca6b);
    mixed ^= mixed >> 13;
    let (a, b) = (mixed & 255, mixed >> 8 & 255);
    ((a * 57 / 256) as usize, 4 * (b * 15 / 256) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // One bright pixel in the middle of 3x3.
        let mut pixels = vec![10; 27];
        pixels[13] = 100;
        let out = linear(&pixels, 3, 3);
        assert_eq!((out[12], out[13], out[14]), (10, 20, 10));
        assert_eq!(out[..12], pixels[..12]);
        // (101 + 197 + 48) x 200 / 256 = 270; (70 + 137 + 34) x 200 / 256 = 188.
        assert_eq!(sepia(&[200, 200, 200, 0, 0, 255]), [255, 240, 188, 47, 42, 33]);
    }

    #[test]
    fn offsets_lie_in_the_pattern() {
        for block in 0..20_000 {
            let (down, right) = offset(block);
            assert!(down + BLOCK <= PATTERN && right + BLOCK <= PATTERN && right % 4 == 0);
        }
    }
}
