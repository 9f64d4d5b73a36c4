//! What servers of GDB's remote serial protocol share: the port, the wait for what happens first,
//! the registers as GDB wants to read them, and what the debugger says of each thread.

mod packets;

use std::marker::PhantomData;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;

use anyhow::{anyhow, ensure, Context};
use gdbstub::common::{Signal, Tid};
use gdbstub::conn::ConnectionExt as _;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{DisconnectReason, GdbStub, MultiThreadStopReason};
use gdbstub::target::{Target, TargetError};
use gdbstub_arch::riscv::Riscv32;
use hermes_testbench::iss::register_name;

use crate::print;
use packets::Packets;

/// Number of the first CSR among GDB's registers of RISC-V.
const FIRST_CSR: u32 = 65;

/// Why the threads stopped.
pub type StopReason = MultiThreadStopReason<u32>;

/// Opens port `port` of localhost, 0 for any, to a debugger. `option` is for errors.
pub fn listen(option: &str, port: u16) -> anyhow::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| {
        format!("{option}: port {port} of localhost cannot be used; expected a free one, or 0 for any")
    })
}

/// Tells how to start a debugger for `program`, if that is a file, and waits for it.
pub fn accept(option: &str, listener: TcpListener, program: Option<&Path>) -> anyhow::Result<TcpStream> {
    let port = listener.local_addr().with_context(|| option.to_string())?.port();
    let program = program.map_or_else(String::new, |path| format!("{} ", path.display()));
    print::note(format_args!(
        "waiting for a debugger: gdb-multiarch {program}-ex 'target remote localhost:{port}'"
    ));
    let (stream, _) = listener.accept().with_context(|| format!("{option}: no debugger"))?;
    stream.set_nodelay(true).with_context(|| option.to_string())?;
    Ok(stream)
}

/// Threads that a debugger stops and lets go on. All stop when one does.
pub trait Threads: Target<Arch = Riscv32, Error = anyhow::Error> {
    /// Works for a while; why the threads stopped, if they did.
    fn advance(&mut self) -> anyhow::Result<Option<StopReason>>;

    /// Stops them because the debugger wants it.
    fn interrupt(&mut self) -> anyhow::Result<StopReason>;
}

/// Does what the debugger says of `count` threads until they end or the debugger goes.
pub fn serve<T: Threads>(
    option: &str,
    stream: TcpStream,
    threads: &mut T,
    count: usize,
) -> anyhow::Result<DisconnectReason> {
    let reason = GdbStub::new(Packets::new(stream, count)).run_blocking::<Loop<T>>(threads);
    reason.map_err(|error| anyhow!("{option}: {error:#}"))
}

/// The wait for what happens first, a stop or a word of the debugger.
struct Loop<T>(PhantomData<T>);

impl<T: Threads> BlockingEventLoop for Loop<T> {
    type Target = T;
    type Connection = Packets;
    type StopReason = StopReason;

    fn wait_for_stop_reason(
        threads: &mut T,
        connection: &mut Packets,
    ) -> Result<Event<StopReason>, WaitForStopReasonError<anyhow::Error, std::io::Error>> {
        loop {
            if let Some(reason) = threads.advance().map_err(WaitForStopReasonError::Target)? {
                return Ok(Event::TargetStopped(reason));
            }
            if connection.peek().map_err(WaitForStopReasonError::Connection)?.is_some() {
                let byte = connection.read().map_err(WaitForStopReasonError::Connection)?;
                return Ok(Event::IncomingData(byte));
            }
        }
    }

    fn on_interrupt(threads: &mut T) -> anyhow::Result<Option<StopReason>> {
        threads.interrupt().map(Some)
    }
}

/// The number of a thread of the debugger, from 0.
pub fn number(tid: Tid) -> usize {
    tid.get() - 1
}

/// Its name for GDB, which counts from 1.
pub fn thread(number: usize) -> Tid {
    Tid::MIN.saturating_add(number)
}

