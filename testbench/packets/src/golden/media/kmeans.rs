//! k-means clustering.

use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

/// Clusters, dimensions of a point, and rounds.
const CLUSTERS: usize = 8;
const DIMENSIONS: usize = 8;
const ROUNDS: usize = 2;
/// Values of a coordinate.
const RANGE: i32 = 4096;

type Point = [i32; DIMENSIONS];

/// Points that are spread evenly, and centres to begin with. The input has the centres, then the
/// points: of all points coordinates 0 and 1 in a word, then coordinates 2 and 3, so that threads
/// side by side read words side by side. The output has a byte with the cluster for each point, and
/// the centres, a word for each coordinate.
pub fn kmeans(points: usize, random: &mut ChaCha8Rng) -> (Vec<u8>, Vec<u8>) {
    let mut point = || -> Point { std::array::from_fn(|_| random.gen_range(0..RANGE)) };
    let mut centres: Vec<Point> = (0..CLUSTERS).map(|_| point()).collect();
    let points: Vec<Point> = (0..points).map(|_| point()).collect();
    let words = |points: &[Point]| -> Vec<u8> {
        points.iter().flatten().flat_map(|value| value.to_le_bytes()).collect()
    };
    let mut input = words(&centres);
    for pair in 0..DIMENSIONS / 2 {
        let of = |point: &Point| (point[2 * pair] as u32 | (point[2 * pair + 1] as u32) << 16).to_le_bytes();
        input.extend(points.iter().flat_map(of));
    }
    let mut labels = Vec::new();
    for _ in 0..ROUNDS {
        labels = points.iter().map(|point| nearest(point, &centres)).collect();
        for (cluster, centre) in centres.iter_mut().enumerate() {
            let own = || points.iter().zip(&labels).filter(|(_, label)| **label == cluster).map(|(p, _)| p);
            let count = own().count() as i32;
            // A cluster without points keeps its centre.
            if count > 0 {
                *centre = std::array::from_fn(|at| own().map(|point| point[at]).sum::<i32>() / count);
            }
        }
    }
    let mut output: Vec<u8> = labels.iter().map(|label| *label as u8).collect();
    output.extend(words(&centres));
    (input, output)
}

/// The cluster whose centre is nearest; of several the first.
fn nearest(point: &Point, centres: &[Point]) -> usize {
    let distance = |centre: &Point| -> i32 { centre.iter().zip(point).map(|(a, b)| (a - b).pow(2)).sum() };
    let best = (0..centres.len()).min_by_key(|cluster| distance(&centres[*cluster]));
    best.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_centres_is_nearest() {
        let centres = [[5; 8], [1; 8], [1; 8]];
        assert_eq!((nearest(&[0; 8], &centres), nearest(&[4; 8], &centres)), (1, 0));
    }
}
