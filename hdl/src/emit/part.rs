//! Ports, registers and children that may be absent.

use std::ops::{Deref, DerefMut};

use rust_hdl::prelude::{Block, Clock, Logic, Probe};

use super::unit_info::{Activity, Clocked, Connect, Links, PortGroup, RandomPort, ReadPort};

/// A port, a port group, a register or a child that a unit has or has not, as its configuration
/// says: `#[there(condition)]` at the field, or a value from [`Part::when`].
///
/// A kernel uses it where it is there: inside `if self.part.is_there() { .. }`, which is decided
/// when the design is emitted. In the Verilog it is what it would be without `Part`, or nothing.
#[derive(Clone, Debug)]
// In a box: units with many large parts would not fit the stack of a thread.
pub struct Part<T>(Option<Box<T>>);

impl<T> Part<T> {
    /// The part that `make` makes, if `is_there`.
    pub fn when(is_there: bool, make: impl FnOnce() -> T) -> Self {
        Self(is_there.then(|| Box::new(make())))
    }

    /// The part that `part` has, if it has one.
    pub fn of(part: Option<T>) -> Self {
        Self(part.map(Box::new))
    }

    /// Whether it is there.
    pub const fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// The part, if it is there: for tests.
    pub fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }

    /// The same, to change it.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T> Deref for Part<T> {
    type Target = T;

    /// # Panics
    /// If the part is absent.
    #[track_caller]
    fn deref(&self) -> &T {
        self.0.as_deref().expect("a part that is absent is used: ask `is_there()` before")
    }
}

impl<T> DerefMut for Part<T> {
    /// # Panics
    /// If the part is absent.
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_deref_mut().expect("a part that is absent is used: ask `is_there()` before")
    }
}

impl<T> Logic for Part<T> {
    fn update(&mut self) {}
}

impl<B: Block> Block for Part<B> {
    fn connect_all(&mut self) {
        self.get_mut().into_iter().for_each(Block::connect_all);
    }
    fn update_all(&mut self) {
        self.get_mut().into_iter().for_each(Block::update_all);
    }
    fn has_changed(&self) -> bool {
        self.get().is_some_and(Block::has_changed)
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        self.get().into_iter().for_each(|part| part.accept(name, probe));
    }
}

impl<A: Activity> Activity for Part<A> {
    fn changed(&self) -> bool {
        self.get().is_some_and(Activity::changed)
    }
    fn changed_outside(&self) -> bool {
        self.get().is_some_and(Activity::changed_outside)
    }
    fn settle(&mut self) {
        self.get_mut().into_iter().for_each(Activity::settle);
    }
    fn poll(&mut self) {
        self.get_mut().into_iter().for_each(Activity::poll);
    }
}

impl<T: Clocked> Clocked for Part<T> {
    fn take_clock(&mut self, clock: Clock, reset: Option<bool>) {
        self.get_mut().into_iter().for_each(|unit| unit.take_clock(clock, reset));
    }
}

impl<P: ReadPort> ReadPort for Part<P> {
    fn read(&self, words: &mut Vec<u32>) {
        self.get().into_iter().for_each(|port| port.read(words));
    }
}

impl<P: RandomPort> RandomPort for Part<P> {
    fn set_random(&mut self, random: &mut dyn FnMut() -> u64) {
        self.get_mut().into_iter().for_each(|port| port.set_random(random));
    }
}

impl<G: PortGroup> PortGroup for Part<G> {
    type Flipped = Part<G::Flipped>;
}

/// Both are there, or neither is.
///
/// # Panics
/// If one is there and the other is not.
impl<A: Connect<B>, B> Connect<Part<B>> for Part<A> {
    fn connect(&mut self, other: &mut Part<B>) {
        match (self.get_mut(), other.get_mut()) {
            (Some(one), Some(other)) => one.connect(other),
            (None, None) => {}
            _ => panic!("connect!: one of the two ports is absent"),
        }
    }
    fn connections(&self, other: &Part<B>, links: &mut Links) {
        match (self.get(), other.get()) {
            (Some(one), Some(other)) => one.connections(other, links),
            (None, None) => {}
            _ => panic!("connect!: one of {} is absent", links.ends()),
        }
    }
}
