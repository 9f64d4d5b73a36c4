//! Follows every packet from its arrival to its commit by the array's events, and checks that they
//! make sense.

use std::collections::{HashMap, VecDeque};

use super::error::CosimError;
use super::setup::ArrayInfo;
use super::simulation::{Event, PacketRange, WarpSlot};

/// When a packet passed which stage, in cycles from the start of the run, and where it was
/// processed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketTimes {
    /// It arrived: see [`Arrivals`](super::Arrivals).
    pub arrival: u64,
    /// It was in its slot: the host wrote it there, or the packet ports took its last beat.
    pub in_slot: u64,
    /// Its warp was formed: the first cycle in which that waited for its issue. Seen of an array
    /// with a retire trace.
    pub formed: Option<u64>,
    /// Its warp was issued.
    pub start: u64,
    /// Its warp finished; in a chain of network functions at the last of them.
    pub finish: u64,
    /// It was committed.
    pub commit: u64,
    /// The first beat of its frame left the packet ports, if it left there.
    pub sent: Option<u64>,
    /// The core that processed it; in a chain the first one.
    pub core: u8,
    /// The warp slot of that core.
    pub slot: u8,
}

struct Warp {
    packets: PacketRange,
    /// Of its first start.
    slot: WarpSlot,
    /// Lanes that are left.
    lanes: u32,
    /// The network function to which it went on last.
    function: Option<u8>,
    formed: Option<u64>,
    issued: u64,
    finished: Option<u64>,
}

/// Books of one run. packetIdx starts at 0, as after a reset.
pub(super) struct Tracker {
    info: ArrayInfo,
    ring_slots: u64,
    /// Arrival of each packet that was not committed, and when it was in its slot.
    arrivals: VecDeque<(u64, u64)>,
    arrived: u64,
    pushed: u64,
    issued: u64,
    committed: u64,
    /// Warps formed and not issued, in that order, and when.
    formed: VecDeque<(u64, PacketRange)>,
    /// Packets whose slots are free again.
    released: u64,
    /// Warps issued and not committed, in that order; the first one has the number `first_warp`.
    warps: VecDeque<Warp>,
    first_warp: u64,
    /// Number of the warp that runs in a slot.
    running: HashMap<WarpSlot, u64>,
}

impl Tracker {
    pub(super) fn new(info: ArrayInfo, ring_slots: u64) -> Self {
        Self {
            info,
            ring_slots,
            arrivals: VecDeque::new(),
            arrived: 0,
            pushed: 0,
            issued: 0,
            committed: 0,
            formed: VecDeque::new(),
            released: 0,
            warps: VecDeque::new(),
            first_warp: 0,
            running: HashMap::new(),
        }
    }

    /// Whether the slot of the next packet is free.
    pub(super) fn has_room(&self) -> bool {
        self.arrived - self.released < self.ring_slots
    }

    /// The slots of `count` more committed packets are free.
    pub(super) fn release(&mut self, count: u64) {
        self.released += count;
    }

    pub(super) fn released(&self) -> u64 {
        self.released
    }

    /// The next packet is in its slot since cycle `in_slot`; it arrived in cycle `arrival`.
    pub(super) fn arrive(&mut self, arrival: u64, in_slot: u64) {
        self.arrivals.push_back((arrival, in_slot));
        self.arrived += 1;
    }

    /// Packets that the array has not been told of.
    pub(super) fn not_pushed(&self) -> u64 {
        self.arrived - self.pushed
    }

    /// The array is being told of `count` more packets.
    pub(super) fn push(&mut self, count: u64) {
        self.pushed += count;
    }

    /// The array had no room for the `count` packets of the last push.
    pub(super) fn take_back(&mut self, count: u64) {
        self.pushed -= count;
    }

    /// The warp of `packets` waits for its issue since cycle `now` of the run.
    pub(super) fn formed(&mut self, now: u64, packets: PacketRange) {
        self.formed.push_back((now, packets));
    }

    pub(super) fn arrived(&self) -> u64 {
        self.arrived
    }

    pub(super) fn committed(&self) -> u64 {
        self.committed
    }

