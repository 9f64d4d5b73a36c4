//! The command queues with their staging buffers: warps that publish, harts, memory and
//! completions, against what must come of it.

use super::{event, CommandQueues, StageBuffers};
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use hermes_hdl::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, VecDeque};

const HARTS: usize = 2;
const BANKS: usize = 2;
/// Two areas of two rings each.
const QUEUES: usize = 4;
const BASE: u64 = 0x4_0000;
const AREA_LOG2: u64 = 15;

/// Line address of an entry.
fn entry(queue: usize, index: u32) -> u64 {
    BASE + ((queue as u64 / 2) << (AREA_LOG2 - 6)) + (queue as u64 % 2) * 64 + u64::from(index % 64)
}

fn control_line(queue: usize) -> u64 {
    BASE + ((queue as u64 / 2) << (AREA_LOG2 - 6)) + 128 + queue as u64 % 2
}

type Line = [u32; 16];

fn to_bits(line: &Line) -> Bits<512> {
    line.iter().rev().fold(bits::<512>(0), |all, word| all << 32 | bits::<512>(u64::from(*word)))
}

fn to_line(value: Bits<512>) -> Line {
    std::array::from_fn(|i| value.get_bits::<32>(32 * i).to_u64() as u32)
}

/// What a queue must do.
#[derive(Default)]
struct Queue {
    on: bool,
    epoch: u32,
    /// Entries that were published, and not consumed: index, words.
    published: VecDeque<(u32, Line)>,
    written: u32,
    consumed: u32,
    /// Commands under way: index, context.
    under_way: Vec<(u32, u32)>,
    done: [u16; 4],
    /// Errors of each context as ERROR shows them, but for their count.
    errors: [Vec<u32>; 4],
    value: u64,
}

impl Queue {
    fn complete(&mut self, context: usize, index: u32, code: u32) {
        self.done[context] = self.done[context].wrapping_add(1);
        if code != 1 {
            self.errors[context].push(index << 16 | code);
        }
    }

    /// The code of a command that ends without a hart.
    fn ends_at_once(word: u32) -> Option<u32> {
        let operation = word & 255;
        if word & 0xf000_c800 != 0 {
            return Some(0x8a);
        }
        match operation {
            0 => Some(1),
            1 | 2 | 4 | 5 | 0x40..=0x7f => (word >> 22 & 63 != 0).then_some(0x81),
            _ => Some(0x80),
        }
    }
}

/// A hart: it has nothing, or a command that it took.
#[derive(Clone, Default)]
struct Hart {
    taken: Option<(usize, u32, u32)>,
    tells: Option<u64>,
}

struct Bench {
    queues: CommandQueues,
    buffers: StageBuffers,
    rng: ChaCha8Rng,
    memory: BTreeMap<u64, Line>,
    model: [Queue; QUEUES],
    /// Errors that the control line of a queue showed since it was switched on, of each context.
    shown: [[Vec<u32>; 4]; QUEUES],
    /// Reads under way: cycle at which they are answered, line, buffer.
    reads: Vec<(u64, u64, u64)>,
    harts: [Hart; HARTS],
    cycle: u64,
    counts: [usize; 8],
    /// Commands of a queue that may be under way, and the most that were.
    entries: usize,
    most: usize,
    /// Probability that a command completes in a cycle.
    completes: f64,
    /// Lines that came, and of which it is not decided whether their commands are given to the
    /// harts.
    undecided: usize,
}

impl Bench {
    /// Both units see each other's outputs.
    fn settle(&mut self) {
        for _ in 0..4 {
            let (queues, buffers) = (&mut self.queues, &mut self.buffers);
            buffers.stage.claim.next = queues.stage.claim.val();
            buffers.stage.fill.next = queues.stage.fill.val();
            buffers.stage.fill_buffer.next = queues.stage.fill_buffer.val();
            buffers.stage.fill_data.next = queues.stage.fill_data.val();
            buffers.stage.stage.next = queues.stage.stage.val();
            buffers.stage.staged.next = queues.stage.staged.val();
            buffers.stage.discard.next = queues.stage.discard.val();
            buffers.stage.discard_buffer.next = queues.stage.discard_buffer.val();
            buffers.stage.drop.next = queues.stage.drop.val();
            buffers.stage.drop_buffer.next = queues.stage.drop_buffer.val();
            buffers.stage.event_ready.next = queues.stage.event_ready.val();
            settle(buffers);
            queues.stage.free.next = buffers.stage.free.val();
            queues.stage.free_buffer.next = buffers.stage.free_buffer.val();
            queues.stage.event_valid.next = buffers.stage.event_valid.val();
            queues.stage.event.next = buffers.stage.event.val();
            settle(queues);
        }
    }

