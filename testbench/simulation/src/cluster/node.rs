//! A node of a cluster, and its end of the link.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::link::{LinkOptions, CYCLE};
use super::lockstep::{Lockstep, Outgoing};
use super::outside::OutsidePeer;
use super::pcapng::{Direction, PcapngWriter};
use super::service::{Service, ServiceCounts};
use super::switch::Delivery;
use crate::cosim::{
    CosimError, Device as _, Host, NetAddress, QueuePair, Region, SentFrame, Simulation, Streams,
};
use hermes_rtl::net::right;

/// Queue pair of a node for the peer outside: the one behind those for nodes.
pub const OUTSIDE_PAIR: u32 = super::MOST_NODES as u32;
/// Bytes that may wait for the line in the node: the array holds its frames back while it has more.
const FIFO_BYTES: usize = 2_048;

/// The end of a link at its node.
pub(super) struct LinkEnd {
    port: usize,
    options: LinkOptions,
    lockstep: Arc<Lockstep>,
    /// When the line to the switch is free, in picoseconds.
    free: u64,
    fresh: Vec<SentFrame>,
    sent: Vec<Outgoing>,
    coming: VecDeque<Delivery>,
    arrived: u64,
    met: u64,
    quiet: Duration,
    capture: Option<PcapngWriter>,
    service: Option<Service>,
}

impl LinkEnd {
    pub fn new(
        port: usize,
        options: LinkOptions,
        lockstep: Arc<Lockstep>,
        capture: Option<PcapngWriter>,
        service: Option<Service>,
    ) -> Self {
        let (fresh, sent, coming) = (Vec::new(), Vec::new(), VecDeque::new());
        let quiet = Duration::ZERO;
        Self {
            port,
            options,
            lockstep,
            free: 0,
            fresh,
            sent,
            coming,
            arrived: 0,
            met: 0,
            quiet,
            capture,
            service,
        }
    }

    fn record(&mut self, time: u64, direction: Direction, bytes: &[u8]) -> Result<(), String> {
        let capture = self.capture.as_mut();
        capture
            .map_or(Ok(()), |capture| capture.write(time, direction, bytes))
            .map_err(|error| error.to_string())
    }

    /// A cycle of the node.
    fn cycle(&mut self, now: u64, network: &mut Streams) -> Result<(), String> {
        network.sink.take_frames(&mut self.fresh);
        let mut answers = Vec::new();
        let fresh = std::mem::take(&mut self.fresh);
        match &mut self.service {
            Some(service) => {
                fresh.into_iter().for_each(|frame| service.send(frame.cycle, frame.bytes));
                for (sent, bytes) in service.cycle(now, &mut answers) {
                    self.put_on_line(sent, bytes)?;
                }
                self.release(now, network.sink.waits())?;
            }
            None => {
                for frame in fresh {
                    self.put_on_line(frame.cycle, frame.bytes)?;
                }
            }
        }
        network.sink.hold(!self.has_room(now));
        if now % self.lockstep.step == 0 {
            let sent = std::mem::take(&mut self.sent);
            let exchanged = self.lockstep.exchange(self.port, sent, self.arrived)?;
            self.coming.extend(exchanged.frames);
            (self.met, self.quiet) = (exchanged.met, exchanged.quiet);
        }
        while self.coming.front().is_some_and(|frame| frame.cycle <= now) {
            let Some(frame) = self.coming.pop_front() else { break };
            let held = match &mut self.service {
                Some(service) => service.receive(now, frame.bytes),
                None => Some(frame.bytes),
            };
            answers.extend(held);
        }
        for bytes in answers {
            self.record(now, Direction::Inbound, &bytes)?;
            network.source.submit(0, bytes);
        }
        Ok(())
    }

    /// The node is less than its FIFO ahead of the line.
    fn has_room(&self, now: u64) -> bool {
        self.free <= now * CYCLE + self.options.time(FIFO_BYTES)
    }

