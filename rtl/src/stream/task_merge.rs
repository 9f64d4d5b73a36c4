//! Packet counts from the host and from ingress into one task FIFO.

use crate::host::TaskCount;
use hermes_hdl::prelude::*;

/// Passes the counts of two sources on, alternating when both wait.
///
/// A count passes in the cycle in which it is taken. Once a count is offered it stays until it is
/// taken.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct TaskMerge {
    /// From the host; `ready` follows `task.ready`.
    pub host: TaskCount,
    /// From ingress; `ready` follows `task.ready`.
    pub ingress: TaskCount,
    /// To the task FIFO.
    pub task: Flipped<TaskCount>,
    /// The host is preferred.
    host_first: Register<Bit>,
}

impl Logic for TaskMerge {
    #[hdl_gen]
    fn update(&mut self) {
        let from_host = self.host.valid.val() && (self.host_first.q.val() || !self.ingress.valid.val());
        self.task.valid.next = self.host.valid.val() || self.ingress.valid.val();
        self.task.count.next = self.ingress.count.val();
        if from_host {
            self.task.count.next = self.host.count.val();
        }
        self.host.ready.next = self.task.ready.val() && from_host;
        self.ingress.ready.next = self.task.ready.val() && !from_host;
        // What is offered and not taken stays the choice; what was taken is second from now on.
        if self.host.valid.val() || self.ingress.valid.val() {
            self.host_first.d.next = from_host != self.task.ready.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    #[test]
    fn both_get_their_turn_and_an_offer_stays() {
        let mut rng = random("task_merge");
        let mut uut = TaskMerge::default();
        reset!(uut);
        let mut counts = [1u64 << 16, 2 << 16];
        let mut waits = [0; 2];
        let mut offered = None;
        for _ in 0..4_000 {
            if !uut.host.valid.val() {
                uut.host.valid.next = rng.gen_bool(0.6);
            }
            if !uut.ingress.valid.val() {
                uut.ingress.valid.next = rng.gen_bool(0.6);
            }
            uut.host.count.next = bits(counts[0]);
            uut.ingress.count.next = bits(counts[1]);
            uut.task.ready.next = rng.gen_bool(0.5);
            settle(&mut uut);
            let valid = [uut.host.valid.val(), uut.ingress.valid.val()];
            let ready = [uut.host.ready.val(), uut.ingress.ready.val()];
            assert_eq!(uut.task.valid.val(), valid[0] || valid[1]);
            let count = uut.task.count.val().to_u64();
            if let Some(count) = offered {
                assert_eq!(uut.task.count.val().to_u64(), count, "an offer changed");
            }
            offered = (uut.task.valid.val() && !uut.task.ready.val()).then_some(count);
            for i in 0..2 {
                let taken = valid[i] && ready[i];
                if taken {
                    assert!(uut.task.ready.val() && count == counts[i]);
                    counts[i] += 1;
                }
                let other = valid[1 - i] && ready[1 - i];
                waits[i] = if taken || !valid[i] { 0 } else { waits[i] + u64::from(other) };
                assert!(waits[i] <= 1, "source {i} waits for two counts of the other");
            }
            let taken = [valid[0] && ready[0], valid[1] && ready[1]];
            assert!(!(taken[0] && taken[1]));
            tick!(uut);
            if taken[0] {
                uut.host.valid.next = false;
            }
            if taken[1] {
                uut.ingress.valid.next = false;
            }
            settle(&mut uut);
        }
        assert!(counts[0] & 0xffff > 500 && counts[1] & 0xffff > 500);
    }
}
