//! What passes between a unit and its children without a line of its own for each signal: clock and
//! reset, and ports that are connected by `connect!`.

use rust_hdl::prelude::ast::{VerilogLink, VerilogLinkDetails};
use rust_hdl::prelude::{Clock, In, Out, Signal, Synth};

/// A unit that takes clock and reset from its owner; `#[derive(LogicBlock)]` implements it.
pub trait Clocked {
    /// Sets the inputs `clock` and `reset`, if they are there; a register's next value becomes its
    /// present one.
    fn take_clock(&mut self, clock: Clock, reset: Option<bool>);
}

impl<T: Clocked> Clocked for Vec<T> {
    fn take_clock(&mut self, clock: Clock, reset: Option<bool>) {
        self.iter_mut().for_each(|unit| unit.take_clock(clock, reset));
    }
}

/// Ports that `connect!` joins, signal by signal.
///
/// Two ports of one direction are those of a unit, which stands first, and of its child: an input
/// is passed on to the child, an output comes from it. Ports of opposite directions belong to two
/// children.
pub trait Connect<Other = Self> {
    /// Drives the receiving signals in the native simulation.
    fn connect(&mut self, other: &mut Other);
    /// The same for the back end.
    fn connections(&self, other: &Other, links: &mut Links);
}

/// The connections that [`Connect::connections`] collects.
#[derive(Debug)]
pub struct Links {
    /// Names in the kernel of the two ports or groups that are looked at.
    this: String,
    that: String,
    list: Vec<VerilogLink>,
}

impl Links {
    /// Turns to what is called `name` in both groups; the result is for `leave`.
    #[inline(never)]
    fn enter(&mut self, name: &str) -> (usize, usize) {
        let ends = (self.this.len(), self.that.len());
        for path in [&mut self.this, &mut self.that] {
            path.push('$');
            path.push_str(name);
        }
        ends
    }

    /// Goes back to the groups.
    #[inline(never)]
    fn leave(&mut self, ends: (usize, usize)) {
        self.this.truncate(ends.0);
        self.that.truncate(ends.1);
    }

    /// The connections between the two ports or groups that are called `name` in both groups.
    pub fn pair<A: Connect<B>, B>(&mut self, name: &str, one: &A, other: &B) {
        let ends = self.enter(name);
        one.connections(other, self);
        self.leave(ends);
    }

    /// The two ends, for messages.
    pub(super) fn ends(&self) -> String {
        format!("`{}` and `{}`", self.this, self.that)
    }

    /// One signal drives another: the first the second if `forward`, else the second the first.
    #[inline(never)]
    fn signal(&mut self, forward: bool) {
        let details = VerilogLinkDetails {
            my_name: String::new(),
            owner_name: self.this.clone(),
            other_name: self.that.clone(),
        };
        self.list.push(if forward { VerilogLink::Forward(details) } else { VerilogLink::Backward(details) });
    }
}

/// The connections between two ports or groups, which are called `this` and `that` in the kernel.
pub fn connections<A: Connect<B>, B>(one: &A, other: &B, this: &str, that: &str) -> Vec<VerilogLink> {
    let mut links = Links { this: this.to_string(), that: that.to_string(), list: Vec::new() };
    one.connections(other, &mut links);
    links.list
}

impl<T: Synth> Connect for Signal<In, T> {
    fn connect(&mut self, child: &mut Self) {
        child.next = self.val();
    }
    fn connections(&self, _child: &Self, links: &mut Links) {
        links.signal(true);
    }
}

impl<T: Synth> Connect for Signal<Out, T> {
    fn connect(&mut self, child: &mut Self) {
        self.next = child.val();
    }
    fn connections(&self, _child: &Self, links: &mut Links) {
        links.signal(false);
    }
}

impl<T: Synth> Connect<Signal<In, T>> for Signal<Out, T> {
    fn connect(&mut self, other: &mut Signal<In, T>) {
        other.next = self.val();
    }
    fn connections(&self, _other: &Signal<In, T>, links: &mut Links) {
        links.signal(true);
    }
}

impl<T: Synth> Connect<Signal<Out, T>> for Signal<In, T> {
    fn connect(&mut self, other: &mut Signal<Out, T>) {
        self.next = other.val();
    }
    fn connections(&self, _other: &Signal<Out, T>, links: &mut Links) {
        links.signal(false);
    }
}

/// Element by element.
///
/// # Panics
/// If the lengths differ.
impl<A: Connect<B>, B> Connect<Vec<B>> for Vec<A> {
    fn connect(&mut self, other: &mut Vec<B>) {
        assert_eq!(self.len(), other.len(), "connect!: the ports have different numbers of elements");
        self.iter_mut().zip(other).for_each(|(a, b)| a.connect(b));
    }
    fn connections(&self, other: &Vec<B>, links: &mut Links) {
        let Links { this, that, .. } = &links;
        assert_eq!(self.len(), other.len(), "connect!: {this} and {that} have different numbers of elements");
        for (i, (a, b)) in self.iter().zip(other).enumerate() {
            links.pair(&i.to_string(), a, b);
        }
    }
}

/// Connects two ports or port groups in a kernel: `connect!(self.port, self.child.port)`. See
/// [`Connect`].
///
/// The signals answer in the same cycle: it is wiring.
#[macro_export]
macro_rules! connect {
    ($this:expr, $that:expr) => {
        $crate::emit::unit_info::Connect::connect(&mut $this, &mut $that)
    };
}
