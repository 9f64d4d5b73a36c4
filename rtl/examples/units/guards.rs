//! What guards a network function in a core, for proofs: a few units connected as `ShaderCore`
//! connects them.

use hermes_hdl::prelude::*;
use hermes_rtl::config::CoreOptions;
use hermes_rtl::core::{AccessWindow, AddressRegion, DecodeStage};
use hermes_rtl::functions::{FetchWindow, PacketWindow};

/// A core with network functions.
fn with_functions() -> CoreOptions {
    CoreOptions { local_window: true, network_functions: 2, ..CoreOptions::default() }
}

/// Finds whether a lane's address is in the packets of its warp.
///
/// `packet` and `count` belong to stage I, `store` and `immediate` to stage R, `operand` and
/// `is_inside` to stage X. The other window is closed.
#[clocked]
#[derive(LogicBlock)]
pub struct PacketCheck {
    /// The stages advance at this edge.
    pub advance: Signal<In, Bit>,
    /// RING_BASE register.
    pub ring_base: Signal<In, Bits<32>>,
    /// RING_SLOTS_LOG2 register.
    pub ring_slots_log2: Signal<In, Bits<5>>,
    /// SLOT_BYTES_LOG2 register.
    pub slot_bytes_log2: Signal<In, Bits<5>>,
    /// The function may load from packets.
    pub may_load: Signal<In, Bit>,
    /// It may store to them.
    pub may_store: Signal<In, Bit>,
    /// packetIdx of lane 0.
    pub packet: Signal<In, Bits<32>>,
    /// Packets of the warp.
    pub count: Signal<In, Bits<6>>,
    /// The instruction stores.
    pub store: Signal<In, Bit>,
    /// Its immediate.
    pub immediate: Signal<In, Bits<32>>,
    /// The lane's operand.
    pub operand: Signal<In, Bits<32>>,
    /// The lane may access the sum of both.
    pub is_inside: Signal<Out, Bit>,
    packets: PacketWindow,
    #[init(AccessWindow::new(true))]
    window: AccessWindow,
    region: AddressRegion,
    immediate_x: Register<Bits<32>>,
}

impl Logic for PacketCheck {
    #[hdl_gen]
    fn update(&mut self) {
        self.packets.advance.next = self.advance.val();
        self.packets.ring.ring_base.next = self.ring_base.val();
        self.packets.ring.ring_slots_log2.next = self.ring_slots_log2.val();
        self.packets.ring.slot_bytes_log2.next = self.slot_bytes_log2.val();
        self.packets.guards.guarded.next = true;
        self.packets.guards.may_load.next = self.may_load.val();
        self.packets.guards.may_store.next = self.may_store.val();
        self.packets.guards.may_reserve.next = false;
        self.packets.guards.keeps_verdict.next = false;
        self.packets.packet.next = self.packet.val();
        self.packets.count.next = self.count.val();
        connect!(self.packets.bounds, *self.window.packets);
        self.window.advance.next = self.advance.val();
        self.window.store.next = self.store.val();
        self.window.immediate.next = self.immediate.val();
        self.window.read_base.next = bits::<26>(0);
        self.window.read_size.next = bits::<26>(0x3ff_ffff);
        self.window.write_base.next = bits::<26>(0);
        self.window.write_size.next = bits::<26>(0x3ff_ffff);
        if self.advance.val() {
            self.immediate_x.d.next = self.immediate.val();
        }
        let sum = bit_cast::<33, 32>(self.operand.val()) + bit_cast::<33, 32>(self.immediate_x.q.val());
        let low_sum =
            (self.operand.val().get_bits::<7>(0) & 0x3f) + (self.immediate_x.q.val().get_bits::<7>(0) & 0x3f);
        self.region.enable.next = true;
        self.region.block.next = sum.get_bits::<18>(14);
        self.region.operand.next = self.operand.val().get_bits::<26>(6);
        self.region.low_carry.next = low_sum.get_bit(6);
        self.region.carry.next = sum.get_bit(32);
        self.region.from_base[0].next = self.window.distance.from_base.val();
        self.region.from_end[0].next = self.window.distance.from_end.val();
        self.region.from_base[1].next = bits::<27>(0);
        self.region.from_end[1].next = bits::<27>(0);
        self.is_inside.next = self.region.window.val();
    }
}

