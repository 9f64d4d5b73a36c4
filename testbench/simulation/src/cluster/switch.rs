//! The switch between the nodes.

use std::collections::BTreeMap;

use super::link::{FaultCounts, Faults, LinkOptions, CYCLE};

/// Bytes on the wire that may wait for an output.
const QUEUE_BYTES: usize = 256 << 10;

/// A frame on its way to a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Cycle in which its last bit is there.
    pub cycle: u64,
    /// The frame.
    pub bytes: Vec<u8>,
}

/// What a port counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PortCounts {
    /// Frames that were sent to the switch.
    pub sent: u64,
    /// Their bytes, without preamble, frame check sequence and gap.
    pub sent_bytes: u64,
    /// Faults of the link that befell them.
    #[serde(flatten)]
    pub faults: FaultCounts,
    /// Frames of this port for nobody.
    pub unknown: u64,
    /// Frames for this port that found its queue full.
    pub dropped: u64,
    /// Frames that the switch sent to the port.
    pub received: u64,
    /// Cycle in which the first of them began to leave, and the one in which the last one had.
    pub received_from: u64,
    /// See `received_from`.
    pub received_to: u64,
}

/// A port of the switch.
struct Port {
    /// MAC of its node; `None`: whoever is not at another port.
    mac: Option<[u8; 6]>,
    options: LinkOptions,
    faults: Faults,
    /// Frames that came from it; with time and port the order of frames.
    serial: u64,
    /// When the line to the port is free, in picoseconds.
    free: u64,
    counts: PortCounts,
}

/// A star of links of one rate or of several: a frame leaves by the port whose node has its
/// destination MAC, be it the one by which it came; without such a node by the port to the outside,
/// and dropped if there is none. It passes without delay (cut-through) if the line is free and not
/// faster than that on which it came; else it waits in the queue of the output, 256 KiB, which
/// drops what finds no room (drop tail).
///
/// Times are in picoseconds. Frames are forwarded in the order in which their first bits come; of
/// those that come at once the one of the lower port is the first. So the order in which
/// [`Switch::send`] is called for different ports does not matter.
pub struct Switch {
    ports: Vec<Port>,
    /// By time of the first bit at the switch, port and serial number.
    coming: BTreeMap<(u64, usize, u64), Vec<u8>>,
}

impl Switch {
    /// With ports for nodes with these MACs and links; one without MAC is the port to the outside.
    #[must_use]
    pub fn new(ports: impl IntoIterator<Item = (Option<[u8; 6]>, LinkOptions)>, seed: u64) -> Self {
        let port = |(number, (mac, options)): (usize, (Option<[u8; 6]>, LinkOptions))| Port {
            mac,
            faults: Faults::new(options.clone(), seed, number),
            options,
            serial: 0,
            free: 0,
            counts: PortCounts::default(),
        };
        Self { ports: ports.into_iter().enumerate().map(port).collect(), coming: BTreeMap::new() }
    }

    /// A node sends a frame, whose first bit is on its link at `begin` picoseconds. Frames of a
    /// port are given in their order.
    pub fn send(&mut self, port: usize, begin: u64, bytes: Vec<u8>) {
        let from = &mut self.ports[port];
        from.counts.sent += 1;
        from.counts.sent_bytes += bytes.len() as u64;
        for passed in from.faults.pass(bytes) {
            let time = begin + from.options.flight() + passed.late;
            self.coming.insert((time, port, from.serial), passed.bytes);
            from.serial += 1;
        }
    }

    /// Forwards the frames that come before the cycle `before`: all that will ever be sent to come
    /// before it was given to [`Switch::send`]. `deliver` gets port and frame.
    pub fn forward(&mut self, before: u64, mut deliver: impl FnMut(usize, Delivery)) {
        while let Some(entry) = self.coming.first_entry() {
            let (time, from, _) = *entry.key();
            if time >= before * CYCLE {
                return;
            }
            let bytes = entry.remove();
            let is_for = |port: &Port| port.mac.is_some_and(|mac| bytes.starts_with(&mac));
            let outside = self.ports.iter().position(|port| port.mac.is_none());
            // What came from the outside does not go back.
            let port = self.ports.iter().position(is_for).or(outside.filter(|port| *port != from));
            let Some(port) = port else {
                self.ports[from].counts.unknown += 1;
                continue;
            };
            let came = self.ports[from].options.time(bytes.len());
            let to = &mut self.ports[port];
            let takes = to.options.time(bytes.len());
            // The whole queue leaves before the frame that comes now.
            let queued = to.free.saturating_sub(time);
            if queued > 0 && queued + takes > to.options.time(QUEUE_BYTES) {
                to.counts.dropped += 1;
                continue;
            }
            // A frame that leaves on a faster line than it came on must not overtake itself.
            let begin = to.free.max(time + came.saturating_sub(takes));
            to.free = begin + takes;
            if to.counts.received == 0 {
                to.counts.received_from = begin / CYCLE;
            }
            to.counts.received += 1;
            to.counts.received_to = to.free.div_ceil(CYCLE);
            let cycle = (to.free + to.options.flight()).div_ceil(CYCLE);
            deliver(port, Delivery { cycle, bytes });
        }
    }

