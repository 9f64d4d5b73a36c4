//! The primitives that hold a word for each lane, against their Verilog.

use crate::prelude::*;
use crate::testing::check_with;

const LANES: usize = 3;

/// A RAM and registers of three lanes, side by side.
#[derive(LogicBlock)]
struct LaneWords {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Writes the RAM.
    pub write_enable: Signal<In, Bit>,
    /// Row of the write.
    pub write_address: Signal<In, Bits<2>>,
    /// Word of each lane to write.
    pub write_data: Vec<Signal<In, Bits<32>>>,
    /// Row of the read.
    pub read_address: Signal<In, Bits<2>>,
    /// Word of each lane in that row.
    pub read_data: Vec<Signal<Out, Bits<32>>>,
    /// The registers take `d`.
    pub enable: Signal<In, Bit>,
    /// Next word of each lane.
    pub d: Vec<Signal<In, Bits<17>>>,
    /// Present word of each lane.
    pub q: Vec<Signal<Out, Bits<17>>>,
    ram: LaneRam<32, 2>,
    registers: LaneRegisters<17>,
}

impl Default for LaneWords {
    fn default() -> Self {
        Self {
            clock: Signal::default(),
            write_enable: Signal::default(),
            write_address: Signal::default(),
            write_data: vec![Signal::default(); LANES],
            read_address: Signal::default(),
            read_data: vec![Signal::default(); LANES],
            enable: Signal::default(),
            d: vec![Signal::default(); LANES],
            q: vec![Signal::default(); LANES],
            ram: LaneRam::new(LANES),
            registers: LaneRegisters::new(LANES),
        }
    }
}

impl Logic for LaneWords {
    #[hdl_gen]
    fn update(&mut self) {
        self.ram.write_enable.next = self.write_enable.val();
        self.ram.write_address.next = self.write_address.val();
        self.ram.read_address.next = self.read_address.val();
        self.registers.write_enable.next = self.enable.val();
        for i in 0..LANES {
            self.ram.write_data[i].next = self.write_data[i].val();
            self.read_data[i].next = self.ram.read_data[i].val();
            self.registers.d[i].next = self.d[i].val();
            self.q[i].next = self.registers.q[i].val();
        }
    }
}

#[test]
fn words_of_lanes() {
    check_with(LaneWords::default(), 4_000, |unit, random, cycle| {
        // They hold anything until they are written.
        if cycle < 4 {
            unit.write_enable.next = true;
            unit.write_address.next = cycle.into();
            unit.enable.next = true;
        }
        unit.read_address.next = (random() % cycle.clamp(1, 4)).into();
    });
}
