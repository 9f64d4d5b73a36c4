//! The debugger's side of `hermes run --gdb`: the remote serial protocol of GDB, with the harts as threads.

use std::marker::PhantomData;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use anyhow::{anyhow, Context};
use gdbstub::common::{Signal, Tid};
use gdbstub::conn::ConnectionExt as _;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{DisconnectReason, GdbStub, MultiThreadStopReason};
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
use hermes_testbench::cosim::{Device as _, Host, Simulation};
use hermes_testbench::firmware::{DebugError, Debugger, Firmware, FirmwareEnd};

use super::firmware::print_output;
use crate::print;

/// Cycles between two looks at what the harts do, and while one executes a single instruction.
const PAUSE: u64 = 200;
const STEP_PAUSE: u64 = 10;
/// Number of the first CSR among GDB's registers of RISC-V.
const FIRST_CSR: u32 = 65;
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
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| {
        format!("--gdb: port {port} of localhost cannot be used; expected a free one, or 0 for any")
    })
}

/// Waits for a debugger, and does what it says until the firmware ends or the debugger goes. The harts are stopped before their
/// first instruction.
pub fn debug(
    listener: TcpListener,
    host: &mut Host<Simulation>,
    firmware: &Firmware,
    config: &Config,
) -> anyhow::Result<SessionEnd> {
    let port = listener.local_addr().context("--gdb")?.port();
    print::note(format_args!(
        "waiting for a debugger: gdb-multiarch {} -ex 'target remote localhost:{port}'",
        firmware.path.display()
    ));
    let (stream, _) = listener.accept().context("--gdb: no debugger")?;
    drop(listener);
    stream.set_nodelay(true).context("--gdb")?;
    let debugger = Debugger::new(host)?;
    debugger.stop_at_ebreak(host, true)?;
    let mut harts = Harts {
        actions: vec![Action::default(); debugger.harts() as usize],
        only_named: false,
        moving: (0, 0),
        description: description(config),
        debugger,
        host,
        end: None,
    };
    let reason = GdbStub::new(stream).run_blocking::<Loop>(&mut harts);
    let Harts { host, debugger, end, .. } = harts;
    match reason.map_err(|error| anyhow!("--gdb: {error:#}"))? {
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

/// What a hart does when it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Action {
    /// The debugger has not said.
    #[default]
    None,
    Continue,
    Step,
}

/// The harts as the threads of GDB: hart n is thread n + 1. All stop when one does.
struct Harts<'a> {
    host: &'a mut Host<Simulation>,
    debugger: Debugger,
    actions: Vec<Action>,
    /// Harts of which the debugger has said nothing stay stopped.
    only_named: bool,
    /// Harts that go on, and that execute one instruction, a bit for each.
    moving: (u32, u32),
    description: String,
    end: Option<FirmwareEnd>,
}

fn hart(tid: Tid) -> u32 {
    tid.get() as u32 - 1
}

fn thread(hart: u32) -> Tid {
    Tid::MIN.saturating_add(hart as usize)
}

/// What cannot be accessed is told to GDB; what else fails ends the session.
fn answer<T>(result: Result<T, DebugError>) -> Result<T, TargetError<anyhow::Error>> {
    result.map_err(|error| match error {
        DebugError::Cosim(_) | DebugError::NoAnswer { .. } => TargetError::Fatal(error.into()),
        _ => TargetError::Errno(FAULT),
    })
}

impl Harts<'_> {
    /// Lets the array work for a while; why the harts stopped, if they did.
    fn advance(&mut self) -> anyhow::Result<Option<MultiThreadStopReason<u32>>> {
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
        let tid = thread(hart);
        let pc = self.debugger.pc(self.host, hart)?;
        Ok(Some(if status.locked >> hart & 1 == 1 {
            MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGSEGV }
        } else if stepped >> hart & 1 == 0 && self.debugger.has_breakpoint(pc) {
            MultiThreadStopReason::SwBreak(tid)
        } else {
            MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGTRAP }
        }))
    }
}

/// The wait for what happens first, a stop or a word of the debugger.
struct Loop<'a>(PhantomData<&'a ()>);

impl<'a> BlockingEventLoop for Loop<'a> {
    type Target = Harts<'a>;
    type Connection = TcpStream;
    type StopReason = MultiThreadStopReason<u32>;