/// The fetch window with stage D behind it; of stage R what follows from it.
#[clocked]
#[derive(LogicBlock)]
pub struct FetchCheck {
    /// The stages advance at this edge.
    pub advance: Signal<In, Bit>,
    /// The function is guarded.
    pub guarded: Signal<In, Bit>,
    /// First line of read window 1.
    pub base: Signal<In, Bits<26>>,
    /// Its lines.
    pub size: Signal<In, Bits<26>>,
    /// PC in stage I, bits 31:2.
    pub fetched_pc: Signal<In, Bits<30>>,
    /// It is in the boot region.
    pub fetched_boot: Signal<In, Bit>,
    /// The cache has the instruction.
    pub cached_hit: Signal<In, Bit>,
    /// The instruction.
    pub cached_word: Signal<In, Bits<32>>,
    /// Memory could not read it.
    pub cached_error: Signal<In, Bit>,
    /// Stage D holds an instruction.
    pub valid: Signal<In, Bit>,
    /// A hazard blocks it.
    pub blocked: Signal<In, Bit>,
    /// It waits.
    pub waits: Signal<In, Bit>,
    /// A load failed.
    pub load_error: Signal<In, Bit>,
    /// The watchdog ends the warp.
    pub overdue: Signal<In, Bit>,
    /// To the cache: a miss of the instruction in stage D starts a fill.
    pub wanted: Signal<Out, Bit>,
    /// It missed, and will be replayed.
    pub misses: Signal<Out, Bit>,
    /// An instruction entered stage R.
    pub entered: Signal<Out, Bit>,
    /// It is a load.
    pub load: Signal<Out, Bit>,
    /// It is a store.
    pub store: Signal<Out, Bit>,
    /// Its lanes fault.
    pub fault: Signal<Out, Bit>,
    /// The cause.
    pub cause: Signal<Out, Bits<5>>,
    window: FetchWindow,
    #[init(DecodeStage::new(2, with_functions()))]
    decode: DecodeStage,
    pc_d: Register<Bits<30>>,
    boot_d: Register<Bit>,
}

impl Logic for FetchCheck {
    #[hdl_gen]
    fn update(&mut self) {
        self.window.guarded.next = self.guarded.val();
        self.window.base.next = self.base.val();
        self.window.size.next = self.size.val();
        self.window.fetched.pc.next = self.fetched_pc.val();
        self.window.fetched.boot.next = self.fetched_boot.val();
        self.decode.outside.next = self.window.outside.val();
        self.decode.may_reserve.next = false;
        self.decode.advance.next = self.advance.val();
        self.decode.fetched.pc.next = self.fetched_pc.val();
        self.decode.fetched.boot.next = self.fetched_boot.val();
        self.decode.cached.hit.next = self.cached_hit.val();
        self.decode.cached.word.next = self.cached_word.val();
        self.decode.cached.error.next = self.cached_error.val();
        if self.advance.val() {
            self.pc_d.d.next = self.fetched_pc.val();
            self.boot_d.d.next = self.fetched_boot.val();
        }
        self.decode.instruction.valid.next = self.valid.val();
        self.decode.instruction.slot.next = bits::<5>(0);
        self.decode.instruction.packet.next = bits::<32>(0);
        self.decode.instruction.pc.next = self.pc_d.q.val();
        self.decode.instruction.boot.next = self.boot_d.q.val();
        self.decode.instruction.meets.next = false;
        self.decode.instructions.next = bits::<32>(0);
        self.decode.blocked.next = self.blocked.val();
        self.decode.waits.next = self.waits.val();
        self.decode.forward.rs1_in_read.next = false;
        self.decode.forward.rs2_in_read.next = false;
        self.decode.forward.rs1_in_execute.next = false;
        self.decode.forward.rs1_in_write.next = false;
        self.decode.forward.rs2_in_execute.next = false;
        self.decode.forward.rs2_in_write.next = false;
        self.decode.flush.valid.next = false;
        self.decode.flush.slot.next = bits::<5>(0);
        self.decode.load_error.next = self.load_error.val();
        self.decode.overdue.next = self.overdue.val();
        self.decode.aes_enabled.next = false;
        self.decode.atomics_enabled.next = true;
        self.decode.core.next = bits::<5>(0);
        self.decode.cycle.next = bits::<64>(0);
        self.decode.setup.kernel_entry.next = bits::<32>(0);
        self.decode.setup.kernel_class.next = false;
        self.decode.setup.ring_base.next = bits::<32>(0);
        self.decode.setup.ring_slots_log2.next = bits::<5>(0);
        self.decode.setup.slot_bytes_log2.next = bits::<5>(0);
        self.decode.setup.verdict_base.next = bits::<32>(0);
        self.decode.setup.argument.next = bits::<32>(0);
        self.decode.setup.stack_base.next = bits::<32>(0);
        self.decode.setup.stack_bytes_log2.next = bits::<5>(0);
        self.wanted.next = self.valid.val() & !self.boot_d.q.val() & !self.decode.refused.val();
        self.misses.next = self.decode.misses.val();
        self.entered.next = self.decode.entered.val();
        self.load.next = self.decode.read.load.val();
        self.store.next = self.decode.read.store.val();
        self.fault.next = self.decode.read.fault.val();
        self.cause.next = self.decode.read.cause.val();
    }
}
