//! The thread spawner.

use super::{Part, RegisterBlock, RegisterSpec};
use crate::config::Config;
use crate::ports::{LaneTrapControl, RegisterAnswer, RegisterRequest};
use crate::types::{LineAddress, WarpJob};
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// What the registers and the thread spawner exchange.
#[derive(Ports)]
pub struct SpawnerControl {
    /// A write of a descriptor's word 0 starts its threads.
    pub enable: Signal<In, Bit>,
    /// A word of a descriptor is to be written; it is, unless `waits`.
    pub write: Signal<In, Bit>,
    /// The slot of the descriptor.
    pub slot: Signal<In, Bits<5>>,
    /// Number of the word in the descriptor.
    pub word: Signal<In, Bits<3>>,
    /// Value of the word.
    pub value: Signal<In, Bits<32>>,
    /// A store of the command processor goes first: the word is not written in this cycle.
    pub waits: Signal<Out, Bit>,
    /// First line of the descriptor page; 0: none.
    pub base: Signal<Out, LineAddress>,
    /// A bit for each slot: its job was triggered, and its completion is not visible yet.
    pub busy: Signal<Out, Bits<16>>,
    /// Warps of spawned threads that got a core, modulo 2^32.
    pub warps: Signal<Out, Bits<32>>,
    /// Jobs completed, modulo 2^32.
    pub jobs: Signal<Out, Bits<32>>,
    /// Writes to busy slots, or to none, modulo 2^16.
    pub overruns: Signal<Out, Bits<16>>,
    /// Descriptors with an error, modulo 2^16.
    pub rejected: Signal<Out, Bits<16>>,
}

/// Descriptors, limits and state of spawned threads.
#[derive(Ports)]
pub struct SpawnControl {
    /// To and from the thread spawner.
    pub spawner: SpawnerControl,
    /// To warp issue: most warps of spawned threads on a core at a time.
    pub mcw: Signal<In, Bits<6>>,
    /// To the cores: cycles that a warp of spawned threads may be on a core; 0: any number.
    pub watchdog: Signal<In, Bits<31>>,
    /// From the fault collector: of the oldest fault record: slot of the job in bits 3:0; bit 4: a
    /// warp of spawned threads.
    pub fault_job: Signal<Out, WarpJob>,
    /// To the cores: where lanes go that fault.
    pub traps: LaneTrapControl,
    /// Lanes that went there, modulo 2^32.
    pub trapped: Signal<Out, Bits<32>>,
}

/// The registers of [`SpawnControl`].
#[register_block(SpawnDecoder, part = ThreadSpawner)]
pub struct SpawnAccess {
    /// Bit 0: a write of a descriptor's word 0 starts its threads. Jobs that were started go on
    /// when it is cleared.
    #[register("SPAWN_CONTROL", 0x380)]
    pub enable: ReadWrite<1>,
    /// Address of the descriptor page, to which the command processor stores descriptors
    /// (SIGNAL.RANGE moves it); 0: there is none.
    #[register("SPAWN_BASE", 0x384)]
    #[fields(base[31:6])]
    pub page: ReadOnly<32>,
    /// Most warps of spawned threads on a core at a time. If MCW and SPAWN_MCW together are not
    /// more than the slots of the kernel's register class, neither kind of warps keeps the other
    /// from its share.
    #[register("SPAWN_MCW", 0x388, reset = 4)]
    pub mcw: ReadWrite<6>,
    /// A bit for each slot: its job has been started, and its completion is not visible yet.
    #[register("SPAWN_BUSY", 0x38c)]
    pub busy: ReadOnly<16>,
    /// The descriptor word that SPAWN_DATA writes: slot in bits 12:8, word in bits 2:0.
    #[register("SPAWN_SELECT", 0x390)]
    #[fields(word[2:0], slot[12:8])]
    pub select: ReadWrite<13>,
    /// Writes the selected word of a descriptor; word 0 starts its threads. While the slot is busy
    /// nothing is written, and SPAWN_ERRORS counts.
    #[register("SPAWN_DATA", 0x394)]
    pub data: Strobe<32>,
    /// Warps of spawned threads that got a core, modulo 2^32.
    #[register("SPAWNED_WARPS", 0x398)]
    pub warps: ReadOnly<32>,
    /// Jobs completed, with an error too, modulo 2^32.
    #[register("SPAWN_JOBS", 0x39c)]
    pub jobs: ReadOnly<32>,
    /// Writes to the descriptor of a busy slot, or of none, and stores of a hart of a part of a
    /// word to the descriptor page, modulo 2^16, in bits 15:0; descriptors that were rejected, and
    /// completion addresses that are no multiple of 4, modulo 2^16, in bits 31:16.
    #[register("SPAWN_ERRORS", 0x3a0)]
    #[fields(overruns[15:0], rejected[31:16])]
    pub errors: ReadOnly<32>,
    /// Cycles that a warp of spawned threads may be on a core, as WATCHDOG for packets; 0: any
    /// number.
    #[register("SPAWN_WATCHDOG", 0x3a4)]
    pub watchdog: ReadWrite<31>,
    /// Oldest fault record: bit 4: its warp was one of spawned threads, bits 3:0 the slot of its
    /// job, and FAULT_PACKET the number of the thread. 0: a packet warp.
    #[register("FAULT_JOB", 0x3b0)]
    pub fault_job: ReadOnly<5>,
    /// Trap entry of lanes that fault ([lane traps](lane-traps.md)): bits 31:12 of its address; bit
    /// 0: threads of spawned warps go there, bit 1: those of packets, too. 0: a fault ends its
    /// threads.
    #[register("FAULT_ENTRY", 0x3b4)]
    #[fields(trap_spawned[0], trap_packets[1], trap_page[31:12])]
    pub trap_entry: ReadWrite<32>,
    /// A bit for each cause with which they go there: 2 to 7 and 11. Other bits mean nothing.
    #[register("FAULT_CAUSES", 0x3b8)]
    pub trap_causes: ReadWrite<12>,
    /// Threads that went to the trap entry since reset, modulo 2^32.
    #[register("FAULT_TRAPS", 0x3bc)]
    pub trapped: ReadOnly<32>,
}

