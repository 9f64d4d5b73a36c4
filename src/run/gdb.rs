//! The debugger's side of `hermes run --gdb`: the remote serial protocol of GDB, with the harts as
//! threads.

use std::net::TcpListener;

use anyhow::Context as _;
use gdbstub::common::{Signal, Tid};
use gdbstub::stub::{DisconnectReason, MultiThreadStopReason};
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadResume, MultiThreadResumeOps, MultiThreadSchedulerLocking,
    MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::single_register_access::{SingleRegisterAccess, SingleRegisterAccessOps};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::breakpoints::{Breakpoints, BreakpointsOps, SwBreakpoint, SwBreakpointOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use gdbstub_arch::riscv::reg::id::RiscvRegId;
use gdbstub_arch::riscv::reg::RiscvCoreRegs;
use gdbstub_arch::riscv::Riscv32;
use hermes_rtl::config::Config;
use hermes_testbench::cosim::{DebugError, Debugger, Device as _, Host, Simulation};
use hermes_testbench::firmware::{Firmware, FirmwareEnd};

use super::firmware::print_output;
use crate::gdb::{self, thread, Actions, StopReason};

/// Cycles between two looks at what the harts do, and while one executes a single instruction.
const PAUSE: u64 = 200;
const STEP_PAUSE: u64 = 10;
/// The option, for errors.
const OPTION: &str = "--gdb";
/// Errno that GDB is told: EFAULT.
const FAULT: u8 = 14;
/// The CSRs of machine mode.
const CSRS: [(&str, u32); 27] = [
    ("mstatus", 0x300),
    ("misa", 0x301),
    ("mie", 0x304),
    ("mtvec", 0x305),
    ("mscratch", 0x340),
    ("mepc", 0x341),
    ("mcause", 0x342),
    ("mtval", 0x343),
    ("mip", 0x344),
    ("mcycle", 0xb00),
    ("minstret", 0xb02),
    ("mcycleh", 0xb80),
    ("minstreth", 0xb82),
    ("cycle", 0xc00),
    ("time", 0xc01),
    ("instret", 0xc02),
    ("cycleh", 0xc80),
    ("timeh", 0xc81),
    ("instreth", 0xc82),
    ("mvendorid", 0xf11),
    ("marchid", 0xf12),
    ("mimpid", 0xf13),
    ("mhartid", 0xf14),
    ("mconfigptr", 0xf15),
    ("mcountinhibit", 0x320),
    ("mstatush", 0x310),
    ("mhpmcounter3", 0xb03),
];
/// Those of user-level interrupts.
const CHANNEL_CSRS: [(&str, u32); 6] = [
    ("uliepc", 0x800),
    ("ulictl", 0x801),
    ("ulipend", 0x802),
    ("uliarm", 0x803),
    ("ulicause", 0x804),
    ("spawnbusy", 0x805),
];

/// How a session with a debugger ended.
pub enum SessionEnd {
    /// The firmware ended.
    Firmware(FirmwareEnd),
    /// The debugger went, and the firmware goes on.
    Detached,
    /// The debugger ended it.
    Killed,
}

/// Opens port `port` of localhost, 0 for any, to a debugger.
pub fn listen(port: u16) -> anyhow::Result<TcpListener> {
    gdb::listen(OPTION, port)
}

/// Waits for a debugger, and does what it says until the firmware ends or the debugger goes. The
/// harts are stopped before their first instruction.
pub fn debug(
    listener: TcpListener,
    host: &mut Host<Simulation>,
    firmware: &Firmware,
    config: &Config,
) -> anyhow::Result<SessionEnd> {
    let stream = gdb::accept(OPTION, listener, Some(&firmware.path))?;
    let debugger = Debugger::new(host)?;
    debugger.stop_at_ebreak(host, true)?;
    let mut harts = Harts {
        actions: Actions::new(debugger.harts() as usize),
        moving: (0, 0),
        description: description(config),
        debugger,
        host,
        end: None,
    };
    let count = harts.debugger.harts() as usize;
    let reason = gdb::serve(OPTION, stream, &mut harts, count);
    let Harts { host, debugger, end, .. } = harts;
    match reason? {
        DisconnectReason::TargetExited(_) | DisconnectReason::TargetTerminated(_) => {
            Ok(SessionEnd::Firmware(end.context("--gdb: the firmware did not say how it ended")?))
        }
        DisconnectReason::Disconnect => {
            debugger.detach(host)?;
            if let Some(link) = host.firmware_mut() {
                link.undebugged();
            }
            Ok(SessionEnd::Detached)
        }
        DisconnectReason::Kill => Ok(SessionEnd::Killed),
    }
}

/// The harts as the threads of GDB: hart n is thread n + 1. All stop when one does.
struct Harts<'a> {
    host: &'a mut Host<Simulation>,
    debugger: Debugger,
    actions: Actions,
    /// Harts that go on, and that execute one instruction, a bit for each.
    moving: (u32, u32),
    description: String,
    end: Option<FirmwareEnd>,
}

