//! Stages S and C: choose a warp and fetch its context.

use super::WarpScheduler;
use crate::prelude::*;

/// The scheduler with the contexts of the warps: running PC, call depth, running and living lanes, first packetIdx.
///
/// Stage S chooses a warp and addresses the context memories; stage C looks up the instruction; the outputs
/// `decode_*` are the registers of stage D. A warp's context is written by `context_write` when the path of its next
/// instruction is known; that of a fresh warp follows from its start alone. The ports of [`WarpScheduler`] that have
/// the same names here are passed through.
#[derive(LogicBlock)]
pub struct FrontEnd<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Stages S, C and D move on at this edge.
    pub advance: Signal<In, Bit>,
    /// From warp issue: a warp starts.
    pub start_valid: Signal<In, Bit>,
    /// From warp issue: its slot.
    pub start_slot: Signal<In, Bits<5>>,
    /// From warp issue: packetIdx of lane 0.
    pub start_packet: Signal<In, Bits<32>>,
    /// From warp issue: number of threads, 1 to `LANES`.
    pub start_count: Signal<In, Bits<6>>,
    /// From stage D: the instruction in stage D missed in the cache.
    pub miss_valid: Signal<In, Bit>,
    /// From the instruction cache.
    pub filled: Signal<In, Bit>,
    /// From stage W.
    pub resume_valid: Signal<In, Bit>,
    /// From stage W.
    pub resume_slot: Signal<In, Bits<5>>,
    /// From stage W.
    pub memory_valid: Signal<In, Bit>,
    /// From stage W.
    pub ended_valid: Signal<In, Bit>,
    /// From path selection.
    pub path_valid: Signal<In, Bit>,
    /// From path selection.
    pub path_slot: Signal<In, Bits<5>>,
    /// From the load/store unit.
    pub loaded_valid: Signal<In, Bit>,
    /// From the load/store unit.
    pub loaded_slot: Signal<In, Bits<5>>,
    /// From the load/store unit.
    pub stored_valid: Signal<In, Bit>,
    /// From the load/store unit.
    pub stored_slot: Signal<In, Bits<5>>,
    /// A context is written at this edge.
    pub context_write: Signal<In, Bit>,
    /// Its slot.
    pub context_slot: Signal<In, Bits<5>>,
    /// Next PC, bits 31:2.
    pub context_pc: Signal<In, Bits<30>>,
    /// Call depth there.
    pub context_depth: Signal<In, Bits<6>>,
    /// Lanes that run.
    pub context_active: Signal<In, Bits<LANES>>,
    /// Lanes that have not ended.
    pub context_alive: Signal<In, Bits<LANES>>,
    /// To the instruction cache: look up (stage C).
    pub lookup_enable: Signal<Out, Bit>,
    /// To the instruction cache: slot of the lookup.
    pub lookup_slot: Signal<Out, Bits<5>>,
    /// To the instruction cache: address of the instruction, bits 31:2.
    pub lookup_word: Signal<Out, Bits<30>>,
    /// Stage D holds an instruction.
    pub decode_valid: Signal<Out, Bit>,
    /// Its slot.
    pub decode_slot: Signal<Out, Bits<5>>,
    /// Its PC, bits 31:2.
    pub decode_pc: Signal<Out, Bits<30>>,
    /// It stands in the boot region and does not come from the cache.
    pub decode_boot: Signal<Out, Bit>,
    /// Its call depth.
    pub decode_depth: Signal<Out, Bits<6>>,
    /// Lanes that run it.
    pub decode_active: Signal<Out, Bits<LANES>>,
    /// Lanes of the warp that have not ended.
    pub decode_alive: Signal<Out, Bits<LANES>>,
    /// packetIdx of lane 0.
    pub decode_packet: Signal<Out, Bits<32>>,
    /// To the DCQ: a warp finished.
    pub finish_valid: Signal<Out, Bit>,
    /// From the DCQ.
    pub finish_ready: Signal<In, Bit>,
    /// To the DCQ: its slot.
    pub finish_slot: Signal<Out, Bits<5>>,
    /// At least one warp is on the core.
    pub occupied: Signal<Out, Bit>,
    /// A warp issues in this cycle.
    pub issued: Signal<Out, Bit>,
    scheduler: WarpScheduler,
    start: RamSync<Bits<38>, 5>,
    path: RamSync<Bits<36>, 5>,
    active: RamSync<Bits<LANES>, 5>,
    alive: RamSync<Bits<LANES>, 5>,
    context_valid: Register<Bit>,
    context_held_slot: Register<Bits<5>>,
    context_fresh: Register<Bit>,
    decode_valid_q: Register<Bit>,
    decode_slot_q: Register<Bits<5>>,
    decode_pc_q: Register<Bits<30>>,
    decode_boot_q: Register<Bit>,
    decode_depth_q: Register<Bits<6>>,
    decode_active_q: Register<Bits<LANES>>,
    decode_alive_q: Register<Bits<LANES>>,
    decode_packet_q: Register<Bits<32>>,
    all_lanes: Constant<Bits<LANES>>,
    lanes: Constant<Bits<6>>,
    pc: Signal<Local, Bits<30>>,
    depth: Signal<Local, Bits<6>>,
    running: Signal<Local, Bits<LANES>>,
    living: Signal<Local, Bits<LANES>>,
    boot: Signal<Local, Bit>,
}