/// The unit of these registers: a write of SPAWN_DATA reaches the hardware in the cycle of its
/// access, which waits for stores of the command processor to descriptors.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(config: &Config)]
pub struct SpawnRegisters {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus.
    pub answer: RegisterAnswer,
    /// To the thread spawner.
    pub hardware: Flipped<SpawnControl>,
    #[init(<SpawnAccess as RegisterBlock>::unit(config))]
    decoder: SpawnDecoder,
}

impl SpawnRegisters {
    /// The registers of an array with this configuration.
    pub fn new(config: &Config) -> Self {
        Self::wired(config)
    }
}

impl RegisterBlock for SpawnControl {
    type Unit = SpawnRegisters;
    const PART: Part = SpawnAccess::PART;
    const REGISTERS: &'static [RegisterSpec] = SpawnAccess::REGISTERS;
    fn unit(config: &Config) -> SpawnRegisters {
        SpawnRegisters::new(config)
    }
}

impl Logic for SpawnRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.decoder.request);
        self.answer.known.next = self.decoder.answer.known.val();
        self.answer.value.next = self.decoder.answer.value.val();
        self.answer.delay.next = self.decoder.hardware.data.val() & self.hardware.spawner.waits.val();
        self.hardware.spawner.enable.next = self.decoder.hardware.enable.val();
        self.hardware.mcw.next = self.decoder.hardware.mcw.val();
        self.hardware.watchdog.next = self.decoder.hardware.watchdog.val();
        self.hardware.spawner.slot.next = self.decoder.hardware.slot.val();
        self.hardware.spawner.word.next = self.decoder.hardware.word.val();
        self.hardware.spawner.write.next = self.decoder.hardware.data.val();
        self.hardware.spawner.value.next = self.request.data.val() & self.request.mask.val();
        self.decoder.hardware.base.next = self.hardware.spawner.base.val();
        self.decoder.hardware.busy.next = self.hardware.spawner.busy.val();
        self.decoder.hardware.warps.next = self.hardware.spawner.warps.val();
        self.decoder.hardware.jobs.next = self.hardware.spawner.jobs.val();
        self.decoder.hardware.overruns.next = self.hardware.spawner.overruns.val();
        self.decoder.hardware.rejected.next = self.hardware.spawner.rejected.val();
        self.decoder.hardware.fault_job.next = self.hardware.fault_job.val();
        self.hardware.traps.page.next = self.decoder.hardware.trap_page.val();
        self.hardware.traps.spawned.next = self.decoder.hardware.trap_spawned.val();
        self.hardware.traps.packets.next = self.decoder.hardware.trap_packets.val();
        self.hardware.traps.causes.next = self.decoder.hardware.trap_causes.val();
        self.decoder.hardware.trapped.next = self.hardware.trapped.val();
    }
}
