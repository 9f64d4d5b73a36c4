//! Tests of the back end as a whole.
use super::*;
use crate::prelude::*;

/// A first-in first-out queue of `2^A` words of `W` bits.
///
/// 1. `push` is ignored while `full`.
#[derive(LogicBlock, Default)]
pub struct Queue<const W: usize, const A: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Stores `data_in`.
    pub push: Signal<In, Bit>,
    pub pop: Signal<In, Bit>,
    pub data_in: Signal<In, Bits<W>>,
    pub data_out: Signal<Out, Bits<W>>,
    pub empty: Signal<Out, Bit>,
    pub full: Signal<Out, Bit>,
    pub level: Signal<Out, Bits<A>>,
    head: Register<Bits<A>>,
    tail: Register<Bits<A>>,
    memory: RamAsync<Bits<W>, A>,
    do_push: Signal<Local, Bit>,
}

impl<const W: usize, const A: usize> Logic for Queue<W, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, head, tail);
        self.memory.clock.next = self.clock.val();
        self.empty.next = self.head.q.val() == self.tail.q.val();
        self.full.next = self.tail.q.val() + 1 == self.head.q.val();
        self.do_push.next = self.push.val() & !self.full.val();
        self.memory.write_enable.next = self.do_push.val();
        self.memory.write_address.next = self.tail.q.val();
        self.memory.write_data.next = self.data_in.val();
        self.memory.read_address.next = self.head.q.val();
        self.data_out.next = self.memory.read_data.val();
        self.level.next = self.tail.q.val() - self.head.q.val();
        if self.do_push.val() {
            self.tail.d.next = self.tail.q.val() + 1;
        }
        if self.pop.val() && !self.empty.val() {
            self.head.d.next = self.head.q.val() + 1;
        }
    }
}

/// Several queues.
#[derive(LogicBlock)]
pub struct Queues {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub push: Vec<Signal<In, Bit>>,
    pub data: Vec<Signal<In, Bits<8>>>,
    pub out: Vec<Signal<Out, Bits<8>>>,
    pub total: Signal<Out, Bits<6>>,
    pub any: Signal<Out, Bit>,
    queue: Vec<Queue<8, 4>>,
    _count: usize,
}

impl Queues {
    fn new(count: usize) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            push: (0..count).map(|_| Default::default()).collect(),
            data: (0..count).map(|_| Default::default()).collect(),
            out: (0..count).map(|_| Default::default()).collect(),
            total: Default::default(),
            any: Default::default(),
            queue: (0..count).map(|_| Default::default()).collect(),
            _count: count,
        }
    }
}

impl Logic for Queues {
    #[hdl_gen]
    fn update(&mut self) {
        self.total.next = 0.into();
        self.any.next = false;
        for i in 0..self._count {
            self.queue[i].clock.next = self.clock.val();
            self.queue[i].reset.next = self.reset.val();
            self.queue[i].push.next = self.push[i].val();
            self.queue[i].data_in.next = self.data[self._count - 1 - i].val();
            self.queue[i].pop.next = self.queue[i].full.val();
            self.out[i].next = self.queue[i].data_out.val();
            if self.queue[i].full.val() {
                self.total.next = self.total.val() + 1;
            }
            self.any.next = self.any.val() | !self.queue[i].empty.val();
        }
    }
}

#[test]
fn queues() {
    let mut unit = Queues::new(3);
    unit.connect_all();
    let design = emit(&unit, "queues_top").unwrap();
    println!("{}", design.verilog());
}

/// Writes the units for a look by hand.
#[test]
fn scratch() {
    let out = std::path::PathBuf::from(std::env::var("OUT").unwrap());
    macro_rules! one {
        ($name:literal, $unit:expr) => {
            let unit = $unit;
            let start = std::time::Instant::now();
            match emit(&unit, $name) {
                Ok(d) => {
                    println!("{} {} modules {:?}", $name, d.modules.len(), start.elapsed());
                    std::fs::write(out.join(concat!($name, ".v")), d.verilog()).unwrap()
                }
                Err(e) => println!("{}: ERROR {e}", $name),
            }
        };
    }
    one!("memory_master", crate::memory::MemoryMaster::new(8));
    one!("register_file", crate::host::RegisterFile::new(&crate::config::Config::preset("paper").unwrap()));
    one!("finish_arbiter", crate::control::FinishArbiter::new(4));
    one!("dispatch", crate::control::Dispatch::<10, 11>::new(8, 32, 32));
    one!("shader_core", crate::core::ShaderCore::<8>::default());
    one!("shader_core32", crate::core::ShaderCore::<32>::default());
}

#[test]
fn queues_equal() {
    equivalence::check(Queues::new(3));
}