    /// Ends the cycle: memory takes what it is asked and told.
    fn tick(&mut self) {
        self.settle();
        if self.queues.read_valid.val() && self.queues.read_ready.val() {
            let line = self.queues.read_line.val().to_u64();
            let due = self.cycle + self.rng.gen_range(1..25);
            self.reads.push((due, line, self.queues.read_buffer.val().to_u64()));
        }
        if self.queues.write_valid.val() && self.queues.write_ready.val() {
            let line = self.queues.write_line.val().to_u64();
            let queue = (0..QUEUES).find(|queue| line == control_line(*queue));
            let queue = queue.unwrap_or_else(|| panic!("a write to {line:#x}"));
            let words = to_line(self.queues.write_data.val());
            let before = self.memory.insert(line, words).unwrap_or_default();
            self.look(queue, &before, &words);
            self.counts[7] += 1;
        }
        let stage = &self.queues.stage;
        self.undecided += usize::from(stage.fill.val());
        assert_eq!(stage.coming.val(), self.undecided > 0, "cycle {}", self.cycle);
        let on = self.model.iter().any(|queue| queue.on);
        assert!(self.queues.control.some_on.val() || !on, "cycle {}", self.cycle);
        self.undecided -= usize::from(stage.stage.val() || stage.discard.val());
        tick!(self.queues);
        tick!(self.buffers);
        self.cycle += 1;
    }

    /// Writes words of a line as a bank that may: it sees them at once, and so do the queues.
    fn write(&mut self, line: u64, word: u32, all: Option<&Line>) -> bool {
        let bank = line as usize % BANKS;
        self.settle();
        if self.queues.tap[bank].hold.val() || self.queues.tap[bank].valid.val() {
            return false;
        }
        self.queues.tap[bank].valid.next = true;
        self.queues.tap[bank].line.next = line.into();
        self.queues.tap[bank].phase.next = word >> 8 & 1 == 1;
        let stored = self.memory.entry(line).or_default();
        if let Some(all) = all {
            *stored = *all;
        }
        stored[0] = word;
        true
    }

