//! Network functions: contexts, cores, chains and counters.

use super::{Part, RegisterBlock, RegisterSpec};
use crate::config::Config;
use crate::ports::{FunctionGuards, RegisterAnswer, RegisterRequest};
use crate::types::FunctionIndex;
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// Network functions that a chain can have; an array has fewer of them or as many.
pub const MOST_FUNCTIONS: usize = 8;

/// Between the registers and the contexts of the network functions.
#[derive(Ports)]
pub struct ContextAccess {
    /// Function whose context is accessed.
    pub function: Signal<In, FunctionIndex>,
    /// Number of the word in the context: that of NF_ENTRY is 0, of NF_ARGUMENT 1 and so on.
    pub word: Signal<In, Bits<4>>,
    /// The word is written at this edge.
    pub write: Signal<In, Bit>,
    /// Value to write.
    pub data: Signal<In, Bits<32>>,
    /// The bits to write.
    pub mask: Signal<In, Bits<32>>,
    /// The word as it stands, in the same cycle.
    pub value: Signal<Out, Bits<32>>,
}

/// Which core belongs to which network function.
#[derive(Ports)]
pub struct CoreAssignment {
    /// CORE_NF registers: 4 bits a core, core 0 lowest; 8 to 15, or a function that the array does
    /// not have: none.
    pub wanted: Signal<In, Bits<128>>,
    /// A bit a core: it has the function of CORE_NF.
    pub ready: Signal<Out, Bits<32>>,
}

/// Where packets go from one network function to the next.
#[derive(Ports)]
pub struct ChainControl {
    /// Warps of packets that may be in flight; 0: as many as the delay commit queue has entries.
    pub limit: Signal<In, Bits<11>>,
    /// Function that new packets go to.
    pub entry: Signal<In, FunctionIndex>,
    /// NF_NEXT registers, a bit a function: its packets go on.
    pub goes_on: Signal<In, Bits<8>>,
    /// NF_NEXT registers, 3 bits a function: where to.
    pub targets: Signal<In, Bits<24>>,
}

/// Counters of the network function that NF_SELECT names.
#[derive(Ports)]
pub struct FunctionCounts {
    /// NF_SELECT register.
    pub select: Signal<In, FunctionIndex>,
    /// Warps that wait for the function.
    pub queued: Signal<Out, Bits<11>>,
    /// Most warps that waited at a time, since reset.
    pub peak: Signal<Out, Bits<11>>,
    /// Warps started, modulo 2^32.
    pub visits: Signal<Out, Bits<32>>,
    /// Packets of these warps, modulo 2^32.
    pub lanes: Signal<Out, Bits<32>>,
    /// Packets that it forwarded, modulo 2^32.
    pub forwarded: Signal<Out, Bits<32>>,
    /// Packets that it dropped, those of threads that ended with a fault among them, modulo 2^32.
    pub dropped: Signal<Out, Bits<32>>,
    /// Threads that ended with a fault, modulo 2^32.
    pub faulted: Signal<Out, Bits<32>>,
}

/// What the registers and the network functions exchange.
#[derive(Ports)]
pub struct FunctionControl {
    /// To and from the table of contexts.
    pub context: ContextAccess,
    /// To and from the owner of the cores.
    pub cores: CoreAssignment,
    /// To the control path.
    pub chain: ChainControl,
    /// To the contexts of the cores: what NF 0 may do.
    pub first_guards: Flipped<FunctionGuards>,
    /// From the counters.
    pub counts: FunctionCounts,
    /// From the fault collector: function of the warp of the oldest fault record, 0 if there is no
    /// record.
    pub fault_function: Signal<Out, FunctionIndex>,
}

/// Value of the NF_CONFIG register.
#[must_use]
pub fn sizes(config: &Config) -> u32 {
    config.network_functions as u32 | u32::from(config.function_branches) << 8
}

