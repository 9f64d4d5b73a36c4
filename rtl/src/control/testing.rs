//! What the tests of round-robin arbiters share.

/// The choices that a round-robin arbiter makes in two rounds of four requests; `$index` is its
/// output with the number.
macro_rules! two_rounds {
    ($unit:expr, $index:ident) => {{
        $crate::testing::reset!($unit);
        $unit.request.next = 0x8000_4003.into();
        $unit.advance.next = true;
        let choice = |_| {
            $crate::testing::settle(&mut $unit);
            let index = $unit.$index.val().index();
            $crate::testing::tick!($unit);
            index
        };
        (0..8).map(choice).collect::<Vec<usize>>()
    }};
}

/// Which of the requests a round-robin arbiter chooses after number `last`.
pub(crate) fn in_turn(request: u32, last: usize) -> Option<usize> {
    (1..=32).map(|distance| (last + distance) % 32).find(|&i| request >> i & 1 == 1)
}

pub(crate) use two_rounds;
