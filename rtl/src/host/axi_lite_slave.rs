//! The AXI4-Lite protocol in front of a set of registers.

use crate::ports::{AxiLite, RegisterAnswer, RegisterRequest};
use hermes_hdl::prelude::*;

/// AXI4-Lite slave (AMBA AXI protocol specification, part B) that serves one access at a time.
///
/// 1. One address and one data beat are held on each channel; no `ready` depends on an input. Write
///    address and write data may come in any order.
/// 2. Reads and writes take turns while both wait. A write that the registers delay does not block
///    reads.
/// 3. In the cycle of an access `request.address` is set and `request.read` or `request.write` is
///    high. `answer` answers in the same cycle; a write takes the bits of `request.data` that are
///    set in `request.mask`. Bits 1:0 of an address do not count: an access of a byte or half word
///    is one to its word, with the strobes that it has.
/// 4. While `delay` answers a write, the write is not done and is tried again, every other cycle
///    while reads wait too.
/// 5. An access that is not `known` gets SLVERR, any other OKAY. The response stands two cycles
///    after the transfer of the (last) request, if nothing is in the way.
/// 6. While `hold` is high, if it is there, there is no access; the bus goes on.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(holds: bool)]
pub struct AxiLiteSlave {
    /// From the host.
    pub axil: AxiLite,
    /// To the registers.
    pub request: Flipped<RegisterRequest>,
    /// From the registers.
    pub answer: Flipped<RegisterAnswer>,
    /// No access in this cycle; only if somebody else uses the registers too.
    #[there(holds)]
    pub hold: Part<Signal<In, Bit>>,

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

impl AxiLiteSlave {
    /// A slave that has the registers for itself, or shares them (`holds`).
    pub fn new(holds: bool) -> Self {
        Self::wired(holds)
    }
}

impl Logic for AxiLiteSlave {
    #[hdl_gen]
    fn update(&mut self) {
        // Hold one request of each kind.
        self.axil.awready.next = !self.aw_held.q.val();
        self.axil.wready.next = !self.w_held.q.val();
        self.axil.arready.next = !self.ar_held.q.val();
        if self.axil.awvalid.val() & !self.aw_held.q.val() {
            self.aw_held.d.next = true;
            self.aw_address.d.next = self.axil.awaddr.val() & 0xffcu64;
        }
        if self.axil.wvalid.val() & !self.w_held.q.val() {
            self.w_held.d.next = true;
            self.w_data.d.next = self.axil.wdata.val();
            self.w_strobe.d.next = self.axil.wstrb.val();
        }
        if self.axil.arvalid.val() & !self.ar_held.q.val() {
            self.ar_held.d.next = true;
            self.ar_address.d.next = self.axil.araddr.val() & 0xffcu64;
        }

        // Serve one of them, when its response has a place.
        let write_waits = self.aw_held.q.val() & self.w_held.q.val() & !self.b_valid.q.val();
        let read_waits = self.ar_held.q.val() & !self.r_valid.q.val();
        let writing = write_waits & !(read_waits & self.read_first.q.val());
        let reading = read_waits & !writing;
        self.request.address.next = self.ar_address.q.val();
        if writing {
            self.request.address.next = self.aw_address.q.val();
        }
        self.request.write.next = writing;
        self.request.read.next = reading;
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
        self.request.mask.next = mask;
        self.request.data.next = self.w_data.q.val();

        // Respond.
        let mut response = bits::<2>(2);
        if self.answer.known.val() {
            response = bits::<2>(0);
        }
        if self.axil.bready.val() {
            self.b_valid.d.next = false;
        }
        if self.axil.rready.val() {
            self.r_valid.d.next = false;
        }
        if writing {
            self.read_first.d.next = true;
            if !self.answer.delay.val() {
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
            self.r_data.d.next = self.answer.value.val();
            self.r_response.d.next = response;
        }
        // Without an access the channels only take and give. What stands in data and response of an
        // answer that is not valid does not count.
        if self.hold.is_there() {
            if self.hold.val() {
                self.request.write.next = false;
                self.request.read.next = false;
                self.aw_held.d.next = self.aw_held.q.val() | self.axil.awvalid.val();
                self.w_held.d.next = self.w_held.q.val() | self.axil.wvalid.val();
                self.ar_held.d.next = self.ar_held.q.val() | self.axil.arvalid.val();
                self.b_valid.d.next = self.b_valid.q.val() & !self.axil.bready.val();
                self.r_valid.d.next = self.r_valid.q.val() & !self.axil.rready.val();
                self.read_first.d.next = self.read_first.q.val();
            }
        }
        self.axil.bvalid.next = self.b_valid.q.val();
        self.axil.bresp.next = self.b_response.q.val();
        self.axil.rvalid.next = self.r_valid.q.val();
        self.axil.rdata.next = self.r_data.q.val();
        self.axil.rresp.next = self.r_response.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    /// Random traffic with random stalls on every channel against a memory of 64 words of which the
    /// upper half is not known.
    #[test]
    fn random_traffic_reads_what_was_written() {
        traffic(false);
    }

    /// The same, and the registers are in use by somebody else in every third cycle.
    #[test]
    fn no_access_while_held() {
        traffic(true);
    }

    fn traffic(holds: bool) {
        let mut random = random();
        let mut unit = AxiLiteSlave::new(holds);
        reset!(unit);
        let mut memory = [0u32; 64];
        let mut writes: VecDeque<(usize, u32, u32)> = VecDeque::new();
        let (mut data, mut reads): (VecDeque<u32>, VecDeque<usize>) = Default::default();
        let (mut b_expected, mut r_expected): (VecDeque<u64>, VecDeque<(u64, u32)>) = Default::default();
        let (mut served_b, mut served_r, mut delayed) = (0, 0, 0);
        let mut waiting_read = 0;
        for cycle in 0..20_000 {
            if !unit.axil.awvalid.val() && data.is_empty() && random.gen_bool(0.5) {
                let offered_write = (random.gen_range(0..64), random.gen::<u32>(), random.gen_range(0..16));
                writes.push_back(offered_write);
                unit.axil.awaddr.next = (offered_write.0 as u64 * 4 + random.gen_range(0..4)).into();
                unit.axil.wdata.next = u64::from(offered_write.1).into();
                unit.axil.wstrb.next = u64::from(offered_write.2).into();
                data.push_back(offered_write.1);
                unit.axil.awvalid.next = true;
            }
            // The data beat may come earlier than, with or later than the address.
            unit.axil.wvalid.next = unit.axil.wvalid.val() || (!data.is_empty() && random.gen_bool(0.5));
            if !unit.axil.arvalid.val() && random.gen_bool(0.5) {
                unit.axil.arvalid.next = true;
                unit.axil.araddr.next = random.gen_range(0..256u64).into();
            }
            unit.axil.bready.next = random.gen_bool(0.5);
            unit.axil.rready.next = random.gen_bool(0.5);
            unit.answer.delay.next = random.gen_bool(0.5);
            let held = holds && random.gen_bool(0.33);
            if holds {
                unit.hold.next = held;
            }
            settle(&mut unit);
            assert!(!held || !(unit.request.read.val() || unit.request.write.val()), "cycle {cycle}");
            let word = unit.request.address.val().index() / 4;
            unit.answer.known.next = word < 32;
            unit.answer.value.next = u64::from(if word < 32 { memory[word] } else { 0 }).into();
            settle(&mut unit);

            if unit.axil.bvalid.val() {
                assert_eq!(Some(&unit.axil.bresp.val().to_u64()), b_expected.front(), "cycle {cycle}");
                if unit.axil.bready.val() {
                    b_expected.pop_front();
                    served_b += 1;
                }
            }
            if unit.axil.rvalid.val() {
                let got = (unit.axil.rresp.val().to_u64(), unit.axil.rdata.val().to_u64() as u32);
                assert_eq!(Some(&got), r_expected.front(), "cycle {cycle}");
                if unit.axil.rready.val() {
                    r_expected.pop_front();
                    served_r += 1;
                }
            }
            assert!(!(unit.request.read.val() && unit.request.write.val()));
            if unit.request.write.val() && unit.answer.delay.val() {
                delayed += 1;
            } else if unit.request.write.val() {
                let (expected, value, strobe) = writes.pop_front().expect("a write was requested");
                assert_eq!(word, expected, "cycle {cycle}");
                let mask = (0..4).filter(|b| strobe >> b & 1 == 1).fold(0u32, |m, b| m | 0xff << (8 * b));
                assert_eq!(unit.request.mask.val().to_u64() as u32, mask, "cycle {cycle}");
                assert_eq!(unit.request.data.val().to_u64() as u32, value, "cycle {cycle}");
                if word < 32 {
                    memory[word] = memory[word] & !mask | value & mask;
                }
                b_expected.push_back(if word < 32 { 0 } else { 2 });
            }
            if unit.request.read.val() {
                assert_eq!(reads.pop_front(), Some(word), "cycle {cycle}");
                r_expected.push_back(if word < 32 { (0, memory[word]) } else { (2, 0) });
                waiting_read = 0;
            }
            waiting_read = match () {
                () if reads.is_empty() || unit.axil.rvalid.val() => 0,
                () => waiting_read + usize::from(!held),
            };
            assert!(waiting_read <= 2, "cycle {cycle}: a read starves");
            let (aw, w, ar) = (
                unit.axil.awvalid.val() && unit.axil.awready.val(),
                unit.axil.wvalid.val() && unit.axil.wready.val(),
                unit.axil.arvalid.val() && unit.axil.arready.val(),
            );
            if ar {
                reads.push_back(unit.axil.araddr.val().index() / 4);
            }
            tick!(unit);
            if aw {
                unit.axil.awvalid.next = false;
            }
            if w {
                unit.axil.wvalid.next = false;
                data.pop_front();
            }
            if ar {
                unit.axil.arvalid.next = false;
            }
            settle(&mut unit);
        }
        assert!(served_b > 1_000 && served_r > 2_000 && delayed > 500, "{served_b} {served_r} {delayed}");
    }
}
