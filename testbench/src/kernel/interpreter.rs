//! Runs a kernel on one packet, instruction by instruction, so that kernels are tested without the array.
//! RV32I as in the unprivileged specification (20191213), chapter 2.

use super::Kernel;
use crate::golden::Golden;
use crate::slot::{SlotPacket, FRAME_OFFSET, MAX_BYTES_LOG2};
use crate::verdict::Verdict;
use hermes_rtl::config::EXIT_ADDRESS;

const SLOT: u32 = 0x10_0000;
const SLOT_BYTES: usize = 1 << MAX_BYTES_LOG2;
/// More than any kernel of the tests needs.
const MAX_STEPS: usize = 100_000;

/// A thread with its kernel, its slot and its stack in one memory.
struct Thread {
    memory: Vec<u8>,
    registers: [u32; 32],
    pc: u32,
}

/// What `kernel` makes of `packet`, and the instructions that it took. The slot's bytes behind the frame hold rubbish, which
/// must not matter and must stay.
pub fn run(kernel: &Kernel, packet: &SlotPacket) -> (Golden, usize) {
    let mut memory = vec![0xa5; SLOT as usize + SLOT_BYTES];
    for segment in &kernel.segments {
        memory[segment.address as usize..][..segment.bytes.len()].copy_from_slice(&segment.bytes);
    }
    for (word, value) in packet.descriptor(0).iter().enumerate() {
        memory[SLOT as usize + 4 * word..][..4].copy_from_slice(&value.to_le_bytes());
    }
    let start = SLOT as usize + FRAME_OFFSET;
    let length = packet.frame.len();
    memory[start..start + length].copy_from_slice(&packet.frame);
    let before = memory[start + length..].to_vec();

    let mut registers = [0xdead_beef; 32];
    registers[0] = 0;
    registers[1] = EXIT_ADDRESS;
    registers[2] = 0x8000;
    registers[10] = 7;
    registers[11] = SLOT;
    let mut thread = Thread { memory, registers, pc: kernel.entry };
    let steps = (1..MAX_STEPS).find(|_| {
        thread.step();
        thread.pc == EXIT_ADDRESS
    });
    assert_eq!(thread.memory[start + length..], before, "bytes behind the frame were changed");
    let frame = thread.memory[start..start + length].to_vec();
    (Golden { verdict: Verdict(thread.registers[10]), frame }, steps.expect("the kernel ends"))
}

impl Thread {
    fn load(&self, address: u32, bytes: usize) -> u32 {
        assert!(address as usize % bytes == 0, "misaligned load from {address:#x} at {:#x}", self.pc);
        let field = &self.memory[address as usize..][..bytes];
        field.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
    }

