//! Puts lines that come in any order into the order in which they were requested.

use crate::blocks::QueuePointers;
use hermes_hdl::prelude::*;

/// Up to 64 lines under tags that are given in order.
///
/// 1. `allocate` at an edge, which needs `full` low, gives the tag `tag` to the next line.
/// 2. `response_valid` at an edge brings the line with the tag `response_tag`: once for every tag
///    given, in any order.
/// 3. `arrived` says that the line with the oldest tag is here, and `error` whether it came with an
///    error. `take` at an edge, which needs `arrived`, frees its tag; `data` holds the line from
///    the next cycle on, until the next such edge.
///
/// A line is `arrived` two cycles after its response. One line a cycle is sustained.
#[clocked("frees all tags")]
#[derive(Clone, Default, LogicBlock)]
pub struct ReorderBuffer {
    /// Takes a tag at this edge.
    pub allocate: Signal<In, Bit>,
    /// Tag of the next line.
    pub tag: Signal<Out, Bits<6>>,
    /// No tag is free.
    pub full: Signal<Out, Bit>,
    /// A line is here.
    pub response_valid: Signal<In, Bit>,
    /// Tag of the line that is here.
    pub response_tag: Signal<In, Bits<6>>,
    /// The line.
    pub response_data: Signal<In, Bits<512>>,
    /// The line came with an error.
    pub response_error: Signal<In, Bit>,
    /// The line with the oldest tag is here.
    pub arrived: Signal<Out, Bit>,
    /// The line with the oldest tag came with an error.
    pub error: Signal<Out, Bit>,
    /// Takes it at this edge.
    pub take: Signal<In, Bit>,
    /// The line taken last.
    pub data: Signal<Out, Bits<512>>,
    order: QueuePointers<6>,
    lines: RamNoCollision<512, 6>,
    errors: RamAsync<Bit, 6>,
    here: Register<Bits<64>>,
    arrived_q: Register<Bit>,
}

impl Logic for ReorderBuffer {
    #[hdl_gen]
    fn update(&mut self) {
        self.order.push.next = self.allocate.val();
        self.order.pop.next = self.take.val();
        self.tag.next = self.order.write_address.val();
        self.full.next = self.order.full.val();

        self.lines.write_enable.next = self.response_valid.val();
        self.lines.write_address.next = self.response_tag.val();
        self.lines.write_data.next = self.response_data.val();
        self.errors.write_enable.next = self.response_valid.val();
        self.errors.write_address.next = self.response_tag.val();
        self.errors.write_data.next = self.response_error.val();
        let mut arriving = bits::<64>(0);
        if self.response_valid.val() {
            arriving = bits::<64>(1) << self.response_tag.val();
        }
        let mut leaving = bits::<64>(0);
        if self.take.val() {
            leaving = bits::<64>(1) << self.order.read_address.val();
        }
        self.here.d.next = (self.here.q.val() | arriving) & !leaving;

        // Of the oldest line after this edge, known as soon as it is known which one that is.
        let second = self.order.read_address.val() + 1;
        self.arrived_q.d.next = self.here.q.val().get_bit(self.order.read_address.val().index());
        if self.take.val() {
            self.arrived_q.d.next = self.here.q.val().get_bit(second.index());
        }
        self.arrived.next = self.arrived_q.q.val();
        self.errors.read_address.next = self.order.read_address.val();
        self.error.next = self.errors.read_data.val();
        self.lines.read_enable.next = self.take.val();
        self.lines.read_address.next = self.order.read_address.val();
        self.data.next = self.lines.read_data.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    #[test]
    fn lines_leave_in_the_order_of_their_tags() {
        let mut rng = random("reorder_buffer");
        let mut uut = ReorderBuffer::default();
        reset!(uut);
        // Tag and value of each outstanding line, and the cycle in which it came.
        let mut order: VecDeque<(u64, u64, Option<u64>)> = VecDeque::new();
        let (mut next, mut most, mut taken) = (0u64, 0, None);
        for cycle in 0..4_000 {
            let fills = cycle / 150 % 2 == 0;
            let allocate = order.len() < 64 && rng.gen_bool(if fills { 0.9 } else { 0.4 });
            let waiting: Vec<usize> = (0..order.len()).filter(|&i| order[i].2.is_none()).collect();
            let comes = (!waiting.is_empty() && rng.gen_bool(if fills { 0.3 } else { 0.95 }))
                .then(|| waiting[rng.gen_range(0..waiting.len())]);
            uut.allocate.next = allocate;
            uut.response_valid.next = comes.is_some();
            if let Some(i) = comes {
                uut.response_tag.next = bits(order[i].0);
                uut.response_data.next = bits(order[i].1);
                uut.response_error.next = order[i].1 % 5 == 0;
            }
            let arrived = order.front().and_then(|line| line.2).is_some_and(|came| came + 2 <= cycle);
            let take = arrived && rng.gen_bool(0.9);
            uut.take.next = take;
            settle(&mut uut);
            assert_eq!(uut.full.val(), order.len() == 64);
            assert_eq!(uut.arrived.val(), arrived);
            if let Some(value) = taken {
                assert_eq!(uut.data.val(), bits(value));
            }
            if let Some(i) = comes {
                order[i].2 = Some(cycle);
            }
            if allocate {
                let tag = uut.tag.val().to_u64();
                assert!(order.iter().all(|line| line.0 != tag));
                order.push_back((tag, next, None));
                next += 1;
            }
            if take {
                let (_, value, _) = order.pop_front().unwrap();
                assert_eq!(uut.error.val(), value % 5 == 0);
                taken = Some(value);
            }
            most = most.max(order.len());
            tick!(uut);
        }
        println!("{next} lines, {most} at most");
        assert!(next > 500 && most == 64);
    }
}
