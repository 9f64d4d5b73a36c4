//! The memory with the model of the chip: random lines and bytes, answers that wait, addresses
//! beyond it, refreshes, resets; and how long all that takes.

use super::timing::{SDRAM_TIMES, START_REFRESHES};
use super::{SdramChip, SdramMemory, SdramPins, SdramTiming};
use crate::board::memory_player::{Load, Played, Player};
use crate::memory::testing::{random, Line};
use crate::testing::{reset, settle, tick};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// A memory and its chip.
struct Bench {
    uut: SdramMemory,
    chip: SdramChip,
    timing: SdramTiming,
    bytes: u32,
    cycle: u64,
    /// Cycles of the refreshes at the pins, those of the start-up too.
    refreshes: Vec<u64>,
}

impl Bench {
    /// A memory that comes out of reset.
    fn new(kilohertz: u64, bytes_log2: usize) -> Self {
        let timing = SdramTiming::at(kilohertz);
        let mut uut = SdramMemory::new(timing, bytes_log2);
        reset!(uut);
        let chip = SdramChip::new(kilohertz, bytes_log2).with_rows(64);
        let bytes = 1 << bytes_log2;
        Self { uut, chip, timing, bytes, cycle: 0, refreshes: Vec::new() }
    }

    /// A memory whose start-up is over.
    fn started(kilohertz: u64, bytes_log2: usize) -> Self {
        let mut bench = Self::new(kilohertz, bytes_log2);
        // The pins show the mode register in the first cycle behind it.
        while bench.cycle <= bench.timing.start_cycles() {
            bench.tick();
        }
        assert!(bench.chip.is_ready());
        bench
    }

    /// A cycle. The data pins have noise on them while nobody drives them.
    fn tick(&mut self) {
        let refreshes = self.chip.refresh_count();
        let driven = self.chip.cycle(SdramPins::of(&self.uut.sdram));
        assert_eq!(self.chip.violation(), None);
        if self.chip.refresh_count() != refreshes {
            self.refreshes.push(self.cycle);
        }
        let noise = (self.cycle * 0x9e37 + 0x1234) & 0xffff;
        self.uut.sdram.d_in.next = driven.map_or(noise, u64::from).into();
        tick!(self.uut);
        self.cycle += 1;
    }

    fn settle(&mut self) {
        settle(&mut self.uut);
    }

    /// What a line has as long as nothing is written to it.
    fn first(address: u32) -> Line {
        std::array::from_fn(|i| SdramChip::first(address + i as u32).to_le_bytes()[i % 2])
    }
}

/// Some lines that fall into the same and other rows and banks, up to both ends.
fn address(rng: &mut ChaCha8Rng, bytes: u32) -> u32 {
    match rng.gen_range(0..8) {
        0 => rng.gen::<u32>() & !63,
        1 => rng.gen_range(0..bytes) & !63,
        2 => [bytes, bytes - 64, 0][rng.gen_range(0..3)],
        _ => rng.gen_range(0..8u32) << 6 | 1 << rng.gen_range(9..25),
    }
}

/// Plays random requests and compares all answers with a model.
fn play(bench: &mut Bench, rng: ChaCha8Rng, cycles: u64, load: Load) -> Played {
    let mut player = Player::new(rng, load, bench.bytes, address, Bench::first);
    for _ in 0..cycles {
        player.offer(&mut bench.uut.s_axi, &mut bench.uut.byte);
        bench.settle();
        player.check(&bench.uut.s_axi, &bench.uut.byte);
        bench.tick();
    }
    player.played
}

/// Refreshes come on time: each in its interval, at most so much later as is documented.
fn check_refreshes(bench: &Bench, since: usize) {
    let timing = &bench.timing;
    let all = &bench.refreshes[since..];
    assert!(all.len() > 4, "{}", all.len());
    for (i, at) in all.iter().enumerate() {
        // An interval ends in its last cycle; the pins show the refresh two later at the earliest.
        let interval = (at - 1) / timing.interval * timing.interval;
        assert!(at - (interval - 1) <= timing.refresh_wait(), "refresh {i} at {at}");
        assert_eq!(interval / timing.interval, (all[0] - 1) / timing.interval + i as u64);
    }
}

