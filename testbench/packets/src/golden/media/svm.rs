//! A support vector machine that classifies blocks of an image.

use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

/// Support vectors.
const VECTORS: usize = 100;
/// Side of a block.
const SIDE: usize = 16;

/// The kernel of the machine is linear: the decision for a block is the sum over the vectors of
/// alpha times the dot product of block and vector, in 256ths; its sign is the class. The input has
/// the alphas, a word each, the vectors, and the image; the output a word with the decision of each
/// block, row by row, with the class in its lowest bit.
pub fn svm(width: usize, height: usize, random: &mut ChaCha8Rng) -> (Vec<u8>, Vec<u8>) {
    let alphas: Vec<i32> = (0..VECTORS).map(|_| random.gen_range(-64..64)).collect();
    let vector = |random: &mut ChaCha8Rng| -> Vec<i32> {
        (0..SIDE * SIDE).map(|_| random.gen_range(-128..128)).collect()
    };
    let vectors: Vec<_> = (0..VECTORS).map(|_| vector(random)).collect();
    let pixels = super::picture(width, height, random);
    let mut input: Vec<u8> = alphas.iter().flat_map(|alpha| alpha.to_le_bytes()).collect();
    input.extend(vectors.iter().flatten().map(|value| *value as i8 as u8));
    input.extend(&pixels);
    let mut output = Vec::new();
    for top in (0..height).step_by(SIDE) {
        for left in (0..width).step_by(SIDE) {
            let pixel = |at: usize| i32::from(pixels[(top + at / SIDE) * width + left + at % SIDE]);
            let term = |(vector, alpha): (&Vec<i32>, &i32)| {
                let dot: i32 = vector.iter().enumerate().map(|(at, value)| value * pixel(at)).sum();
                alpha * (dot >> 8)
            };
            let decision: i32 = vectors.iter().zip(&alphas).map(term).sum();
            output.extend((decision << 1 | i32::from(decision > 0)).to_le_bytes());
        }
    }
    (input, output)
}