fn hart(tid: Tid) -> u32 {
    gdb::number(tid) as u32
}

/// What cannot be accessed is told to GDB; what else fails ends the session.
fn answer<T>(result: Result<T, DebugError>) -> Result<T, TargetError<anyhow::Error>> {
    result.map_err(|error| match error {
        DebugError::Cosim(_) | DebugError::NoAnswer { .. } => TargetError::Fatal(error.into()),
        _ => TargetError::Errno(FAULT),
    })
}

impl gdb::Threads for Harts<'_> {
    fn advance(&mut self) -> anyhow::Result<Option<StopReason>> {
        let (resumed, stepped) = self.moving;
        self.host.device_mut().run(if stepped != 0 { STEP_PAUSE } else { PAUSE })?;
        let end = self.host.attend_firmware()?;
        // Output that cannot be printed is no matter of the debugger.
        let _ = print_output(self.host);
        if let Some(end) = end {
            self.end = Some(end);
            return Ok(Some(match end {
                FirmwareEnd::Value(value) => {
                    MultiThreadStopReason::Exited(u8::try_from(value).unwrap_or(u8::MAX))
                }
                _ => MultiThreadStopReason::Terminated(Signal::SIGABRT),
            }));
        }
        let status = self.debugger.status(self.host)?;
        let stopped = status.stopped & (resumed | stepped);
        if stopped == 0 {
            return Ok(None);
        }
        // A step goes first: the others may have been stopped anywhere.
        let first = if stopped & stepped != 0 { stopped & stepped } else { stopped };
        let hart = first.trailing_zeros();
        self.debugger.stop(self.host, self.debugger.all())?;
        let tid = thread(hart as usize);
        let pc = self.debugger.pc(self.host, hart)?;
        Ok(Some(if status.locked >> hart & 1 == 1 {
            MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGSEGV }
        } else if stepped >> hart & 1 == 0 && self.debugger.has_breakpoint(pc) {
            MultiThreadStopReason::SwBreak(tid)
        } else {
            MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGTRAP }
        }))
    }

    fn interrupt(&mut self) -> anyhow::Result<StopReason> {
        self.debugger.stop(self.host, self.debugger.all())?;
        Ok(MultiThreadStopReason::SignalWithThread { tid: thread(0), signal: Signal::SIGINT })
    }
}

