//! A client of GDB's remote serial protocol.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::Duration;

/// Starts `hermes` with a command that waits for a debugger; the port that it chose, and what it
/// writes to standard error behind that line.
pub fn launch(mut command: Command) -> (Child, BufReader<ChildStderr>, u16) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hermes runs");
    let mut error = BufReader::new(child.stderr.take().expect("standard error"));
    let mut line = String::new();
    error.read_line(&mut line).expect("a line");
    let port = line.trim_end().trim_end_matches('\'').rsplit(':').next().and_then(|port| port.parse().ok());
    assert!(line.starts_with("waiting for a debugger: "), "{line}");
    (child, error, port.unwrap_or_else(|| panic!("{line}")))
}

/// `hermes` that waits for a debugger, and the connection to it.
pub struct Session {
    child: Child,
    error: BufReader<ChildStderr>,
    pub stream: TcpStream,
}

impl Session {
    /// Starts `hermes` and connects.
    pub fn new(command: Command) -> Self {
        let (child, error, port) = launch(command);
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("hermes listens");
        stream.set_nodelay(true).expect("no delay");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit");
        let mut session = Self { child, error, stream };
        let answer = session.ask("qSupported:multiprocess-;swbreak+;vContSupported+");
        assert!(answer.contains("qXfer:features:read+") && answer.contains("swbreak+"), "{answer}");
        session
    }

    fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).expect("a byte");
        byte[0]
    }

    /// The next byte, whatever it is.
    pub fn next_byte(&mut self) -> u8 {
        self.byte()
    }

    pub fn send(&mut self, packet: &str) {
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        // In one piece: small writes wait for each other.
        let bytes = format!("${packet}#{sum:02x}");
        self.stream.write_all(bytes.as_bytes()).expect("written");
        assert_eq!(self.byte(), b'+');
    }

    /// The next packet, with runs (`*`) and escapes (`}`) resolved.
    pub fn receive(&mut self) -> String {
        assert_eq!(self.byte(), b'$');
        let mut text: Vec<u8> = vec![];
        loop {
            match self.byte() {
                b'#' => break,
                b'*' => {
                    let (count, last) = (self.byte() - 29, *text.last().expect("a byte to repeat"));
                    text.extend(std::iter::repeat_n(last, count.into()));
                }
                b'}' => text.push(self.byte() ^ 0x20),
                byte => text.push(byte),
            }
        }
        let _sum = [self.byte(), self.byte()];
        self.stream.write_all(b"+").expect("written");
        String::from_utf8(text).expect("text")
    }

    pub fn ask(&mut self, packet: &str) -> String {
        self.send(packet);
        self.receive()
    }

    /// The whole description of the registers.
    pub fn description(&mut self) -> String {
        let mut text = String::new();
        loop {
            let part = self.ask(&format!("qXfer:features:read:target.xml:{:x},400", text.len()));
            text += &part[1..];
            if part.starts_with('l') {
                return text;
            }
        }
    }

    /// A register by GDB's number.
    pub fn register(&mut self, number: u32) -> u32 {
        word(&self.ask(&format!("p{number:x}")))
    }

    /// Lets threads go on; the answer when they stop.
    pub fn go(&mut self, actions: &str) -> String {
        self.ask(&format!("vCont;{actions}"))
    }

    /// Exit code and output of `hermes`, which has lost its debugger.
    pub fn end(mut self) -> (Option<i32>, String, String) {
        let mut error = String::new();
        self.error.read_to_string(&mut error).expect("text");
        let Output { status, stdout, .. } = self.child.wait_with_output().expect("hermes ends");
        (status.code(), String::from_utf8(stdout).expect("text"), error)
    }
}

/// A word as the protocol writes it: bytes in the order of memory.
pub fn word(text: &str) -> u32 {
    u32::from_str_radix(text, 16).unwrap_or_else(|_| panic!("{text}")).swap_bytes()
}

/// GDB's numbers of the PC and of the first CSR.
pub const PC: u32 = 32;
pub const CSR: u32 = 65;

/// The name of GDB, if it is there.
pub fn installed() -> Option<&'static str> {
    let there = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    ["gdb-multiarch", "riscv64-unknown-elf-gdb"].into_iter().find(there)
}