/// The registers of [`FunctionControl`].
#[register_block(FunctionDecoder, part = NetworkFunctions)]
pub struct FunctionAccess {
    /// Oldest fault record: cause (RISC-V privileged specification; 24: the watchdog) in bits 4:0,
    /// core in bits 12:8, with network functions the function of the warp in bits 15:13, warp slot
    /// in bits 20:16, faulting threads of the warp in bits 29:24.
    #[register("FAULT_INFO", 0x064)]
    #[fields(fault_function[15:13])]
    #[beside(cause[4:0], core[12:8], slot[20:16], threads[29:24])]
    pub info: ReadOnly<32>,
    /// Network functions (NFs) that the array has in bits 3:0; they have the numbers from 0 on. Bit
    /// 8: packets can branch by their verdicts.
    #[register("NF_CONFIG", 0x500, value = sizes(config))]
    #[fields(functions[3:0], branches[8])]
    pub config: Fixed<9>,
    /// NF whose context, successor and counters stand in the registers NF_ENTRY to NF_FAULTED.
    #[register("NF_SELECT", 0x504)]
    pub select: ReadWrite<3>,
    /// Bits 10:0: most warps of packets in flight, from their first start to their commit; 0: as
    /// many as there is room for. Bits 18:16: NF that new packets go to.
    #[register("CHAIN_CONTROL", 0x508, reserved = 0xf800)]
    #[fields(limit[10:0], entry[18:16])]
    pub chain: ReadWrite<19>,
    /// A bit a core: it has the NF that CORE_NF says, and its warps may start.
    #[register("CORE_READY", 0x50c, reset = u32::MAX >> (32 - config.cores))]
    pub ready: ReadOnly<32>,
    /// NF of cores 0 to 7, 4 bits each, core 0 lowest; a number that is none of an NF: no NF. A
    /// core whose number changes starts no warp, drains, is cleared, drops its caches and goes on
    /// with the context of the new NF.
    #[register("CORE_NF_0", 0x510)]
    pub wanted_0: ReadWrite<32>,
    /// NF of cores 8 to 15, as CORE_NF_0.
    #[register("CORE_NF_1", 0x514)]
    pub wanted_1: ReadWrite<32>,
    /// NF of cores 16 to 23, as CORE_NF_0.
    #[register("CORE_NF_2", 0x518)]
    pub wanted_2: ReadWrite<32>,
    /// NF of cores 24 to 31, as CORE_NF_0.
    #[register("CORE_NF_3", 0x51c)]
    pub wanted_3: ReadWrite<32>,
    /// Address of the first instruction of the selected NF, as KERNEL_ENTRY. NF 0 has KERNEL_ENTRY
    /// itself, and so with the other words of its context: here they read 0, and cannot be written,
    /// but for bits 5:1 of NF_FLAGS.
    #[register("NF_ENTRY", 0x520, access = ReadWrite, unset = "it is kept in memory")]
    #[state(entry_value[31:0])]
    pub entry_write: Strobe<32>,
    /// Address of the argument block of the selected NF, as ARGUMENT.
    #[register("NF_ARGUMENT", 0x524, access = ReadWrite, unset = "it is kept in memory")]
    #[state(argument_value[31:0])]
    pub argument_write: Strobe<32>,
    /// Bit 0: registers of the kernel of the selected NF, as KERNEL_CLASS. Bit 1: the NF is
    /// guarded: its window 0 is the packets of the warp, and it fetches instructions from its read
    /// window 1 alone. Bit 2: it may load from window 0. Bit 3: it may store to window 0. Bit 4: it
    /// may use `lr.w`. Bit 5: its threads that forward their packets store no verdict: that of the
    /// NF before stands. Of NF 0 bits 5:1 are kept here, 01110 after a reset.
    #[register("NF_FLAGS", 0x528, access = ReadWrite, unset = "it is kept in memory")]
    #[state(class[0], guarded[1], may_load[2], may_store[3], may_reserve[4], keeps_verdict[5])]
    pub flags_write: Strobe<6>,
    /// Address of the stack area of the selected NF, as STACK_BASE.
    #[register("NF_STACK_BASE", 0x52c, access = ReadWrite, unset = "it is kept in memory")]
    #[state(stack_value[31:0])]
    pub stack_write: Strobe<32>,
    /// First byte that the selected NF may load from beside window 0, as READ_WINDOW_1_BASE.
    #[register("NF_READ_BASE", 0x530, access = ReadWrite, unset = "it is kept in memory")]
    #[state(read_base_value[31:0])]
    pub read_base_write: Strobe<32>,
    /// Bytes of this window, as READ_WINDOW_1_SIZE.
    #[register("NF_READ_SIZE", 0x534, access = ReadWrite, unset = "it is kept in memory")]
    #[state(read_size_value[31:0])]
    pub read_size_write: Strobe<32>,
    /// First byte that the selected NF may store to beside window 0, as WRITE_WINDOW_1_BASE.
    #[register("NF_WRITE_BASE", 0x538, access = ReadWrite, unset = "it is kept in memory")]
    #[state(write_base_value[31:0])]
    pub write_base_write: Strobe<32>,
    /// Bytes of this window, as WRITE_WINDOW_1_SIZE.
    #[register("NF_WRITE_SIZE", 0x53c, access = ReadWrite, unset = "it is kept in memory")]
    #[state(write_size_value[31:0])]
    pub write_size_write: Strobe<32>,
    /// Cycles that a warp of the selected NF may be on a core, as WATCHDOG.
    #[register("NF_WATCHDOG", 0x540, access = ReadWrite, unset = "it is kept in memory")]
    #[state(watchdog_value[30:0])]
    pub watchdog_write: Strobe<31>,
    /// Most warps of the selected NF on a core at a time, as MCW.
    #[register("NF_MCW", 0x544, access = ReadWrite, unset = "it is kept in memory")]
    #[state(mcw_value[5:0])]
    pub mcw_write: Strobe<6>,
    /// Bit 3: the packets that the selected NF forwards go on, to the NF in bits 2:0; 0: they leave
    /// the chain. With branches: but for ports with an edge of their own in NF_NEXT_PORTS. A value
    /// with an NF that is not above the selected one, or that the array does not have, is kept as
    /// 0.
    #[register("NF_NEXT", 0x548, access = ReadWrite)]
    #[state(next_value[3:0])]
    pub next_write: Strobe<4>,
    /// Warps that wait for the selected NF, without those of new packets.
    #[register("NF_QUEUED", 0x560)]
    pub queued: ReadOnly<11>,
    /// Most warps that waited for the selected NF at a time, since reset.
    #[register("NF_PEAK", 0x564)]
    pub peak: ReadOnly<11>,
    /// Warps of the selected NF that were started, modulo 2^32.
    #[register("NF_VISITS", 0x568)]
    pub visits: ReadOnly<32>,
    /// Packets of these warps, modulo 2^32: NF_FORWARDED, NF_DROPPED and those that run.
    #[register("NF_LANES", 0x56c)]
    pub lanes: ReadOnly<32>,
    /// Packets that the selected NF forwarded, modulo 2^32.
    #[register("NF_FORWARDED", 0x570)]
    pub forwarded: ReadOnly<32>,
    /// Packets that the selected NF did not forward, for a fault too, modulo 2^32.
    #[register("NF_DROPPED", 0x574)]
    pub dropped: ReadOnly<32>,
    /// Threads of the selected NF that ended with a fault, modulo 2^32.
    #[register("NF_FAULTED", 0x578)]
    pub faulted: ReadOnly<32>,
}

