//! Numbers that functions get, and what was in force when.

use super::paths::History;
use super::steps::{numbers, renumbered};

/// A chain as it is, functions with their numbers, and what it becomes on so many numbers.
fn after(before: &[(usize, u32)], functions: &[usize], count: u32) -> Option<Vec<(usize, u32)>> {
    numbers(before, functions, count).ok()
}

#[test]
fn functions_keep_their_numbers_if_they_can() {
    let before = [(0, 0), (1, 1)];
    assert_eq!(after(&before, &[0, 5, 1], 4), Some(vec![(0, 0), (5, 2), (1, 3)]));
    assert_eq!(after(&before, &[5, 0, 1], 8), Some(vec![(5, 2), (0, 3), (1, 4)]));
    assert_eq!(after(&before, &[0, 1, 5], 4), Some(vec![(0, 0), (1, 1), (5, 2)]));
    assert_eq!(after(&before, &[1], 2), Some(vec![(1, 1)]));
    assert_eq!(after(&before, &[0], 2), Some(vec![(0, 0)]));
    assert_eq!(after(&before, &[7, 8, 9], 8), Some(vec![(7, 2), (8, 3), (9, 4)]));
    assert_eq!(after(&[(0, 0), (1, 2)], &[0, 5, 1], 4), Some(vec![(0, 0), (5, 1), (1, 2)]));
    assert_eq!(after(&[(0, 0), (1, 2), (2, 3)], &[0, 5, 2], 4), Some(vec![(0, 0), (5, 1), (2, 3)]));
    // None is free behind.
    assert_eq!(after(&[(0, 0), (1, 2), (2, 3)], &[0, 1, 5], 4), None);
}

#[test]
fn functions_move_where_free_numbers_lie_wrong() {
    let way = renumbered(&[(0, 0), (1, 2), (2, 3)], &[0, 1, 5], 4).unwrap();
    assert_eq!(way, [vec![(0, 0), (1, 1), (2, 3)], vec![(0, 0), (1, 1), (5, 2)]]);
    // From each chain to each other one, as long as there are numbers for what is new.
    for used in 0..1_u32 << 6 {
        let before: Vec<_> = (0..6).filter(|number| used >> number & 1 == 1).enumerate().collect();
        for place in 0..=before.len() {
            let mut functions: Vec<_> = before.iter().map(|(function, _)| *function).collect();
            functions.insert(place, 9);
            let way = renumbered(&before, &functions, 6);
            assert_eq!(way.is_ok(), before.len() < 6, "{before:?}, {place}");
            let Ok(way) = way else { continue };
            let mut chain = before.clone();
            for next in way {
                assert!(next.windows(2).all(|pair| pair[0].1 < pair[1].1), "{next:?}");
                // What is new has a number that none had.
                let is_free = |number| chain.iter().all(|(_, used)| *used != number);
                assert!(
                    next.iter().all(|place| chain.contains(place) || is_free(place.1)),
                    "{chain:?} {next:?}"
                );
                chain = next;
            }
            assert!(chain.iter().map(|(function, _)| *function).eq(functions), "{before:?}, {place}");
        }
    }
}

#[test]
fn what_is_in_force() {
    let mut history = History::new(1);
    history.begin(100, 2);
    assert_eq!(history.between(50, 99), [1]);
    assert_eq!(history.between(50, 100), [1, 2]);
    assert_eq!(history.between(5_000, 6_000), [1, 2], "it was not answered");
    history.end(110);
    assert_eq!(history.between(115, 120), [1, 2]);
    assert_eq!(history.between(119, 400), [2]);
    history.begin(300, 3);
    history.end(310);
    assert_eq!(history.between(200, 400), [2, 3]);
    assert_eq!(history.between(90, 400), [1, 2, 3]);
    assert_eq!(history.between(400, 401), [3]);
}