    /// Frames that were held for their service go on the line as it has room for them, in turn with
    /// what the node sends.
    fn release(&mut self, now: u64, node_waits: bool) -> Result<(), String> {
        while self.has_room(now) {
            let next = self.service.as_mut().and_then(|service| service.release(now, node_waits));
            let Some(bytes) = next else { break };
            self.put_on_line(now, bytes)?;
        }
        Ok(())
    }

    /// A frame is at the line in cycle `cycle`.
    fn put_on_line(&mut self, cycle: u64, bytes: Vec<u8>) -> Result<(), String> {
        let begin = self.free.max(cycle * CYCLE);
        self.free = begin + self.options.time(bytes.len());
        self.record(cycle, Direction::Outbound, &bytes)?;
        self.sent.push(Outgoing { begin, bytes });
        Ok(())
    }

    /// Gives the capture its name; not of a node that failed before it had a frame.
    pub fn commit(&mut self, failed: bool) -> io::Result<()> {
        let capture = self.capture.take().filter(|capture| !failed || capture.frames() > 0);
        capture.map_or(Ok(()), PcapngWriter::commit)
    }
}

/// Who the node `number` is: MAC 02:00:00:00:00:01, IP 10.0.0.1 for node 0, and so on.
#[must_use]
pub fn address(number: usize) -> NetAddress {
    let last = number as u8 + 1;
    NetAddress { mac: [2, 0, 0, 0, 0, last], ip: [10, 0, 0, last] }
}

/// First packet sequence number of the packets from one node to another, 24 bits.
fn first_sequence(seed: u64, from: usize, to: usize) -> u32 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream((from << 8 | to) as u64);
    random.gen::<u32>() >> 8
}

/// The region that is the symmetric window.
pub const WINDOW_REGION: u32 = 1;

/// Key of the symmetric window of a node.
fn window_key(seed: u64, node: usize) -> u32 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(1 << 32 | node as u64);
    random.gen::<u32>() & !15 | WINDOW_REGION
}

/// A node of a cluster, on its thread.
pub struct Node {
    /// Its number, and the number of all: `my_pe` and `n_pes` of OpenSHMEM.
    pub number: usize,
    /// Nodes of the cluster.
    pub nodes: usize,
    /// Its host.
    pub host: Host<Simulation>,
    /// Its peer outside, if it has one.
    pub outside: Option<OutsidePeer>,
    /// Bytes of the packets of the queue pairs that [`Node::connect_mesh`] takes up: 256, 512,
    /// 1,024, 2,048 or 4,096; 1,024 unless it is changed.
    pub mtu: u32,
    seed: u64,
    end: Rc<RefCell<LinkEnd>>,
}

impl Node {
    /// Connects the network interface of a simulation that has just been reset.
    pub(super) fn new(
        [number, nodes]: [usize; 2],
        seed: u64,
        outside: Option<OutsidePeer>,
        mut simulation: Simulation,
        end: Rc<RefCell<LinkEnd>>,
    ) -> Result<Self, CosimError> {
        let shared = Rc::clone(&end);
        simulation.set_wire(Box::new(move |now, network| shared.borrow_mut().cycle(now, network)))?;
        Ok(Self { number, nodes, host: Host::new(simulation)?, outside, mtu: super::DEFAULT_MTU, seed, end })
    }