impl<const LANES: usize> Default for FrontEnd<LANES> {
    fn default() -> Self {
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            advance: Signal::default(),
            start_valid: Signal::default(),
            start_slot: Signal::default(),
            start_packet: Signal::default(),
            start_count: Signal::default(),
            miss_valid: Signal::default(),
            filled: Signal::default(),
            resume_valid: Signal::default(),
            resume_slot: Signal::default(),
            memory_valid: Signal::default(),
            ended_valid: Signal::default(),
            path_valid: Signal::default(),
            path_slot: Signal::default(),
            loaded_valid: Signal::default(),
            loaded_slot: Signal::default(),
            stored_valid: Signal::default(),
            stored_slot: Signal::default(),
            context_write: Signal::default(),
            context_slot: Signal::default(),
            context_pc: Signal::default(),
            context_depth: Signal::default(),
            context_active: Signal::default(),
            context_alive: Signal::default(),
            lookup_enable: Signal::default(),
            lookup_slot: Signal::default(),
            lookup_word: Signal::default(),
            decode_valid: Signal::default(),
            decode_slot: Signal::default(),
            decode_pc: Signal::default(),
            decode_boot: Signal::default(),
            decode_depth: Signal::default(),
            decode_active: Signal::default(),
            decode_alive: Signal::default(),
            decode_packet: Signal::default(),
            finish_valid: Signal::default(),
            finish_ready: Signal::default(),
            finish_slot: Signal::default(),
            occupied: Signal::default(),
            issued: Signal::default(),
            scheduler: WarpScheduler::default(),
            start: RamSync::default(),
            path: RamSync::default(),
            active: RamSync::default(),
            alive: RamSync::default(),
            context_valid: Register::default(),
            context_held_slot: Register::default(),
            context_fresh: Register::default(),
            decode_valid_q: Register::default(),
            decode_slot_q: Register::default(),
            decode_pc_q: Register::default(),
            decode_boot_q: Register::default(),
            decode_depth_q: Register::default(),
            decode_active_q: Register::default(),
            decode_alive_q: Register::default(),
            decode_packet_q: Register::default(),
            all_lanes: Constant::new(Bits::<LANES>::mask()),
            lanes: Constant::new((LANES as u64).into()),
            pc: Signal::default(),
            depth: Signal::default(),
            running: Signal::default(),
            living: Signal::default(),
            boot: Signal::default(),
        }
    }
}