fn random_load(kilohertz: u64, bytes_log2: usize) {
    let rng = random(&format!("sdram_memory {kilohertz} kHz 2^{bytes_log2}"));
    let mut bench = Bench::started(kilohertz, bytes_log2);
    let load = Load { reads: 60, writes: 60, bytes: 80, taken: 0.5 };
    let Played { reads, writes, bytes, errors, .. } = play(&mut bench, rng, 12_000, load);
    assert!(reads > 80 && writes > 60 && bytes > 60 && errors.iter().sum::<u64>() > 10);
    check_refreshes(&bench, 8);
}

#[test]
fn lines_and_bytes_are_those_that_were_written_at_25_megahertz() {
    random_load(25_000, 25);
}

#[test]
fn lines_and_bytes_are_those_that_were_written_at_40_megahertz() {
    random_load(40_000, 26);
}

#[test]
fn lines_and_bytes_are_those_that_were_written_at_100_megahertz() {
    random_load(100_000, 25);
}

#[test]
fn lines_and_bytes_are_those_that_were_written_at_133_megahertz() {
    random_load(133_000, 26);
}

#[test]
fn no_request_waits_longer_than_is_said() {
    for kilohertz in [10_000, 40_000, 133_000] {
        let rng = random("sdram_memory under load");
        let mut bench = Bench::started(kilohertz, 25);
        let load = Load { reads: 1, writes: 1, bytes: 1, taken: 1.0 };
        let Played { reads, writes, bytes, errors, longest } = play(&mut bench, rng, 8_000, load);
        println!("{kilohertz} kHz: {reads} reads, {writes} writes, {bytes} bytes, {longest} cycles");
        assert!(reads > 70 && writes > 70 && bytes > 100 && errors.iter().sum::<u64>() > 10);
        // As many bytes as the link may write in a request come to their turn before it gives up.
        assert!(1_024 * 8_000 / bytes < 1 << 16, "{bytes} bytes in 8,000 cycles");
        let bound = bench.timing.answer_wait();
        assert!(longest <= bound && longest > bound / 2, "{longest} cycles, documented {bound}");
        check_refreshes(&bench, 8);
    }
}

#[test]
fn refreshes_go_on_while_answers_wait() {
    // A read that is not taken holds all others; behind a write bytes go on.
    for (reads, writes, expected) in [(1, 1_000_000, [1, 0]), (1_000_000, 1, [0, 1])] {
        let rng = random("sdram_memory with answers that wait");
        let mut bench = Bench::started(40_000, 25);
        let load = Load { reads, writes, bytes: 1, taken: 0.0 };
        let Played { reads, writes, bytes, .. } = play(&mut bench, rng, 8_000, load);
        assert_eq!([reads, writes], expected);
        assert_eq!([bench.uut.s_axi.rvalid.val(), bench.uut.s_axi.bvalid.val()], [reads == 1, writes == 1]);
        assert!(if writes == 1 { bytes > 1_000 } else { bytes <= 1 });
        check_refreshes(&bench, 8);
    }
}

/// Cycles until each of three answers of requests that are offered all the time.
fn measured(
    bench: &mut Bench,
    offer: fn(&mut SdramMemory, bool),
    answers: fn(&SdramMemory) -> bool,
) -> [u64; 3] {
    // From behind a refresh on, all of them fit before the next.
    let refreshes = bench.refreshes.len();
    while bench.refreshes.len() == refreshes {
        bench.tick();
    }
    (0..20).for_each(|_| bench.tick());
    let begin = bench.cycle;
    let mut seen = Vec::new();
    while seen.len() < 3 {
        offer(&mut bench.uut, true);
        bench.settle();
        if answers(&bench.uut) {
            seen.push(bench.cycle - begin);
        }
        bench.tick();
    }
    offer(&mut bench.uut, false);
    assert_eq!(bench.refreshes.len(), refreshes + 1);
    (0..60).for_each(|_| bench.tick());
    [seen[0], seen[1] - seen[0], seen[2] - seen[1]]
}

