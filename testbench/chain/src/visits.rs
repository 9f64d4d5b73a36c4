//! What the events of a run tell of the visits: how long packets waited for a function, and how
//! long they were there.

use std::collections::HashMap;

use crate::cosim::{Event, PacketRange, WarpSlot};

/// A warp at a function.
#[derive(Clone, Copy, Debug)]
struct Running {
    function: usize,
    packets: PacketRange,
    lanes: u32,
    start: u64,
}

/// What was seen of a function, in cycles, a value for each packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionTimes {
    /// Start less the finish of the packet at the function before: the hop, with the wait for the
    /// function, and for visits of other lanes before. Of the first function nothing.
    pub waits: Vec<u64>,
    /// Finish less start: the warp on the core.
    pub stays: Vec<u64>,
    /// Cycles in which a core had a warp of it, summed over the cores.
    pub core_cycles: u64,
}

/// Follows warps from function to function by the events of the array.
#[derive(Clone, Debug)]
pub struct VisitLog {
    functions: Vec<FunctionTimes>,
    /// The functions that each packet visited, and the cycles of the starts.
    ways: Vec<Vec<(usize, u64)>>,
    running: HashMap<WarpSlot, Running>,
    /// Packets that finished at a function and were not committed, and when they did last.
    finished: HashMap<u32, u64>,
    /// Warps on each core that has some, and since when it has.
    busy: HashMap<u8, (u32, u64)>,
}

impl VisitLog {
    /// Of a chain of so many functions, of which the first one gets the packets.
    #[must_use]
    pub fn new(functions: usize) -> Self {
        let functions = vec![FunctionTimes::default(); functions];
        let (running, finished, busy) = Default::default();
        Self { functions, ways: Vec::new(), running, finished, busy }
    }

    /// Takes an event of a cycle.
    ///
    /// # Errors
    /// A warp goes to a function that the chain does not have.
    pub fn event(&mut self, cycle: u64, event: Event) -> Result<(), String> {
        match event {
            Event::Issue(slot, packets) => {
                let lanes = u32::MAX >> (32 - packets.count.clamp(1, 32));
                self.started(slot, Running { function: 0, packets, lanes, start: cycle });
            }
            Event::Hop { slot, packets, lanes, function } => {
                let function = usize::from(function);
                let Some(times) = self.functions.get_mut(function) else {
                    return Err(format!("packets from {} on went to function {function}", packets.first));
                };
                for packet in numbers(packets, lanes) {
                    times.waits.extend(self.finished.remove(&packet).map(|finish| cycle - finish));
                }
                self.started(slot, Running { function, packets, lanes, start: cycle });
            }
            Event::Finish(slot) => {
                if let Some(Running { function, packets, lanes, start }) = self.running.remove(&slot) {
                    let stays = &mut self.functions[function].stays;
                    stays.extend(std::iter::repeat_n(cycle - start, lanes.count_ones() as usize));
                    self.finished.extend(numbers(packets, lanes).map(|packet| (packet, cycle)));
                    if let Some((warps, since)) = self.busy.get_mut(&slot.core) {
                        *warps -= 1;
                        if *warps == 0 {
                            self.functions[function].core_cycles += cycle - *since;
                            self.busy.remove(&slot.core);
                        }
                    }
                }
            }
            Event::Commit(_, packets) => {
                for packet in numbers(packets, u32::MAX >> (32 - packets.count.clamp(1, 32))) {
                    self.finished.remove(&packet);
                }
            }
            Event::Spawn(_) => {}
        }
        Ok(())
    }

    fn started(&mut self, slot: WarpSlot, warp: Running) {
        for packet in numbers(warp.packets, warp.lanes) {
            let packet = packet as usize;
            if self.ways.len() <= packet {
                self.ways.resize_with(packet + 1, Vec::new);
            }
            self.ways[packet].push((warp.function, warp.start));
        }
        self.busy.entry(slot.core).or_insert((0, warp.start)).0 += 1;
        self.running.insert(slot, warp);
    }

    /// What was seen so far.
    #[must_use]
    pub fn functions(&self) -> &[FunctionTimes] {
        &self.functions
    }

    /// The functions that each packet visited so far, and the cycles of the starts.
    #[must_use]
    pub fn ways(&self) -> &[Vec<(usize, u64)>] {
        &self.ways
    }
}

/// The packets of these lanes of a warp.
pub(super) fn numbers(packets: PacketRange, lanes: u32) -> impl Iterator<Item = u32> {
    let lanes = (0..32).filter(move |lane| lanes >> lane & 1 == 1);
    lanes.map(move |lane| packets.first.wrapping_add(lane))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_and_stays_count_for_each_packet() {
        let slot = |core, slot| WarpSlot { core, slot };
        let packets = PacketRange { first: 8, count: 4 };
        let hop = |place, lanes, function| Event::Hop { slot: place, packets, lanes, function };
        let mut log = VisitLog::new(3);
        for (cycle, event) in [
            (10, Event::Issue(slot(0, 1), packets)),
            (30, Event::Finish(slot(0, 1))),
            (36, hop(slot(1, 0), 0b1011, 1)),
            (50, Event::Finish(slot(1, 0))),
            (54, hop(slot(2, 0), 0b0010, 2)),
            (60, Event::Finish(slot(2, 0))),
            (61, Event::Commit(slot(0, 1), packets)),
        ] {
            log.event(cycle, event).unwrap();
        }
        let times = |waits: &[u64], stays: &[u64], core_cycles| FunctionTimes {
            waits: waits.into(),
            stays: stays.into(),
            core_cycles,
        };
        let expected = [times(&[], &[20; 4], 20), times(&[6; 3], &[14; 3], 14), times(&[4], &[6], 6)];
        assert_eq!(log.functions(), expected);
        let way = |length| [(0, 10), (1, 36), (2, 54)][..length].to_vec();
        assert_eq!(log.ways()[8..], [way(2), way(3), way(1), way(2)]);
        // A lane that waits while another one visits a function before.
        let mut log = VisitLog::new(3);
        for (cycle, event) in [
            (10, Event::Issue(slot(0, 0), packets)),
            (20, Event::Finish(slot(0, 0))),
            (25, hop(slot(1, 0), 0b0001, 1)),
            (40, Event::Finish(slot(1, 0))),
            (45, hop(slot(2, 0), 0b0011, 2)),
            (50, Event::Finish(slot(2, 0))),
            (51, Event::Commit(slot(0, 0), packets)),
        ] {
            log.event(cycle, event).unwrap();
        }
        assert_eq!(log.functions()[1].waits, [5]);
        assert_eq!(log.functions()[2].waits, [5, 25]);
        assert!(log.finished.is_empty());
        // Two warps of a core that are there at once count once.
        let mut log = VisitLog::new(1);
        for (cycle, event) in [
            (10, Event::Issue(slot(0, 0), packets)),
            (12, Event::Issue(slot(0, 1), packets)),
            (20, Event::Finish(slot(0, 0))),
            (25, Event::Finish(slot(0, 1))),
            (30, Event::Issue(slot(0, 1), packets)),
            (31, Event::Finish(slot(0, 1))),
        ] {
            log.event(cycle, event).unwrap();
        }
        assert_eq!(log.functions()[0].core_cycles, 16);
        let mut log = VisitLog::new(3);
        assert!(log.event(70, hop(slot(0, 0), 1, 3)).is_err());
    }
}
