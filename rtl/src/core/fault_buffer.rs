//! Between the pipeline of a core and the collector of faults.

use hermes_hdl::prelude::*;

/// Holds one fault record of a core until the collector takes it, so that the pipeline does not
/// depend on the collector in the same cycle.
///
/// A record offered with `valid` is taken at an edge with `ready` high, which depends on a register
/// only; it stands on the `fault_` ports from the next cycle on.
#[derive(LogicBlock)]
#[new(spawns: usize)]
pub struct FaultBuffer {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// From stage W: a record is offered.
    pub valid: Signal<In, Bit>,
    /// To stage W: it is taken at this edge.
    pub ready: Signal<Out, Bit>,
    /// Its cause.
    pub cause: Signal<In, Bits<5>>,
    /// Its warp slot.
    pub slot: Signal<In, Bits<5>>,
    /// Its threads, 1 to 32.
    pub threads: Signal<In, Bits<6>>,
    /// Address of its instruction.
    pub pc: Signal<In, Bits<32>>,
    /// Its value (mtval).
    pub value: Signal<In, Bits<32>>,
    /// packetIdx of its lowest lane.
    pub packet: Signal<In, Bits<32>>,

    /// To the fault collector: a record is offered.
    pub fault_valid: Signal<Out, Bit>,
    /// From the fault collector: it is taken at this edge.
    pub fault_ready: Signal<In, Bit>,
    /// Its cause.
    pub fault_cause: Signal<Out, Bits<5>>,
    /// Its warp slot.
    pub fault_slot: Signal<Out, Bits<5>>,
    /// Its threads.
    pub fault_threads: Signal<Out, Bits<6>>,
    /// Address of its instruction.
    pub fault_pc: Signal<Out, Bits<32>>,
    /// Its value (mtval).
    pub fault_value: Signal<Out, Bits<32>>,
    /// packetIdx of its lowest lane.
    pub fault_packet: Signal<Out, Bits<32>>,
    /// Job of the warp: its slot in bits 3:0; bit 4: the warp is one of spawned threads (one element with a
    /// thread spawner, as the next).
    #[count(spawns)]
    pub job: Vec<Signal<In, Bits<5>>>,
    /// To the fault collector: the same.
    #[count(spawns)]
    pub fault_job: Vec<Signal<Out, Bits<5>>>,
    full: Register<Bit>,
    cause_q: Register<Bits<5>>,
    slot_q: Register<Bits<5>>,
    threads_q: Register<Bits<6>>,
    pc_q: Register<Bits<32>>,
    value_q: Register<Bits<32>>,
    packet_q: Register<Bits<32>>,
    #[count(spawns)]
    job_q: Vec<Register<Bits<5>>>,
    #[init(spawns)]
    _spawns: usize,
}

impl FaultBuffer {
    /// The buffer of a core that runs packets alone (`spawns` 0), or packets and spawned threads (1).
    pub fn new(spawns: usize) -> Self {
        Self::wired(spawns)
    }
}

impl Logic for FaultBuffer {
    #[hdl_gen]
    fn update(&mut self) {
        self.ready.next = !self.full.q.val();
        if self.full.q.val() {
            self.full.d.next = !self.fault_ready.val();
        } else if self.valid.val() {
            self.full.d.next = true;
            self.cause_q.d.next = self.cause.val();
            self.slot_q.d.next = self.slot.val();
            self.threads_q.d.next = self.threads.val();
            self.pc_q.d.next = self.pc.val();
            self.value_q.d.next = self.value.val();
            self.packet_q.d.next = self.packet.val();
        }
        self.fault_valid.next = self.full.q.val();
        self.fault_cause.next = self.cause_q.q.val();
        self.fault_slot.next = self.slot_q.q.val();
        self.fault_threads.next = self.threads_q.q.val();
        self.fault_pc.next = self.pc_q.q.val();
        self.fault_value.next = self.value_q.q.val();
        self.fault_packet.next = self.packet_q.q.val();
        for k in 0..self._spawns {
            if !self.full.q.val() & self.valid.val() {
                self.job_q[k].d.next = self.job[k].val();
            }
            self.fault_job[k].next = self.job_q[k].q.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    #[test]
    fn every_record_passes_once_and_in_order() {
        let mut random = hermes_hdl::testing::random();
        let mut uut = FaultBuffer::new(0);
        reset!(uut);
        let (mut offered, mut inside) = (0u64, VecDeque::new());
        for _ in 0..2_000 {
            uut.valid.next = random.gen_bool(0.5);
            uut.fault_ready.next = random.gen_bool(0.5);
            uut.cause.next = bits(offered & 31);
            uut.slot.next = bits(!offered & 31);
            uut.threads.next = bits(offered & 63);
            uut.pc.next = bits(offered);
            uut.value.next = bits(offered + 1);
            uut.packet.next = bits(offered + 2);
            settle(&mut uut);
            if uut.fault_valid.val() {
                let oldest: u64 = *inside.front().expect("a record that was not offered");
                assert_eq!(uut.fault_cause.val().to_u64(), oldest & 31);
                assert_eq!(uut.fault_slot.val().to_u64(), !oldest & 31);
                assert_eq!(uut.fault_threads.val().to_u64(), oldest & 63);
                assert_eq!(uut.fault_pc.val().to_u64(), oldest);
                assert_eq!(uut.fault_value.val().to_u64(), oldest + 1);
                assert_eq!(uut.fault_packet.val().to_u64(), oldest + 2);
            } else {
                assert!(inside.is_empty(), "a record is hidden");
            }
            let (taken, left) =
                (uut.valid.val() && uut.ready.val(), uut.fault_valid.val() && uut.fault_ready.val());
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
