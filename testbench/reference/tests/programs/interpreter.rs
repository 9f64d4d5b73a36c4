//! Runs a kernel on one packet at a time on the reference simulator, so that kernels are tested
//! without the array.

use hermes_packets::egress::EgressLists;
use hermes_packets::golden::Golden;
use hermes_packets::slot::{capacity, SlotPacket, FRAME_OFFSET, MAX_BYTES_LOG2};
use hermes_packets::verdict::Verdict;
use hermes_programs::apps::{App, Placement};
use hermes_programs::kernel::{Kernel, RegisterClass};
use hermes_reference::iss::MemoryImage;
use hermes_reference::iss::{CoreMemory, Csrs, Hart, Isa, Protection, Window, SCRATCHPAD_BYTES};
use hermes_rtl::config::EXIT_ADDRESS;
use std::error::Error;

const STACK: u32 = 0x8_0000;
const ARGUMENT: u32 = 0x9_0000;
const SLOT: u32 = 0x10_0000;
const TABLES: u32 = 0x100_0000;
const EGRESS: u32 = 0x2000_0000;
const RING_SLOTS: u32 = 4;
const SLOT_BYTES: usize = 1 << MAX_BYTES_LOG2;
/// All memory that there is: an access beyond it is an error of the kernel.
const MEMORY_BYTES: u32 = 1 << 30;
/// More than any kernel of the tests needs.
const MAX_STEPS: usize = 3_000_000;

/// The thread runs in lane 2 of warp slot 3.
struct Place;

impl Csrs for Place {
    fn read(&self, number: u32) -> Option<u32> {
        match number {
            0xcc1 => Some(2),
            0xcc2 => Some(3),
            _ => None,
        }
    }
}

/// A thread with its kernel, its tables, its slot and its stack in one memory.
pub struct Thread {
    memory: MemoryImage,
    scratchpad: Vec<u8>,
    egress: EgressLists,
    stack_bytes: u32,
    entry: u32,
    isa: Isa,
    protection: Protection,
    hart: Hart,
}

impl Thread {
    /// The thread of `kernel`, with the tables of `app` in its memory.
    pub fn new(kernel: &Kernel, app: &dyn App) -> Self {
        let mut memory = MemoryImage::new(u64::from(MEMORY_BYTES));
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
        let windows = [Window { base: 0, size: MEMORY_BYTES }, Window::default()];
        Self {
            memory,
            scratchpad: vec![0xa5; SCRATCHPAD_BYTES],
            egress,
            stack_bytes: 1 << app.stack_bytes_log2(),
            entry: kernel.entry,
            isa: Isa { embedded: kernel.registers == RegisterClass::Rv32e, aes: true, ..Isa::RV32IM_ZBB },
            protection: Protection::Windows { read: windows, write: windows },
            hart: Hart::new(kernel.entry),
        }
    }

    /// What the kernel makes of `packet`, the packet number `index`, the frames that it sends
    /// instead, and the instructions that it took. The slot's bytes behind the frame hold rubbish,
    /// which must not matter.
    pub fn run(&mut self, index: u64, packet: &SlotPacket) -> (Golden, Vec<Vec<u8>>, usize) {
        let mut slot = vec![0xa5; SLOT_BYTES];
        for (word, value) in packet.descriptor(0).iter().enumerate() {
            slot[4 * word..][..4].copy_from_slice(&value.to_le_bytes());
        }
        slot[FRAME_OFFSET..][..packet.frame.len()].copy_from_slice(&packet.frame);
        self.memory.write(SLOT, &slot).unwrap();

        self.hart.x = [0xdead_beef; 32];
        self.hart.x[0] = 0;
        self.hart.x[1] = EXIT_ADDRESS;
        self.hart.x[2] = STACK;
        self.hart.x[10] = index as u32;
        self.hart.x[11] = SLOT;
        self.hart.x[12] = ARGUMENT;
        self.hart.pc = self.entry;
        let steps = (1..MAX_STEPS).find(|_| {
            self.step();
            self.hart.pc == EXIT_ADDRESS
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
        let verdict = Verdict(self.hart.x[10]);
        let slot = index as u32 & (RING_SLOTS - 1);
        let read = |address, bytes: &mut [u8]| Ok::<_, Box<dyn Error>>(self.memory.read(address, bytes)?);
        let egress = self.egress.frames(read, slot, &frame).unwrap();
        (Golden { verdict, frame }, egress, steps.expect("the kernel ends"))
    }

    fn step(&mut self) {
        let scratchpad = Some(&mut self.scratchpad[..]);
        let mut memory =
            CoreMemory { shared: &mut self.memory, scratchpad, protection: &self.protection, local: None };
        let pc = self.hart.pc;
        let stepped = self.hart.step(&self.isa, &mut memory, &Place);
        stepped.unwrap_or_else(|fault| panic!("{fault:x?} at {pc:#x}"));
    }
}
