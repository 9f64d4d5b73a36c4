//! Bicubic scaling.

use rand_chacha::ChaCha8Rng;

/// The taps of Catmull and Rom a quarter behind a pixel, in 128ths, from the pixel before it on.
const TAPS: [i32; 4] = [-9, 111, 29, -3];

/// A picture in planes, Y whole, U and V of half its width and height, to twice width and height.
/// Rows and columns beyond the border are those at the border. Along the row first, without
/// rounding; then along the column, with one rounding.
pub fn bicubic(width: usize, height: usize, random: &mut ChaCha8Rng) -> (Vec<u8>, Vec<u8>) {
    let (mut input, mut output) = (Vec::new(), Vec::new());
    for (width, height) in [(width, height), (width / 2, height / 2), (width / 2, height / 2)] {
        let plane = super::picture(width, height, random);
        output.extend(twice(&plane, width, height));
        input.extend(plane);
    }
    (input, output)
}

/// Pixels and taps of output place `at`: the output pixel 2i lies a quarter before the pixel i,
/// 2i + 1 a quarter behind it.
fn taps(at: usize, length: usize) -> [(usize, i32); 4] {
    let pixel = (at / 2) as i64;
    let of = |offset: i64, tap: i32| ((pixel + offset).clamp(0, length as i64 - 1) as usize, tap);
    match at % 2 {
        0 => [of(-2, TAPS[3]), of(-1, TAPS[2]), of(0, TAPS[1]), of(1, TAPS[0])],
        _ => [of(-1, TAPS[0]), of(0, TAPS[1]), of(1, TAPS[2]), of(2, TAPS[3])],
    }
}

fn twice(plane: &[u8], width: usize, height: usize) -> Vec<u8> {
    let along = |y: usize, x: usize| -> i32 {
        taps(x, width).iter().map(|(at, tap)| i32::from(plane[y * width + at]) * tap).sum()
    };
    let mut out = Vec::with_capacity(4 * width * height);
    for y in 0..2 * height {
        for x in 0..2 * width {
            let sum: i32 = taps(y, height).iter().map(|(at, tap)| along(*at, x) * tap).sum();
            out.push(((sum + (1 << 13)) >> 14).clamp(0, 255) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_of_one_value_stays_so() {
        assert_eq!(twice(&[77; 12], 4, 3), vec![77; 48]);
    }

    #[test]
    fn an_edge_overshoots() {
        // 0 0 200 200 along a row: 29/128 x 200 = 45, 111/128 x 200 less 9/128 x 0, ...
        let out = twice(&[0, 0, 200, 200], 4, 1);
        assert_eq!(out[..8], [0, 0, 0, 41, 159, 214, 205, 200]);
    }
}