    fn step(&mut self) {
        let code = self.load(self.pc, 4);
        let bits = |low: u32, count: u32| code >> low & ((1 << count) - 1);
        let signed = |value: u32, count: u32| ((value << (32 - count)) as i32 >> (32 - count)) as u32;
        let (a, b) = (self.registers[bits(15, 5) as usize], self.registers[bits(20, 5) as usize]);
        let immediate = signed(bits(20, 12), 12);
        let next = self.pc.wrapping_add(4);
        let mut target = next;
        let result = match bits(0, 7) {
            0x37 => Some(code & 0xffff_f000),
            0x17 => Some(self.pc.wrapping_add(code & 0xffff_f000)),
            0x6f => {
                let offset = bits(31, 1) << 20 | bits(12, 8) << 12 | bits(20, 1) << 11 | bits(21, 10) << 1;
                target = self.pc.wrapping_add(signed(offset, 21));
                Some(next)
            }
            0x67 => {
                target = a.wrapping_add(immediate) & !1;
                Some(next)
            }
            0x63 => {
                let offset = bits(31, 1) << 12 | bits(7, 1) << 11 | bits(25, 6) << 5 | bits(8, 4) << 1;
                let taken = match bits(12, 3) >> 1 {
                    0 => a == b,
                    2 => (a as i32) < b as i32,
                    3 => a < b,
                    _ => panic!("illegal branch at {:#x}", self.pc),
                };
                if taken != (bits(12, 1) == 1) {
                    target = self.pc.wrapping_add(signed(offset, 13));
                }
                None
            }
            0x03 => {
                let size = bits(12, 2);
                let value = self.load(a.wrapping_add(immediate), 1 << size);
                Some(if bits(14, 1) == 0 { signed(value, 8 << size) } else { value })
            }
            0x23 => {
                let address = a.wrapping_add(signed(bits(25, 7) << 5 | bits(7, 5), 12)) as usize;
                let bytes = 1 << bits(12, 3);
                assert!(address % bytes == 0, "misaligned store to {address:#x} at {:#x}", self.pc);
                self.memory[address..address + bytes].copy_from_slice(&b.to_le_bytes()[..bytes]);
                None
            }
            opcode @ (0x13 | 0x33) => {
                let register = opcode == 0x33;
                assert!(!register || bits(25, 7) & 0x5f == 0, "not RV32I at {:#x}", self.pc);
                let b = if register { b } else { immediate };
                Some(match bits(12, 3) {
                    0 if register && bits(30, 1) == 1 => a.wrapping_sub(b),
                    0 => a.wrapping_add(b),
                    1 => a << (b & 31),
                    2 => u32::from((a as i32) < b as i32),
                    3 => u32::from(a < b),
                    4 => a ^ b,
                    5 if bits(30, 1) == 1 => (a as i32 >> (b & 31)) as u32,
                    5 => a >> (b & 31),
                    6 => a | b,
                    _ => a & b,
                })
            }
            _ => panic!("illegal instruction {code:#010x} at {:#x}", self.pc),
        };
        if let (Some(value), rd @ 1..) = (result, bits(7, 5) as usize) {
            self.registers[rd] = value;
        }
        self.pc = target;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{App, APPS};
    use crate::traffic::{Frame, Generator, Traffic};
    use rand::{Rng, SeedableRng};

    fn compare(app: &App, kernel: &Kernel, frame: &Frame) {
        let packet = SlotPacket::new(frame, MAX_BYTES_LOG2);
        let (got, _) = run(kernel, &packet);
        if let Some(difference) = crate::golden::Difference::find(0, (app.golden)(&packet), got) {
            panic!("{}: {difference}", app.name);
        }
    }

    /// The apps agree with their golden models on good and bad packets, on headers of random bytes that are nearly right,
    /// and on frames cut anywhere.
    #[test]
    fn apps_agree_with_their_golden_models() {
        let seed = crate::test_seed();
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        for app in APPS {
            let kernel = app.kernel().unwrap();
            for kind in ["imix", "tcp-mix", "fixed:60"] {
                let kind = kind.parse().unwrap();
                for mut frame in
                    Generator::new(Traffic { kind, seed, bad_share: 40.0, rate: 100.0 }).take(150)
                {
                    frame.data.truncate(200);
                    compare(app, &kernel, &frame);
                    let original = frame.clone();
                    let length = frame.data.len();
                    for _ in 0..2 {
                        let position = random.gen_range(12..40_usize).min(length - 1);
                        frame.data[position] = random.gen();
                        compare(app, &kernel, &frame);
                    }
                    frame = original;
                    frame.data.truncate(random.gen_range(0..=length));
                    if random.gen() {
                        frame.wire_length = frame.data.len() as u32;
                    }
                    compare(app, &kernel, &frame);
                }
            }
        }
    }

    /// Every checksum passes through the incremental update as RFC 1624 says, and every first byte of a source
    /// address and every header length is judged rightly.
    #[test]
    fn every_value_of_the_fields_that_are_looked_at() {
        let kind = "fixed:90".parse().unwrap();
        let mut traffic = Generator::new(Traffic { kind, seed: 5, bad_share: 0.0, rate: 100.0 });
        let good = traffic.find(|frame| frame.data[14] == 0x45).unwrap();
        for app in APPS {
            let kernel = app.kernel().unwrap();
            for checksum in (0..0x1_0000_u32).step_by(251).chain(0xfff0..0x1_0000).chain(0..16) {
                let mut frame = good.clone();
                frame.data[24..26].copy_from_slice(&(checksum as u16).to_be_bytes());
                compare(app, &kernel, &frame);
                frame.data[24..26].copy_from_slice(&(checksum as u16).to_le_bytes());
                compare(app, &kernel, &frame);
            }
            for position in [14, 22, 26] {
                for value in 0..=255 {
                    let mut frame = good.clone();
                    frame.data[position] = value;
                    crate::traffic::correct_checksum(&mut frame.data);
                    compare(app, &kernel, &frame);
                }
            }
        }
    }

    /// The hot path is short: what a good packet costs.
    #[test]
    fn instructions_of_a_good_packet() {
        let kind = "fixed:90".parse().unwrap();
        let mut traffic = Generator::new(Traffic { kind, seed: 5, bad_share: 0.0, rate: 100.0 });
        let packet = SlotPacket::new(&traffic.find(|f| f.data[14] == 0x45).unwrap(), MAX_BYTES_LOG2);
        let count = |name| run(&App::find(name).unwrap().kernel().unwrap(), &packet).1;
        assert_eq!(count("dec-ttl"), 24);
        assert_eq!(count("check-ip-header"), 63);
    }
}
