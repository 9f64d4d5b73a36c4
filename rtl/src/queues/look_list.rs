//! Queues that may have a command.

use super::MOST_QUEUES;
use crate::blocks::SyncFifo;
use hermes_hdl::prelude::*;

/// The command queues that are to be looked at, each once, in the order in which they came.
///
/// 1. After a reset the list is emptied in 256 cycles; `ready` is high behind that. Nothing comes
///    and nothing is taken before.
/// 2. A queue comes with `add`, or with `mark_valid` and `mark_ready`, `add` first. One that is in
///    the list already stays where it is.
/// 3. The first one is shown with `pop_valid` and taken with `pop_ready`, from two cycles after it
///    came on. One that comes at that edge or later is in the list again.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct LookList {
    /// The list is used.
    pub ready: Signal<Out, Bit>,
    /// A queue comes.
    pub mark_valid: Signal<In, Bit>,
    /// The queue is taken at this edge.
    pub mark_ready: Signal<Out, Bit>,
    /// A queue that may have a command.
    pub mark: Signal<In, Bits<8>>,
    /// A queue comes.
    pub add: Signal<In, Bit>,
    /// The queue that is added.
    pub add_queue: Signal<In, Bits<8>>,
    /// There is one.
    pub pop_valid: Signal<Out, Bit>,
    /// The queue is taken at this edge; not in a cycle with `add`.
    pub pop_ready: Signal<In, Bit>,
    /// The queue that was added first.
    pub pop: Signal<Out, Bits<8>>,
    queue: SyncFifo<Bits<8>, 8, 9>,
    /// Queues that are in the list.
    listed: RamAsync<Bit, 8>,
    /// Queues whose place was emptied.
    emptied: Register<Bits<9>>,
    #[init(Constant::new((MOST_QUEUES as u64).into()))]
    all: Constant<Bits<9>>,
}

impl Logic for LookList {
    #[hdl_gen]
    fn update(&mut self) {
        let empties = self.emptied.q.val() != self.all.val();
        if empties {
            self.emptied.d.next = self.emptied.q.val() + bits::<9>(1);
        }
        self.ready.next = !empties;
        always!(emptied_places_stop_at_all, self.emptied.q.val() <= self.all.val());
        let takes = self.queue.pop_valid.val() && self.pop_ready.val();
        self.pop_valid.next = self.queue.pop_valid.val();
        self.pop.next = self.queue.pop_data.val();
        self.queue.pop_ready.next = self.pop_ready.val();

        // One write of `listed` a cycle
        let marks = !empties && !self.add.val() && !takes;
        self.mark_ready.next = marks;
        let comes = self.add.val() || (self.mark_valid.val() && marks);
        let mut new_queue = self.mark.val();
        if self.add.val() {
            new_queue = self.add_queue.val();
        }
        self.listed.read_address.next = new_queue;
        let is_new = comes && !self.listed.read_data.val();
        always!(the_list_has_room, !is_new || self.queue.push_ready.val());
        self.queue.push_valid.next = is_new;
        self.queue.push_data.next = new_queue;
        self.listed.write_enable.next = empties || takes || comes;
        self.listed.write_address.next = new_queue;
        self.listed.write_data.next = comes;
        if takes {
            self.listed.write_address.next = self.queue.pop_data.val();
        }
        if empties {
            self.listed.write_address.next = self.emptied.q.val().get_bits::<8>(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    /// Queues come by both ways; each is in the list once, and none is lost.
    #[test]
    fn each_is_in_it_once() {
        let mut rng = random("look_list");
        let mut uut = LookList::default();
        reset!(uut);
        let mut list: VecDeque<u64> = VecDeque::new();
        let (mut repeated, mut taken, mut longest, mut mark) = (0, 0, 0, None::<u64>);
        for cycle in 0..30_000 {
            let few = cycle / 5_000 % 2 == 0;
            let queue = |rng: &mut rand_chacha::ChaCha8Rng| rng.gen_range(0..if few { 4 } else { 256u64 });
            uut.add.next = false;
            settle(&mut uut);
            let ready = uut.ready.val();
            assert_eq!(ready, cycle >= 256, "cycle {cycle}");
            let add = (ready && rng.gen_bool(0.2)).then(|| queue(&mut rng));
            if mark.is_none() && rng.gen_bool(0.4) {
                mark = Some(queue(&mut rng));
            }
            let pops = add.is_none() && rng.gen_bool(if few { 0.7 } else { 0.3 });
            uut.add.next = add.is_some();
            uut.add_queue.next = add.unwrap_or(0).into();
            uut.mark_valid.next = mark.is_some();
            uut.mark.next = mark.unwrap_or(0).into();
            uut.pop_ready.next = pops;
            settle(&mut uut);
            let takes = uut.pop_valid.val() && pops;
            assert_eq!(uut.mark_ready.val(), ready && add.is_none() && !takes);
            if takes {
                assert_eq!(Some(uut.pop.val().to_u64()), list.pop_front(), "cycle {cycle}");
                taken += 1;
            }
            let comes = if uut.mark_ready.val() { mark.take() } else { add };
            if let Some(queue) = comes {
                if list.contains(&queue) {
                    repeated += 1;
                } else {
                    list.push_back(queue);
                }
            }
            longest = longest.max(list.len());
            tick!(uut);
        }
        uut.add.next = false;
        uut.mark_valid.next = false;
        for _ in 0..3 * list.len() + 3 {
            uut.pop_ready.next = true;
            settle(&mut uut);
            if uut.pop_valid.val() {
                assert_eq!(Some(uut.pop.val().to_u64()), list.pop_front());
            }
            tick!(uut);
        }
        assert!(
            list.is_empty() && repeated > 1_000 && taken > 3_000 && longest > 150,
            "{repeated} {taken} {longest}"
        );
    }
}