impl Target for Harts<'_> {
    type Arch = Riscv32;
    type Error = anyhow::Error;

    fn base_ops(&mut self) -> BaseOps<'_, Riscv32, anyhow::Error> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Harts<'_> {
    fn read_registers(&mut self, registers: &mut RiscvCoreRegs<u32>, tid: Tid) -> TargetResult<(), Self> {
        for (number, register) in (0..).zip(&mut registers.x) {
            *register = answer(self.debugger.register(self.host, hart(tid), number))?;
        }
        registers.pc = answer(self.debugger.pc(self.host, hart(tid)))?;
        Ok(())
    }

    fn write_registers(&mut self, registers: &RiscvCoreRegs<u32>, tid: Tid) -> TargetResult<(), Self> {
        for (number, register) in (0..).zip(registers.x) {
            answer(self.debugger.set_register(self.host, hart(tid), number, register))?;
        }
        answer(self.debugger.set_pc(self.host, hart(tid), registers.pc))
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, address: u32, bytes: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        match self.debugger.read_memory(self.host, hart(tid), address, bytes) {
            Err(DebugError::Memory { address: at, .. }) if at != address => {
                Ok((at.wrapping_sub(address) as usize).min(bytes.len()))
            }
            read => answer(read.map(|()| bytes.len())),
        }
    }

    fn write_addrs(&mut self, address: u32, bytes: &[u8], tid: Tid) -> TargetResult<(), Self> {
        answer(self.debugger.write_memory(self.host, hart(tid), address, bytes))
    }

    fn list_active_threads(&mut self, active: &mut dyn FnMut(Tid)) -> anyhow::Result<()> {
        (0..self.debugger.harts() as usize).map(thread).for_each(active);
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl ThreadExtraInfo for Harts<'_> {
    fn thread_extra_info(&self, tid: Tid, text: &mut [u8]) -> anyhow::Result<usize> {
        Ok(gdb::put_name(&format!("hart {}", hart(tid)), text))
    }
}

impl SingleRegisterAccess<Tid> for Harts<'_> {
    fn read_register(
        &mut self,
        tid: Tid,
        register: RiscvRegId<u32>,
        bytes: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let value = match register {
            RiscvRegId::Gpr(number) => self.debugger.register(self.host, hart(tid), number.into()),
            RiscvRegId::Pc => self.debugger.pc(self.host, hart(tid)),
            RiscvRegId::Csr(number) => self.debugger.csr(self.host, hart(tid), number.into()),
            _ => return Err(TargetError::NonFatal),
        };
        let value = answer(value)?;
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
        let written = match register {
            RiscvRegId::Gpr(number) => self.debugger.set_register(self.host, hart(tid), number.into(), value),
            RiscvRegId::Pc => self.debugger.set_pc(self.host, hart(tid), value),
            RiscvRegId::Csr(number) => self.debugger.set_csr(self.host, hart(tid), number.into(), value),
            _ => return Err(TargetError::NonFatal),
        };
        answer(written)
    }
}

impl MultiThreadResume for Harts<'_> {
    fn resume(&mut self) -> anyhow::Result<()> {
        let moving = self.actions.moving();
        self.moving = moving;
        Ok(self.debugger.start(self.host, moving.0, moving.1)?)
    }

    fn clear_resume_actions(&mut self) -> anyhow::Result<()> {
        self.actions.clear();
        Ok(())
    }

    fn set_resume_action_continue(&mut self, tid: Tid, _: Option<Signal>) -> anyhow::Result<()> {
        self.actions.go(tid, None)
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadSingleStep for Harts<'_> {
    fn set_resume_action_step(&mut self, tid: Tid, _: Option<Signal>) -> anyhow::Result<()> {
        self.actions.step(tid, None)
    }
}

impl MultiThreadSchedulerLocking for Harts<'_> {
    fn set_resume_action_scheduler_lock(&mut self) -> anyhow::Result<()> {
        self.actions.lock();
        Ok(())
    }
}

impl Breakpoints for Harts<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Harts<'_> {
    fn add_sw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        answer(self.debugger.insert_breakpoint(self.host, 0, address).map(|()| true))
    }

    fn remove_sw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        answer(self.debugger.remove_breakpoint(self.host, 0, address))
    }
}

impl TargetDescriptionXmlOverride for Harts<'_> {
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

/// The registers of a hart, as GDB wants to read it, with the CSRs that the array has.
fn description(config: &Config) -> String {
    let channels = if config.uli_channels > 0 { &CHANNEL_CSRS[..] } else { &[] };
    let cached = if config.command_cache_lines > 0 { &[("muncached", 0x7c0)][..] } else { &[] };
    gdb::description(CSRS.iter().chain(channels).chain(cached))
}
