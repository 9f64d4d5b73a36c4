//! Runs a kernel on one packet at a time, instruction by instruction, so that kernels are tested without the array.
//! RV32I as in the unprivileged specification (20191213), chapter 2.

use super::Kernel;
use crate::apps::{App, Placement};
use crate::cosim::{EgressLists, MemoryImage};
use crate::golden::Golden;
use crate::slot::{capacity, SlotPacket, FRAME_OFFSET, MAX_BYTES_LOG2};
use crate::verdict::Verdict;
use hermes_rtl::config::EXIT_ADDRESS;

const STACK: u32 = 0x8_0000;
const ARGUMENT: u32 = 0x9_0000;
const SLOT: u32 = 0x10_0000;
const TABLES: u32 = 0x100_0000;
const EGRESS: u32 = 0x2000_0000;
const RING_SLOTS: u32 = 4;
const SLOT_BYTES: usize = 1 << MAX_BYTES_LOG2;
/// More than any kernel of the tests needs.
const MAX_STEPS: usize = 3_000_000;

/// A thread with its kernel, its tables, its slot and its stack in one memory.
pub struct Thread {
    memory: MemoryImage,
    egress: EgressLists,
    stack_bytes: u32,
    entry: u32,
    registers: [u32; 32],
    pc: u32,
}

impl Thread {
    /// The thread of `kernel`, with the tables of `app` in its memory.
    pub fn new(kernel: &Kernel, app: &dyn App) -> Self {
        let mut memory = MemoryImage::new(1 << 30);
        for segment in &kernel.segments {
            memory.write(segment.address, &segment.bytes).unwrap();
        }
        let tables = app.tables(TABLES);
        assert_eq!(tables.len(), app.table_bytes());
        memory.write(TABLES, &tables).unwrap();
        let bytes_log2 = EgressLists::bytes_log2_for(app.egress_entries(capacity(MAX_BYTES_LOG2)));
        let egress = EgressLists { address: EGRESS, bytes_log2 };
        let placement = Placement { tables: TABLES, egress, ring_slots: RING_SLOTS };
        let argument: Vec<u8> = app.argument(&placement).iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(ARGUMENT, &argument).unwrap();
        Self {
            memory,
            egress,
            stack_bytes: 1 << app.stack_bytes_log2(),
            entry: kernel.entry,
            registers: [0; 32],
            pc: 0,
        }
    }

    /// What the kernel makes of `packet`, the packet number `index`, the frames that it sends instead, and the instructions that it
    /// took. The slot's bytes
    /// behind the frame hold rubbish, which must not matter.
    pub fn run(&mut self, index: u64, packet: &SlotPacket) -> (Golden, Vec<Vec<u8>>, usize) {
        let mut slot = vec![0xa5; SLOT_BYTES];
        for (word, value) in packet.descriptor(0).iter().enumerate() {
            slot[4 * word..][..4].copy_from_slice(&value.to_le_bytes());
        }
        slot[FRAME_OFFSET..][..packet.frame.len()].copy_from_slice(&packet.frame);
        self.memory.write(SLOT, &slot).unwrap();

        self.registers = [0xdead_beef; 32];
        self.registers[0] = 0;
        self.registers[1] = EXIT_ADDRESS;
        self.registers[2] = STACK;
        self.registers[10] = index as u32;
        self.registers[11] = SLOT;
        self.registers[12] = ARGUMENT;
        self.pc = self.entry;
        let steps = (1..MAX_STEPS).find(|_| {
            self.step();
            self.pc == EXIT_ADDRESS
        });
        let mut after = vec![0; SLOT_BYTES];
        self.memory.read(SLOT, &mut after).unwrap();
        let length = self.memory.read_u32(SLOT).unwrap() as usize;
        let end = FRAME_OFFSET + length;
        let kept = end.max(FRAME_OFFSET + packet.frame.len());
        assert_eq!(after[kept..], slot[kept..], "bytes behind the frame were changed");
        let frame = after[FRAME_OFFSET..end].to_vec();
        let mut below = [0; 512];
        self.memory.read(STACK - self.stack_bytes - 512, &mut below).unwrap();
        assert_eq!(below, [0; 512], "the kernel uses more stack than a thread has");
        let verdict = Verdict(self.registers[10]);
        let slot = index as u32 & (RING_SLOTS - 1);
        let egress = self.egress.frames(&self.memory, slot, &frame).unwrap();
        (Golden { verdict, frame }, egress, steps.expect("the kernel ends"))
    }

    fn load(&self, address: u32, bytes: usize) -> u32 {
        assert!(address as usize % bytes == 0, "misaligned load from {address:#x} at {:#x}", self.pc);
        let word = self.memory.read_u32(address & !3);
        let word = word.unwrap_or_else(|error| panic!("{error} (at {:#x})", self.pc));
        word >> (8 * (address & 3)) & (u32::MAX >> (32 - 8 * bytes))
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
                let address = a.wrapping_add(signed(bits(25, 7) << 5 | bits(7, 5), 12));
                let bytes = 1 << bits(12, 3);
                assert!(address as usize % bytes == 0, "misaligned store to {address:#x} at {:#x}", self.pc);
                self.memory.write(address, &b.to_le_bytes()[..bytes]).unwrap();
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
