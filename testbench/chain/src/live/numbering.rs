//! The numbers that functions get when a chain changes.

use std::collections::VecDeque;

/// What a change may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Numbers of network functions.
    pub numbers: u32,
    /// Cores, where packets branch: what goes keeps one until all that was in flight has left, and
    /// every other function has one meanwhile.
    pub cores: Option<usize>,
}

impl Room {
    /// Whether the cores suffice for the step from one chain to another.
    fn has(&self, before: &[(usize, u32)], after: &[(usize, u32)]) -> bool {
        let old = before.iter().filter(|place| !after.contains(place)).count();
        self.cores.is_none_or(|cores| after.len() + old <= cores)
    }
}

/// The numbers of the functions of `after`, as `before` had them if it can be: with an edge to a
/// higher number each, and without a number that is in use for new ones. As few get a new number as
/// can be.
fn numbers(before: &[(usize, u32)], after: &[usize], count: u32) -> Result<Vec<(usize, u32)>, String> {
    let head = before.iter().zip(after).take_while(|(a, b)| a.0 == **b).count();
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a.0 == **b).count();
    let free: Vec<u32> = (0..count).filter(|number| before.iter().all(|(_, used)| used != number)).collect();
    let mut best: Option<Vec<(usize, u32)>> = None;
    let mut fewest = usize::MAX;
    for head in (0..=head).rev() {
        for tail in (0..=tail.min(after.len() - head)).rev() {
            let fresh = after.len() - head - tail;
            if fresh >= fewest || head + tail > before.len() {
                continue;
            }
            let from = head.checked_sub(1).map_or(0, |last| before[last].1 + 1);
            let to = if tail == 0 { count } else { before[before.len() - tail].1 };
            let between: Vec<_> =
                free.iter().copied().filter(|number| (from..to).contains(number)).take(fresh).collect();
            if between.len() < fresh {
                continue;
            }
            let middle = after[head..].iter().copied().zip(between);
            let kept = before[..head].iter().copied().chain(middle);
            best = Some(kept.chain(before[before.len() - tail..].iter().copied()).collect());
            fewest = fresh;
        }
    }
    best.ok_or_else(|| {
        format!(
            "no numbers of network functions are free for it: {} are in use, each goes on to a higher one, and the \
             array has {count}; expected more of them (--network-functions), or fewer functions",
            before.len()
        )
    })
}

/// The numbers of the functions one after the other, at last those of `after`, in as few steps as
/// can be: at first functions move to other numbers, one at a time, if those that are free lie at
/// the wrong places, or if too many functions would get other numbers at once for the cores that
/// are there. Where they do not suffice for any way, it is the shortest one.
pub(super) fn renumbered(
    before: &[(usize, u32)],
    after: &[usize],
    room: Room,
) -> Result<Vec<Vec<(usize, u32)>>, String> {
    let count = room.numbers;
    // All chains that moves lead to: at most as many as there are sets of numbers.
    let mut queue = VecDeque::from([(before.to_vec(), Vec::new())]);
    let mut seen = vec![before.to_vec()];
    let mut with_more_cores = None;
    while let Some((chain, way)) = queue.pop_front() {
        if let Ok(last) = numbers(&chain, after, count) {
            let has_room = room.has(&chain, &last);
            let way: Vec<_> = way.iter().cloned().chain([last]).collect();
            if has_room {
                return Ok(way);
            }
            with_more_cores.get_or_insert(way);
        }
        for at in 0..chain.len() {
            let from = at.checked_sub(1).map_or(0, |before| chain[before].1 + 1);
            let to = chain.get(at + 1).map_or(count, |(_, next)| *next);
            for number in (from..to).filter(|number| *number != chain[at].1) {
                let mut moved = chain.clone();
                moved[at].1 = number;
                if !seen.contains(&moved) && room.has(&chain, &moved) {
                    seen.push(moved.clone());
                    let way = way.iter().cloned().chain([moved.clone()]).collect();
                    queue.push_back((moved, way));
                }
            }
        }
    }
    match with_more_cores {
        Some(way) => Ok(way),
        None => numbers(before, after, count).map(|last| vec![last]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many numbers, and cores as they are needed.
    fn all(numbers: u32) -> Room {
        Room { numbers, cores: None }
    }

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
        let way = renumbered(&[(0, 0), (1, 2), (2, 3)], &[0, 1, 5], all(4)).unwrap();
        assert_eq!(way, [vec![(0, 0), (1, 1), (2, 3)], vec![(0, 0), (1, 1), (5, 2)]]);
        // From each chain to each other one, as long as there are numbers for what is new.
        for used in 0..1_u32 << 6 {
            let before: Vec<_> = (0..6).filter(|number| used >> number & 1 == 1).enumerate().collect();
            for place in 0..=before.len() {
                let mut functions: Vec<_> = before.iter().map(|(function, _)| *function).collect();
                functions.insert(place, 9);
                let way = renumbered(&before, &functions, all(6));
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

    /// Where packets branch a change near the front needs no more cores than one at the end: the
    /// functions behind it move first, one at a time.
    #[test]
    fn functions_behind_a_change_move_first_where_cores_are_few() {
        let before: Vec<_> = (0..4).zip(0..).collect();
        let cores = |functions: &[usize], cores| {
            let way = renumbered(&before, functions, Room { numbers: 8, cores: Some(cores) }).unwrap();
            let mut chain = before.clone();
            let mut most = 0;
            for next in &way {
                assert!(next.windows(2).all(|pair| pair[0].1 < pair[1].1), "{next:?}");
                let old = chain.iter().filter(|place| !next.contains(place)).count();
                most = most.max(next.len() + old);
                chain.clone_from(next);
            }
            assert!(chain.iter().map(|(function, _)| function).eq(functions), "{chain:?}");
            (way.len(), most)
        };
        for place in 0..4 {
            let mut functions = vec![0, 1, 2, 3];
            functions[place] = 9;
            // At once, if the cores suffice.
            assert_eq!(cores(&functions, 8), (1, 8 - place), "replace {place}");
            assert_eq!(cores(&functions, 5), (4 - place, 5), "replace {place}");
            let mut functions = vec![0, 1, 2, 3];
            functions.insert(place, 9);
            // Of eight numbers four are free, and five would change.
            let expected = if place == 0 { (2, 8) } else { (1, 9 - place) };
            assert_eq!(cores(&functions, 9), expected, "insert {place}");
            assert_eq!(cores(&functions, 5), (5 - place, 5), "insert {place}");
        }
        // One core each is not enough: the shortest way, of which the change says what it lacks.
        assert_eq!(cores(&[0, 9, 2, 3], 4), (1, 7));
    }
}
