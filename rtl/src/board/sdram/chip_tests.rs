//! The model of the chip finds what it says that it finds.

use super::timing::ROWS;
use super::{SdramChip, SdramPins};

/// 100 MHz: tRCD and tRP are 3 cycles, tRAS 5, tRC and tRFC 7.
const KILOHERTZ: u64 = 100_000;
const POWER_ON: u64 = 20_000;
const ALL: u16 = 0x400;

const fn pins(rasn: bool, casn: bool, wen: bool, ba: u8, a: u16) -> SdramPins {
    SdramPins { csn: false, rasn, casn, wen, ba, a, ..SdramPins::IDLE }
}

const fn activate(ba: u8, row: u16) -> SdramPins {
    pins(false, true, true, ba, row)
}

const fn read(ba: u8, column: u16) -> SdramPins {
    pins(true, false, true, ba, column)
}

const fn write(ba: u8, column: u16, d_out: u16, dqm: u8) -> SdramPins {
    SdramPins { d_out, dqm, d_enable: true, ..pins(true, false, false, ba, column) }
}

const fn precharge(ba: u8, a: u16) -> SdramPins {
    pins(false, true, false, ba, a)
}

const REFRESH: SdramPins = pins(false, false, true, 0, 0);
const STOP: SdramPins = pins(true, true, false, 0, 0);

const fn mode(a: u16) -> SdramPins {
    pins(false, false, false, 0, a)
}

/// Gives the chip commands, each so many cycles after the one before it.
fn play(chip: &mut SdramChip, commands: &[(u64, SdramPins)]) {
    for (after, command) in commands {
        for _ in 1..*after {
            chip.cycle(SdramPins::IDLE);
        }
        chip.cycle(*command);
    }
}

/// Commands of a start-up with so many refreshes.
fn start(wait: u64, t_rp: u64, refreshes: usize, t_rfc: u64) -> Vec<(u64, SdramPins)> {
    let mut commands = vec![(wait + 1, precharge(0, ALL)), (t_rp, REFRESH)];
    commands.extend(vec![(t_rfc, REFRESH); refreshes - 1]);
    commands.push((t_rfc, mode(0x20)));
    commands
}

/// A chip that is started.
fn ready() -> SdramChip {
    let mut chip = SdramChip::new(KILOHERTZ, 25);
    play(&mut chip, &start(POWER_ON, 3, 8, 7));
    assert_eq!(chip.violation(), None);
    assert!(chip.is_ready());
    assert_eq!(chip.refresh_count(), 8);
    chip
}

/// These commands behind a start-up are right; with the last one a cycle earlier they are not.
fn exact(commands: &[(u64, SdramPins)], parameter: &str) {
    let mut chip = ready();
    play(&mut chip, commands);
    assert_eq!(chip.violation(), None, "{parameter}");
    let mut early = commands.to_vec();
    let last = early.last_mut().unwrap();
    let expected = last.0;
    last.0 -= 1;
    broken(&early, parameter);
    assert!(expected > 1, "{parameter}");
}

/// These commands behind a start-up are refused, the last one of them, with this text.
fn broken(commands: &[(u64, SdramPins)], text: &str) {
    let mut chip = ready();
    let (last, before) = commands.split_last().unwrap();
    play(&mut chip, before);
    assert_eq!(chip.violation(), None, "{text}");
    play(&mut chip, &[*last]);
    let violation = chip.violation().unwrap_or_else(|| panic!("{text}: not found"));
    assert!(violation.contains(text), "{text}: {violation}");
}

#[test]
fn words_are_those_that_were_written() {
    for (latency, at) in [(0x20, 1), (0x30, 2)] {
        let mut chip = SdramChip::new(KILOHERTZ, 25);
        let mut commands = start(POWER_ON, 3, 8, 7);
        commands.last_mut().unwrap().1 = mode(latency);
        play(&mut chip, &commands);
        // Row 5 of bank 2, columns 7 and 8: byte address (5 * 4 + 2) * 1,024 + 14
        play(&mut chip, &[(2, activate(2, 5)), (3, write(2, 7, 0x1234, 0)), (1, write(2, 8, 0xabcd, 1))]);
        let address = 22 * 1_024 + 14;
        let other = 0xab00 | SdramChip::first(address + 2) & 0xff;
        assert_eq!((chip.word(address), chip.word(address + 2)), (0x1234, other));
        let mut driven = vec![chip.cycle(read(2, 7)), chip.cycle(read(2, 8))];
        driven.extend((0..4).map(|_| chip.cycle(SdramPins::IDLE)));
        let mut expected = vec![None; 6];
        (expected[at], expected[at + 1]) = (Some(0x1234), Some(other));
        assert_eq!(driven, expected);
        assert_eq!(chip.violation(), None);
    }
}