    /// A cycle in which warps, harts, memory do what they do. `hostile` queues rewrite what they
    /// published.
    fn step(&mut self, load: f64, hostile: bool, holds: f64) {
        for tap in &mut self.queues.tap {
            tap.valid.next = false;
        }
        // A warp publishes, or writes what is no command yet.
        let queue = self.rng.gen_range(0..QUEUES);
        let evil = hostile && queue == 3;
        let model = &self.model[queue];
        let room = model.written.wrapping_sub(model.consumed) < 64;
        if model.on && room && self.rng.gen_bool(load) {
            let index = model.written;
            let phase = if index / 64 % 2 == 0 { 0x100 } else { 0 };
            let operation = match self.rng.gen_range(0..12) {
                0 => 0,
                1 => [3, 6, 0x80, 0xff][self.rng.gen_range(0..4)],
                2 => self.rng.gen_range(0x40..0x80),
                _ => [1, 2, 4, 5][self.rng.gen_range(0..4)],
            };
            let mut word =
                operation | phase | self.rng.gen_range(0..4) << 12 | self.rng.gen_range(0..64) << 16;
            if self.rng.gen_bool(0.05) {
                word |= 1 << [9, 10, 11, 14, 15, 22, 27, 28, 31][self.rng.gen_range(0..9)];
            }
            let mut line: Line = std::array::from_fn(|_| self.rng.gen());
            line[0] = word;
            let publishes = !self.rng.gen_bool(0.1);
            if !publishes {
                word ^= 0x100;
            }
            if self.write(entry(queue, index), word, Some(&line)) && publishes {
                self.model[queue].published.push_back((index, line));
                self.model[queue].written += 1;
                self.counts[0] += 1;
            }
        }
        if evil && self.model[3].on && self.rng.gen_bool(0.3) {
            let index = self.rng.gen_range(0..64);
            let word = self.rng.gen();
            self.write(entry(3, index), word, None);
        }

        // Memory
        self.queues.read_ready.next = self.rng.gen_bool(0.7);
        self.queues.write_ready.next = self.rng.gen_bool(0.5);
        let due = self.reads.iter().position(|(due, ..)| *due <= self.cycle);
        self.queues.response_valid.next = due.is_some();
        if let Some(place) = due {
            let (_, line, buffer) = self.reads.remove(place);
            self.queues.response_buffer.next = buffer.into();
            self.queues.response_data.next = to_bits(&self.memory.get(&line).copied().unwrap_or_default());
        }

        // A command that is under way completes.
        let queue = self.rng.gen_range(0..QUEUES);
        let many = self.model[queue].under_way.len();
        let ends = many > 0 && self.rng.gen_bool(self.completes);
        self.queues.completed_valid.next = ends;
        if ends {
            let place = self.rng.gen_range(0..many);
            let (index, context) = self.model[queue].under_way[place];
            let code = if self.rng.gen_bool(0.8) { 1 } else { self.rng.gen_range(0x82..0x8a) };
            let value = self.rng.gen::<u64>();
            self.queues.completed.next.queue = (queue as u64).into();
            self.queues.completed.next.context = u64::from(context).into();
            self.queues.completed.next.code = u64::from(code).into();
            self.queues.completed.next.index = u64::from(index & 0xffff).into();
            self.queues.completed.next.has_value = code == 1;
            self.queues.completed.next.value = value.into();
            self.settle();
            if self.queues.completed_ready.val() {
                let model = &mut self.model[queue];
                model.under_way.remove(place);
                if model.on {
                    model.complete(context as usize, index, code);
                    if context == 3 && code == 1 {
                        model.value = value;
                    }
                }
                self.counts[1] += 1;
            } else {
                self.queues.completed_valid.next = false;
            }
        }

        // A hart
        let hart = self.rng.gen_range(0..HARTS);
        let held = self.rng.gen_bool(holds);
        self.buffers.hart.next = (hart as u64).into();
        self.buffers.hold.next = if held { 1u64 << hart } else { 0 }.into();
        self.buffers.take.next = false;
        self.buffers.finish.next = false;
        self.buffers.lose.next = false;
        self.buffers.event_valid.next = false;
        self.settle();
        let told = self.harts.iter().position(|hart| hart.tells.is_some());
        if held {
            if self.harts[hart].tells.is_none() {
                self.counts[2] += usize::from(self.harts[hart].taken.take().is_some());
            }
        } else if let Some(teller) = told {
            let (queue, index, context) = self.harts[teller].taken.expect("it tells of one");
            let kind = self.harts[teller].tells.expect("it tells");
            self.buffers.event_valid.next = true;
            self.buffers.event.next.kind = kind.into();
            self.buffers.event.next.queue = (queue as u64).into();
            self.buffers.event.next.context = u64::from(context).into();
            self.buffers.event.next.code = 0x81.into();
            self.settle();
            if self.buffers.event_ready.val() {
                self.harts[teller] = Hart::default();
                let model = &mut self.model[queue];
                if kind == event::END && model.on {
                    model.complete(context as usize, index, 0x81);
                }
            }
        } else if let Some((queue, index, context)) = self.harts[hart].taken {
            if !self.buffers.has.val() {
                // Its queue was switched off.
                self.harts[hart].taken = None;
            } else if self.rng.gen_bool(0.3) {
                let command = self.buffers.command.val();
                assert_eq!((command.queue.index(), command.context.to_u64() as u32), (queue, context));
                self.buffers.finish.next = true;
                self.buffers.event.next.buffer = command.buffer;
                let posts = self.rng.gen_bool(0.9);
                self.harts[hart].tells = Some(if posts { event::TAKE } else { event::END });
                let model = &mut self.model[queue];
                model.consumed += 1;
                model.published.pop_front();
                if posts {
                    model.under_way.push((index, context));
                    assert!(model.under_way.len() <= self.entries, "a command is given without room");
                    self.most = self.most.max(model.under_way.len());
                }
                self.counts[3 + usize::from(posts)] += 1;
            } else if self.rng.gen_bool(0.05) {
                self.buffers.lose.next = true;
                self.harts[hart].taken = None;
                self.counts[2] += 1;
            }
        } else if self.buffers.here.val() && !self.buffers.loses.val() && self.rng.gen_bool(0.5) {
            self.buffers.take.next = true;
            let staged = self.buffers.oldest.val();
            let queue = staged.queue.index();
            self.settle();
            let model = &mut self.model[queue];
            // What ended without a hart stands before it.
            while let Some((index, line)) = model.published.front().copied() {
                let Some(code) = Queue::ends_at_once(line[0]).filter(|_| !(hostile && queue == 3)) else {
                    break;
                };
                model.complete((line[0] >> 12 & 3) as usize, index, code);
                model.consumed += 1;
                model.published.pop_front();
                self.counts[5] += 1;
            }
            // What was rewritten may have ended without a hart.
            let index = if hostile && queue == 3 { staged.index.to_u64() as u32 } else { model.consumed };
            let word = self.memory[&entry(queue, index)][0];
            if !(hostile && queue == 3) {
                assert_eq!(staged.index.to_u64() as u32, index & 0xffff, "queue {queue}");
                let (published, line) = model.published.front().expect("it was published");
                assert_eq!(*published, index);
                assert_eq!(staged.operation.to_u64() as u32, line[0] & 255);
                assert_eq!(staged.node.to_u64() as u32, line[0] >> 16 & 63);
                assert_eq!(word, line[0]);
            }
            self.harts[hart].taken = Some((queue, index, staged.context.to_u64() as u32));
            self.counts[6] += 1;
        }
        self.tick();
    }