    /// Takes an event of cycle `now` of the run; `cycle` is for the error. For a commit: index of
    /// the first packet and the times of each.
    pub(super) fn event(
        &mut self,
        now: u64,
        cycle: u64,
        event: Event,
    ) -> Result<Option<(u64, Vec<PacketTimes>)>, CosimError> {
        let order = |message| Err(CosimError::Order { cycle, message });
        match event {
            Event::Issue(slot, packets) => match self.issue(now, slot, packets) {
                Ok(()) => Ok(None),
                Err(message) => order(message),
            },
            Event::Hop { slot, packets, lanes, function } => match self.hop(slot, packets, lanes, function) {
                Ok(()) => Ok(None),
                Err(message) => order(message),
            },
            Event::Finish(slot) => {
                let Some(number) = self.running.remove(&slot) else {
                    return order(format!("core {} slot {} finished without a warp", slot.core, slot.slot));
                };
                self.warps[(number - self.first_warp) as usize].finished = Some(now);
                Ok(None)
            }
            Event::Commit(slot, packets) => self.commit(now, slot, packets).map(Some).or_else(order),
            Event::Spawn(_) => Ok(None),
        }
    }

    fn issue(&mut self, now: u64, slot: WarpSlot, packets: PacketRange) -> Result<(), String> {
        let name = warp_name(slot, packets);
        if u32::from(slot.core) >= self.info.cores || u32::from(slot.slot) >= self.info.warps {
            return Err(format!("{name} was issued to a slot that does not exist"));
        }
        if packets.first != self.issued as u32 {
            return Err(format!("{name} was issued; expected packet {} next", self.issued));
        }
        if packets.count == 0 || packets.count > self.info.lanes {
            return Err(format!("{name} was issued; a warp has 1 to {} packets", self.info.lanes));
        }
        if self.issued + u64::from(packets.count) > self.pushed {
            return Err(format!("{name} was issued; only {} packets were pushed", self.pushed));
        }
        let number = self.first_warp + self.warps.len() as u64;
        if self.running.insert(slot, number).is_some() {
            return Err(format!("{name} was issued to a slot that is in use"));
        }
        let formed = self.formed.pop_front();
        if let Some((_, other)) = formed.filter(|(_, other)| *other != packets) {
            return Err(format!(
                "{name} was issued; the oldest formed warp has {} packets from {}",
                other.count, other.first
            ));
        }
        self.issued += u64::from(packets.count);
        let formed = formed.map(|(cycle, _)| cycle);
        let lanes = u32::MAX >> (32 - packets.count);
        self.warps.push_back(Warp {
            packets,
            slot,
            lanes,
            function: None,
            formed,
            issued: now,
            finished: None,
        });
        Ok(())
    }

    /// The warp of `packets` goes on to `function` with some of its lanes.
    fn hop(&mut self, slot: WarpSlot, packets: PacketRange, lanes: u32, function: u8) -> Result<(), String> {
        let name = warp_name(slot, packets);
        if u32::from(slot.core) >= self.info.cores || u32::from(slot.slot) >= self.info.warps {
            return Err(format!("{name} goes on in a slot that does not exist"));
        }
        let Some(place) = self.warps.iter().position(|warp| warp.packets == packets) else {
            return Err(format!("{name} goes on, but no such warp is in flight"));
        };
        let warp = &mut self.warps[place];
        if warp.finished.take().is_none() {
            return Err(format!("{name} goes on before it finished"));
        }
        if lanes == 0 || lanes & !warp.lanes != 0 {
            return Err(format!("{name} goes on with lanes {lanes:#x} of {:#x}", warp.lanes));
        }
        if let Some(last) = warp.function.replace(function).filter(|last| *last >= function) {
            return Err(format!("{name} goes on to function {function} behind function {last}"));
        }
        // Where packets branch, lanes that are left out now may go on later: which of them do is
        // compared with the golden models behind the run.
        if !self.info.function_branches {
            warp.lanes = lanes;
        }
        if self.running.insert(slot, self.first_warp + place as u64).is_some() {
            return Err(format!("{name} goes on in a slot that is in use"));
        }
        Ok(())
    }

    fn commit(
        &mut self,
        now: u64,
        slot: WarpSlot,
        packets: PacketRange,
    ) -> Result<(u64, Vec<PacketTimes>), String> {
        let name = warp_name(slot, packets);
        let Some(warp) = self.warps.front() else {
            return Err(format!("{name} was committed, but no warp is in flight"));
        };
        if warp.packets != packets || warp.slot != slot {
            return Err(format!("{name} was committed; expected {}", warp_name(warp.slot, warp.packets)));
        }
        let Some(finish) = warp.finished else {
            return Err(format!("{name} was committed before it finished"));
        };
        let (formed, start, first) = (warp.formed, warp.issued, self.committed);
        let count = packets.count as usize;
        let times = |(arrival, in_slot)| PacketTimes {
            arrival,
            in_slot,
            formed,
            start,
            finish,
            commit: now,
            sent: None,
            core: slot.core,
            slot: slot.slot,
        };
        let times = self.arrivals.drain(..count).map(times).collect();
        self.committed += count as u64;
        self.warps.pop_front();
        self.first_warp += 1;
        Ok((first, times))
    }