#[test]
fn a_line_takes_as_long_as_is_said() {
    // kHz; read and the next one; write and the next one; byte and the next one
    let documented = [
        (25_000, 37, 38, 34, 36, 5, 5),
        (40_000, 37, 38, 34, 36, 5, 5),
        (50_000, 38, 39, 35, 37, 6, 6),
        (100_000, 39, 40, 36, 39, 7, 8),
        (133_000, 40, 41, 36, 40, 8, 9),
    ];
    for (kilohertz, read, next_read, write, next_write, byte, next_byte) in documented {
        let mut bench = Bench::started(kilohertz, 25);
        let t = bench.timing;
        assert_eq!(
            [t.read(), t.next_read(), t.write(), t.next_write()],
            [read, next_read, write, next_write]
        );
        assert_eq!([t.read_byte(), t.next_byte()], [byte, next_byte]);
        bench.uut.s_axi.rready.next = true;
        bench.uut.s_axi.bready.next = true;
        let reads =
            measured(&mut bench, |uut, offer| uut.s_axi.arvalid.next = offer, |uut| uut.s_axi.rvalid.val());
        assert_eq!(reads, [read, next_read, next_read], "{kilohertz} kHz");
        let writes = measured(
            &mut bench,
            |uut, offer| (uut.s_axi.awvalid.next, uut.s_axi.wvalid.next) = (offer, offer),
            |uut| uut.s_axi.bvalid.val(),
        );
        assert_eq!(writes, [write, next_write, next_write], "{kilohertz} kHz");
        let bytes =
            measured(&mut bench, |uut, offer| uut.byte.valid.next = offer, |uut| uut.byte.answer.val());
        assert_eq!(bytes, [byte, next_byte, next_byte], "{kilohertz} kHz");
        // Beyond the memory
        bench.uut.s_axi.araddr.next = 0x8000_0000u64.into();
        bench.uut.s_axi.awaddr.next = 0x0200_0000u64.into();
        let reads =
            measured(&mut bench, |uut, offer| uut.s_axi.arvalid.next = offer, |uut| uut.s_axi.rvalid.val());
        assert_eq!(reads, [2, 3, 3]);
    }
}

#[test]
fn the_chip_is_started_as_it_asks() {
    for kilohertz in [10_000, 48_000, 133_333] {
        let mut bench = Bench::new(kilohertz, 26);
        bench.uut.s_axi.arvalid.next = true;
        let mut taken = None;
        while taken.is_none() {
            bench.settle();
            taken = bench.uut.s_axi.arready.val().then_some(bench.cycle);
            bench.tick();
        }
        assert_eq!(taken, Some(bench.timing.start_cycles()));
        assert_eq!(bench.refreshes.len() as u64, START_REFRESHES);
        let microseconds = bench.timing.start_cycles() * 1_000 / kilohertz;
        assert!((265..=290).contains(&microseconds), "{microseconds}");
    }
}