/// The unit of these registers: a write of a word of a context reaches the table in the cycle of
/// its access. It keeps NF_NEXT, and NF_FLAGS of NF 0.
#[clocked("no packets go on")]
#[derive(Clone, LogicBlock)]
#[new(config: &Config, functions: usize)]
pub struct FunctionRegisters {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus.
    pub answer: RegisterAnswer,
    /// To and from the network functions.
    pub hardware: Flipped<FunctionControl>,
    #[init(<FunctionAccess as RegisterBlock>::unit(config))]
    decoder: FunctionDecoder,
    /// NF_FLAGS of NF 0, bits 5:1, as they differ from those after a reset.
    first_guards: Register<Bits<5>>,
    #[count(functions)]
    goes_on: Vec<Register<Bit>>,
    #[count(functions)]
    target: Vec<Register<FunctionIndex>>,
    #[init((0..functions as u64).map(|i| Constant::new(i.into())).collect())]
    index: Vec<Constant<FunctionIndex>>,
    #[init(Constant::new((functions as u64 - 1).into()))]
    last: Constant<FunctionIndex>,
    #[init(functions)]
    _functions: usize,
}

impl FunctionRegisters {
    /// The registers of an array with this configuration.
    pub fn new(config: &Config) -> Self {
        // No array without network functions has them.
        Self::wired(config, config.network_functions.max(2))
    }
}

