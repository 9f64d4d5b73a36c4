//! The readable trace: a block of lines for each warp.

use std::fmt::Write as _;
use std::io::{self, Write};

use hermes_rtl::config::EXIT_ADDRESS;

use super::bounded::Bounded;
use super::hart::{HartPart, HartWait};
use super::names::Name;
use super::warp::{Step, WarpTimeline};
use crate::command::CommandRetired;
use crate::cosim::Work;
use crate::iss::{disassemble, register_name, Class, Instruction, Isa, LateWrite, Retired};
use crate::verdict::{Verdict, FAULT};

/// Bytes of lines that may wait in memory for their block to be written, if the trace may not have
/// more.
const LEAST_WAITING: u64 = 64 << 20;
/// Width of the column of source files and lines.
const LINE_WIDTH: usize = 20;

/// Writes the readable trace.
#[derive(Debug)]
pub struct TextTrace<W> {
    output: Bounded<W>,
    /// Bytes of lines that wait in memory for their block to be written.
    waiting: u64,
    isa: Isa,
    /// Hexadecimal digits of a set of lanes.
    digits: usize,
}

impl<W: Write> TextTrace<W> {
    /// Starts the trace of cores with so many lanes.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn new(output: W, isa: Isa, lanes: usize) -> io::Result<Self> {
        let digits = lanes.div_ceil(4).max(5);
        let mut output = Bounded::new(output);
        let head = format!(
            "Cycles since reset; sets of lanes and addresses in hexadecimal.\n\
             {:>10} {:>6} {:<8} {:<digits$} {:<8} {:<28} {:<LINE_WIDTH$} what it did: one value if all lanes have the same\n",
            "cycle", "waited", "for", "lanes", "pc", "instruction", "line"
        );
        output.piece(head.as_bytes())?;
        Ok(Self { output, waiting: 0, isa, digits })
    }

    /// Ends the trace before it has more than so many bytes.
    #[must_use]
    pub fn with_limit(mut self, bytes: u64) -> Self {
        self.output.set_limit(bytes);
        self
    }

    /// Whether the trace has as many bytes as it may have.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.output.is_full()
    }

    /// Notes a line of `warp`, unless more wait than may be in memory.
    fn note(&mut self, warp: &mut WarpTimeline, line: &str) {
        let line = line.trim_end();
        let bytes = line.len() as u64 + 1;
        warp.cut |= self.output.is_full() || self.waiting + bytes > self.output.limit().max(LEAST_WAITING);
        if !warp.cut {
            self.waiting += bytes;
            warp.lines.push_str(line);
            warp.lines.push('\n');
        }
    }

    /// Notes an instruction of `warp`.
    pub fn retired(
        &mut self,
        warp: &mut WarpTimeline,
        cycle: u64,
        got: &Retired,
        code: Option<&Instruction>,
        step: Step,
        name: &Name,
    ) {
        if warp.function != name.function {
            warp.function.clone_from(&name.function);
            self.note(warp, &format!("{:>10} in {}", "", name.place()));
        }
        let waited = if step.waited == 0 { String::new() } else { step.waited.to_string() };
        let reason = step.wait.map_or("", |wait| wait.name());
        let text = match got.pc {
            EXIT_ADDRESS => "exit".to_string(),
            pc => disassemble(pc, got.instruction, &self.isa),
        };
        let line = format!(
            "{cycle:>10} {waited:>6} {reason:<8} {:<digits$} {:08x} {text:<28} {:<LINE_WIDTH$} {}",
            format!("{:x}", got.active),
            got.pc,
            name.source_line().unwrap_or_default(),
            effect(got, code, warp.work),
            digits = self.digits
        );
        self.note(warp, &line);
    }

    /// Notes values that reached the registers of `warp`.
    pub fn late_write(&mut self, warp: &mut WarpTimeline, cycle: u64, late: &LateWrite) {
        let (lanes, rd) = (format!("{:x}", late.lanes), register_name(late.rd));
        let values = values(late.lanes, &late.values);
        let line = format!(
            "{cycle:>10} {:>15} {lanes:<digits$} {:>37} {:LINE_WIDTH$} {rd} = {values}",
            "",
            "late",
            "",
            digits = self.digits
        );
        self.note(warp, &line);
    }

    /// Writes the block of a warp.
    ///
    /// # Errors
    /// Those of the output.
    pub fn warp(&mut self, warp: &WarpTimeline) -> io::Result<()> {
        let ((first, _), last) = (warp.work.range(), warp.work.last());
        let (core, slot) = (warp.slot.core, warp.slot.slot);
        let of = match warp.work {
            Work::Packets(_) => format!("packets {first} to {last}"),
            Work::Job { job, .. } => format!("job {job}, threads {first} to {last}"),
        };
        let issued = warp.issued;
        let head = format!("\nwarp of {of}, core {core}, slot {slot}\n{issued:>10} issued\n");
        self.output.piece(head.as_bytes())?;
        self.lines(&warp.lines)?;
        self.waiting -= warp.lines.len() as u64;
        if warp.cut {
            // Nothing may follow what lacks its end.
            self.output.fill();
        }
        let mut tail = match warp.finished {
            Some(cycle) => format!(
                "{cycle:>10} finished: {} instructions, {} lane-instructions\n",
                warp.instructions, warp.lane_instructions
            ),
            None => format!("{:>10} not finished\n", ""),
        };
        match (warp.work, warp.committed) {
            (Work::Job { .. }, _) => {}
            (_, Some(cycle)) => tail.push_str(&format!("{cycle:>10} committed\n")),
            (_, None) => tail.push_str(&format!("{:>10} not committed\n", "")),
        }
        self.output.piece(tail.as_bytes())
    }

    /// Writes lines, each whole.
    fn lines(&mut self, lines: &str) -> io::Result<()> {
        lines.split_inclusive('\n').try_for_each(|line| self.output.piece(line.as_bytes()))
    }

    /// The line of an instruction of the command processor.
    pub(super) fn hart_line(&self, cycle: u64, got: &CommandRetired, name: &Name) -> String {
        let isa = Isa::RV32IMA_ZBB;
        let text = machine_instruction(got.word).unwrap_or_else(|| disassemble(got.pc, got.word, &isa));
        let mut what = match Instruction::decode(got.word, &isa).map(|code| code.op.class()) {
            _ if got.trap => format!("exception, to {:x}", got.next_pc),
            Some(Class::Load | Class::Atomic) => {
                format!("{} <- [{:x}] {:x}", register_name(got.rd as u8), got.address, got.value)
            }
            Some(Class::Store) => format!("[{:x}]", got.address),
            _ if got.rd != 0 => format!("{} = {:x}", register_name(got.rd as u8), got.value),
            _ => String::new(),
        };
        if got.next_pc != got.pc.wrapping_add(4) && !got.trap {
            what.push_str(if what.is_empty() { "" } else { "; " });
            // Writing to a string does not fail.
            let _ = write!(what, "to {:x}", got.next_pc);
        }
        let line = format!(
            "{cycle:>10} {:>15} {:digits$} {:08x} {text:<28} {:<LINE_WIDTH$} {what}",
            "",
            "",
            got.pc,
            name.source_line().unwrap_or_default(),
            digits = self.digits
        );
        format!("{}\n", line.trim_end())
    }

    /// Writes the block of a part of a hart's time.
    ///
    /// # Errors
    /// Those of the output.
    pub fn hart(&mut self, hart: u32, part: &HartPart) -> io::Result<()> {
        match part {
            HartPart::Stretch(stretch) => {
                let head = format!("\nhart {hart} in {}\n", stretch.function);
                self.output.piece(head.as_bytes())?;
                self.lines(&stretch.lines)
            }
            HartPart::Wait(from, to, wait) if *wait == HartWait::Sleep => {
                let line = format!("\nhart {hart} slept in cycles {from} to {}\n", to - 1);
                self.output.piece(line.as_bytes())
            }
            HartPart::Enter(cycle, what) => {
                let line = format!("\nhart {hart}: {} in cycle {cycle}\n", what.name());
                self.output.piece(line.as_bytes())
            }
            HartPart::Wait(..) | HartPart::Leave(_) | HartPart::Exception(..) => Ok(()),
        }
    }

    /// Ends the trace, which says so if it ends early, and gives the output back.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end(self) -> io::Result<W> {
        let limit = self.output.limit();
        let early = format!("\nThe trace ends here: with more it would be larger than {limit} bytes.\n");
        let last = if self.output.is_full() { early.as_bytes() } else { b"" };
        self.output.end(last)
    }
}

