//! What passes between a unit and its children without a line of its own for each signal: clock and reset, and ports
//! that are connected by `connect!`.

use rust_hdl::prelude::ast::{VerilogLink, VerilogLinkDetails};
use rust_hdl::prelude::{Clock, In, Out, Signal, Synth};

/// A unit that takes clock and reset from its owner; `#[derive(LogicBlock)]` implements it.
pub trait Clocked {
    /// Sets the inputs `clock` and `reset`, if they are there; a register's next value becomes its present one.
    fn take_clock(&mut self, clock: Clock, reset: Option<bool>);
}

impl<T: Clocked> Clocked for Vec<T> {
    fn take_clock(&mut self, clock: Clock, reset: Option<bool>) {
        self.iter_mut().for_each(|unit| unit.take_clock(clock, reset));
    }
}

/// Ports that `connect!` joins, signal by signal.
///
/// Two ports of one direction are those of a unit, which stands first, and of its child: an input is passed on to the
/// child, an output comes from it. Ports of opposite directions belong to two children.
pub trait Connect<Other = Self> {
    /// Drives the receiving signals in the native simulation.
    fn connect(&mut self, other: &mut Other);
    /// The same for the back end; `this` and `that` are the names of the two ports in the kernel.
    fn connections(&self, other: &Other, this: &str, that: &str) -> Vec<VerilogLink>;
}

/// One signal drives another: the first the second if `forward`, else the second the first.
fn link(this: &str, that: &str, forward: bool) -> Vec<VerilogLink> {
    let details = VerilogLinkDetails {
        my_name: String::new(),
        owner_name: this.to_string(),
        other_name: that.to_string(),
    };
    vec![if forward { VerilogLink::Forward(details) } else { VerilogLink::Backward(details) }]
}

impl<T: Synth> Connect for Signal<In, T> {
    fn connect(&mut self, child: &mut Self) {
        child.next = self.val();
    }
    fn connections(&self, _child: &Self, this: &str, that: &str) -> Vec<VerilogLink> {
        link(this, that, true)
    }
}

impl<T: Synth> Connect for Signal<Out, T> {
    fn connect(&mut self, child: &mut Self) {
        self.next = child.val();
    }
    fn connections(&self, _child: &Self, this: &str, that: &str) -> Vec<VerilogLink> {
        link(this, that, false)
    }
}

impl<T: Synth> Connect<Signal<In, T>> for Signal<Out, T> {
    fn connect(&mut self, other: &mut Signal<In, T>) {
        other.next = self.val();
    }
    fn connections(&self, _other: &Signal<In, T>, this: &str, that: &str) -> Vec<VerilogLink> {
        link(this, that, true)
    }
}

impl<T: Synth> Connect<Signal<Out, T>> for Signal<In, T> {
    fn connect(&mut self, other: &mut Signal<Out, T>) {
        self.next = other.val();
    }
    fn connections(&self, _other: &Signal<Out, T>, this: &str, that: &str) -> Vec<VerilogLink> {
        link(this, that, false)
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
    fn connections(&self, other: &Vec<B>, this: &str, that: &str) -> Vec<VerilogLink> {
        assert_eq!(self.len(), other.len(), "connect!: {this} and {that} have different numbers of elements");
        let pairs = self.iter().zip(other).enumerate();
        pairs
            .flat_map(|(i, (a, b))| a.connections(b, &format!("{this}${i}"), &format!("{that}${i}")))
            .collect()
    }
}

/// Connects two ports or port groups in a kernel: `connect!(self.port, self.child.port)`. See [`Connect`].
///
/// The signals answer in the same cycle: it is wiring.
#[macro_export]
macro_rules! connect {
    ($this:expr, $that:expr) => {
        $crate::emit::unit_info::Connect::connect(&mut $this, &mut $that)
    };
}
