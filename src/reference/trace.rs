//! Instructions of a warp as lines.

use hermes_testbench::iss::{register_name, Class, Disassembly, BOOT_ADDRESS};
use hermes_testbench::kernel::SourceMap;
use hermes_testbench::reference::{Executed, Reference};

use crate::print;

/// Prints the instructions that a warp executes.
pub struct Trace {
    source: SourceMap,
    /// The lane whose values are shown.
    lane: usize,
    /// Instructions of other lanes are printed, too.
    all: bool,
    /// Function and line of the instruction before.
    last: Option<(String, Option<String>)>,
}

impl Trace {
    /// A trace of one lane of a kernel, or of all of them, with the values of that lane.
    pub fn new(source: SourceMap, lane: usize, all: bool) -> Self {
        Self { source, lane, all, last: None }
    }

    /// Prints an instruction, and function and line before it if they are others.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn tell(&mut self, run: &Reference, executed: &Executed) -> anyhow::Result<()> {
        let retired = &executed.retired;
        let own = retired.active >> self.lane & 1 != 0;
        // Neither the boot sequence nor EXIT.
        if retired.pc >= BOOT_ADDRESS || !(own || self.all) {
            return Ok(());
        }
        let place = self.source.place(retired.pc);
        let symbol = place.symbol.as_ref().map_or("?", |(name, _)| name).to_string();
        let now = (symbol, place.source_line());
        if self.last.as_ref() != Some(&now) {
            let (symbol, line) = &now;
            print::line(match line {
                Some(line) => format!("{symbol} ({line})"),
                None => symbol.clone(),
            })?;
            self.last = Some(now);
        }
        let lanes =
            if self.all { picture(retired.active, run.threads().len()) + "  " } else { String::new() };
        let lane = if own { self.lane } else { retired.active.trailing_zeros() as usize };
        print::line(format!("  {lanes}{}", text(executed, lane)))
    }
}

/// Lanes that executed an instruction, such as `0.23`; the last digits of their numbers.
fn picture(active: u32, lanes: usize) -> String {
    let digit = |lane: usize| char::from(b'0' + (lane % 10) as u8);
    (0..lanes).map(|lane| if active >> lane & 1 != 0 { digit(lane) } else { '.' }).collect()
}

/// An instruction and what a lane wrote.
fn text(executed: &Executed, lane: usize) -> String {
    let retired = &executed.retired;
    let head = format!("{:08x}  {:08x}  ", retired.pc, retired.instruction);
    let Some(instruction) = executed.instruction else { return head + "no instruction" };
    let assembly = Disassembly { pc: retired.pc, instruction }.to_string();
    let mut line = format!("{head}{assembly:<32}");
    if let Some((_, fault)) = executed.faults.iter().find(|(of, _)| *of == lane) {
        return line + &format!("  faults: {:?}, value {:#010x}", fault.cause, fault.value);
    }
    if let Some(register) = instruction.writes() {
        line += &format!("  {} = {:#010x}", register_name(register), executed.results[lane]);
    }
    let class = instruction.op.class();
    if matches!(class, Class::Load | Class::Store | Class::Atomic) {
        line += &format!("  [{:#010x}]", retired.values[lane]);
    }
    if class == Class::Store {
        let bits = 8 * instruction.op.access_bytes();
        line += &format!(" = {:#x}", retired.store_data[lane] & (u32::MAX >> (32 - bits)));
    }
    line.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_drawn() {
        assert_eq!(picture(0b1101, 4), "0.23");
        assert_eq!(picture(1 << 11, 12), "...........1");
    }
}