/// Instructions that only the command processor has, as text.
fn machine_instruction(word: u32) -> Option<String> {
    let register = |at: u32| register_name((word >> at & 31) as u8);
    let immediate = (word as i32 >> 25) << 5 | (word >> 7 & 31) as i32;
    Some(match (word, word & 0x7f, word >> 12 & 7) {
        (0x3020_0073, ..) => "mret".into(),
        (0x1050_0073, ..) => "wfi".into(),
        (0x0000_100b, ..) => "ereturn".into(),
        (_, 0x0b, 0) => format!(
            "emonitor {},{},{},{},{}",
            register(7),
            register(15),
            register(20),
            word >> 28,
            word >> 25 & 7
        ),
        (_, 0x0b, 2) => format!("signal {},{immediate}({})", register(20), register(15)),
        (_, 0x0b, 3) => format!("signal.range {},{}", register(7), register(15)),
        (_, 0x73, kind @ (1..=3 | 5..=7)) => {
            let name = ["csrrw", "csrrs", "csrrc"][(kind as usize & 3) - 1];
            let (rd, number) = (register(7), word >> 20);
            if kind < 4 {
                format!("{name} {rd},{number:#x},{}", register(15))
            } else {
                format!("{name}i {rd},{number:#x},{}", word >> 15 & 31)
            }
        }
        _ => return None,
    })
}