    fn wait_for_stop_reason(
        harts: &mut Harts<'a>,
        connection: &mut TcpStream,
    ) -> Result<Event<Self::StopReason>, WaitForStopReasonError<anyhow::Error, std::io::Error>> {
        loop {
            if let Some(reason) = harts.advance().map_err(WaitForStopReasonError::Target)? {
                return Ok(Event::TargetStopped(reason));
            }
            if connection.peek().map_err(WaitForStopReasonError::Connection)?.is_some() {
                let byte = connection.read().map_err(WaitForStopReasonError::Connection)?;
                return Ok(Event::IncomingData(byte));
            }
        }
    }

    fn on_interrupt(harts: &mut Harts<'a>) -> anyhow::Result<Option<Self::StopReason>> {
        harts.debugger.stop(harts.host, harts.debugger.all())?;
        Ok(Some(MultiThreadStopReason::SignalWithThread { tid: thread(0), signal: Signal::SIGINT }))
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
                Ok(at.wrapping_sub(address) as usize)
            }
            read => answer(read.map(|()| bytes.len())),
        }
    }

    fn write_addrs(&mut self, address: u32, bytes: &[u8], tid: Tid) -> TargetResult<(), Self> {
        answer(self.debugger.write_memory(self.host, hart(tid), address, bytes))
    }

    fn list_active_threads(&mut self, active: &mut dyn FnMut(Tid)) -> anyhow::Result<()> {
        (0..self.debugger.harts()).map(thread).for_each(active);
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
        let name = format!("hart {}", hart(tid));
        let length = name.len().min(text.len());
        text[..length].copy_from_slice(&name.as_bytes()[..length]);
        Ok(length)
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
        let mut moving = (0, 0);
        for (bit, action) in self.actions.iter().enumerate() {
            match action {
                Action::Step => moving.1 |= 1 << bit,
                Action::None if self.only_named => {}
                Action::Continue | Action::None => moving.0 |= 1 << bit,
            }
        }
        self.moving = moving;
        Ok(self.debugger.start(self.host, moving.0, moving.1)?)
    }

    fn clear_resume_actions(&mut self) -> anyhow::Result<()> {
        self.actions.fill(Action::None);
        self.only_named = false;
        Ok(())
    }

    fn set_resume_action_continue(&mut self, tid: Tid, _: Option<Signal>) -> anyhow::Result<()> {
        self.set_action(tid, Action::Continue)
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl Harts<'_> {
    fn set_action(&mut self, tid: Tid, action: Action) -> anyhow::Result<()> {
        let place = self.actions.get_mut(hart(tid) as usize);
        *place.with_context(|| format!("thread {tid} is not there"))? = action;
        Ok(())
    }
}

impl MultiThreadSingleStep for Harts<'_> {
    fn set_resume_action_step(&mut self, tid: Tid, _: Option<Signal>) -> anyhow::Result<()> {
        self.set_action(tid, Action::Step)
    }
}

impl MultiThreadSchedulerLocking for Harts<'_> {
    fn set_resume_action_scheduler_lock(&mut self) -> anyhow::Result<()> {
        self.only_named = true;
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
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        let text = self.description.as_bytes();
        let rest = text.get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default();
        let count = rest.len().min(length).min(bytes.len());
        bytes[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// The registers of a hart, as GDB wants to read it: x0 to x31, the PC, the CSRs that the array has.
fn description(config: &Config) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">\
         <architecture>riscv:rv32</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">",
    );
    let names = hermes_testbench::iss::register_name;
    for number in 0..32 {
        let kind = match number {
            1 => "code_ptr",
            2 | 3 | 4 | 8 => "data_ptr",
            _ => "int",
        };
        let name = names(number);
        text += &format!("<reg name=\"{name}\" bitsize=\"32\" type=\"{kind}\" regnum=\"{number}\"/>");
    }
    text += "<reg name=\"pc\" bitsize=\"32\" type=\"code_ptr\" regnum=\"32\"/></feature>\
             <feature name=\"org.gnu.gdb.riscv.csr\">";
    let channels = if config.uli_channels > 0 { &CHANNEL_CSRS[..] } else { &[] };
    let cached = if config.command_cache_lines > 0 { &[("muncached", 0x7c0)][..] } else { &[] };
    for (name, number) in CSRS.iter().chain(channels).chain(cached) {
        let number = FIRST_CSR + number;
        text +=
            &format!("<reg name=\"{name}\" bitsize=\"32\" type=\"int\" regnum=\"{number}\" group=\"csr\"/>");
    }
    text + "</feature></target>"
}
