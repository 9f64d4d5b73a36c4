//! Packet counts from the host and from ingress into one task FIFO.

use hermes_hdl::prelude::*;

/// Passes the counts of two sources on, alternating when both wait.
///
/// A count passes in the cycle in which it is taken. Once a count is offered it stays until it is
/// taken.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct TaskMerge {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// From the host: a count is offered.
    pub host_valid: Signal<In, Bit>,
    /// To the host: it is taken at this edge; follows `task_ready`.
    pub host_ready: Signal<Out, Bit>,
    /// From the host: the count.
    pub host_count: Signal<In, Bits<32>>,
    /// From ingress: a count is offered.
    pub ingress_valid: Signal<In, Bit>,
    /// To ingress: it is taken at this edge; follows `task_ready`.
    pub ingress_ready: Signal<Out, Bit>,
    /// From ingress: the count.
    pub ingress_count: Signal<In, Bits<32>>,
    /// To the task FIFO: a count is offered.
    pub task_valid: Signal<Out, Bit>,
    /// From the task FIFO: it is taken at this edge.
    pub task_ready: Signal<In, Bit>,
    /// To the task FIFO: the count.
    pub task_count: Signal<Out, Bits<32>>,
    /// The host is preferred.
    host_first: Register<Bit>,
}

impl Logic for TaskMerge {
    #[hdl_gen]
    fn update(&mut self) {
        let host = self.host_valid.val() && (self.host_first.q.val() || !self.ingress_valid.val());
        self.task_valid.next = self.host_valid.val() || self.ingress_valid.val();
        self.task_count.next = self.ingress_count.val();
        if host {
            self.task_count.next = self.host_count.val();
        }
        self.host_ready.next = self.task_ready.val() && host;
        self.ingress_ready.next = self.task_ready.val() && !host;
        // What is offered and not taken stays the choice; what was taken is second from now on.
        if self.host_valid.val() || self.ingress_valid.val() {
            self.host_first.d.next = host != self.task_ready.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{random, reset, settle, tick};
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
            if !uut.host_valid.val() {
                uut.host_valid.next = rng.gen_bool(0.6);
            }
            if !uut.ingress_valid.val() {
                uut.ingress_valid.next = rng.gen_bool(0.6);
            }
            uut.host_count.next = bits(counts[0]);
            uut.ingress_count.next = bits(counts[1]);
            uut.task_ready.next = rng.gen_bool(0.5);
            settle(&mut uut);
            let valid = [uut.host_valid.val(), uut.ingress_valid.val()];
            let ready = [uut.host_ready.val(), uut.ingress_ready.val()];
            assert_eq!(uut.task_valid.val(), valid[0] || valid[1]);
            let count = uut.task_count.val().to_u64();
            if let Some(count) = offered {
                assert_eq!(uut.task_count.val().to_u64(), count, "an offer changed");
            }
            offered = (uut.task_valid.val() && !uut.task_ready.val()).then_some(count);
            for i in 0..2 {
                let taken = valid[i] && ready[i];
                if taken {
                    assert!(uut.task_ready.val() && count == counts[i]);
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
                uut.host_valid.next = false;
            }
            if taken[1] {
                uut.ingress_valid.next = false;
            }
            settle(&mut uut);
        }
        assert!(counts[0] & 0xffff > 500 && counts[1] & 0xffff > 500);
    }
}
