//! The load counters.

use super::{Part, RegisterBlock, RegisterSpec};
use crate::config::Config;
use crate::ports::{RegisterAnswer, RegisterRequest};
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// What the load counters show.
#[derive(Ports)]
pub struct LoadCounts {
    /// Data lines that the core in CORE_SELECT found in its data cache.
    pub line_hits: Signal<Out, Bits<32>>,
    /// Warps formed because they were full.
    pub formed_full: Signal<Out, Bits<32>>,
    /// Warps formed by time-out.
    pub formed_timeout: Signal<Out, Bits<32>>,
    /// Warps formed for an idle slot.
    pub formed_eager: Signal<Out, Bits<32>>,
    /// Busy warp slots of all cores, summed over the cycles.
    pub slot_cycles: Signal<Out, Bits<64>>,
    /// Cycles with a full delay commit queue.
    pub commit_queue_full: Signal<Out, Bits<32>>,
    /// Most entries of the task FIFO.
    pub high_tasks: Signal<Out, Bits<11>>,
    /// Most warps in the delay commit queue.
    pub high_commit_queue: Signal<Out, Bits<11>>,
    /// Most slots of the ring.
    pub high_ring: Signal<Out, Bits<32>>,
}

/// The registers in front of the load counters.
#[register_block(LoadCounterDecoder, part = LoadCounters, values = LoadCounterValues)]
pub struct LoadCounterAccess {
    /// Data lines that the core in CORE_SELECT found in its L1 data cache, modulo 2^32. With
    /// CORE_LINE_READS, the lines that it did not find, they are the lines that its loads asked
    /// for.
    #[register("CORE_LINE_HITS", 0xa04)]
    pub line_hits: ReadOnly<32>,
    /// Warps of packets formed because there were packets for all of their threads, modulo 2^32.
    #[register("FORMED_FULL", 0xa08)]
    pub formed_full: ReadOnly<32>,
    /// Partial warps formed because their oldest packet waited for TIMEOUT, modulo 2^32.
    #[register("FORMED_TIMEOUT", 0xa0c)]
    pub formed_timeout: ReadOnly<32>,
    /// Partial warps formed before that for an idle slot (CONTROL.eager), modulo 2^32.
    #[register("FORMED_EAGER", 0xa10)]
    pub formed_eager: ReadOnly<32>,
    /// Busy warp slots of all cores, of packets and of spawned threads, summed over the cycles
    /// since reset, bits 31:0; reading it latches SLOT_CYCLES_HIGH. A slot is busy from the cycle
    /// after the start of its warp to that of its finish. Divided by the cycles it is the mean of
    /// busy slots.
    #[register("SLOT_CYCLES", 0xa14)]
    #[on_read(latch)]
    pub slot_cycles: ReadOnly<32>,
    /// The same sum, bits 63:32, as of the last read of SLOT_CYCLES.
    #[register("SLOT_CYCLES_HIGH", 0xa18)]
    pub slot_cycles_high: ReadOnly<32>,
    /// Cycles in which the delay commit queue was full, modulo 2^32: no warp of packets is issued
    /// then.
    #[register("COMMIT_QUEUE_FULL", 0xa1c)]
    pub commit_queue_full: ReadOnly<32>,
    /// Most entries that the task FIFO had since reset.
    #[register("HIGH_TASKS", 0xa20)]
    pub high_tasks: ReadOnly<11>,
    /// Most warps that the delay commit queue had since reset.
    #[register("HIGH_COMMIT_QUEUE", 0xa24)]
    pub high_commit_queue: ReadOnly<11>,
    /// Most slots of the packet ring that were occupied since reset: by packets that entered whole,
    /// or that the host pushed, and whose slot was not free again. 0 without packet ports.
    #[register("HIGH_RING", 0xa28)]
    pub high_ring: ReadOnly<32>,
}

/// The registers of the load counters: reading the low half of SLOT_CYCLES keeps its high half for
/// the read that follows.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct LoadCounterRegisters {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus.
    pub answer: RegisterAnswer,
    /// From the load counters.
    pub hardware: Flipped<LoadCounts>,
    decoder: LoadCounterDecoder,
    high_latched: Register<Bits<32>>,
}