    /// What is in flight, in a few words.
    pub(super) fn describe(&self) -> String {
        let mut text = format!(
            "packets: {} arrived, {} pushed, {} issued, {} committed",
            self.arrived, self.pushed, self.issued, self.committed
        );
        let unfinished: Vec<&Warp> = self.warps.iter().filter(|w| w.finished.is_none()).collect();
        if let Some(warp) = unfinished.first() {
            let name = warp_name(warp.slot, warp.packets);
            text += &format!(
                "; {} warps run, the oldest is {name}, issued in cycle {}",
                unfinished.len(),
                warp.issued
            );
        }
        if self.warps.len() > unfinished.len() {
            text +=
                &format!("; {} finished warps wait for their commit", self.warps.len() - unfinished.len());
        }
        text
    }
}

fn warp_name(slot: WarpSlot, packets: PacketRange) -> String {
    format!(
        "the warp of {} packets from {} at core {} slot {}",
        packets.count, packets.first, slot.core, slot.slot
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: ArrayInfo = ArrayInfo {
        lanes: 4,
        cores: 2,
        warps: 2,
        local_window: false,
        spawner: false,
        load_counters: false,
        functions: 0,
        function_branches: false,
    };

    fn slot(core: u8, slot: u8) -> WarpSlot {
        WarpSlot { core, slot }
    }

    fn range(first: u32, count: u32) -> PacketRange {
        PacketRange { first, count }
    }

    fn loaded() -> Tracker {
        let mut tracker = Tracker::new(INFO, 8);
        (0..8).for_each(|cycle| tracker.arrive(cycle, cycle + 1));
        assert_eq!((tracker.has_room(), tracker.not_pushed()), (false, 8));
        tracker.push(6);
        tracker.event(10, 10, Event::Issue(slot(0, 1), range(0, 4))).unwrap();
        tracker.event(11, 11, Event::Issue(slot(1, 0), range(4, 2))).unwrap();
        tracker
    }

    #[test]
    fn times_are_those_of_the_events() {
        let mut tracker = loaded();
        tracker.event(20, 20, Event::Finish(slot(1, 0))).unwrap();
        tracker.event(30, 30, Event::Finish(slot(0, 1))).unwrap();
        assert!(tracker
            .describe()
            .ends_with("6 issued, 0 committed; 2 finished warps wait for their commit"));
        let (first, times) = tracker.event(31, 31, Event::Commit(slot(0, 1), range(0, 4))).unwrap().unwrap();
        assert_eq!((first, times.len()), (0, 4));
        let (sent, core, slot_of) = (None, 0, 1);
        let expected = PacketTimes {
            arrival: 3,
            in_slot: 4,
            formed: None,
            start: 10,
            finish: 30,
            commit: 31,
            sent,
            core,
            slot: slot_of,
        };
        assert_eq!(times[3], expected);
        let (first, times) = tracker.event(32, 32, Event::Commit(slot(1, 0), range(4, 2))).unwrap().unwrap();
        assert_eq!((first, times[1].arrival, times[1].finish), (4, 5, 20));
        assert!(!tracker.has_room() && tracker.committed() == 6 && tracker.not_pushed() == 2);
        tracker.release(4);
        assert!(tracker.has_room() && tracker.released() == 4);
    }

    /// A warp that goes on is finished when its last visit is, and what cannot be is told.
    #[test]
    fn a_warp_goes_on_with_lanes_that_are_left() {
        let hop_to = |place, packets, lanes, function| Event::Hop { slot: place, packets, lanes, function };
        let hop = |place, packets, lanes| hop_to(place, packets, lanes, 1);
        let mut tracker = loaded();
        let early = tracker.event(12, 12, hop(slot(1, 1), range(0, 4), 5)).unwrap_err();
        assert!(early.to_string().ends_with("goes on before it finished"), "{early}");
        tracker.event(20, 20, Event::Finish(slot(0, 1))).unwrap();
        tracker.event(24, 24, hop(slot(1, 1), range(0, 4), 5)).unwrap();
        let commit = Event::Commit(slot(0, 1), range(0, 4));
        let error = tracker.event(25, 25, commit).unwrap_err().to_string();
        assert!(error.ends_with("was committed before it finished"), "{error}");
        tracker.event(30, 30, Event::Finish(slot(1, 1))).unwrap();
        for (event, expected) in [
            (hop_to(slot(0, 0), range(0, 4), 2, 2), "goes on with lanes 0x2 of 0x5"),
            (hop_to(slot(0, 0), range(0, 4), 0, 2), "goes on with lanes 0x0 of 0x5"),
            (hop_to(slot(1, 0), range(0, 4), 1, 2), "goes on in a slot that is in use"),
            (hop_to(slot(0, 2), range(0, 4), 1, 2), "goes on in a slot that does not exist"),
            (hop_to(slot(0, 0), range(1, 4), 1, 2), "goes on, but no such warp is in flight"),
            (hop(slot(0, 0), range(0, 4), 1), "goes on to function 1 behind function 1"),
        ] {
            let mut tracker = loaded();
            tracker.event(20, 20, Event::Finish(slot(0, 1))).unwrap();
            tracker.event(24, 24, hop(slot(1, 1), range(0, 4), 5)).unwrap();
            tracker.event(30, 30, Event::Finish(slot(1, 1))).unwrap();
            let error = tracker.event(40, 40, event).unwrap_err().to_string();
            assert!(error.ends_with(expected), "{error}");
        }
        // Where packets branch, lanes that were left out come later, but none of other warps.
        for (lanes, expected) in [(2, None), (16, Some("goes on with lanes 0x10 of 0xf"))] {
            let mut tracker = loaded();
            tracker.info.function_branches = true;
            tracker.event(20, 20, Event::Finish(slot(0, 1))).unwrap();
            tracker.event(24, 24, hop(slot(1, 1), range(0, 4), 5)).unwrap();
            tracker.event(30, 30, Event::Finish(slot(1, 1))).unwrap();
            let error = tracker.event(40, 40, hop_to(slot(0, 0), range(0, 4), lanes, 2)).err();
            let error = error.map(|error| error.to_string());
            assert_eq!(error.is_some(), expected.is_some(), "{error:?}");
            assert!(error.unwrap_or_default().ends_with(expected.unwrap_or_default()));
        }
        let (_, times) = tracker.event(31, 31, commit).unwrap().unwrap();
        assert!(times.iter().all(|times| (times.start, times.finish) == (10, 30)));
    }

    #[test]
    fn a_warp_is_issued_behind_its_forming() {
        let mut tracker = Tracker::new(INFO, 8);
        (0..8).for_each(|cycle| tracker.arrive(cycle, cycle));
        tracker.push(8);
        tracker.formed(9, range(0, 4));
        tracker.formed(12, range(4, 2));
        tracker.event(10, 10, Event::Issue(slot(0, 1), range(0, 4))).unwrap();
        tracker.event(20, 20, Event::Finish(slot(0, 1))).unwrap();
        let (_, times) = tracker.event(21, 21, Event::Commit(slot(0, 1), range(0, 4))).unwrap().unwrap();
        assert!(times.iter().all(|times| times.formed == Some(9)));
        let error = tracker.event(30, 30, Event::Issue(slot(0, 1), range(4, 4))).unwrap_err();
        assert!(error.to_string().ends_with("the oldest formed warp has 2 packets from 4"), "{error}");
    }

    #[test]
    fn impossible_events_are_errors() {
        let message = |event| loaded().event(20, 99, event).unwrap_err().to_string();
        assert_eq!(
            message(Event::Commit(slot(0, 1), range(0, 4))),
            "cycle 99: the warp of 4 packets from 0 at core 0 slot 1 was committed before it finished"
        );
        assert!(
            message(Event::Commit(slot(1, 0), range(4, 2))).contains("expected the warp of 4 packets from 0")
        );
        assert!(message(Event::Finish(slot(1, 1))).ends_with("core 1 slot 1 finished without a warp"));
        assert!(message(Event::Issue(slot(0, 0), range(5, 1))).ends_with("expected packet 6 next"));
        assert!(message(Event::Issue(slot(0, 0), range(6, 1))).ends_with("only 6 packets were pushed"));
        assert!(message(Event::Issue(slot(0, 0), range(6, 5))).ends_with("a warp has 1 to 4 packets"));
        assert!(message(Event::Issue(slot(2, 0), range(6, 1))).ends_with("a slot that does not exist"));
        let mut tracker = loaded();
        tracker.push(1);
        let error = tracker.event(20, 20, Event::Issue(slot(0, 1), range(6, 1))).unwrap_err();
        assert!(error.to_string().ends_with("a slot that is in use"));
    }
}
