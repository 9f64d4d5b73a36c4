//! Between the pipeline of a core and the collector of faults.

use crate::ports::WarpFault;
use crate::types::WarpJob;
use hermes_hdl::prelude::*;

/// Holds one fault record of a core until the collector takes it, so that the pipeline does not
/// depend on the collector in the same cycle.
///
/// A record offered with `valid` is taken at an edge with `ready` high, which depends on a register
/// only; it stands at `fault` from the next cycle on.
#[clocked]
#[derive(LogicBlock)]
#[new(spawns: bool)]
pub struct FaultBuffer {
    /// From stage W.
    pub offered: Flipped<WarpFault>,

    /// To the fault collector.
    pub fault: WarpFault,
    /// Job of the warp: its slot in bits 3:0; bit 4: the warp is one of spawned threads (only with
    /// a thread spawner, as the next).
    #[there(spawns)]
    pub job: Part<Signal<In, WarpJob>>,
    /// To the fault collector: the same.
    #[there(spawns)]
    pub fault_job: Part<Signal<Out, WarpJob>>,
    full: Register<Bit>,
    cause_q: Register<Bits<5>>,
    slot_q: Register<Bits<5>>,
    threads_q: Register<Bits<6>>,
    pc_q: Register<Bits<32>>,
    value_q: Register<Bits<32>>,
    packet_q: Register<Bits<32>>,
    #[there(spawns)]
    job_q: Part<Register<WarpJob>>,
}

impl FaultBuffer {
    /// The buffer of a core that runs packets alone, or packets and spawned threads (`spawns`).
    pub fn new(spawns: bool) -> Self {
        Self::wired(spawns)
    }
}

impl Logic for FaultBuffer {
    #[hdl_gen]
    fn update(&mut self) {
        self.offered.ready.next = !self.full.q.val();
        if self.full.q.val() {
            self.full.d.next = !self.fault.ready.val();
        } else if self.offered.valid.val() {
            self.full.d.next = true;
            self.cause_q.d.next = self.offered.cause.val();
            self.slot_q.d.next = self.offered.slot.val();
            self.threads_q.d.next = self.offered.threads.val();
            self.pc_q.d.next = self.offered.pc.val();
            self.value_q.d.next = self.offered.value.val();
            self.packet_q.d.next = self.offered.packet.val();
        }
        self.fault.valid.next = self.full.q.val();
        self.fault.cause.next = self.cause_q.q.val();
        self.fault.slot.next = self.slot_q.q.val();
        self.fault.threads.next = self.threads_q.q.val();
        self.fault.pc.next = self.pc_q.q.val();
        self.fault.value.next = self.value_q.q.val();
        self.fault.packet.next = self.packet_q.q.val();
        if self.job.is_there() {
            if !self.full.q.val() & self.offered.valid.val() {
                self.job_q.d.next = self.job.val();
            }
            self.fault_job.next = self.job_q.q.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    #[test]
    fn every_record_passes_once_and_in_order() {
        let mut random = hermes_hdl::testing::random();
        let mut uut = FaultBuffer::new(false);
        reset!(uut);
        let (mut offered, mut inside) = (0u64, VecDeque::new());
        for _ in 0..2_000 {
            uut.offered.valid.next = random.gen_bool(0.5);
            uut.fault.ready.next = random.gen_bool(0.5);
            uut.offered.cause.next = bits(offered & 31);
            uut.offered.slot.next = bits(!offered & 31);
            uut.offered.threads.next = bits(offered & 63);
            uut.offered.pc.next = bits(offered);
            uut.offered.value.next = bits(offered + 1);
            uut.offered.packet.next = bits(offered + 2);
            settle(&mut uut);
            if uut.fault.valid.val() {
                let oldest: u64 = *inside.front().expect("a record that was not offered");
                assert_eq!(uut.fault.cause.val().to_u64(), oldest & 31);
                assert_eq!(uut.fault.slot.val().to_u64(), !oldest & 31);
                assert_eq!(uut.fault.threads.val().to_u64(), oldest & 63);
                assert_eq!(uut.fault.pc.val().to_u64(), oldest);
                assert_eq!(uut.fault.value.val().to_u64(), oldest + 1);
                assert_eq!(uut.fault.packet.val().to_u64(), oldest + 2);
            } else {
                assert!(inside.is_empty(), "a record is hidden");
            }
            let (taken, left) = (
                uut.offered.valid.val() && uut.offered.ready.val(),
                uut.fault.valid.val() && uut.fault.ready.val(),
            );
            tick!(uut);
            if left {
                inside.pop_front();
            }
            if taken {
                inside.push_back(offered);
                offered += 1;
            }
        }
        assert!(offered > 300);
    }
}