impl RegisterBlock for LoadCounts {
    type Unit = LoadCounterRegisters;
    const PART: Part = LoadCounterAccess::PART;
    const REGISTERS: &'static [RegisterSpec] = LoadCounterAccess::REGISTERS;
    fn unit(_config: &Config) -> LoadCounterRegisters {
        LoadCounterRegisters::default()
    }
}

impl Logic for LoadCounterRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.decoder.request);
        connect!(self.answer, self.decoder.answer);
        self.decoder.hardware.line_hits.next = self.hardware.line_hits.val();
        self.decoder.hardware.formed_full.next = self.hardware.formed_full.val();
        self.decoder.hardware.formed_timeout.next = self.hardware.formed_timeout.val();
        self.decoder.hardware.formed_eager.next = self.hardware.formed_eager.val();
        self.decoder.hardware.slot_cycles.next = self.hardware.slot_cycles.val().get_bits::<32>(0);
        self.decoder.hardware.slot_cycles_high.next = self.high_latched.q.val();
        self.decoder.hardware.commit_queue_full.next = self.hardware.commit_queue_full.val();
        self.decoder.hardware.high_tasks.next = self.hardware.high_tasks.val();
        self.decoder.hardware.high_commit_queue.next = self.hardware.high_commit_queue.val();
        self.decoder.hardware.high_ring.next = self.hardware.high_ring.val();
        if self.decoder.hardware.latch.val() {
            self.high_latched.d.next = self.hardware.slot_cycles.val().get_bits::<32>(32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::offset;
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    fn read(unit: &mut LoadCounterRegisters, name: &str) -> u64 {
        unit.request.address.next = u64::from(offset(name)).into();
        unit.request.read.next = true;
        settle(unit);
        assert!(unit.answer.known.val(), "{name}");
        let value = unit.answer.value.val().to_u64();
        tick!(*unit);
        unit.request.read.next = false;
        settle(unit);
        value
    }

    #[test]
    fn every_register_shows_its_counter() {
        let mut random = random();
        let mut unit = LoadCounterRegisters::default();
        reset!(unit);
        for _ in 0..200 {
            let words: [u64; 6] = std::array::from_fn(|_| random.gen::<u32>().into());
            let marks: [u64; 2] = std::array::from_fn(|_| random.gen_range(0..=1024));
            let ports = &mut unit.hardware;
            ports.line_hits.next = words[0].into();
            ports.formed_full.next = words[1].into();
            ports.formed_timeout.next = words[2].into();
            ports.formed_eager.next = words[3].into();
            ports.commit_queue_full.next = words[4].into();
            ports.high_ring.next = words[5].into();
            ports.high_tasks.next = marks[0].into();
            ports.high_commit_queue.next = marks[1].into();
            for (name, value) in [
                ("CORE_LINE_HITS", words[0]),
                ("FORMED_FULL", words[1]),
                ("FORMED_TIMEOUT", words[2]),
                ("FORMED_EAGER", words[3]),
                ("COMMIT_QUEUE_FULL", words[4]),
                ("HIGH_RING", words[5]),
                ("HIGH_TASKS", marks[0]),
                ("HIGH_COMMIT_QUEUE", marks[1]),
            ] {
                assert_eq!(read(&mut unit, name), value, "{name}");
            }
        }
        for name in ["QOS", "CORE_SELECT", "NET_STAGE_15"] {
            unit.request.address.next = u64::from(offset(name)).into();
            settle(&mut unit);
            assert!(!unit.answer.known.val() && !unit.answer.value.val().any(), "{name}");
        }
    }

    /// The sum grows between the two reads, past a carry too.
    #[test]
    fn the_halves_of_slot_cycles_belong_together() {
        let mut random = random();
        let mut unit = LoadCounterRegisters::default();
        reset!(unit);
        assert_eq!(read(&mut unit, "SLOT_CYCLES_HIGH"), 0, "nothing is latched after reset");
        for _ in 0..1_000 {
            let sum = u64::from(random.gen::<u32>()) << 32 | (0xffff_ffff - random.gen_range(0..4));
            unit.hardware.slot_cycles.next = sum.into();
            let low = read(&mut unit, "SLOT_CYCLES");
            unit.hardware.slot_cycles.next = sum.wrapping_add(random.gen_range(0..1 << 34)).into();
            // Reads of other registers change nothing.
            read(&mut unit, "FORMED_FULL");
            let high = read(&mut unit, "SLOT_CYCLES_HIGH");
            assert_eq!(high << 32 | low, sum);
        }
    }
}
