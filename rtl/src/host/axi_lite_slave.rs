//! The AXI4-Lite protocol in front of a set of registers.

use crate::prelude::*;

/// AXI4-Lite slave (AMBA AXI protocol specification, part B) that serves one access at a time.
///
/// 1. One address and one data beat are held on each channel; no `ready` depends on an input. Write address
///    and write data may come in any order.
/// 2. Reads and writes take turns while both wait. A write that the registers delay does not block reads.
/// 3. In the cycle of an access `address` is set and `read` or `write` is high. `known` and `value` answer in
///    the same cycle; a write takes the bits of `write_data` that are set in `write_mask`.
/// 4. While `delay` answers a write, the write is not done and is tried again, every other cycle while
///    reads wait too.
/// 5. An access that is not `known` gets SLVERR, any other OKAY. The response stands two cycles
///    after the transfer of the (last) request, if nothing is in the way.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct AxiLiteSlave {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,

    /// Write address.
    pub awaddr: Signal<In, Bits<12>>,
    /// Write address valid.
    pub awvalid: Signal<In, Bit>,
    /// Write address ready.
    pub awready: Signal<Out, Bit>,
    /// Write data.
    pub wdata: Signal<In, Bits<32>>,
    /// Bytes of the write data that count.
    pub wstrb: Signal<In, Bits<4>>,
    /// Write data valid.
    pub wvalid: Signal<In, Bit>,
    /// Write data ready.
    pub wready: Signal<Out, Bit>,
    /// Write response: 0 OKAY, 2 SLVERR.
    pub bresp: Signal<Out, Bits<2>>,
    /// Write response valid.
    pub bvalid: Signal<Out, Bit>,
    /// Write response ready.
    pub bready: Signal<In, Bit>,
    /// Read address.
    pub araddr: Signal<In, Bits<12>>,
    /// Read address valid.
    pub arvalid: Signal<In, Bit>,
    /// Read address ready.
    pub arready: Signal<Out, Bit>,
    /// Read data.
    pub rdata: Signal<Out, Bits<32>>,
    /// Read response: 0 OKAY, 2 SLVERR.
    pub rresp: Signal<Out, Bits<2>>,
    /// Read response valid.
    pub rvalid: Signal<Out, Bit>,
    /// Read response ready.
    pub rready: Signal<In, Bit>,

    /// To the registers: byte offset of the access.
    pub address: Signal<Out, Bits<12>>,
    /// To the registers: the access is a read.
    pub read: Signal<Out, Bit>,
    /// To the registers: the access is a write.
    pub write: Signal<Out, Bit>,
    /// To the registers: what to write.
    pub write_data: Signal<Out, Bits<32>>,
    /// To the registers: the bits to write.
    pub write_mask: Signal<Out, Bits<32>>,
    /// From the registers: the address is one of a register, and the access is done.
    pub known: Signal<In, Bit>,
    /// From the registers: the value of the register.
    pub value: Signal<In, Bits<32>>,
    /// From the registers: the write cannot be done in this cycle.
    pub delay: Signal<In, Bit>,

    aw_held: Register<Bit>,
    aw_address: Register<Bits<12>>,
    w_held: Register<Bit>,
    w_data: Register<Bits<32>>,
    w_strobe: Register<Bits<4>>,
    b_valid: Register<Bit>,
    b_response: Register<Bits<2>>,
    ar_held: Register<Bit>,
    ar_address: Register<Bits<12>>,
    r_valid: Register<Bit>,
    r_data: Register<Bits<32>>,
    r_response: Register<Bits<2>>,
    read_first: Register<Bit>,
}