    /// A control line changes: it counts each error by itself.
    fn look(&mut self, queue: usize, before: &Line, words: &Line) {
        let shown = &mut self.shown[queue];
        if words[1] != before[1] {
            *shown = Default::default();
            assert!(words[1] == 0 || words[12..] == [0; 4], "queue {queue}: {before:x?} {words:x?}");
            return;
        }
        for (context, shown) in shown.iter_mut().enumerate() {
            let [before, error] = [before, words].map(|line| line[12 + context]);
            if error != before {
                shown.push(error & 0xffff_00ff);
                assert_eq!(
                    error >> 8 & 255,
                    shown.len() as u32 & 255,
                    "queue {queue}: {before:#x}, {error:#x}"
                );
            }
        }
    }

    /// Switches a queue, and tells whether that was refused.
    fn switch(&mut self, queue: usize, on: bool, epoch: u32) -> bool {
        self.queues.control.epoch.next = u64::from(epoch).into();
        self.queues.control.switch_queue.next = (queue as u64).into();
        self.queues.control.switch_on.next = on;
        self.queues.control.switch_valid.next = true;
        loop {
            self.settle();
            let done = self.queues.control.switch_ready.val();
            self.step(0.0, false, 0.0);
            if done {
                break;
            }
        }
        self.queues.control.switch_valid.next = false;
        self.settle();
        self.queues.control.switch_refused.val()
    }
}

impl Bench {
    fn new(name: &str, entries: usize) -> Self {
        let mut queues = CommandQueues::new(BANKS, 1, 1, entries);
        let mut buffers = StageBuffers::new(HARTS);
        reset!(queues);
        reset!(buffers);
        queues.control.base.next = BASE.into();
        queues.control.area_log2.next = AREA_LOG2.into();
        let mut bench = Self {
            queues,
            buffers,
            rng: random(name),
            memory: BTreeMap::new(),
            model: Default::default(),
            shown: Default::default(),
            reads: vec![],
            harts: Default::default(),
            cycle: 0,
            counts: [0; 8],
            entries,
            most: 0,
            completes: 0.3,
            undecided: 0,
        };
        while !bench.queues.ready.val() {
            bench.tick();
        }
        // Without rings none can be switched on.
        bench.queues.control.enable.next = false;
        assert!(bench.switch(0, true, 1) && !bench.queues.control.some_on.val());
        bench.queues.control.enable.next = true;
        bench
    }

    /// Zeros the ring of a queue, as firmware does, and switches it on.
    fn start(&mut self, queue: usize, epoch: u32) {
        for index in 0..64 {
            while !self.write(entry(queue, index), 0, Some(&[0; 16])) {
                self.tick();
                self.step(0.0, false, 0.0);
            }
        }
        self.step(0.0, false, 0.0);
        while self.switch(queue, true, epoch) {
            assert!(!self.model[queue].under_way.is_empty(), "it is refused without a command under way");
        }
        self.model[queue] = Queue { on: true, epoch, ..Queue::default() };
    }

    fn stop(&mut self, queue: usize) {
        assert!(!self.switch(queue, false, 0));
        let model = &mut self.model[queue];
        model.on = false;
        model.published.clear();
        for hart in &mut self.harts {
            hart.taken = hart.taken.filter(|taken| taken.0 != queue || hart.tells.is_some());
        }
    }

