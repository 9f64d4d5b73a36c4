//! [`CommandDebug`] with harts that are a model.

use super::*;
use crate::testing::{random, reset, settle, tick};
use rand::Rng;

const HARTS: usize = 3;

/// What a hart is about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Hart {
    run: bool,
    stopped: bool,
    /// A stop was asked for.
    wanted: bool,
    /// The hart executes one instruction.
    step: bool,
}

/// Requests and events of stage W at random, against the rules.
#[test]
fn follows_the_rules() {
    let mut random = random();
    let mut unit = CommandDebug::default();
    reset!(unit);
    let mut harts = [Hart::default(); HARTS];
    // The hart that executes a word, the word, whether it is to be fetched, whether it is in the
    // pipeline.
    let mut word: Option<(usize, u32)> = None;
    let (mut fetches, mut inside) = (false, false);
    let (mut error, mut data) = (false, 0u32);
    let (mut stops, mut steps, mut trapped, mut late, mut words, mut errors, mut held) =
        (0, 0, 0, 0, 0, 0, 0);
    for cycle in 0..60_000 {
        // The event in stage W: hart, retires, exception; else it is replayed. Only what runs is
        // there.
        let mut run = 0u64;
        for (h, hart) in harts.iter_mut().enumerate() {
            let holds = random.gen_bool(if hart.run { 0.003 } else { 0.7 });
            run |= u64::from(!holds) << h;
        }
        let h = random.gen_range(0..HARTS);
        let runs = run >> h & 1 == 1 && harts[h].run;
        let executed = inside && word.is_some_and(|word| word.0 == h);
        let live = runs && (executed || !harts[h].stopped) && random.gen_bool(0.6);
        let kind = random.gen_range(0..8);
        let (retire, exception) = (live && kind < 5, live && kind == 5);
        // Behind an instruction that changes when interrupts come there is no boundary.
        let changes = retire && !executed && kind == 0;
        let mut between = 0u64;
        for (other, hart) in harts.iter().enumerate() {
            let free = hart.run && run >> other & 1 == 1 && !hart.stopped;
            let at = if other == h && live { retire && !changes } else { random.gen_bool(0.8) };
            between |= u64::from(free && at) << other;
        }
        let locks = exception && !executed && random.gen_bool(0.2);
        let trap = u64::from(exception && !executed && !locks) << h;
        let mut stopped = 0u64;
        harts.iter().enumerate().for_each(|(h, hart)| stopped |= u64::from(hart.stopped) << h);
        let mut ask =
            |chance: f64| if random.gen_bool(chance) { 1 << random.gen_range(0..HARTS) } else { 0u64 };
        let (step, resume, stop) = (ask(0.1), ask(0.1), ask(0.1));
        let select = random.gen_range(0..HARTS);
        let (execute, value) = (random.gen_bool(0.1), random.gen::<u32>());
        let (data_write, hart_writes, hart_value) =
            (!execute && random.gen_bool(0.05), retire && random.gen_bool(0.3), random.gen::<u32>());
        unit.run.next = run.into();
        unit.stopped.next = stopped.into();
        unit.between.next = between.into();
        unit.trap.next = trap.into();
        unit.live.next = live;
        unit.hart.next = (h as u64).into();
        unit.executed.next = executed;
        unit.retire.next = retire;
        unit.exception.next = exception;
        unit.data_write.next = hart_writes;
        unit.data_value.next = u64::from(hart_value).into();
        unit.registers.step.next = step.into();
        unit.registers.resume.next = resume.into();
        unit.registers.stop.next = stop.into();
        unit.registers.select.next = (select as u64).into();
        unit.registers.execute.next = execute;
        unit.registers.data_write.next = data_write;
        unit.registers.value.next = u64::from(value).into();
        unit.issue.next = false;
        settle(&mut unit);
        // A word that is to be fetched is, sooner or later.
        let offered = unit.execute.val().to_u64();
        let expected = word.filter(|_| fetches).map_or(0, |word| 1 << word.0);
        assert_eq!(offered, expected, "cycle {cycle}");
        let issues = offered & run != 0 && random.gen_bool(0.4);
        unit.issue.next = issues;
        settle(&mut unit);

        assert_eq!((unit.busy.val(), unit.error.val()), (word.is_some(), error), "cycle {cycle}");
        assert_eq!(unit.registers.data.val().to_u32(), data, "cycle {cycle}");
        if let Some((_, word)) = word {
            assert_eq!(unit.word.val().to_u32(), word, "cycle {cycle}");
        }
        // Words
        let accepted = execute
            && word.is_none()
            && harts[select].stopped
            && run >> select & 1 == 1
            && (step | resume) >> select & 1 == 0;
        let was = word;
        if issues {
            (fetches, inside) = (false, true);
        }
        if live && executed {
            inside = false;
            fetches = !retire && !exception;
            if !fetches {
                word = None;
                words += 1;
                error |= exception;
                errors += u32::from(exception);
            }
        }
        if word.is_some_and(|word| run >> word.0 & 1 == 0) {
            (word, fetches, inside) = (None, false, false);
            held += 1;
        }
        if execute {
            error = !accepted;
            if accepted {
                (word, fetches) = (Some((select, value)), true);
            }
        }
        if data_write {
            data = value;
        }
        if hart_writes {
            data = hart_value;
        }
        // Harts
        for (h, hart) in harts.iter_mut().enumerate() {
            let has = |bits: u64| bits >> h & 1 == 1;
            let free = hart.stopped && has(run) && was.is_none_or(|word| word.0 != h);
            let goes = free && has(step | resume);
            assert_eq!(has(unit.resume.val().to_u64()), goes, "cycle {cycle}");
            assert_eq!(has(unit.closed.val().to_u64()), hart.wanted || hart.step, "cycle {cycle}");
            let of_hart = live && h == unit.hart.next.index() && !executed;
            let done = of_hart && retire;
            let at = has(between) && (hart.wanted || hart.step && done) || hart.step && has(trap);
            assert_eq!(has(unit.stop.val().to_u64()), at, "cycle {cycle}");
            stops += u32::from(at && hart.wanted);
            steps += u32::from(at && hart.step);
            trapped += u32::from(at && has(trap));
            late += u32::from(hart.step && done && !at);
            let ends = hart.run && !has(run);
            hart.wanted = !ends && !at && !hart.stopped && (hart.wanted || has(stop) || hart.step && done);
            hart.step = has(run) && (hart.step && !done && !has(trap) && !hart.stopped || free && has(step));
            hart.stopped = has(run) && (hart.stopped && !goes || at || of_hart && locks);
            hart.run = has(run);
        }
        tick!(unit);
    }
    let counts = [stops, steps, trapped, late, words, errors, held];
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}
