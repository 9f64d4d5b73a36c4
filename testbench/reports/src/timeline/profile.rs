//! The cost of every instruction of a run.

use std::collections::BTreeMap;

use super::cost::Cost;
use super::warp::{Step, Wait};
use crate::iss::{Retired, BOOT_ADDRESS};

/// What each instruction cost, over all warps of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// By address, with the word that was there; 0 where no word is known.
    instructions: BTreeMap<u32, (u32, Cost)>,
    warps: u64,
}

impl Profile {
    /// An instruction of a warp retired; `step` is what came before it.
    pub fn retire(&mut self, got: &Retired, step: Step) {
        let (word, cost) = self.instructions.entry(got.pc).or_default();
        *word = got.instruction;
        cost.execute += 1;
        if got.pc < BOOT_ADDRESS {
            cost.instructions += 1;
            cost.lane_instructions += u64::from(got.active.count_ones());
        }
        if let Some(wait) = step.wait {
            cost.waits[wait as usize] += step.waited;
        }
    }

    /// A warp finished, so many cycles after its last instruction, which was at `pc`.
    pub fn finish(&mut self, pc: u32, waited: u64) {
        self.warps += 1;
        if waited > 0 {
            self.instructions.entry(pc).or_default().1.waits[Wait::Finish as usize] += waited;
        }
    }

    /// Address, word and cost of the instructions, ascending.
    pub fn instructions(&self) -> impl Iterator<Item = (u32, u32, &Cost)> {
        self.instructions.iter().map(|(pc, (word, cost))| (*pc, *word, cost))
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// Warps that were on the cores.
    #[must_use]
    pub fn warps(&self) -> u64 {
        self.warps
    }

    /// What all of them cost.
    #[must_use]
    pub fn total(&self) -> Cost {
        let mut total = Cost::default();
        self.instructions.values().for_each(|(_, cost)| total.add(cost));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalls_are_charged_to_the_instruction_that_waited() {
        let mut profile = Profile::default();
        assert!(profile.is_empty());
        let got = |pc| Retired { pc, instruction: 0x13, active: 7, ..Retired::default() };
        let step = |waited, wait| Step { waited, wait: Some(wait) };
        profile.retire(&got(BOOT_ADDRESS), step(10, Wait::Start));
        profile.retire(&got(0x100), Step { waited: 0, wait: None });
        profile.retire(&got(0x104), step(40, Wait::Load));
        profile.finish(0x104, 6);
        profile.finish(0x104, 0);
        assert!(!profile.is_empty());
        let costs: Vec<_> = profile.instructions().map(|(pc, _, cost)| (pc, cost.cycles())).collect();
        assert_eq!(costs, [(0x100, 1), (0x104, 47), (BOOT_ADDRESS, 11)]);
        let total = profile.total();
        assert_eq!((total.instructions, total.lane_instructions, total.execute), (2, 6, 3));
        assert_eq!((total.cycles(), profile.warps()), (59, 2));
    }
}
