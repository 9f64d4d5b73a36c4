//! What is told of a packet at its end.

use hermes_testbench::cosim::PacketResult;
use hermes_testbench::iss::{register_name, Hart};
use hermes_testbench::reference::Reference;
use hermes_testbench::verdict::Verdict;

use super::Subject;
use crate::run::program::Program;

/// Bytes of a frame that are shown, of those that the kernel changed.
const MOST_BYTES: usize = 16;

/// The verdict, what the kernel changed, the instructions that it took, and the registers.
/// `agrees`: the golden model says the same, if there is one.
pub fn of(
    program: &Program,
    packet: &Subject,
    run: &Reference,
    result: &PacketResult,
    agrees: bool,
) -> String {
    let Subject { index, lane, threads, capture, .. } = packet;
    let first = index - *lane as u64;
    let (own, all) = run.instructions(*lane);
    let verdict = Verdict(result.verdict);
    let name = match &program.app {
        _ if verdict.is_fault() && !run.has_faulted(*lane) => "returned, no fault".to_string(),
        Some(app) => app.verdict_name(verdict),
        None => verdict.to_string(),
    };
    let mut lines = vec![
        format!(
            "packet        {index} of {capture}, lane {lane} of the warp of packets {first} to {}",
            first + threads - 1
        ),
        format!("verdict       {:#010x} ({name})", result.verdict),
        format!("frame         {}", changes(&packet.packet.frame, &result.bytes)),
    ];
    if !result.egress.is_empty() {
        let bytes: Vec<_> = result.egress.iter().map(|frame| frame.len().to_string()).collect();
        lines.push(format!("sent instead  frames of {} bytes", bytes.join(", ")));
    }
    if program.app.is_some() {
        let said = if agrees { "agrees" } else { "differs" };
        lines.push(format!("golden model  {said}"));
    }
    lines.push(format!("instructions  {own} of the lane, {all} of the warp"));
    let when = if run.has_faulted(*lane) { "at the fault" } else { "at the end" };
    lines.push(format!("registers     {when}, PC {:#010x}", run.hart(*lane).pc));
    lines.push(registers(run.hart(*lane), run.machine().isa.registers()));
    lines.join("\n")
}

/// The registers of a hart, four in a line.
pub fn registers(hart: &Hart, count: u8) -> String {
    let cell = |number: &u8| format!("{:>4} {:#010x}", register_name(*number), hart.x[usize::from(*number)]);
    let numbers: Vec<u8> = (0..count).collect();
    let rows = numbers.chunks(4).map(|row| row.iter().map(cell).collect::<Vec<_>>().join("  "));
    rows.collect::<Vec<_>>().join("\n")
}

/// The bytes of a frame that differ from what they were, by their positions in it.
fn changes(before: &[u8], after: &[u8]) -> String {
    let length = match before.len() == after.len() {
        true => format!("{} bytes", after.len()),
        false => format!("{} bytes, {} before", after.len(), before.len()),
    };
    let changed: Vec<_> =
        before.iter().zip(after).enumerate().filter(|(_, (before, after))| before != after).collect();
    if changed.is_empty() {
        return format!("{length}, none changed");
    }
    let byte = |(at, (before, after)): &(usize, (&u8, &u8))| format!("{at}: {before:02x} to {after:02x}");
    let shown: Vec<_> = changed.iter().take(MOST_BYTES).map(byte).collect();
    let more = match changed.len().saturating_sub(MOST_BYTES) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("{length}, {} changed (byte {}{more})", changed.len(), shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_bytes_are_shown() {
        assert_eq!(changes(&[1, 2, 3], &[1, 2, 3]), "3 bytes, none changed");
        assert_eq!(changes(&[1, 2, 3], &[1, 9, 3, 4]), "4 bytes, 3 before, 1 changed (byte 1: 02 to 09)");
        let text = changes(&[0; 20], &[1; 20]);
        assert!(text.starts_with("20 bytes, 20 changed (byte 0: 00 to 01, 1: 00 to 01"), "{text}");
        assert!(text.ends_with("15: 00 to 01, and 4 more)"), "{text}");
    }
}