#[test]
fn a_reset_may_come_at_any_time() {
    let mut rng = random("sdram_memory with resets");
    let mut bench = Bench::started(10_000, 25);
    let mut words = 0;
    for at in (1..42).step_by(2) {
        for writes in [false, true] {
            bench.uut.s_axi.arvalid.next = !writes;
            bench.uut.s_axi.awvalid.next = writes;
            bench.uut.s_axi.wvalid.next = writes;
            (0..at).for_each(|_| bench.tick());
            let shown = SdramPins::of(&bench.uut.sdram);
            words += u32::from(!shown.csn && shown.rasn && !shown.casn);
            // One in four comes back in the start-up.
            for start in [rng.gen_range(0..500), bench.timing.start_cycles() + 1] {
                if start < 500 && rng.gen_ratio(3, 4) {
                    continue;
                }
                bench.uut.reset.next = true;
                bench.tick();
                bench.chip.controller_reset();
                bench.uut.s_axi.arvalid.next = false;
                bench.uut.s_axi.awvalid.next = false;
                bench.uut.s_axi.wvalid.next = false;
                for _ in 0..3 {
                    let shown = SdramPins::of(&bench.uut.sdram);
                    assert!(shown.csn && shown.rasn && shown.casn && shown.wen && !shown.d_enable);
                    bench.tick();
                }
                bench.uut.reset.next = false;
                (0..start).for_each(|_| bench.tick());
            }
            assert!(bench.chip.is_ready());
        }
    }
    assert!(words > 20, "{words} resets in the middle of a line");
    bench.uut.reset.next = true;
    bench.tick();
    bench.chip.controller_reset();
    bench.uut.reset.next = false;
    (bench.cycle, bench.refreshes) = (0, Vec::new());
    (0..=bench.timing.start_cycles()).for_each(|_| bench.tick());
    let load = Load { reads: 50, writes: 50, bytes: 50, taken: 0.9 };
    assert!(play(&mut bench, rng, 500, load).reads > 2);
}

#[test]
fn timing_keeps_to_the_data_sheets_at_every_clock() {
    for kilohertz in (10_000..=133_333).step_by(7) {
        let timing = SdramTiming::at(kilohertz);
        let nanoseconds = |cycles: u64| cycles as f64 * 1e6 / kilohertz as f64;
        let times = SDRAM_TIMES;
        let least = |cycles: u64, picoseconds: u64| {
            let least = picoseconds as f64 / 1e3;
            assert!(nanoseconds(cycles) >= least - 1e-9, "{kilohertz} kHz: {cycles} cycles, {least} ns");
        };
        least(timing.t_rcd, times.t_rcd);
        least(timing.t_rp, times.t_rp);
        least(timing.t_rfc, times.t_rfc);
        least(timing.t_rcd + timing.close, times.t_ras);
        least(timing.t_rcd + timing.close + timing.t_rp, times.t_rc);
        least((timing.start - 9) * timing.interval, times.power_on);
        // All rows, the last of them as late as may be
        let rows = nanoseconds(8_192 * timing.interval + timing.refresh_wait());
        assert!(rows <= 64e6 && rows > 62e6, "{kilohertz} kHz: {rows} ns");
        // The link gives up a request to write 1,024 bytes when they wait for 2^16 cycles: it does
        // not under full load, with a line between any two bytes.
        let byte = timing.next_byte() + timing.next_read().max(timing.next_write());
        let refresh = timing.t_rp + timing.t_rfc;
        let all = 1_024 * byte * timing.interval / (timing.interval - refresh);
        assert!(all < 1 << 16, "{kilohertz} kHz: {all} cycles");
        // RVALID does not wait for the row to be closed.
        assert!(timing.close <= timing.cas_latency + 1);
        drop(SdramMemory::new(timing, 25));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |make: fn() -> SdramMemory| std::panic::catch_unwind(make).is_err();
    assert!(refused(|| SdramMemory::new(SdramTiming::at(9_999), 25)));
    assert!(refused(|| SdramMemory::new(SdramTiming::at(133_334), 25)));
    assert!(refused(|| SdramMemory::new(SdramTiming::at(40_000), 24)));
    assert!(refused(|| SdramMemory::new(SdramTiming::at(40_000), 27)));
    assert!(refused(|| SdramMemory::new(SdramTiming { t_rfc: 17, ..SdramTiming::at(40_000) }, 25)));
    assert!(refused(|| SdramMemory::new(SdramTiming { interval: 38, ..SdramTiming::at(40_000) }, 25)));
    assert!(!refused(|| SdramMemory::new(SdramTiming::at(40_000), 25)));
}