    /// Runs without new commands until all that were published are complete.
    fn drain(&mut self) {
        for _ in 0..20_000 {
            self.step(0.0, false, 0.0);
            let open =
                |queue: &Queue| queue.on && (!queue.published.is_empty() || !queue.under_way.is_empty());
            if !self.model.iter().any(open) && self.harts.iter().all(|hart| hart.taken.is_none()) {
                break;
            }
            // What ends without a hart at the end of a queue is seen in its control line.
            for queue in 0..QUEUES {
                let head = self.memory.get(&control_line(queue)).map_or(0, |line| line[0]);
                let model = &mut self.model[queue];
                while model.on && head.wrapping_sub(model.consumed) as i32 > 0 {
                    let (index, line) = model.published.pop_front().expect("it was published");
                    let code = Queue::ends_at_once(line[0]).expect("a hart takes it");
                    model.complete((line[0] >> 12 & 3) as usize, index, code);
                    model.consumed += 1;
                    self.counts[5] += 1;
                }
            }
        }
        for _ in 0..30 {
            self.step(0.0, false, 0.0);
        }
    }

    /// Control lines in memory are what must have come of all commands.
    fn check(&self, skips: &[usize]) {
        for (queue, model) in
            self.model.iter().enumerate().filter(|(queue, model)| model.on && !skips.contains(queue))
        {
            assert!(model.published.is_empty() && model.under_way.is_empty(), "queue {queue} is stuck");
            let line = &self.memory[&control_line(queue)];
            assert_eq!(line[1], model.epoch, "queue {queue}");
            assert_eq!(line[2..4], [0, 0]);
            let done: Vec<u32> = model.done.iter().map(|done| u32::from(*done)).collect();
            assert_eq!(line[4..8], done[..], "queue {queue}");
            assert_eq!(u64::from(line[9]) << 32 | u64::from(line[8]), model.value);
            for context in 0..4 {
                // Each was shown once. In which order the model does not know: what ends without a
                // hart it notes later.
                let shown = &self.shown[queue][context];
                let [mut seen, mut known] = [shown, &model.errors[context]].map(Clone::clone);
                seen.sort_unstable();
                known.sort_unstable();
                assert_eq!(seen, known, "queue {queue}, context {context}");
                let last = shown.last().map_or(0, |error| error | (shown.len() as u32 & 255) << 8);
                assert_eq!(line[12 + context], last, "queue {queue}, context {context}");
            }
            assert_eq!(line[0], model.consumed, "queue {queue}");
            let sum = model.done.iter().fold(0u16, |sum, done| sum.wrapping_add(*done));
            assert_eq!(sum, line[0] as u16);
        }
    }
}

/// Warps publish in four queues; harts post, end, give back, are held; every command is answered
/// once, in order, as it was published; as many of a queue are under way as may be, and no more.
#[test]
fn each_command_is_answered_once() {
    for (entries, rounds) in [(1, 2), (2, 2), (4, 2), (8, 4)] {
        answers_once(entries, rounds);
    }
}

fn answers_once(entries: usize, rounds: u32) {
    let mut bench = Bench::new(&format!("command_queues_{entries}"), entries);
    for round in 0..rounds {
        for queue in 0..QUEUES {
            bench.start(queue, 77 + round);
        }
        for cycle in 0..4_000 {
            // Some time commands stay under way for long.
            bench.completes = if cycle / 1_000 % 2 == 0 { 0.3 } else { 0.01 };
            bench.step(if cycle / 500 % 2 == 0 { 0.5 } else { 0.05 }, false, 0.02);
        }
        bench.completes = 0.3;
        // One is switched off with all that it has.
        bench.stop(1);
        bench.drain();
        bench.check(&[]);
        for queue in [0, 2, 3] {
            bench.stop(queue);
        }
    }
    let rounds = rounds as usize;
    assert!(
        bench.counts.iter().all(|count| 4 * count > 50 * rounds) && bench.counts[0] > 250 * rounds,
        "{entries}: {:?}",
        bench.counts
    );
    assert_eq!(bench.most, entries, "commands of a queue under way at once");
}

/// A warp that rewrites what it published harms its own queue only.
#[test]
fn a_hostile_warp_harms_itself() {
    let mut bench = Bench::new("command_queues_hostile", 8);
    for queue in 0..QUEUES {
        bench.start(queue, 5);
    }
    for _ in 0..8_000 {
        bench.step(0.3, true, 0.01);
    }
    // The hostile one is switched off, and its commands end.
    bench.stop(3);
    bench.drain();
    bench.check(&[3]);
    assert!(bench.counts[0] > 300, "{:?}", bench.counts);
}
