//! Keeps the nodes together: all work for a step, then what they sent is forwarded, then the next
//! step.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};

use std::time::Duration;

use super::link::CYCLE;
use super::outside::Outside;
use super::switch::{Delivery, PortCounts, Switch};

/// What ends the simulation of a node whose cluster was stopped.
pub(super) const STOPPED: &str = "another node failed";

/// A frame that a node sends, whose first bit is on its link at `begin` picoseconds.
pub(super) struct Outgoing {
    pub begin: u64,
    pub bytes: Vec<u8>,
}

/// What a node is told at the end of a step.
pub(super) struct Exchanged {
    /// Frames for it, in the order in which they come; all come later than now.
    pub frames: VecDeque<Delivery>,
    /// How many times all nodes have met.
    pub met: u64,
    /// How long ago something came from outside, the same for all nodes; zero without a socket.
    pub quiet: Duration,
}

/// The nodes of a cluster run on a thread each, of which at most `threads` work at a time. No node
/// begins a step before all have ended the one before it, and what one does in a step reaches
/// others in later steps only; so the result does not depend on which threads work when.
pub(super) struct Lockstep {
    /// Cycles of a step: the smallest latency of a link. What is sent in a step comes to the switch
    /// behind its end.
    pub step: u64,
    threads: usize,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    switch: Switch,
    /// What is at the port behind those of the nodes.
    outside: Option<Outside>,
    quiet: Duration,
    /// Nodes that have not left.
    present: usize,
    /// Of them, those at the end of the step.
    waiting: usize,
    /// Those that work.
    working: usize,
    /// Steps that all have ended.
    steps: u64,
    /// A node failed in this step; those that were stopped by it.
    fails: bool,
    stopped: bool,
    frames: Vec<VecDeque<Delivery>>,
    /// How many times each node came to meet the others.
    arrived: Vec<u64>,
    met: u64,
}

impl Lockstep {
    /// For `nodes` nodes at the first ports of `switch`, from cycle 0 on.
    pub fn new(switch: Switch, outside: Option<Outside>, [nodes, threads]: [usize; 2], step: u64) -> Self {
        let state = State {
            switch,
            outside,
            quiet: Duration::ZERO,
            present: nodes,
            waiting: 0,
            working: 0,
            steps: 0,
            fails: false,
            stopped: false,
            frames: vec![VecDeque::new(); nodes],
            arrived: vec![0; nodes],
            met: 0,
        };
        Self { step, threads, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A node that panics leaves the state whole.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits for its turn to work.
    fn work<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        while state.working >= self.threads {
            state = self.wait(state);
        }
        state.working += 1;
        state
    }

    /// A node joins: the first thing that its thread does.
    pub fn join(&self) {
        drop(self.work(self.lock()));
    }

    /// The node at `port` has ended a step in which it sent `sent`, and comes to its meeting number
    /// `arrived`. Returns when all have.
    ///
    /// # Errors
    /// A node failed in this step: all others are stopped.
    pub fn exchange(&self, port: usize, sent: Vec<Outgoing>, arrived: u64) -> Result<Exchanged, String> {
        let mut state = self.lock();
        for frame in sent {
            state.switch.send(port, frame.begin, frame.bytes);
        }
        state.arrived[port] = arrived;
        let step = state.steps;
        state.waiting += 1;
        state.working -= 1;
        self.end_step(&mut state);
        self.changed.notify_all();
        while state.steps == step {
            state = self.wait(state);
        }
        let mut state = self.work(state);
        if state.stopped {
            return Err(STOPPED.to_string());
        }
        let frames = std::mem::take(&mut state.frames[port]);
        Ok(Exchanged { frames, met: state.met, quiet: state.quiet })
    }

    /// The node leaves, and does not come back; `fails`: the others are stopped at the end of the
    /// step.
    pub fn leave(&self, fails: bool) {
        let mut state = self.lock();
        state.present -= 1;
        state.working -= 1;
        state.fails |= fails;
        self.end_step(&mut state);
        drop(state);
        self.changed.notify_all();
    }

    /// Ends the step if all nodes are at its end.
    fn end_step(&self, state: &mut State) {
        if state.present == 0 || state.waiting < state.present {
            return;
        }
        let State { switch, outside, frames, .. } = state;
        state.steps += 1;
        state.waiting = 0;
        state.stopped = state.fails;
        if let Some(outside) = outside {
            for frame in outside.receive() {
                switch.send(frames.len(), state.steps * self.step * CYCLE, frame);
            }
            state.quiet = outside.quiet();
        }
        // What the next step sends comes at least a step after its beginning.
        switch.forward((state.steps + 1) * self.step, |port, frame| {
            match (frames.get_mut(port), &outside) {
                (Some(frames), _) => frames.push_back(frame),
                // Outside there is another time.
                (None, Some(outside)) => outside.send(&frame.bytes),
                (None, None) => {}
            }
        });
        state.met = state.arrived.iter().copied().min().unwrap_or(0);
    }

    /// What the ports counted.
    pub fn counts(&self) -> Vec<PortCounts> {
        self.lock().switch.counts()
    }
}

#[cfg(test)]
mod tests {
    use super::super::link::LinkOptions;
    use super::*;

    const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];

    /// What node 1 gets, by cycle and first byte behind the MAC, when each node sends frames to it
    /// in these cycles.
    fn delivered(latencies: [u32; 2], sent: [&[u64]; 2], threads: usize) -> Vec<(u64, u8)> {
        let links = latencies.map(|latency| LinkOptions { latency, ..LinkOptions::default() });
        let step = u64::from(latencies[0].min(latencies[1]));
        let switch = Switch::new(MACS.map(Some).into_iter().zip(links), 1);
        let lockstep = Lockstep::new(switch, None, [2, threads], step);
        let node = |port: usize| {
            lockstep.join();
            let mut frames = Vec::new();
            for number in 1..=10 {
                let now = number * step;
                let fresh = sent[port].iter().filter(|cycle| (now - step..now).contains(*cycle));
                let frame = |cycle: &u64| Outgoing {
                    begin: cycle * CYCLE,
                    bytes: [&MACS[1][..], &[port as u8; 76]].concat(),
                };
                let exchanged = lockstep.exchange(port, fresh.map(frame).collect(), number).unwrap();
                assert_eq!(exchanged.met, number);
                assert!(exchanged.frames.iter().all(|frame| frame.cycle > now), "nothing comes too late");
                frames.extend(exchanged.frames.into_iter().map(|frame| (frame.cycle, frame.bytes[6])));
            }
            lockstep.leave(false);
            frames
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(|| node(0));
            let frames = node(1);
            assert!(other.join().unwrap().is_empty());
            frames
        })
    }

    /// A frame of a long link that was sent before does not hold up one that comes to the switch
    /// before it.
    #[test]
    fn frames_are_forwarded_in_the_order_in_which_they_come() {
        for threads in [1, 2] {
            // They come to the switch at 250 and 300, and to node 1 after 9 and 300 more.
            let all = delivered([100, 300], [&[150], &[0]], threads);
            assert_eq!(all, [(150 + 100 + 9 + 300, 0), (300 + 9 + 300, 1)]);
            // All at once: one behind the other.
            let all = delivered([100, 100], [&[99, 200], &[99]], threads);
            assert_eq!(all, [(99 + 209, 0), (99 + 209 + 8, 1), (200 + 209, 0)]);
        }
    }
}
