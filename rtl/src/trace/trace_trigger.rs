//! What a trace buffer records, and what ends the recording.

use crate::types::{PacketIndex, Pc, ThreadCount, WarpSlot};
use hermes_hdl::prelude::*;

/// Bits of the byte that says what the trigger waits for; it fires when one of them holds.
pub mod kind {
    /// An instruction retires: with [`AT_PC`] that at the PC, with [`IN_SLOT`] one of the slot.
    pub const RETIREMENT: u8 = 1;
    /// The PC counts.
    pub const AT_PC: u8 = 2;
    /// The warp slot counts.
    pub const IN_SLOT: u8 = 4;
    /// A lane faults.
    pub const FAULT: u8 = 8;
    /// The warp with the packet is issued.
    pub const ISSUE: u8 = 16;
    /// The warp with the packet is committed.
    pub const COMMIT: u8 = 32;
}

/// Bits of the byte that says what is recorded.
pub mod group {
    /// Issue, finish and commit of warps.
    pub const EVENTS: u8 = 1;
    /// Instructions that retire, and late results.
    pub const RETIREMENT: u8 = 2;
}

/// The settings of a trace buffer, which the host writes byte by byte, and what of a cycle they
/// hold for.
///
/// 1. A setting of several bytes is written as a whole, its lowest byte first.
/// 2. `arm` and `stop` are high in the cycle in which COMMAND is written.
/// 3. `hit` and `entry` are combinational.
/// 4. The settings have no value after reset but 0: nothing is recorded, and nothing triggers.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(cores: usize)]
pub struct TraceTrigger {
    // From the host
    /// A byte of the settings is written.
    pub write: Signal<In, Bit>,
    /// Offset of the byte (see [`register`](super::register)).
    pub offset: Signal<In, Bits<6>>,
    /// Value of the byte.
    pub data: Signal<In, Bits<8>>,

    // What happens
    /// A warp is issued.
    pub issued: Signal<In, Bit>,
    /// packetIdx of its first packet.
    pub issue_packet: Signal<In, PacketIndex>,
    /// Packets of the issued warp.
    pub issue_count: Signal<In, ThreadCount>,
    /// A warp finishes.
    pub finished: Signal<In, Bit>,
    /// A warp is committed.
    pub committed: Signal<In, Bit>,
    /// packetIdx of its first packet.
    pub commit_packet: Signal<In, PacketIndex>,
    /// Packets of the committed warp.
    pub commit_count: Signal<In, ThreadCount>,
    /// From each core: an instruction retires.
    #[count(cores)]
    pub retired: Vec<Signal<In, Bit>>,
    /// Bits 31:2 of its PC.
    #[count(cores)]
    pub pc: Vec<Signal<In, Pc>>,
    /// From each core: warp slot of the instruction.
    #[count(cores)]
    pub slot: Vec<Signal<In, WarpSlot>>,
    /// A lane of it faults.
    #[count(cores)]
    pub faults: Vec<Signal<In, Bit>>,
    /// Late results are written.
    #[count(cores)]
    pub late: Vec<Signal<In, Bit>>,

    // To the ring
    /// The recording begins.
    pub arm: Signal<Out, Bit>,
    /// The recording ends.
    pub stop: Signal<Out, Bit>,
    /// Something happened that is to be recorded.
    pub entry: Signal<Out, Bit>,
    /// An event that the trigger waits for happened.
    pub hit: Signal<Out, Bit>,
    /// Entries to write after that of the trigger.
    pub after: Signal<Out, Bits<16>>,
    /// Issue, finish and commit are recorded.
    pub takes_events: Signal<Out, Bit>,
    /// Instructions that retire are recorded.
    pub takes_retirement: Signal<Out, Bit>,

    kinds: Register<Bits<6>>,
    groups: Register<Bits<2>>,
    wanted_slot: Register<WarpSlot>,
    wanted_pc: Register<Bits<32>>,
    wanted_packet: Register<Bits<32>>,
    entries_after: Register<Bits<16>>,
    #[init(cores)]
    _cores: usize,
}

impl TraceTrigger {
    /// The settings of a trace buffer for `cores` cores.
    ///
    /// # Panics
    /// If `cores` is not 1 to 32.
    pub fn new(cores: usize) -> Self {
        assert!((1..=32).contains(&cores), "TraceTrigger: {cores} cores, expected 1 to 32");
        Self::wired(cores)
    }
}

impl Logic for TraceTrigger {
    #[hdl_gen]
    fn update(&mut self) {
        // What the host writes
        let place = self.offset.val();
        let byte = self.data.val();
        let commands = self.write.val() && place == bits::<6>(0);
        self.arm.next = commands && byte.get_bit(0);
        self.stop.next = commands && byte.get_bit(1);
        if self.write.val() && place == bits::<6>(4) {
            self.kinds.d.next = byte.get_bits::<6>(0);
        }
        if self.write.val() && place == bits::<6>(5) {
            self.groups.d.next = byte.get_bits::<2>(0);
        }
        if self.write.val() && place == bits::<6>(6) {
            self.wanted_slot.d.next = byte.get_bits::<5>(0);
        }
        let word = bit_cast::<32, 8>(byte) << 24;
        if self.write.val() && place.get_bits::<4>(2) == bits::<4>(2) {
            self.wanted_pc.d.next = (self.wanted_pc.q.val() >> 8) | word;
        }
        if self.write.val() && place.get_bits::<4>(2) == bits::<4>(3) {
            self.wanted_packet.d.next = (self.wanted_packet.q.val() >> 8) | word;
        }
        if self.write.val() && place.get_bits::<5>(1) == bits::<5>(8) {
            self.entries_after.d.next = (self.entries_after.q.val() >> 8) | (bit_cast::<16, 8>(byte) << 8);
        }
        self.after.next = self.entries_after.q.val();

        // What is recorded
        let events = self.groups.q.val().get_bit(0);
        let retirement = self.groups.q.val().get_bit(1);
        self.takes_events.next = events;
        self.takes_retirement.next = retirement;
        let mut some = events && (self.issued.val() || self.finished.val() || self.committed.val());

        // What triggers
        let wanted = self.kinds.q.val();
        let behind_issue = self.wanted_packet.q.val() - self.issue_packet.val();
        let behind_commit = self.wanted_packet.q.val() - self.commit_packet.val();
        let its_issue = behind_issue < bit_cast::<32, 6>(self.issue_count.val());
        let its_commit = behind_commit < bit_cast::<32, 6>(self.commit_count.val());
        let mut found = (wanted.get_bit(4) && self.issued.val() && its_issue)
            || (wanted.get_bit(5) && self.committed.val() && its_commit);
        for i in 0..self._cores {
            let at_pc = !wanted.get_bit(1) || self.pc[i].val() == self.wanted_pc.q.val().get_bits::<30>(2);
            let in_slot = !wanted.get_bit(2) || self.slot[i].val() == self.wanted_slot.q.val();
            let of_instruction = wanted.get_bit(0) && at_pc && in_slot;
            let of_fault = wanted.get_bit(3) && self.faults[i].val();
            found = found || (self.retired[i].val() && (of_instruction || of_fault));
            some = some || (retirement && (self.retired[i].val() || self.late[i].val()));
        }
        self.hit.next = found;
        self.entry.next = some;
    }
}