impl Logic for AxiLiteSlave {
    #[hdl_gen]
    fn update(&mut self) {
        // Hold one request of each kind.
        self.awready.next = !self.aw_held.q.val();
        self.wready.next = !self.w_held.q.val();
        self.arready.next = !self.ar_held.q.val();
        if self.awvalid.val() & !self.aw_held.q.val() {
            self.aw_held.d.next = true;
            self.aw_address.d.next = self.awaddr.val();
        }
        if self.wvalid.val() & !self.w_held.q.val() {
            self.w_held.d.next = true;
            self.w_data.d.next = self.wdata.val();
            self.w_strobe.d.next = self.wstrb.val();
        }
        if self.arvalid.val() & !self.ar_held.q.val() {
            self.ar_held.d.next = true;
            self.ar_address.d.next = self.araddr.val();
        }

        // Serve one of them, when its response has a place.
        let write_waits = self.aw_held.q.val() & self.w_held.q.val() & !self.b_valid.q.val();
        let read_waits = self.ar_held.q.val() & !self.r_valid.q.val();
        let writing = write_waits & !(read_waits & self.read_first.q.val());
        let reading = read_waits & !writing;
        self.address.next = self.ar_address.q.val();
        if writing {
            self.address.next = self.aw_address.q.val();
        }
        self.write.next = writing;
        self.read.next = reading;
        let mut mask = bits::<32>(0);
        if self.w_strobe.q.val().get_bit(0) {
            mask = mask | 0x0000_00ffu64;
        }
        if self.w_strobe.q.val().get_bit(1) {
            mask = mask | 0x0000_ff00u64;
        }
        if self.w_strobe.q.val().get_bit(2) {
            mask = mask | 0x00ff_0000u64;
        }
        if self.w_strobe.q.val().get_bit(3) {
            mask = mask | 0xff00_0000u64;
        }
        self.write_mask.next = mask;
        self.write_data.next = self.w_data.q.val();

        // Respond.
        let mut response = bits::<2>(2);
        if self.known.val() {
            response = bits::<2>(0);
        }
        if self.bready.val() {
            self.b_valid.d.next = false;
        }
        if self.rready.val() {
            self.r_valid.d.next = false;
        }
        if writing {
            self.read_first.d.next = true;
            if !self.delay.val() {
                self.aw_held.d.next = false;
                self.w_held.d.next = false;
                self.b_valid.d.next = true;
                self.b_response.d.next = response;
            }
        }
        if reading {
            self.read_first.d.next = false;
            self.ar_held.d.next = false;
            self.r_valid.d.next = true;
            self.r_data.d.next = self.value.val();
            self.r_response.d.next = response;
        }
        self.bvalid.next = self.b_valid.q.val();
        self.bresp.next = self.b_response.q.val();
        self.rvalid.next = self.r_valid.q.val();
        self.rdata.next = self.r_data.q.val();
        self.rresp.next = self.r_response.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{random, settle, start, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    /// Random traffic with random stalls on every channel against a memory of 64 words of which the
    /// upper half is not known.
    #[test]
    fn random_traffic_reads_what_was_written() {
        let mut random = random();
        let mut unit = AxiLiteSlave::default();
        start!(unit);
        let mut memory = [0u32; 64];
        let mut writes: VecDeque<(usize, u32, u32)> = VecDeque::new();
        let (mut data, mut reads): (VecDeque<u32>, VecDeque<usize>) = Default::default();
        let (mut b_expected, mut r_expected): (VecDeque<u64>, VecDeque<(u64, u32)>) = Default::default();
        let (mut served_b, mut served_r, mut delayed) = (0, 0, 0);
        let mut waiting_read = 0;
        for cycle in 0..20_000 {
            if !unit.awvalid.val() && data.is_empty() && random.gen_bool(0.5) {
                let offered_write = (random.gen_range(0..64), random.gen::<u32>(), random.gen_range(0..16));
                writes.push_back(offered_write);
                unit.awaddr.next = (offered_write.0 as u64 * 4).into();
                unit.wdata.next = u64::from(offered_write.1).into();
                unit.wstrb.next = u64::from(offered_write.2).into();
                data.push_back(offered_write.1);
                unit.awvalid.next = true;
            }
            // The data beat may come earlier than, with or later than the address.
            unit.wvalid.next = unit.wvalid.val() || (!data.is_empty() && random.gen_bool(0.5));
            if !unit.arvalid.val() && random.gen_bool(0.5) {
                unit.arvalid.next = true;
                unit.araddr.next = (random.gen_range(0..64u64) * 4).into();
            }
            unit.bready.next = random.gen_bool(0.5);
            unit.rready.next = random.gen_bool(0.5);
            unit.delay.next = random.gen_bool(0.5);
            settle!(unit);
            let word = unit.address.val().index() / 4;
            unit.known.next = word < 32;
            unit.value.next = u64::from(if word < 32 { memory[word] } else { 0 }).into();
            settle!(unit);

            if unit.bvalid.val() {
                assert_eq!(Some(&unit.bresp.val().to_u64()), b_expected.front(), "cycle {cycle}");
                if unit.bready.val() {
                    b_expected.pop_front();
                    served_b += 1;
                }
            }
            if unit.rvalid.val() {
                let got = (unit.rresp.val().to_u64(), unit.rdata.val().to_u64() as u32);
                assert_eq!(Some(&got), r_expected.front(), "cycle {cycle}");
                if unit.rready.val() {
                    r_expected.pop_front();
                    served_r += 1;
                }
            }
            assert!(!(unit.read.val() && unit.write.val()));
            if unit.write.val() && unit.delay.val() {
                delayed += 1;
            } else if unit.write.val() {
                let (expected, value, strobe) = writes.pop_front().expect("a write was requested");
                assert_eq!(word, expected, "cycle {cycle}");
                let mask = (0..4).filter(|b| strobe >> b & 1 == 1).fold(0u32, |m, b| m | 0xff << (8 * b));
                assert_eq!(unit.write_mask.val().to_u64() as u32, mask, "cycle {cycle}");
                assert_eq!(unit.write_data.val().to_u64() as u32, value, "cycle {cycle}");
                if word < 32 {
                    memory[word] = memory[word] & !mask | value & mask;
                }
                b_expected.push_back(if word < 32 { 0 } else { 2 });
            }
            if unit.read.val() {
                assert_eq!(reads.pop_front(), Some(word), "cycle {cycle}");
                r_expected.push_back(if word < 32 { (0, memory[word]) } else { (2, 0) });
                waiting_read = 0;
            }
            waiting_read = if reads.is_empty() || unit.rvalid.val() { 0 } else { waiting_read + 1 };
            assert!(waiting_read <= 2, "cycle {cycle}: a read starves");
            let (aw, w, ar) = (
                unit.awvalid.val() && unit.awready.val(),
                unit.wvalid.val() && unit.wready.val(),
                unit.arvalid.val() && unit.arready.val(),
            );
            if ar {
                reads.push_back(unit.araddr.val().index() / 4);
            }
            tick!(unit);
            if aw {
                unit.awvalid.next = false;
            }
            if w {
                unit.wvalid.next = false;
                data.pop_front();
            }
            if ar {
                unit.arvalid.next = false;
            }
            settle!(unit);
        }
        assert!(served_b > 1_000 && served_r > 2_000 && delayed > 500, "{served_b} {served_r} {delayed}");
    }
}