impl<const LANES: usize> Logic for FrontEnd<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            context_valid,
            context_held_slot,
            context_fresh,
            decode_valid_q,
            decode_slot_q,
            decode_pc_q,
            decode_boot_q,
            decode_depth_q,
            decode_active_q,
            decode_alive_q,
            decode_packet_q
        );
        clock!(self, clock, scheduler);
        self.start.clock.next = self.clock.val();
        self.path.clock.next = self.clock.val();
        self.active.clock.next = self.clock.val();
        self.alive.clock.next = self.clock.val();

        self.scheduler.start_valid.next = self.start_valid.val();
        self.scheduler.start_slot.next = self.start_slot.val();
        self.scheduler.advance.next = self.advance.val();
        self.scheduler.miss_valid.next = self.miss_valid.val();
        self.scheduler.miss_slot.next = self.decode_slot_q.q.val();
        self.scheduler.filled.next = self.filled.val();
        self.scheduler.resume_valid.next = self.resume_valid.val();
        self.scheduler.resume_slot.next = self.resume_slot.val();
        self.scheduler.memory_valid.next = self.memory_valid.val();
        self.scheduler.ended_valid.next = self.ended_valid.val();
        self.scheduler.path_valid.next = self.path_valid.val();
        self.scheduler.path_slot.next = self.path_slot.val();
        self.scheduler.loaded_valid.next = self.loaded_valid.val();
        self.scheduler.loaded_slot.next = self.loaded_slot.val();
        self.scheduler.stored_valid.next = self.stored_valid.val();
        self.scheduler.stored_slot.next = self.stored_slot.val();
        self.finish_valid.next = self.scheduler.finish_valid.val();
        self.finish_slot.next = self.scheduler.finish_slot.val();
        self.scheduler.finish_ready.next = self.finish_ready.val();
        self.occupied.next = self.scheduler.occupied.val();
        self.issued.next = self.scheduler.issue_valid.val() & self.advance.val();

        // S: context memories
        self.start.write_enable.next = self.start_valid.val();
        self.start.write_address.next = self.start_slot.val();
        self.start.write_data.next = (bit_cast::<38, 6>(self.start_count.val()) << bits::<6>(32))
            | bit_cast::<38, 32>(self.start_packet.val());
        self.start.read_enable.next = self.advance.val();
        self.start.read_address.next = self.scheduler.issue_slot.val();
        self.path.write_enable.next = self.context_write.val();
        self.path.write_address.next = self.context_slot.val();
        self.path.write_data.next = (bit_cast::<36, 6>(self.context_depth.val()) << bits::<6>(30))
            | bit_cast::<36, 30>(self.context_pc.val());
        self.path.read_enable.next = self.advance.val();
        self.path.read_address.next = self.scheduler.issue_slot.val();
        self.active.write_enable.next = self.context_write.val();
        self.active.write_address.next = self.context_slot.val();
        self.active.write_data.next = self.context_active.val();
        self.active.read_enable.next = self.advance.val();
        self.active.read_address.next = self.scheduler.issue_slot.val();
        self.alive.write_enable.next = self.context_write.val();
        self.alive.write_address.next = self.context_slot.val();
        self.alive.write_data.next = self.context_alive.val();
        self.alive.read_enable.next = self.advance.val();
        self.alive.read_address.next = self.scheduler.issue_slot.val();
        if self.advance.val() {
            self.context_valid.d.next = self.scheduler.issue_valid.val();
            self.context_held_slot.d.next = self.scheduler.issue_slot.val();
            self.context_fresh.d.next = self.scheduler.issue_fresh.val();
        }

        // C: context and instruction lookup
        self.pc.next = self.path.read_data.val().get_bits::<30>(0);
        self.depth.next = self.path.read_data.val().get_bits::<6>(30);
        self.running.next = self.active.read_data.val();
        self.living.next = self.alive.read_data.val();
        if self.context_fresh.q.val() {
            // BOOT_ADDRESS
            self.pc.next = bits::<30>(0x3fff_ffc0);
            self.depth.next = bits::<6>(0);
            self.running.next =
                self.all_lanes.val() >> (self.lanes.val() - self.start.read_data.val().get_bits::<6>(32));
            self.living.next = self.running.val();
        }
        self.boot.next = self.pc.val().get_bits::<24>(6) == bits::<24>(0xff_ffff);
        self.lookup_enable.next = self.context_valid.q.val() & !self.boot.val() & self.advance.val();
        self.lookup_slot.next = self.context_held_slot.q.val();
        self.lookup_word.next = self.pc.val();
        if self.advance.val() {
            self.decode_valid_q.d.next = self.context_valid.q.val();
            self.decode_slot_q.d.next = self.context_held_slot.q.val();
            self.decode_pc_q.d.next = self.pc.val();
            self.decode_boot_q.d.next = self.boot.val();
            self.decode_depth_q.d.next = self.depth.val();
            self.decode_active_q.d.next = self.running.val();
            self.decode_alive_q.d.next = self.living.val();
            self.decode_packet_q.d.next = self.start.read_data.val().get_bits::<32>(0);
        }

        // D
        self.decode_valid.next = self.decode_valid_q.q.val();
        self.decode_slot.next = self.decode_slot_q.q.val();
        self.decode_pc.next = self.decode_pc_q.q.val();
        self.decode_boot.next = self.decode_boot_q.q.val();
        self.decode_depth.next = self.decode_depth_q.q.val();
        self.decode_active.next = self.decode_active_q.q.val();
        self.decode_alive.next = self.decode_alive_q.q.val();
        self.decode_packet.next = self.decode_packet_q.q.val();
    }
}
