//! What kernels print with `hermes_print`: a ring for each thread in the shared memory, which is
//! read at the end of a run.
//!
//! The rings begin with a line for the kernel: lanes of the array, words of a ring as a power of
//! two, records of a ring. Rings follow by core, warp slot (32 a core) and lane. A ring has records
//! of 8 words; the first is the number of prints, also of those that found no room, the others are
//! address of the format, packetIdx, values. No atomic operation is needed: a ring belongs to one
//! thread at a time.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use hermes_rtl::config::MAX_WARPS;
use hermes_testbench::cosim::{CosimError, Device, Host};
use hermes_testbench::kernel::Kernel;
use hermes_testbench::output::OutputFile;

use crate::files::Files;
use crate::print;

/// The variable of the kernel that gets the address of the rings.
pub const VARIABLE: &str = "hermes_print_rings";
/// Bytes in front of the first ring, and of a record.
const HEAD_BYTES: u32 = 64;
const RECORD_BYTES: u32 = 32;
/// Values of a print.
const VALUES: usize = 4;
/// The longest format.
const MOST_FORMAT_BYTES: u32 = 1024;

/// Prints of kernels.
#[derive(clap::Args)]
pub struct PrintArgs {
    /// Print what the kernel says with `hermes_print`, in the order of the packets, or write it to
    /// FILE. Build the kernel with `-D HERMES_PRINT`
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, requires = "pcap")]
    print: Option<Option<PathBuf>>,
    /// Prints that a thread keeps until the end of the run, as a power of two less one: 1 to 65535.
    /// It keeps the first
    #[arg(long, value_name = "N", default_value_t = 127, value_parser = room, requires = "print")]
    print_room: u32,
}

/// A power of two less one.
fn room(text: &str) -> Result<u32, String> {
    let room =
        text.parse::<u32>().ok().filter(|room| (room + 1).is_power_of_two() && (1..=65_535).contains(room));
    room.ok_or_else(|| "expected a power of two less one, such as 127; 1 to 65535".to_string())
}

impl PrintArgs {
    /// What is written.
    pub fn files(&self) -> Files {
        Files::default().output("--print=", self.print.as_ref().and_then(|path| path.as_deref()))
    }

    /// Makes sure that the file can be written; `pointer` finds the variable of the kernel that
    /// gets the address.
    ///
    /// # Errors
    /// The file cannot be written, or the kernel has no such variable.
    pub fn load(
        &self,
        kernel: &Kernel,
        pointer: impl FnOnce() -> anyhow::Result<u32>,
    ) -> anyhow::Result<Option<Prints>> {
        let Some(path) = &self.print else { return Ok(None) };
        let pointer =
            pointer().context("--print: expected a kernel built with -D HERMES_PRINT that prints")?;
        let file = path.as_deref().map(OutputFile::create).transpose()?;
        let (kernel, room) = (kernel.clone(), self.print_room);
        Ok(Some(Prints {
            kernel,
            pointer,
            room,
            rings: 0,
            lanes: 1,
            threads: 0,
            file,
            lines: Vec::new(),
            lost: 0,
        }))
    }
}

/// The rings, and what was in them.
pub struct Prints {
    kernel: Kernel,
    /// Address of the variable.
    pointer: u32,
    /// Prints of a ring.
    room: u32,
    /// Address of the head.
    rings: u32,
    lanes: u32,
    threads: u32,
    file: Option<OutputFile>,
    lines: Vec<String>,
    /// Prints that found no room.
    lost: u64,
}

impl Prints {
    fn ring_bytes(&self) -> u32 {
        (self.room + 1) * RECORD_BYTES
    }

    /// Allocates the rings and tells the kernel, which is loaded, of them.
    ///
    /// # Errors
    /// There is no room.
    pub fn place<D: Device>(&mut self, host: &mut Host<D>) -> anyhow::Result<()> {
        let info = host.info();
        (self.lanes, self.threads) = (info.lanes, info.cores * MAX_WARPS as u32 * info.lanes);
        let bytes = u64::from(HEAD_BYTES) + u64::from(self.threads) * u64::from(self.ring_bytes());
        let bytes = usize::try_from(bytes).context("--print-room")?;
        self.rings = host.rmalloc("the prints", bytes).context("--print-room")?;
        let words_log2 = (self.ring_bytes() / 4).ilog2();
        let head = [self.lanes, words_log2, self.room].map(u32::to_le_bytes).concat();
        let device = host.device_mut();
        // Memory of a board is not zero.
        for thread in 0..self.threads {
            device.write_memory(self.ring(thread), &[0; 4])?;
        }
        device.write_memory(self.rings, &head)?;
        device.write_memory(self.pointer, &self.rings.to_le_bytes())?;
        Ok(())
    }

    fn ring(&self, thread: u32) -> u32 {
        self.rings + HEAD_BYTES + thread * self.ring_bytes()
    }

