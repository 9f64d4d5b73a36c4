//! Sizes, and the plain models.

use super::{Jacobi, Ring};

const SMALL: Jacobi = Jacobi { warps: 2, rows: 3, columns: 2, iterations: 3, limit: 0, seed: 5 };

/// Two iterations of three rows of two words by hand: the words at the start come from the seed.
#[test]
fn words_of_a_small_field() {
    let start = |row: u32, column: u32| SMALL.start(row, column);
    let once = |row: u32, column: u32| {
        let inner = (1..4).contains(&row) && (1..3).contains(&column);
        match inner {
            true => {
                (start(row - 1, column)
                    + start(row + 1, column)
                    + start(row, column - 1)
                    + start(row, column + 1))
                    / 4
            }
            false => start(row, column),
        }
    };
    let golden = Jacobi { iterations: 2, ..SMALL }.golden(1);
    let twice = |row: u32, column: u32| {
        (once(row - 1, column) + once(row + 1, column) + once(row, column - 1) + once(row, column + 1)) / 4
    };
    let places = || (1..4).flat_map(|row| [(row, 1), (row, 2)]);
    assert_eq!(golden.field, places().map(|(row, column)| twice(row, column)).collect::<Vec<_>>());
    let change = |one: u32, other: u32| one.abs_diff(other) / 256;
    let residuals = [
        places().map(|(row, column)| change(once(row, column), start(row, column))).sum::<u32>(),
        places().map(|(row, column)| change(twice(row, column), once(row, column))).sum::<u32>(),
    ];
    assert_eq!(golden.residuals, residuals);
}

/// The rows of several nodes are those of one that has them all.
#[test]
fn nodes_share_the_rows() {
    let all = Jacobi { rows: 12, ..SMALL }.golden(1);
    assert_eq!(all, SMALL.golden(4));
    // It ends by the residual.
    let limit = all.residuals[1] + 1;
    let ended = Jacobi { limit, ..SMALL }.golden(4);
    assert_eq!(ended.residuals, all.residuals[..2]);
}

#[test]
fn values_are_checked() {
    let own = SMALL.own(8);
    assert_eq!(Jacobi::from_own(&own, 8), Ok(SMALL));
    let error = |place: usize, value: u32| {
        let mut own = own.clone();
        own[place] = value;
        Jacobi::from_own(&own, 8).unwrap_err().to_string()
    };
    assert_eq!(error(0, 4), "threads of a warp 4: expected 8");
    assert_eq!(error(1, 0), "warps 0: expected 1 to 3, a row each");
    assert_eq!(error(1, 4), "warps 4: expected 1 to 3, a row each");
    assert_eq!(error(2, 2), "rows of a node 2: expected 3 to 16384");
    assert_eq!(error(3, 0), "columns 0: expected 1 to 16384");
    assert_eq!(error(4, 0), "iterations 0: expected 1 to 1048576");
    assert_eq!(
        Jacobi::from_own(&own[1..], 8).unwrap_err().to_string(),
        "own words 6: expected 7: threads of a warp, warps, rows, columns, iterations, limit, seed"
    );
    assert_eq!(SMALL.heap_bytes(), 448 + 64 + 2 * 5 * 32 * 4);
    SMALL.check(2, SMALL.heap_bytes()).unwrap();
    let heap = SMALL.check(2, SMALL.heap_bytes() - 1).unwrap_err().to_string();
    assert_eq!(heap, "bytes of the heap 1791: expected at least 1792");
    assert_eq!(
        SMALL.check(1, 1 << 20).unwrap_err().to_string(),
        "warps 2: expected 1 to 1, those that can be on the cores at once"
    );
}

/// A heap with the right sums is right, and one with a wrong bit is not.
#[test]
fn sums_of_rings() {
    let ring = Ring { rings: 2, words: 5, piece: 3, rounds: 1, seed: 9 };
    assert_eq!(ring.heap_bytes(3), 192 + 64);
    let starts: Vec<_> = (0..3).map(|node| ring.start(node)).collect();
    let word = |heap: &[u8], at: usize| u32::from_le_bytes(heap[at..at + 4].try_into().unwrap());
    let mut heap = starts[0].clone();
    for at in (128..heap.len()).step_by(4) {
        let sum = starts.iter().fold(0u32, |sum, heap| sum.wrapping_add(word(heap, at)));
        heap[at..at + 4].copy_from_slice(&sum.to_le_bytes());
    }
    for (at, value) in [(16, 30u32), (20, 50), (80, 20), (84, 70)] {
        heap[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    assert_eq!(ring.compare(3, 0, &heap), Ok((20, 70)));
    // A second round makes three of each.
    let mut thrice = heap.clone();
    for at in (128..heap.len()).step_by(4) {
        thrice[at..at + 4].copy_from_slice(&word(&heap, at).wrapping_mul(3).to_le_bytes());
    }
    assert_eq!(Ring { rounds: 2, ..ring }.compare(3, 0, &thrice), Ok((20, 70)));
    heap[128 + 4 * 7] ^= 4;
    let error = ring.compare(3, 2, &heap).unwrap_err();
    assert!(error.starts_with("node 2: word 2 of ring 1 is 0x"), "{error}");
    let wrong = |ring: Ring, heap: u64| ring.check(3, 4, heap).unwrap_err().to_string();
    assert_eq!(
        wrong(Ring { rings: 5, ..ring }, 1 << 20),
        "rings 5: expected 1 to 4, a warp each, that can be on the cores at once"
    );
    assert_eq!(
        wrong(Ring { words: 2, ..ring }, 1 << 20),
        "words of a ring 2: expected 3 or more, a word for each node"
    );
    assert_eq!(wrong(Ring { piece: 0, ..ring }, 1 << 20), "words of a piece 0: expected 1 or more");
    assert_eq!(wrong(Ring { rounds: 0, ..ring }, 1 << 20), "rounds 0: expected 1 or more");
    assert_eq!(wrong(ring, 255), "bytes of the heap 255: expected at least 256");
}