    /// Takes up a queue pair for each node, its own too: queue pair `n` is for node `n`, whose
    /// symmetric window has the same address as the one here; and [`OUTSIDE_PAIR`] for the peer
    /// outside, if there is one. All nodes do so; behind it all queue pairs of all nodes are up.
    ///
    /// # Errors
    /// As [`Host::enable_network`] and [`Host::connect_queue_pair`].
    pub fn connect_mesh(&mut self, window: u32, window_bytes: u32) -> Result<(), CosimError> {
        let under_way = self.host.read("NET_WINDOW")?;
        if let Some(service) = &mut self.end.borrow_mut().service {
            service.set_packets(self.mtu, under_way);
        }
        self.host.enable_network(address(self.number), 0)?;
        let region = Region {
            address: window,
            bytes: window_bytes,
            rights: right::ALL,
            key: self.window_key(),
            domain: 0,
        };
        self.host.set_region(WINDOW_REGION, &region)?;
        for peer in 0..self.nodes {
            let pair = QueuePair {
                peer: address(peer),
                remote: self.number as u32,
                key: window_key(self.seed, peer),
                window,
                window_bytes,
                remote_base: window.into(),
                send: first_sequence(self.seed, self.number, peer),
                expect: first_sequence(self.seed, peer, self.number),
                mtu: self.mtu,
                ..QueuePair::default()
            };
            self.host.connect_queue_pair(peer as u32, &pair)?;
        }
        if let Some(peer) = self.outside {
            let pair = QueuePair {
                peer: peer.address,
                remote: peer.pair,
                key: peer.key,
                window,
                window_bytes,
                remote_base: peer.base,
                send: self.first_sequence_outside(),
                expect: peer.sequence,
                mtu: self.mtu,
                ..QueuePair::default()
            };
            self.host.connect_queue_pair(OUTSIDE_PAIR, &pair)?;
        }
        self.meet()
    }

    /// What the threads that serve its commands did; none if the node serves them itself.
    #[must_use]
    pub fn service_counts(&self) -> Option<ServiceCounts> {
        self.end.borrow().service.as_ref().map(Service::counts)
    }

    /// Key of the symmetric window of this node, which its peers know.
    #[must_use]
    pub fn window_key(&self) -> u32 {
        window_key(self.seed, self.number)
    }

    /// First packet sequence number of the packets to the peer outside, 24 bits.
    #[must_use]
    pub fn first_sequence_outside(&self) -> u32 {
        first_sequence(self.seed, self.number, OUTSIDE_PAIR as usize)
    }

    /// The queue pair for a node; that number of nodes stands for the peer outside. `None`: there
    /// is none.
    #[must_use]
    pub fn pair_for(&self, peer: usize) -> Option<u32> {
        if peer == self.nodes && self.outside.is_some() {
            return Some(OUTSIDE_PAIR);
        }
        (peer < self.nodes).then_some(peer as u32)
    }

    /// Lets the array work until nothing has come from outside for so long (of the user's time, not
    /// of the simulation's). All nodes do so.
    ///
    /// # Errors
    /// A node failed.
    pub fn linger(&mut self, quiet: Duration) -> Result<(), CosimError> {
        // All look at the same moments.
        self.meet()?;
        while self.end.borrow().quiet < quiet {
            self.host.device_mut().step()?;
        }
        Ok(())
    }

    /// Lets the array work until all nodes have come here: a barrier of the hosts, beside the
    /// network.
    ///
    /// # Errors
    /// A node failed.
    pub fn meet(&mut self) -> Result<(), CosimError> {
        self.end.borrow_mut().arrived += 1;
        loop {
            let end = self.end.borrow();
            if end.met >= end.arrived {
                return Ok(());
            }
            drop(end);
            self.host.device_mut().step()?;
        }
    }

    /// Lets the array work for so many cycles.
    ///
    /// # Errors
    /// The simulation ends, or a node failed.
    pub fn run(&mut self, cycles: u64) -> Result<(), CosimError> {
        self.host.device_mut().run(cycles)
    }

    /// Bytes of the memory, as it has them when the caches are clean.
    ///
    /// # Errors
    /// The caches do not become clean, or the range is not in the memory.
    pub fn read_clean(&mut self, address: u32, bytes: usize) -> Result<Vec<u8>, CosimError> {
        self.host.clean_caches()?;
        let mut read = vec![0; bytes];
        self.host.device_mut().read_memory(address, &mut read)?;
        Ok(read)
    }
}