/// What a thread does when it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Action {
    /// The debugger has not said.
    #[default]
    None,
    Continue,
    Step,
}

/// What the debugger says of each of at most 32 threads.
#[derive(Clone, Debug)]
pub struct Actions {
    actions: Vec<Action>,
    /// Threads that get a signal.
    signalled: u32,
    /// Threads of which the debugger has said nothing stay stopped.
    only_named: bool,
}

impl Actions {
    pub fn new(threads: usize) -> Self {
        Self { actions: vec![Action::None; threads], signalled: 0, only_named: false }
    }

    /// Forgets what was said.
    pub fn clear(&mut self) {
        *self = Self::new(self.actions.len());
    }

    /// The thread goes on, with a signal or without.
    pub fn go(&mut self, tid: Tid, signal: Option<Signal>) -> anyhow::Result<()> {
        self.set(tid, Action::Continue, signal)
    }

    /// The thread executes one instruction.
    pub fn step(&mut self, tid: Tid, signal: Option<Signal>) -> anyhow::Result<()> {
        self.set(tid, Action::Step, signal)
    }

    /// The others stay stopped.
    pub fn lock(&mut self) {
        self.only_named = true;
    }

    fn set(&mut self, tid: Tid, action: Action, signal: Option<Signal>) -> anyhow::Result<()> {
        let number = number(tid);
        ensure!(number < self.actions.len(), "thread {tid} is not there");
        self.actions[number] = action;
        self.signalled |= u32::from(signal.is_some()) << number;
        Ok(())
    }

    /// Threads that go on, and that execute one instruction, a bit for each.
    pub fn moving(&self) -> (u32, u32) {
        let mut moving = (0, 0);
        for (bit, action) in self.actions.iter().enumerate() {
            match action {
                Action::Step => moving.1 |= 1 << bit,
                Action::None if self.only_named => {}
                Action::Continue | Action::None => moving.0 |= 1 << bit,
            }
        }
        moving
    }

    /// Threads that get a signal, a bit for each.
    pub fn signalled(&self) -> u32 {
        self.signalled
    }
}

/// Copies the part of `text` that GDB asks for; the bytes of it. `annex` is the file that it wants.
pub fn part_of_description<E>(
    text: &str,
    annex: &[u8],
    offset: u64,
    length: usize,
    bytes: &mut [u8],
) -> Result<usize, TargetError<E>> {
    if annex != b"target.xml" {
        return Err(TargetError::NonFatal);
    }
    let rest = text.as_bytes().get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default();
    let count = rest.len().min(length).min(bytes.len());
    bytes[..count].copy_from_slice(&rest[..count]);
    Ok(count)
}

/// Copies the name of a thread; the bytes of it.
pub fn put_name(name: &str, text: &mut [u8]) -> usize {
    let length = name.len().min(text.len());
    text[..length].copy_from_slice(&name.as_bytes()[..length]);
    length
}

/// The registers of a thread, as GDB wants to read it: x0 to x31, the PC, CSRs by name and number.
pub fn description<'a>(csrs: impl IntoIterator<Item = &'a (&'a str, u32)>) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">\
         <architecture>riscv:rv32</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">",
    );
    for number in 0..32 {
        let kind = match number {
            1 => "code_ptr",
            2 | 3 | 4 | 8 => "data_ptr",
            _ => "int",
        };
        let name = register_name(number);
        text += &format!("<reg name=\"{name}\" bitsize=\"32\" type=\"{kind}\" regnum=\"{number}\"/>");
    }
    text += "<reg name=\"pc\" bitsize=\"32\" type=\"code_ptr\" regnum=\"32\"/></feature>\
             <feature name=\"org.gnu.gdb.riscv.csr\">";
    for (name, number) in csrs {
        let number = FIRST_CSR + number;
        text +=
            &format!("<reg name=\"{name}\" bitsize=\"32\" type=\"int\" regnum=\"{number}\" group=\"csr\"/>");
    }
    text + "</feature></target>"
}
