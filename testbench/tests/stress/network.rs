//! Commands of the host for the network interface of an array that is its own peer, over a wire
//! that loses, repeats and damages frames.

use std::cell::Cell;
use std::rc::Rc;

use hermes_testbench::cosim::{
    fetch_add, get, put, CosimError, Device as _, Host, PostOptions, Simulation, Wire,
};
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Bytes that are put and got from, and as many behind them for what comes; then a counter.
const SOURCE: u32 = 4_096;
const COUNTER: u32 = 2 * SOURCE;
const WINDOW: u32 = COUNTER + 64;
/// Queue pair, and the region of the local bytes.
const PAIR: u32 = 0;
const OPTIONS: PostOptions = PostOptions { region: 1, domain: 0 };
/// Cycles in which all commands are completed: each may wait for several time-outs.
const PATIENCE: u64 = 4_000_000;

/// Frames that were lost, damaged and repeated.
pub type Faults = [u32; 3];

/// A wire that gives back what it takes, but for one of 50 frames each that is lost, is damaged, or
/// comes twice; it counts these.
fn wire(seed: u64, faults: Rc<Cell<Faults>>) -> Wire {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut frames = Vec::new();
    Box::new(move |_, network| {
        network.sink.take_frames(&mut frames);
        for frame in frames.drain(..) {
            let fate = random.gen_range(0..50);
            let mut counts = faults.get();
            counts.iter_mut().skip(fate).take(1).for_each(|count| *count += 1);
            faults.set(counts);
            match fate {
                0 => {}
                1 => network.source.submit_damaged(0, frame.bytes),
                2 => {
                    network.source.submit(0, frame.bytes.clone());
                    network.source.submit(0, frame.bytes);
                }
                _ => network.source.submit(0, frame.bytes),
            }
        }
        Ok(())
    })
}

/// Commands that were drawn, and what they make of the window.
pub struct Commands {
    window: u32,
    waiting: Vec<[u32; 16]>,
    posted: u32,
    expected: Vec<u8>,
    faults: Rc<Cell<Faults>>,
}

impl Commands {
    /// Connects the array with itself and draws commands: puts and gets of random sizes, no two to
    /// the same bytes, and additions to a counter.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn new(host: &mut Host<Simulation>, random: &mut ChaCha8Rng) -> Result<Self, CosimError> {
        let window = host.rmalloc_aligned("the window", WINDOW as usize, 64)?;
        let mtu = *[256, 1_024, 4_096].choose(random).expect("three");
        host.connect_to_itself(1, window, WINDOW, mtu)?;
        let faults = Rc::new(Cell::new([0; 3]));
        host.device_mut().set_wire(wire(random.gen(), faults.clone()))?;
        let mut expected = vec![0; WINDOW as usize];
        random.fill(&mut expected[..SOURCE as usize]);
        host.device_mut().write_memory(window, &expected)?;
        let (mut waiting, mut place, mut sum) = (Vec::new(), 0, 0u64);
        loop {
            let most = *[20, 200, 1_500].choose(random).expect("three");
            let bytes = random.gen_range(1..most);
            let from = random.gen_range(0..SOURCE - bytes);
            let to = place + random.gen_range(0..8);
            if to + bytes > SOURCE {
                break;
            }
            let (source, landing) = (window + from, window + SOURCE + to);
            match random.gen_range(0..3) {
                0 => waiting.push(get(source, landing, bytes)),
                1 => {
                    let value = random.gen();
                    sum = sum.wrapping_add(value);
                    waiting.push(fetch_add(window + COUNTER, value));
                    continue;
                }
                _ => waiting.push(put(landing, source, bytes)),
            }
            let (from, to) = (from as usize, (SOURCE + to) as usize);
            expected.copy_within(from..from + bytes as usize, to);
            place = to as u32 - SOURCE + bytes;
        }
        expected[COUNTER as usize..][..8].copy_from_slice(&sum.to_le_bytes());
        waiting.reverse();
        Ok(Self { window, waiting, posted: 0, expected, faults })
    }

    /// Posts as many as there is room for; they go on while packets run.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn post(&mut self, host: &mut Host<Simulation>) -> Result<(), CosimError> {
        while let Some(command) = self.waiting.last() {
            if !host.post(PAIR, command, OPTIONS)? {
                break;
            }
            self.waiting.pop();
            self.posted += 1;
        }
        Ok(())
    }

    /// Posts the others, waits until all are completed, and compares the window with what they make
    /// of it; gives their number, and the faults of the wire.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn finish(mut self, host: &mut Host<Simulation>, case: &str) -> Result<(u32, Faults), CosimError> {
        let end = host.device_mut().cycle() + PATIENCE;
        while !self.waiting.is_empty() || host.read("NET_COMPLETED")? != self.posted {
            assert!(
                host.device_mut().cycle() < end,
                "{case}: {} of {} commands",
                host.read("NET_COMPLETED")?,
                self.posted
            );
            self.post(host)?;
            host.device_mut().run(200)?;
        }
        host.clean_caches()?;
        let mut found = vec![0; self.expected.len()];
        host.device_mut().read_memory(self.window, &mut found)?;
        let differs = found.iter().zip(&self.expected).position(|(found, expected)| found != expected);
        assert_eq!(differs, None, "{case}: the first byte of the window that differs");
        Ok((self.posted, self.faults.get()))
    }
}
