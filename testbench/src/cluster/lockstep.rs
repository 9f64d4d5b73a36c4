//! Keeps the nodes together: all work for a step, then what they sent is forwarded, then the next step.

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

/// The nodes of a cluster run on a thread each, of which at most `threads` work at a time. No node begins a step
/// before all have ended the one before it, and
/// what one does in a step reaches others in later steps only; so the result does not depend on which threads work when.
pub(super) struct Lockstep {
    /// Cycles of a step: the smallest latency of a link. What is sent in a step comes to the switch behind its end.
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

    /// The node at `port` has ended a step in which it sent `sent`, and comes to its meeting number `arrived`. Returns
    /// when all have.
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

    /// The node leaves, and does not come back; `fails`: the others are stopped at the end of the step.
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
