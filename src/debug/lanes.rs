//! The lanes of a warp on the reference simulator as the threads of GDB: lane n is thread n + 1 of
//! the protocol. GDB itself counts the lane of the packet as its thread 1, since it is told of that
//! one first.

use gdbstub::common::{Signal, Tid};
use gdbstub::stub::MultiThreadStopReason;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadResume, MultiThreadResumeOps, MultiThreadSchedulerLocking,
    MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::single_register_access::{SingleRegisterAccess, SingleRegisterAccessOps};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint,
    SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::monitor_cmd::{outputln, ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use gdbstub_arch::riscv::reg::id::RiscvRegId;
use gdbstub_arch::riscv::reg::RiscvCoreRegs;
use gdbstub_arch::riscv::Riscv32;
use hermes_rtl::config::EXIT_ADDRESS;
use hermes_testbench::iss::{Cause, Fault};
use hermes_testbench::kernel::{Kernel, SourceMap};
use hermes_testbench::reference::{Debugger, Reference, Resume, Stop, Watch};
use hermes_testbench::verdict::Verdict;

use crate::gdb::{self, number, thread, Actions, StopReason, Threads};

/// Warp-instructions between two looks at what the debugger says.
const MOST_STEPS: u32 = 5_000;
/// Errno that GDB is told: EFAULT.
const FAULT: u8 = 14;
/// The CSRs of a thread.
const CSRS: [(&str, u32); 11] = [
    ("cycle", 0xc00),
    ("instret", 0xc02),
    ("cycleh", 0xc80),
    ("instreth", 0xc82),
    ("packet", 0xcc0),
    ("lane", 0xcc1),
    ("warp_slot", 0xcc2),
    ("core", 0xcc3),
    ("packet_slot", 0xcc4),
    ("argument", 0xcc5),
    ("stack_top", 0xcc6),
];

/// A warp under GDB.
pub struct Lanes {
    debugger: Debugger,
    /// The lane of the packet that is debugged.
    lane: usize,
    source: SourceMap,
    actions: Actions,
    description: String,
}

impl Lanes {
    /// The lanes of a warp; `lane` is the one that GDB shows first.
    pub fn new(debugger: Debugger, lane: usize, kernel: &Kernel) -> Self {
        Self {
            lane,
            source: kernel.source_map(),
            actions: Actions::new(debugger.run().threads().len()),
            description: gdb::description(&CSRS),
            debugger,
        }
    }

    /// The warp, without GDB.
    pub fn into_run(self) -> Reference {
        self.debugger.into_run()
    }

    /// The lane of a thread.
    fn lane_of(&self, tid: Tid) -> Result<usize, TargetError<anyhow::Error>> {
        let lane = number(tid);
        if lane < self.debugger.run().threads().len() {
            Ok(lane)
        } else {
            Err(TargetError::NonFatal)
        }
    }

    /// How many lanes there are.
    pub fn count(&self) -> usize {
        self.debugger.run().threads().len()
    }

    /// The lanes, that of the packet first.
    fn lanes(&self) -> impl Iterator<Item = usize> {
        let (own, count) = (self.lane, self.debugger.run().threads().len());
        std::iter::once(own).chain((0..count).filter(move |lane| *lane != own))
    }

    /// The packet of a lane and what it does.
    fn name(&self, lane: usize) -> String {
        let hart = &self.debugger.run().threads()[lane].hart;
        let packet = self.debugger.run().threads()[lane].place.packet;
        let what = match hart.pc {
            EXIT_ADDRESS => format!("at its end: {}", Verdict(hart.x[10])),
            pc => self.source.place(pc).to_string(),
        };
        format!("packet {packet}, lane {lane}, {what}")
    }

    /// What GDB is told at the end: 0 if the packet is forwarded, 1 if it is dropped, 2 if its
    /// thread faulted.
    fn exit_code(&self) -> u8 {
        let run = self.debugger.run();
        let verdict = Verdict(run.threads()[self.lane].hart.x[10]);
        // A kernel can return the word of a fault, too.
        match (verdict.is_forward(), run.has_faulted(self.lane)) {
            (true, _) => 0,
            (_, false) => 1,
            (_, true) => 2,
        }
    }
}

/// The signal that a process gets for a fault.
fn signal(fault: Fault) -> Signal {
    match fault.cause {
        Cause::LoadAccess | Cause::StoreAccess | Cause::InstructionAccess => Signal::SIGSEGV,
        Cause::LoadMisaligned | Cause::StoreMisaligned | Cause::InstructionMisaligned => Signal::SIGBUS,
        Cause::Illegal => Signal::SIGILL,
        Cause::EnvironmentCall => Signal::SIGSYS,
        Cause::Breakpoint => Signal::SIGTRAP,
        Cause::Watchdog => Signal::SIGALRM,
    }
}

impl Threads for Lanes {
    fn advance(&mut self) -> anyhow::Result<Option<StopReason>> {
        anyhow::ensure!(!hermes_interrupt::is_requested(), "interrupted");
        let with = |lane: usize, signal| StopReason::SignalWithThread { tid: thread(lane), signal };
        Ok(self.debugger.advance(MOST_STEPS).map(|stop| match stop {
            Stop::Breakpoint(lane) => StopReason::SwBreak(thread(lane)),
            Stop::Watch { lane, address, watch } => {
                let kind = match watch {
                    Watch::Read => WatchKind::Read,
                    Watch::Write => WatchKind::Write,
                    Watch::Access => WatchKind::ReadWrite,
                };
                StopReason::Watch { tid: thread(lane), kind, addr: address }
            }
            Stop::Step(lane) | Stop::Waits(lane) => with(lane, Signal::SIGTRAP),
            Stop::Fault(lane, fault) => with(lane, signal(fault)),
            Stop::End => StopReason::Exited(self.exit_code()),
        }))
    }

    fn interrupt(&mut self) -> anyhow::Result<StopReason> {
        Ok(MultiThreadStopReason::SignalWithThread { tid: thread(self.lane), signal: Signal::SIGINT })
    }
}

impl Target for Lanes {
    type Arch = Riscv32;
    type Error = anyhow::Error;

    fn base_ops(&mut self) -> BaseOps<'_, Riscv32, anyhow::Error> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Lanes {
    fn read_registers(&mut self, registers: &mut RiscvCoreRegs<u32>, tid: Tid) -> TargetResult<(), Self> {
        let hart = &self.debugger.run().threads()[self.lane_of(tid)?].hart;
        (registers.x, registers.pc) = (hart.x, hart.pc);
        Ok(())
    }

    fn write_registers(&mut self, registers: &RiscvCoreRegs<u32>, tid: Tid) -> TargetResult<(), Self> {
        let lane = self.lane_of(tid)?;
        for (number, value) in (0..).zip(registers.x.iter().chain([&registers.pc])) {
            self.debugger.set_register(lane, number, *value);
        }
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, address: u32, bytes: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        let lane = self.lane_of(tid)?;
        match self.debugger.run_mut().read_memory(lane, address, bytes) {
            0 if !bytes.is_empty() => Err(TargetError::Errno(FAULT)),
            count => Ok(count),
        }
    }

    fn write_addrs(&mut self, address: u32, bytes: &[u8], tid: Tid) -> TargetResult<(), Self> {
        let lane = self.lane_of(tid)?;
        match self.debugger.run_mut().write_memory(lane, address, bytes) {
            true => Ok(()),
            false => Err(TargetError::Errno(FAULT)),
        }
    }

    fn list_active_threads(&mut self, active: &mut dyn FnMut(Tid)) -> anyhow::Result<()> {
        self.lanes().map(thread).for_each(active);
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl ThreadExtraInfo for Lanes {
    fn thread_extra_info(&self, tid: Tid, text: &mut [u8]) -> anyhow::Result<usize> {
        let name = self.lane_of(tid).map(|lane| self.name(lane)).unwrap_or_default();
        Ok(gdb::put_name(&name, text))
    }
}

impl SingleRegisterAccess<Tid> for Lanes {
    fn read_register(
        &mut self,
        tid: Tid,
        register: RiscvRegId<u32>,
        bytes: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let lane = self.lane_of(tid)?;
        let hart = &self.debugger.run().threads()[lane].hart;
        let value = match register {
            RiscvRegId::Gpr(number) => hart.x.get(usize::from(number)).copied(),
            RiscvRegId::Pc => Some(hart.pc),
            RiscvRegId::Csr(number) => self.debugger.run().csr(lane, number.into()),
            _ => None,
        };
        let value = value.ok_or(TargetError::Errno(FAULT))?;
        bytes[..4].copy_from_slice(&value.to_le_bytes());
        Ok(4)
    }

    fn write_register(
        &mut self,
        tid: Tid,
        register: RiscvRegId<u32>,
        bytes: &[u8],
    ) -> TargetResult<(), Self> {
        let value = u32::from_le_bytes(bytes.try_into().map_err(|_| TargetError::NonFatal)?);
        let number = match register {
            RiscvRegId::Gpr(number) => number.into(),
            RiscvRegId::Pc => 32,
            // CSRs cannot be written.
            _ => return Err(TargetError::Errno(FAULT)),
        };
        let lane = self.lane_of(tid)?;
        self.debugger.set_register(lane, number, value);
        Ok(())
    }
}

impl MultiThreadResume for Lanes {
    fn resume(&mut self) -> anyhow::Result<()> {
        let (go, step) = self.actions.moving();
        self.debugger.resume(Resume { go, step, take: self.actions.signalled() });
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> anyhow::Result<()> {
        self.actions.clear();
        Ok(())
    }

    fn set_resume_action_continue(&mut self, tid: Tid, signal: Option<Signal>) -> anyhow::Result<()> {
        self.actions.go(tid, signal)
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadSingleStep for Lanes {
    fn set_resume_action_step(&mut self, tid: Tid, signal: Option<Signal>) -> anyhow::Result<()> {
        self.actions.step(tid, signal)
    }
}

impl MultiThreadSchedulerLocking for Lanes {
    fn set_resume_action_scheduler_lock(&mut self) -> anyhow::Result<()> {
        self.actions.lock();
        Ok(())
    }
}

impl Breakpoints for Lanes {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Lanes {
    fn add_sw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        self.debugger.insert_breakpoint(address);
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(self.debugger.remove_breakpoint(address))
    }
}

/// They are the same here: nothing is written to memory.
impl HwBreakpoint for Lanes {
    fn add_hw_breakpoint(&mut self, address: u32, kind: usize) -> TargetResult<bool, Self> {
        self.add_sw_breakpoint(address, kind)
    }

    fn remove_hw_breakpoint(&mut self, address: u32, kind: usize) -> TargetResult<bool, Self> {
        self.remove_sw_breakpoint(address, kind)
    }
}

fn watch(kind: WatchKind) -> Watch {
    match kind {
        WatchKind::Read => Watch::Read,
        WatchKind::Write => Watch::Write,
        WatchKind::ReadWrite => Watch::Access,
    }
}

impl HwWatchpoint for Lanes {
    fn add_hw_watchpoint(&mut self, address: u32, bytes: u32, kind: WatchKind) -> TargetResult<bool, Self> {
        self.debugger.insert_watch(address, bytes, watch(kind));
        Ok(true)
    }

    fn remove_hw_watchpoint(
        &mut self,
        address: u32,
        bytes: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        Ok(self.debugger.remove_watch(address, bytes, watch(kind)))
    }
}

impl MonitorCmd for Lanes {
    fn handle_monitor_cmd(&mut self, command: &[u8], mut out: ConsoleOutput<'_>) -> anyhow::Result<()> {
        match command {
            b"lanes" => (0..self.debugger.run().threads().len())
                .for_each(|lane| outputln!(out, "{}", self.name(lane))),
            _ => outputln!(out, "expected `monitor lanes`: the packet of each lane and where it is"),
        }
        Ok(())
    }
}

impl TargetDescriptionXmlOverride for Lanes {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        bytes: &mut [u8],
    ) -> TargetResult<usize, Self> {
        gdb::part_of_description(&self.description, annex, offset, length, bytes)
    }
}
