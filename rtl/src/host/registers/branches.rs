//! Edges of network functions by verdict.

use super::{Part, RegisterBlock, RegisterSpec};
use crate::config::Config;
use crate::ports::{RegisterAnswer, RegisterRequest};
use crate::types::FunctionIndex;
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// Where packets go by their verdicts. An edge has four bits: bit 3: the packets go on, to the
/// network function in bits 2:0.
#[derive(Ports)]
pub struct BranchEdges {
    /// NF_NEXT_PORTS registers, 32 bits a function: edges of ports 0 to 7, port 0 lowest; 0: that
    /// of NF_NEXT; else, with bit 3 clear, the end.
    pub ports: Signal<In, Bits<256>>,
    /// NF_NEXT_DROP registers, 8 bits a function: edges of drop (3:0) and fault (7:4).
    pub ends: Signal<In, Bits<64>>,
}

/// What these registers and the network functions exchange.
#[derive(Ports)]
pub struct BranchControl {
    /// To the control path.
    pub edges: BranchEdges,
    /// From the registers of the network functions: NF_SELECT.
    pub select: Signal<Out, FunctionIndex>,
}

/// The registers of [`BranchControl`].
#[register_block(BranchDecoder, part = FunctionBranches)]
pub struct BranchAccess {
    /// Destinations of the packets that the selected NF forwards to ports 0 to 7, 4 bits each, port
    /// 0 lowest. Bit 3 of the four: they go on, to the NF in bits 2:0; 0001: they leave the chain;
    /// 0000: as NF_NEXT says, which holds for all other ports too. A value with an NF that is not
    /// above the selected one, or that the array does not have, is kept as 0000, other ones without
    /// bit 3 by bit 0 alone.
    #[register("NF_NEXT_PORTS", 0x54c, access = ReadWrite)]
    #[state(ports_value[31:0])]
    pub ports_write: Strobe<32>,
    /// Destinations of the packets that the selected NF drops (bits 3:0), and of those whose
    /// threads end with a fault (bits 7:4), each as NF_NEXT.
    #[register("NF_NEXT_DROP", 0x550, access = ReadWrite)]
    #[state(drop[3:0], fault[7:4])]
    pub ends_write: Strobe<8>,
}

/// The unit of these registers, which keeps the edges. They lead to higher functions only, whatever
/// is written.
#[clocked("packets go on by NF_NEXT alone")]
#[derive(Clone, LogicBlock)]
#[new(config: &Config, functions: usize)]
pub struct BranchRegisters {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus.
    pub answer: RegisterAnswer,
    /// To and from the network functions.
    pub hardware: Flipped<BranchControl>,
    #[init(<BranchAccess as RegisterBlock>::unit(config))]
    decoder: BranchDecoder,
    #[count(functions)]
    ports: Vec<Register<Bits<32>>>,
    #[count(functions)]
    ends: Vec<Register<Bits<8>>>,
    #[init((0..functions as u64).map(|i| Constant::new(i.into())).collect())]
    index: Vec<Constant<FunctionIndex>>,
    #[init(Constant::new((functions as u64 - 1).into()))]
    last: Constant<FunctionIndex>,
    #[init(functions)]
    _functions: usize,
    #[init(8)]
    _edges: usize,
    #[init(2)]
    _ends: usize,
}

impl BranchRegisters {
    /// The registers of an array with this configuration.
    pub fn new(config: &Config) -> Self {
        // No array without network functions has them.
        Self::wired(config, config.network_functions.max(2))
    }
}

impl RegisterBlock for BranchControl {
    type Unit = BranchRegisters;
    const PART: Part = BranchAccess::PART;
    const REGISTERS: &'static [RegisterSpec] = BranchAccess::REGISTERS;
    fn unit(config: &Config) -> BranchRegisters {
        BranchRegisters::new(config)
    }
}

