//! The frames that are to be sent.

use super::FrameHead;
use crate::blocks::QueuePointers;
use hermes_hdl::prelude::*;

/// Headers of two frames, in the order in which they are sent, so that the payload of one is read
/// while the one before is on its way.
///
/// Valid/ready on both sides; a head that is pushed into an empty queue shows in the next cycle.
#[clocked("empties the queue")]
#[derive(Clone, Default, LogicBlock)]
pub struct FrameQueue {
    /// A frame is to be sent.
    pub push_valid: Signal<In, Bit>,
    /// There is room.
    pub push_ready: Signal<Out, Bit>,
    /// Headers of the frame.
    pub push: Signal<In, FrameHead>,
    /// The oldest is shown.
    pub pop_valid: Signal<Out, Bit>,
    /// The headers are taken at this edge.
    pub pop_ready: Signal<In, Bit>,
    /// Headers of the oldest frame.
    pub pop: Signal<Out, FrameHead>,
    order: QueuePointers<1>,
    heads: RamAsync<FrameHead, 1>,
}

impl Logic for FrameQueue {
    #[hdl_gen]
    fn update(&mut self) {
        let pushes = self.push_valid.val() && !self.order.full.val();
        self.push_ready.next = !self.order.full.val();
        self.order.push.next = pushes;
        self.heads.write_enable.next = pushes;
        self.heads.write_address.next = self.order.write_address.val();
        self.heads.write_data.next = self.push.val();
        self.pop_valid.next = !self.order.empty.val();
        self.order.pop.next = self.pop_ready.val() && !self.order.empty.val();
        self.heads.read_address.next = self.order.read_address.val();
        self.pop.next = self.heads.read_data.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::net::testing::random_head;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    #[test]
    fn keeps_the_order() {
        let mut rng = random("frame_queue");
        let mut uut = FrameQueue::default();
        reset!(uut);
        let mut inside = VecDeque::new();
        let (mut full, mut passed) = (0, 0);
        for _ in 0..2_000 {
            let head = random_head(&mut rng, 8);
            uut.push_valid.next = rng.gen_bool(0.6);
            uut.push.next = head;
            uut.pop_ready.next = rng.gen_bool(0.6);
            settle(&mut uut);
            assert_eq!(uut.push_ready.val(), inside.len() < 2);
            assert_eq!(uut.pop_valid.val(), !inside.is_empty());
            full += u32::from(inside.len() == 2);
            let pushes = uut.push_valid.val() && uut.push_ready.val();
            if uut.pop_valid.val() && uut.pop_ready.val() {
                assert_eq!(Some(uut.pop.val()), inside.pop_front());
                passed += 1;
            }
            if pushes {
                inside.push_back(head);
            }
            tick!(uut);
        }
        assert!(full > 50 && passed > 500, "{full} {passed}");
    }
}