impl RegisterBlock for FunctionControl {
    type Unit = FunctionRegisters;
    const PART: Part = FunctionAccess::PART;
    const REGISTERS: &'static [RegisterSpec] = FunctionAccess::REGISTERS;
    fn unit(config: &Config) -> FunctionRegisters {
        FunctionRegisters::new(config)
    }
}

impl Logic for FunctionRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.decoder.request);
        connect!(self.answer, self.decoder.answer);
        let select = self.decoder.hardware.select.val();
        let not_first = select.any();

        // The context of the selected function: the word by bits 5:2 of the offset
        let mut value = bits::<32>(0);
        if not_first {
            value = self.hardware.context.value.val();
        }
        self.decoder.hardware.entry_value.next = value;
        self.decoder.hardware.argument_value.next = value;
        // Of NF 0: bits 5:1 of its flags
        let first_flags = bit_cast::<6, 5>(self.first_guards.q.val() ^ bits::<5>(14)) << bits::<3>(1);
        let mut flags = first_flags;
        if not_first {
            flags = value.get_bits::<6>(0);
        }
        let written = self.request.data.val() & self.request.mask.val();
        if self.decoder.hardware.flags_write.val() & !not_first {
            self.first_guards.d.next = ((first_flags & !self.request.mask.val().get_bits::<6>(0))
                | written.get_bits::<6>(0))
            .get_bits::<5>(1)
                ^ bits::<5>(14);
        }
        self.hardware.first_guards.guarded.next = first_flags.get_bit(1);
        self.hardware.first_guards.may_load.next = first_flags.get_bit(2);
        self.hardware.first_guards.may_store.next = first_flags.get_bit(3);
        self.hardware.first_guards.may_reserve.next = first_flags.get_bit(4);
        self.hardware.first_guards.keeps_verdict.next = first_flags.get_bit(5);
        self.decoder.hardware.class.next = flags.get_bit(0);
        self.decoder.hardware.guarded.next = flags.get_bit(1);
        self.decoder.hardware.may_load.next = flags.get_bit(2);
        self.decoder.hardware.may_store.next = flags.get_bit(3);
        self.decoder.hardware.may_reserve.next = flags.get_bit(4);
        self.decoder.hardware.keeps_verdict.next = flags.get_bit(5);
        self.decoder.hardware.stack_value.next = value;
        self.decoder.hardware.read_base_value.next = value;
        self.decoder.hardware.read_size_value.next = value;
        self.decoder.hardware.write_base_value.next = value;
        self.decoder.hardware.write_size_value.next = value;
        self.decoder.hardware.watchdog_value.next = value.get_bits::<31>(0);
        self.decoder.hardware.mcw_value.next = value.get_bits::<6>(0);
        // 0x520 to 0x544 are words 8 to 17 of their 32.
        self.hardware.context.function.next = select;
        self.hardware.context.word.next = self.request.address.val().get_bits::<4>(2) - bits::<4>(8);
        self.hardware.context.data.next = self.request.data.val();
        self.hardware.context.mask.next = self.request.mask.val();
        self.hardware.context.write.next = not_first
            & (self.decoder.hardware.entry_write.val()
                | self.decoder.hardware.argument_write.val()
                | self.decoder.hardware.flags_write.val()
                | self.decoder.hardware.stack_write.val()
                | self.decoder.hardware.read_base_write.val()
                | self.decoder.hardware.read_size_write.val()
                | self.decoder.hardware.write_base_write.val()
                | self.decoder.hardware.write_size_write.val()
                | self.decoder.hardware.watchdog_write.val()
                | self.decoder.hardware.mcw_write.val());

        // Cores
        self.hardware.cores.wanted.next = bit_cast::<128, 32>(self.decoder.hardware.wanted_0.val())
            | (bit_cast::<128, 32>(self.decoder.hardware.wanted_1.val()) << bits::<7>(32))
            | (bit_cast::<128, 32>(self.decoder.hardware.wanted_2.val()) << bits::<7>(64))
            | (bit_cast::<128, 32>(self.decoder.hardware.wanted_3.val()) << bits::<7>(96));
        self.decoder.hardware.ready.next = self.hardware.cores.ready.val();

        // The chain: its links lead to higher functions only, so that there is no loop
        self.hardware.chain.limit.next = self.decoder.hardware.limit.val();
        self.hardware.chain.entry.next = self.decoder.hardware.entry.val();
        let written_target = written.get_bits::<3>(0);
        let allowed = written.get_bit(3) & (written_target > select) & (written_target <= self.last.val());
        // A write without the byte of the link keeps it.
        let writes_link = self.decoder.hardware.next_write.val() & self.request.mask.val().get_bit(3);
        let mut links = bits::<8>(0);
        let mut targets = bits::<24>(0);
        let mut shown = bits::<4>(0);
        for i in 0..self._functions {
            if writes_link & (select == self.index[i].val()) {
                self.goes_on[i].d.next = allowed;
                self.target[i].d.next = bits::<3>(0);
                if allowed {
                    self.target[i].d.next = written_target;
                }
            }
            links = links.replace_bit(i, self.goes_on[i].q.val());
            targets = targets
                .replace_bit(3 * i, self.target[i].q.val().get_bit(0))
                .replace_bit(3 * i + 1, self.target[i].q.val().get_bit(1))
                .replace_bit(3 * i + 2, self.target[i].q.val().get_bit(2));
            if select == self.index[i].val() {
                shown = bit_cast::<4, 3>(self.target[i].q.val()).replace_bit(3, self.goes_on[i].q.val());
            }
        }
        self.hardware.chain.goes_on.next = links;
        self.hardware.chain.targets.next = targets;
        self.decoder.hardware.next_value.next = shown;

        // Counters and faults
        self.hardware.counts.select.next = select;
        self.decoder.hardware.queued.next = self.hardware.counts.queued.val();
        self.decoder.hardware.peak.next = self.hardware.counts.peak.val();
        self.decoder.hardware.visits.next = self.hardware.counts.visits.val();
        self.decoder.hardware.lanes.next = self.hardware.counts.lanes.val();
        self.decoder.hardware.forwarded.next = self.hardware.counts.forwarded.val();
        self.decoder.hardware.dropped.next = self.hardware.counts.dropped.val();
        self.decoder.hardware.faulted.next = self.hardware.counts.faulted.val();
        self.decoder.hardware.fault_function.next = self.hardware.fault_function.val();
    }
}

#[cfg(test)]
#[path = "functions_tests.rs"]
mod tests;