/// What an instruction did, in a few words.
fn effect(got: &Retired, code: Option<&Instruction>, work: Work) -> String {
    let sound = got.active & !got.faulting;
    let list = |elements: &[u32]| values(got.active, elements);
    let rd = register_name(got.rd);
    let mut text = match code.map(|code| code.op.class()) {
        _ if got.pc == EXIT_ADDRESS && matches!(work, Work::Job { .. }) => String::new(),
        _ if got.pc == EXIT_ADDRESS => format!("verdict {}", list(&got.store_data)),
        Some(Class::Load | Class::Atomic) => format!("{rd} <- [{}]", list(&got.values)),
        Some(Class::Store) => format!("[{}] <- {}", list(&got.values), list(&got.store_data)),
        Some(Class::Jalr) => format!("to {}", list(&got.values)),
        _ if got.rd == 0 || sound == 0 => String::new(),
        _ if got.late => format!("{rd} comes late"),
        _ => format!("{rd} = {}", values(sound, &got.values)),
    };
    if got.faulting != 0 {
        let gap = if text.is_empty() { "" } else { "; " };
        let fault = Verdict(FAULT | u32::from(got.cause));
        // Writing to a string does not fail.
        let _ = write!(text, "{gap}lanes {:x} {fault}", got.faulting);
    }
    text
}

/// The elements of the lanes in `set`, or the one that all of them have.
fn values(set: u32, elements: &[u32]) -> String {
    let mut chosen = elements.iter().enumerate().filter(|(lane, _)| set >> lane & 1 != 0).map(|(_, x)| *x);
    let Some(first) = chosen.next() else { return String::new() };
    let rest: Vec<u32> = chosen.collect();
    if rest.iter().all(|value| *value == first) {
        return format!("{first:x}");
    }
    rest.iter().fold(format!("{first:x}"), |text, value| format!("{text} {value:x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::{PacketRange, WarpSlot};
    use crate::timeline::Wait;

    #[test]
    fn lines_say_what_instructions_did() {
        let isa = Isa {
            m: true,
            zbb: true,
            aes: false,
            atomics: false,
            compare_and_swap: false,
            zawrs: false,
            embedded: false,
        };
        let mut trace = TextTrace::new(Vec::new(), isa, 4).unwrap();
        let slot = WarpSlot { core: 1, slot: 3 };
        let mut warp = WarpTimeline::new(slot, Work::Packets(PacketRange { first: 8, count: 4 }), 5, 0);
        let mut retire = |cycle, word, change: &dyn Fn(&mut Retired)| {
            let mut got = Retired { pc: 0x40, instruction: word, active: 0xf, ..Retired::default() };
            change(&mut got);
            let code = Instruction::decode(word, &isa);
            let step = Step { waited: 7, wait: Some(Wait::Branch) };
            let (function, offset) = if got.pc == EXIT_ADDRESS { ("(exit)", 0) } else { ("kernel", 0x40) };
            let line = (offset > 0).then(|| ("/src/k.c".to_string(), 7));
            let name = Name { function: function.into(), offset, line };
            trace.retired(&mut warp, cycle, &got, code.as_ref(), step, &name);
        };
        retire(20, 0x0017_0713, &|got| (got.rd, got.values) = (14, vec![6, 6, 6, 6]));
        retire(21, 0x0005_2703, &|got| {
            (got.rd, got.late, got.values) = (14, true, vec![64, 65, 128, 192]);
            (got.faulting, got.cause) = (2, 4);
        });
        retire(22, 0x00f5_2023, &|got| (got.values, got.store_data) = (vec![16; 4], vec![1, 2, 3, 4]));
        retire(23, 0, &|got| (got.pc, got.store_data) = (EXIT_ADDRESS, vec![0; 4]));
        let late = LateWrite { core: 1, slot: 3, rd: 14, lanes: 5, values: vec![170, 0, 187, 0] };
        trace.late_write(&mut warp, 24, &late);
        warp.finish(30);
        trace.warp(&warp).unwrap();
        let text = String::from_utf8(trace.end().unwrap()).unwrap();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<_> = text.lines().skip(3).map(words).collect();
        assert_eq!(
            lines,
            [
                "warp of packets 8 to 11, core 1, slot 3",
                "5 issued",
                "in kernel+0x40",
                "20 7 branch f 00000040 addi a4,a4,1 k.c:7 a4 = 6",
                "21 7 branch f 00000040 lw a4,0(a0) k.c:7 a4 <- [40 41 80 c0]; lanes 2 fault: load address misaligned",
                "22 7 branch f 00000040 sw a5,0(a0) k.c:7 [10] <- 1 2 3 4",
                "in (exit)",
                "23 7 branch f fffffffc exit verdict 0",
                "24 5 late a4 = aa bb",
                "30 finished: 0 instructions, 0 lane-instructions",
                "not committed",
            ]
        );
    }
}