impl Logic for BranchRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.decoder.request);
        connect!(self.answer, self.decoder.answer);
        let select = self.hardware.select.val();

        // What is kept of the word that is written; a write without bit 3 of an edge keeps it.
        let mut kept = bits::<32>(0);
        let mut named = bits::<32>(0);
        for i in 0..self._edges {
            let written =
                self.request.data.val().get_bits::<4>(4 * i) & self.request.mask.val().get_bits::<4>(4 * i);
            let is_edge = written.get_bit(3)
                & (written.get_bits::<3>(0) > select)
                & (written.get_bits::<3>(0) <= self.last.val());
            let mut edge = bits::<4>(0);
            if is_edge {
                edge = written;
            }
            if !written.get_bit(3) {
                edge = written & bits::<4>(1);
            }
            kept = kept | (bit_cast::<32, 4>(edge) << (4 * i as u64));
            if self.request.mask.val().get_bit(4 * i + 3) {
                named = named | (bits::<32>(15) << (4 * i as u64));
            }
        }
        // These have no edge in whose place they would stand: bit 0 alone means nothing.
        let mut kept_ends = kept.get_bits::<8>(0);
        for i in 0..self._ends {
            if !kept.get_bit(4 * i + 3) {
                kept_ends = kept_ends.replace_bit(4 * i, false);
            }
        }

        let mut all_ports = bits::<256>(0);
        let mut all_ends = bits::<64>(0);
        let mut shown = bits::<32>(0);
        let mut shown_ends = bits::<8>(0);
        for i in 0..self._functions {
            if select == self.index[i].val() {
                if self.decoder.hardware.ports_write.val() {
                    self.ports[i].d.next = (self.ports[i].q.val() & !named) | (kept & named);
                }
                if self.decoder.hardware.ends_write.val() {
                    self.ends[i].d.next = (self.ends[i].q.val() & !named.get_bits::<8>(0))
                        | (kept_ends & named.get_bits::<8>(0));
                }
                shown = self.ports[i].q.val();
                shown_ends = self.ends[i].q.val();
            }
            all_ports = all_ports | (bit_cast::<256, 32>(self.ports[i].q.val()) << (32 * i as u64));
            all_ends = all_ends | (bit_cast::<64, 8>(self.ends[i].q.val()) << (8 * i as u64));
        }
        self.hardware.edges.ports.next = all_ports;
        self.hardware.edges.ends.next = all_ends;
        self.decoder.hardware.ports_value.next = shown;
        self.decoder.hardware.drop.next = shown_ends.get_bits::<4>(0);
        self.decoder.hardware.fault.next = shown_ends.get_bits::<4>(4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::registers::offset;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// Edges lead to higher functions that the array has, whatever is written, and what is read is
    /// what the hardware has.
    #[test]
    fn edges_make_no_loop() {
        let mut random = random();
        for functions in [2, 4, 8u64] {
            let plain = Config::preset("default").unwrap();
            let config = Config { network_functions: functions as usize, function_branches: true, ..plain };
            let mut unit = BranchRegisters::new(&config);
            reset!(unit);
            let mut kept = [[0u64; 10]; 8];
            let mut led = 0;
            for cycle in 0..4_000 {
                let select = random.gen_range(0..8u64);
                let (is_ports, write) = (random.gen(), random.gen());
                let name = if is_ports { "NF_NEXT_PORTS" } else { "NF_NEXT_DROP" };
                let (data, mask): (u32, u32) = (random.gen(), random.gen());
                let mask = if random.gen() { mask } else { u32::MAX };
                unit.hardware.select.next = select.into();
                unit.request.address.next = u64::from(offset(name)).into();
                unit.request.write.next = write;
                unit.request.data.next = u64::from(data).into();
                unit.request.mask.next = u64::from(mask).into();
                settle(&mut unit);
                let places = if is_ports { 0..8 } else { 8..10 };
                let row = &kept[select as usize];
                let word = places.clone().map(|p| row[p] << (4 * (p - places.start))).sum::<u64>();
                assert!(unit.answer.known.val(), "cycle {cycle}");
                assert_eq!(unit.answer.value.val().to_u64(), word, "cycle {cycle}: {name} of {select}");
                for (at, row) in kept.iter().enumerate() {
                    for (code, edge) in row.iter().enumerate() {
                        let shown = match code {
                            0..8 => unit.hardware.edges.ports.val().get_bits::<4>(32 * at + 4 * code),
                            _ => unit.hardware.edges.ends.val().get_bits::<4>(8 * at + 4 * code - 32),
                        };
                        assert_eq!(shown.to_u64(), *edge, "cycle {cycle}: {at}, code {code}");
                    }
                }
                if write && select < functions {
                    for code in places.clone() {
                        let at = 4 * (code - places.start);
                        let new = u64::from(data & mask) >> at & 15;
                        if mask >> (at + 3) & 1 == 1 {
                            let leads = new > 7 && new & 7 > select && new & 7 < functions;
                            let is_end = new < 8 && code < 8;
                            let edge = if leads { new } else { new & u64::from(is_end) };
                            kept[select as usize][code] = edge;
                            led += usize::from(leads);
                        }
                    }
                }
                tick!(unit);
            }
            assert!(led > 50, "{functions}: {led}");
        }
    }
}