    /// Reads the rings, after the caches were cleaned.
    ///
    /// # Errors
    /// The memory cannot be read.
    pub fn read<D: Device>(&mut self, host: &mut Host<D>) -> Result<(), CosimError> {
        let mut found = Vec::new();
        for thread in 0..self.threads {
            let mut count = [0; 4];
            host.device_mut().read_memory(self.ring(thread), &mut count)?;
            let count = u32::from_le_bytes(count);
            let kept = count.min(self.room);
            self.lost += u64::from(count - kept);
            let mut bytes = vec![0; (kept * RECORD_BYTES) as usize];
            host.device_mut().read_memory(self.ring(thread) + RECORD_BYTES, &mut bytes)?;
            for record in bytes.chunks_exact(RECORD_BYTES as usize) {
                let word = |at: usize| {
                    u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
                };
                let values: [u32; VALUES] = std::array::from_fn(|number| word(8 + 4 * number));
                let text = formatted(&self.text(word(0), MOST_FORMAT_BYTES), &values, |address, bytes| {
                    self.text(address, bytes.min(MOST_FORMAT_BYTES))
                });
                let lane = thread % self.lanes;
                found.push((word(4), format!("packet {} lane {lane}: {text}", word(4))));
            }
        }
        // A thread's prints stay in their order.
        found.sort_by_key(|(packet, _)| *packet);
        self.lines = found.into_iter().map(|(_, line)| line).collect();
        Ok(())
    }

    /// The text at `address` in the kernel, up to its zero, `most` bytes at most.
    fn text(&self, address: u32, most: u32) -> String {
        let byte = |offset| self.kernel.byte(address.checked_add(offset)?).filter(|byte| *byte != 0);
        let bytes = (0..most).map_while(byte);
        String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
    }

    /// Prints or writes the lines; tells how many were lost.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn write(self) -> anyhow::Result<()> {
        if self.lost > 0 {
            log::warn!(
                "{} prints found no room: a thread keeps its first {}; --print-room N keeps more",
                self.lost,
                self.room
            );
        }
        let Some(mut file) = self.file else { return self.lines.iter().try_for_each(print::line) };
        for line in &self.lines {
            writeln!(file, "{line}")?;
        }
        Ok(file.commit()?)
    }
}

/// `format` with `values` for its conversions: %u, %d, %x, %X, %c, %s (a text of the kernel), %%,
/// with width and `0`, `-` as in C, %s with a precision. What is none of them stays as it is.
fn formatted(format: &str, values: &[u32], text_at: impl Fn(u32, u32) -> String) -> String {
    let mut values = values.iter().copied();
    let (mut text, mut rest) = (String::new(), format);
    while let Some(at) = rest.find('%') {
        text += &rest[..at];
        let conversion = &rest[at + 1..];
        let length = conversion.find(|c: char| !matches!(c, '0'..='9' | '-' | 'l' | '.' | '*'));
        let Some((length, kind)) = length.and_then(|at| Some((at, conversion[at..].chars().next()?))) else {
            return text + &rest[at..];
        };
        let flags = conversion[..length].trim_end_matches('l');
        rest = &conversion[length + kind.len_utf8()..];
        if kind == '%' {
            text.push('%');
            continue;
        }
        let (flags, precision) = match flags.split_once('.').filter(|_| kind == 's') {
            Some((flags, "*")) => (flags, values.next()),
            Some((flags, digits)) => (flags, digits.parse().ok()),
            None => (flags, Some(u32::MAX)),
        };
        let value =
            if "udixXcs".contains(kind) && !flags.contains(['.', '*']) { values.next() } else { None };
        let shown = match (kind, value) {
            ('u', Some(value)) => value.to_string(),
            ('d' | 'i', Some(value)) => (value as i32).to_string(),
            ('x', Some(value)) => format!("{value:x}"),
            ('X', Some(value)) => format!("{value:X}"),
            ('c', Some(value)) => char::from(value as u8).to_string(),
            ('s', Some(value)) => text_at(value, precision.unwrap_or(0)),
            _ => {
                text += &format!("%{flags}{kind}");
                continue;
            }
        };
        let digits = flags.trim_start_matches(['-', '0']);
        let width = digits.parse().unwrap_or(0).min(256);
        text += &match (flags.starts_with('-'), flags.starts_with('0')) {
            (true, _) => format!("{shown:<width$}"),
            (_, true) if shown.starts_with('-') => format!("-{:0>1$}", &shown[1..], width.max(1) - 1),
            (_, true) => format!("{shown:0>width$}"),
            _ => format!("{shown:>width$}"),
        };
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_c() {
        let text_at = |address: u32, bytes: u32| {
            format!("<{address}>").chars().take(bytes as usize).collect::<String>()
        };
        let text = |format: &str| formatted(format, &[7, 0xffff_fffe, 65], text_at);
        assert_eq!(text("%u %d %c"), "7 -2 A");
        assert_eq!(text("%02x|%8X|%-4u|"), "07|FFFFFFFE|65  |");
        assert_eq!(text("%lu%% %05d %s"), "7% -0002 <65>");
        assert_eq!(text("%.2s|%u"), "<7|4294967294");
        assert_eq!(formatted("%.*s|%6.1s|%s", &[3, 10, 11, 12], text_at), "<10|     <|<12>");
        assert_eq!(text("%.2u %*u %u"), "%.2u %*u 7");
        // No conversion, no value for it, or its end is missing.
        assert_eq!(text("%f %u %u %u %u %"), "%f 7 4294967294 65 %u %");
        assert_eq!(text("100%5"), "100%5");
        assert_eq!(text(""), "");
        assert!(room("127").is_ok() && room("128").is_err() && room("0").is_err() && room("x").is_err());
    }
}
