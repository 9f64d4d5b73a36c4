//! The rows of a core that are cleared before it changes hands.

use crate::ports::RowClear;
use hermes_hdl::prelude::*;

/// Counts through all rows of a core's registers and scratchpad.
///
/// While `clear` is high `rows` names one row after the other, from row 0 in the cycle after
/// `clear` rose; `cleared` is high with the last one. Whoever drives `clear` takes it back in the
/// next cycle. A `clear` that ends before is forgotten, and the next one begins with row 0.
#[clocked("nothing is cleared")]
#[derive(Clone, LogicBlock)]
#[new(last: u64)]
pub struct CoreClear {
    /// No warp is on the core, and its rows are to be cleared.
    pub clear: Signal<In, Bit>,
    /// To the core.
    pub rows: RowClear,
    /// All rows are cleared with this cycle.
    pub cleared: Signal<Out, Bit>,
    active: Register<Bit>,
    row: Register<Bits<12>>,
    #[init(Constant::new(last.into()))]
    last: Constant<Bits<12>>,
}

impl CoreClear {
    /// For `rows` rows.
    ///
    /// # Panics
    /// If `rows` is not 1 to 4,096.
    pub fn new(rows: usize) -> Self {
        assert!((1..=4096).contains(&rows), "CoreClear: {rows} rows, expected 1 to 4096");
        Self::wired(rows as u64 - 1)
    }
}

impl Logic for CoreClear {
    #[hdl_gen]
    fn update(&mut self) {
        let is_last = self.active.q.val() & (self.row.q.val() == self.last.val());
        self.active.d.next = self.clear.val() & !is_last;
        self.row.d.next = bits::<12>(0);
        if self.active.q.val() {
            self.row.d.next = self.row.q.val() + 1;
        }
        self.rows.valid.next = self.active.q.val();
        self.rows.row.next = self.row.q.val();
        self.cleared.next = is_last & self.clear.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    #[test]
    fn every_row_before_it_says_so() {
        let mut random = random();
        let mut unit = CoreClear::new(9);
        reset!(unit);
        let (mut next, mut done, mut given_up) = (0, 0, 0);
        for cycle in 0..20_000 {
            // Taken back behind the last row, and now and then before.
            let clear = unit.clear.val() != random.gen_bool(if unit.clear.val() { 0.05 } else { 0.3 });
            unit.clear.next = clear;
            settle(&mut unit);
            if unit.rows.valid.val() {
                assert_eq!(unit.rows.row.val().index(), next, "cycle {cycle}");
                next += 1;
            }
            assert_eq!(unit.cleared.val(), clear && next == 9, "cycle {cycle}");
            let ends = unit.cleared.val();
            done += u32::from(ends);
            given_up += u32::from(!clear && next > 0 && next < 9);
            if !clear || ends {
                next = 0;
            }
            tick!(unit);
            if ends {
                unit.clear.next = false;
                settle(&mut unit);
                assert!(!unit.rows.valid.val(), "cycle {cycle}");
                tick!(unit);
            }
        }
        assert!(done > 300 && given_up > 300, "{done} {given_up}");
    }
}