#[test]
fn each_time_is_checked_to_the_cycle() {
    let row = (2, activate(1, 9));
    exact(&[row], "tMRD 1 cycles, expected 2");
    exact(&[(2, REFRESH)], "tMRD 1 cycles, expected 2");
    exact(&[(2, precharge(0, ALL))], "tMRD 1 cycles, expected 2");
    exact(&[row, (3, read(1, 0))], "tRCD 2 cycles, expected 3");
    exact(&[row, (3, write(1, 0, 0, 0))], "tRCD 2 cycles, expected 3");
    exact(&[row, (5, precharge(1, 0))], "tRAS 4 cycles, expected 5");
    exact(&[row, (5, precharge(1, 0)), (3, activate(1, 9))], "tRP 2 cycles, expected 3");
    exact(&[row, (9, precharge(1, 0)), (3, REFRESH)], "tRP 2 cycles, expected 3");
    exact(&[row, (2, activate(2, 9))], "tRRD 1 cycles, expected 2");
    exact(&[row, (5, write(1, 0, 0, 0)), (2, precharge(1, 0))], "tWR 1 cycles, expected 2");
    exact(&[(2, REFRESH), (7, REFRESH)], "tRFC 6 cycles, expected 7");
    exact(&[(2, REFRESH), (7, activate(0, 0))], "tRFC 6 cycles, expected 7");
    // tRAS and tRP are not less than tRC together, so that tRC is broken with another one only.
    broken(&[row, (5, precharge(1, 0)), (1, activate(1, 9))], "ACTIVATE: tRC 6 cycles, expected 7");
    broken(&[row, (5, precharge(1, 0)), (1, REFRESH)], "REFRESH: tRC 6 cycles, expected 7");
}

#[test]
fn a_row_that_is_open_too_long_is_found() {
    // 100 us
    let row = (2, activate(1, 9));
    let mut chip = ready();
    play(&mut chip, &[row, (10_000, precharge(1, 0))]);
    assert_eq!(chip.violation(), None);
    broken(&[row, (10_001, precharge(1, 0))], "PRECHARGE: tRAS 10001 cycles, expected at most 10000");
    broken(&[row, (10_001, precharge(0, ALL))], "tRAS 10001 cycles, expected at most 10000");
    // A reset of the controller leaves it open for the start-up.
    let mut chip = ready();
    play(&mut chip, &[row]);
    chip.controller_reset();
    play(&mut chip, &start(POWER_ON, 3, 8, 7));
    assert_eq!(chip.violation(), None);
}

#[test]
fn what_the_state_of_the_banks_forbids_is_found() {
    let row = (2, activate(1, 9));
    broken(&[(9, read(0, 0))], "READ: bank 0 is closed");
    broken(&[row, (9, write(2, 0, 0, 0))], "WRITE: bank 2 is closed");
    broken(&[row, (9, precharge(1, 0)), (9, read(1, 0))], "bank 1 is closed");
    broken(&[row, (9, precharge(3, ALL)), (9, read(1, 0))], "bank 1 is closed");
    broken(&[row, (9, precharge(3, 0)), (9, activate(1, 4))], "ACTIVATE: bank 1 is open, with row 9");
    broken(&[row, (9, REFRESH)], "REFRESH: bank 1 is open");
    broken(&[row, (9, mode(0x20))], "MODE REGISTER SET: bank 1 is open");
    broken(&[row, (9, read(1, 0x400))], "A10 asks for auto precharge");
    broken(&[row, (9, read(1, 512))], "column 512, expected below 512");
    broken(&[row, (9, STOP)], "nothing to stop");
    let mut wide = SdramChip::new(KILOHERTZ, 26);
    play(&mut wide, &start(POWER_ON, 3, 8, 7));
    play(&mut wide, &[row, (9, read(1, 1_023))]);
    assert_eq!(wide.violation(), None);
    play(&mut wide, &[(9, read(1, 2_048))]);
    assert!(wide.violation().unwrap().contains("column 2048, expected below 1024"));
}

#[test]
fn data_pins_are_driven_by_one_side() {
    let row = (2, activate(1, 9));
    let silent = SdramPins { d_enable: false, ..write(1, 0, 0, 0) };
    let drives = SdramPins { d_enable: true, ..SdramPins::IDLE };
    broken(&[row, (9, silent)], "WRITE: WRITE without data");
    broken(&[row, (9, drives)], "no command: data driven without WRITE");
    // The word of a READ is on the pins from the middle of the next cycle to that of the one after.
    let both = "WRITE: data driven by chip and controller";
    broken(&[row, (9, read(1, 0)), (1, write(1, 0, 0, 0))], both);
    broken(&[row, (9, read(1, 0)), (2, write(1, 0, 0, 0))], both);
    let mut chip = ready();
    play(&mut chip, &[row, (9, read(1, 0)), (3, write(1, 0, 0, 0))]);
    assert_eq!(chip.violation(), None);
    let masked = SdramPins { dqm: 2, ..read(1, 0) };
    broken(&[row, (9, masked), (1, SdramPins::IDLE)], "READ: DQM masks a word that is read");
}