    /// What each port counted.
    #[must_use]
    pub fn counts(&self) -> Vec<PortCounts> {
        self.ports.iter().map(|port| PortCounts { faults: port.faults.counts, ..port.counts }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACS: [[u8; 6]; 3] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 3]];

    fn switch(link: &LinkOptions) -> Switch {
        Switch::new(MACS.map(|mac| (Some(mac), link.clone())), 1)
    }

    /// A frame to a port.
    fn frame(to: usize, bytes: usize) -> Vec<u8> {
        [&MACS[to][..], &vec![0x11; bytes - 6]].concat()
    }

    /// Port, cycle and bytes of all that is forwarded.
    fn forwarded(switch: &mut Switch, before: u64) -> Vec<(usize, u64, usize)> {
        let mut list = Vec::new();
        switch.forward(before, |port, delivery| list.push((port, delivery.cycle, delivery.bytes.len())));
        list
    }

    #[test]
    fn a_put_takes_209_cycles() {
        // 82 bytes and 24 more at 12.5 bytes a cycle, and two links
        let mut switch = switch(&LinkOptions::default());
        switch.send(0, 5 * CYCLE, frame(1, 82));
        assert!(forwarded(&mut switch, 105).is_empty(), "not at the switch yet");
        assert_eq!(forwarded(&mut switch, 106), [(1, 5 + 209, 82)]);
    }

    #[test]
    fn frames_wait_for_the_output_in_the_order_in_which_they_come() {
        let mut switch = switch(&LinkOptions { rate: 8.0, ..LinkOptions::default() });
        // A byte a cycle; given out of order.
        switch.send(2, 10 * CYCLE, frame(0, 76));
        switch.send(1, 0, frame(0, 176));
        switch.send(0, 0, frame(0, 76));
        let all = forwarded(&mut switch, 1_000);
        assert_eq!(all, [(0, 300, 76), (0, 500, 176), (0, 600, 76)], "the own port too");
        let counts = switch.counts();
        assert_eq!((counts[0].received, counts[0].sent, counts[1].sent_bytes), (3, 1, 176));
    }

    #[test]
    fn the_queue_drops_its_tail() {
        let mut switch = switch(&LinkOptions::default());
        let (size, count) = (1_000, 400);
        let takes = LinkOptions::default().time(size);
        for number in 0..count {
            switch.send(0, number * takes, frame(2, size));
            switch.send(1, number * takes, frame(2, size));
        }
        let received = forwarded(&mut switch, 1 << 40).len() as u64;
        let counts = switch.counts()[2];
        assert_eq!((counts.received, counts.dropped), (received, 2 * count - received));
        // What left meanwhile, and 262,144 bytes of 1,024 on the wire each.
        assert!((count + 255..=count + 258).contains(&received), "{received}");
    }

    #[test]
    fn nobody_gets_what_is_for_nobody() {
        let mut switch = switch(&LinkOptions::default());
        switch.send(1, 0, vec![0xff; 60]);
        switch.send(1, 0, vec![2]);
        assert!(forwarded(&mut switch, 1 << 30).is_empty());
        assert_eq!(switch.counts()[1].unknown, 2);
    }

    #[test]
    fn strangers_are_outside() {
        let link = LinkOptions::default();
        let mut switch =
            Switch::new([(Some(MACS[0]), link.clone()), (Some(MACS[1]), link.clone()), (None, link)], 1);
        switch.send(0, 0, frame(2, 82));
        switch.send(2, 0, frame(1, 82));
        switch.send(2, 0, frame(2, 82));
        assert_eq!(forwarded(&mut switch, 1_000), [(2, 209, 82), (1, 209, 82)]);
        assert_eq!(switch.counts()[2].unknown, 1, "not back to the outside");
    }

    #[test]
    fn a_slow_link_holds_up_only_its_own_frames() {
        let slow = LinkOptions { rate: 8.0, latency: 500, ..LinkOptions::default() };
        let links = [LinkOptions::default(), slow, LinkOptions::default()];
        let mut switch = Switch::new(MACS.map(Some).into_iter().zip(links), 1);
        switch.send(0, 0, frame(1, 76));
        switch.send(0, 0, frame(2, 76));
        switch.send(1, 0, frame(0, 76));
        let mut all = forwarded(&mut switch, 1 << 30);
        all.sort_unstable();
        // From the slow link: its last bit leaves the switch when it has come.
        assert_eq!(all, [(0, 500 + 100 + 100, 76), (1, 100 + 100 + 500, 76), (2, 208, 76)]);
    }
}