#[test]
fn the_start_up_is_checked() {
    let violation = |commands: &[(u64, SdramPins)]| {
        let mut chip = SdramChip::new(KILOHERTZ, 25);
        play(&mut chip, commands);
        chip.violation().unwrap_or_default().to_string()
    };
    assert_eq!(violation(&start(POWER_ON, 3, 8, 7)), "");
    let early = violation(&start(POWER_ON - 1, 3, 8, 7));
    assert_eq!(early, "cycle 19999: PRECHARGE: power-on 19999 cycles, expected 20000");
    assert!(violation(&start(POWER_ON, 2, 8, 7)).contains("REFRESH: tRP 2 cycles, expected 3"));
    assert!(violation(&start(POWER_ON, 3, 8, 6)).contains("REFRESH: tRFC 6 cycles, expected 7"));
    let few = violation(&start(POWER_ON, 3, 7, 7));
    assert!(few.contains("MODE REGISTER SET: 7 refreshes at start-up, expected 8"), "{few}");
    for wrong in [precharge(0, 0), REFRESH, mode(0x20), activate(0, 0), read(0, 0), STOP] {
        assert!(violation(&[(POWER_ON + 1, wrong)]).contains("out of the order of the start-up"));
    }
    for wrong in [precharge(0, ALL), activate(0, 0), read(0, 0)] {
        let commands = [(POWER_ON + 1, precharge(0, ALL)), (9, wrong)];
        assert!(violation(&commands).contains("out of the order of the start-up"));
    }
    for (wrong, text) in [
        (0x10, "CAS latency 1, expected 2 to 3"),
        (0x40, "CAS latency 4, expected 2 to 3"),
        (0x23, "mode 0x23, expected bursts of one word"),
        (0x220, "mode 0x220, expected bursts of one word"),
    ] {
        let mut commands = start(POWER_ON, 3, 8, 7);
        commands.last_mut().unwrap().1 = mode(wrong);
        assert!(violation(&commands).contains(text), "{text}");
    }
    // Above 100 MHz a CAS latency of 2 is too short.
    let mut fast = SdramChip::new(101_000, 25);
    play(&mut fast, &start(20_200, 3, 8, 7));
    assert!(fast.violation().unwrap().contains("CAS latency 2, expected 3 to 3"));
}

#[test]
fn the_start_up_is_expected_again_behind_a_reset() {
    let row = [(2, activate(1, 9)), (3, write(1, 4, 0x55aa, 0))];
    let mut chip = ready();
    play(&mut chip, &row);
    chip.controller_reset();
    play(&mut chip, &start(POWER_ON, 3, 8, 7));
    assert_eq!(chip.violation(), None);
    // The bank was closed, and contents stayed.
    play(&mut chip, &[(2, activate(1, 9)), (3, read(1, 4))]);
    assert_eq!(chip.cycle(SdramPins::IDLE), Some(0x55aa));
    assert_eq!(chip.violation(), None);
    let mut chip = ready();
    play(&mut chip, &row);
    chip.controller_reset();
    play(&mut chip, &[(9, read(1, 4))]);
    assert!(chip.violation().unwrap().contains("out of the order of the start-up"));
}

#[test]
fn rows_that_are_refreshed_late_are_found() {
    // 64 ms are 6,400,000 cycles, 781.25 for each row.
    for (rows, window) in [(ROWS, 6_400_000), (64, 50_000)] {
        let mut chip = ready().with_rows(rows);
        // All rows at once, then nothing for as long as that may be
        play(&mut chip, &vec![(10, REFRESH); rows as usize]);
        let rest = window - 10 * (rows - 1);
        play(&mut chip, &[(rest, SdramPins::IDLE)]);
        assert_eq!(chip.violation(), None);
        play(&mut chip, &vec![(1, SdramPins::IDLE); 10 * rows as usize]);
        let text = format!("REFRESH: {rows} rows refreshed in {} cycles, expected {window}", window + 1);
        assert!(chip.violation().unwrap().ends_with(&text), "{:?}", chip.violation());

        // One row each 781 cycles is often enough, each 782 is not.
        let mut chip = ready().with_rows(rows);
        play(&mut chip, &vec![(781, REFRESH); rows as usize + 100]);
        assert_eq!(chip.violation(), None);
        let mut chip = ready().with_rows(rows);
        play(&mut chip, &vec![(782, REFRESH); rows as usize + 100]);
        assert!(chip.violation().is_some());
        // Nor is it enough to begin too late.
        let mut chip = ready().with_rows(rows);
        play(&mut chip, &[(window + 2, SdramPins::IDLE)]);
        assert!(chip.violation().is_some());
    }
}
