//! The memory system: crossbars, banks of the L2, and the channels to memory.

use super::{
    Axi4Master, L2Atomics, L2Bank, MemoryChannel, RequestCrossbar, ResponseCrossbar, RingWindow, WriteMonitor,
};
use crate::blocks::IndexHash;
use crate::config::Config;
use crate::host::{L2Counters, L2Maintenance};
use crate::ports::{
    AtomicAnswer, LineLock, LineRead, LineWrite, ReservationEnd, WatchedRange, WriteTap, WrittenLine,
};
use hermes_hdl::prelude::*;

/// What the memory system is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySizes {
    /// Requesters, 1 to 32.
    pub requesters: usize,
    /// Channels: 1, 2 or 4, and not more than banks.
    pub channels: usize,
    /// Banks: 1, 2, 4 or 8.
    pub banks: usize,
    /// Lines of a bank, a power of two.
    pub bank_lines: usize,
    /// Ways of a bank: 1, 2 or 4.
    pub ways: usize,
    /// A bank has a cycle for the look-up of a set.
    pub look_up_cycle: bool,
    /// Requesters that may request atomic operations, from the first on; 0: none, and the banks
    /// have no [`L2Atomics`].
    pub atomic_requesters: usize,
    /// Compare-and-swap of 32 bits is one of these operations.
    pub compare_and_swap: bool,
    /// Threads that may request atomic operations at a time.
    pub threads: usize,
    /// Reservations of `lr.w` that a bank has, for as many lines: 1, 2, 4 or 8.
    pub reservations: usize,
    /// Sizes for a network interface, if there is one.
    pub network: Option<NetworkSizes>,
}

/// What the memory system does for a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkSizes {
    /// Index of the requester of the network interface, one of those of atomic operations; its own
    /// operations are of 64 bits.
    pub requester: usize,
    /// Requesters that are cores, the first ones: their commands are locked in the L2. Those
    /// between them and the network interface (command processor) fetch commands, as itself does.
    pub cores: usize,
    /// Command rings of a queue area, as a power of two.
    pub rings_log2: usize,
    /// Queue areas, as a power of two.
    pub areas_log2: usize,
    /// The network interface has command queues, which see the writes of all banks.
    pub queues: bool,
}

/// The channels of the command processor that watch writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watchers {
    /// Requester of the command processor.
    pub requester: usize,
    /// Harts of the command processor.
    pub harts: usize,
    /// Channels of a hart; 0: nobody watches, and the banks have no [`WriteMonitor`].
    pub channels: usize,
}

/// Operations of a bank after which a reservation of `lr.w` ends, or a debt is forgotten, whose
/// warp neither comes back nor leaves its loop, for each thread of the array: an `sc.w` that waits
/// for its turn lets each other thread have two at most.
const PATIENCE: usize = 4;

impl Watchers {
    /// Those of an array with this configuration.
    pub fn of(config: &Config) -> Self {
        Self { requester: config.cores, harts: config.command_threads, channels: config.uli_channels }
    }
}

impl MemorySizes {
    /// One requester with atomic operations on one small bank: what the sizes of tests differ from.
    #[cfg(test)]
    pub(crate) const ONE: Self = Self {
        requesters: 1,
        channels: 1,
        banks: 1,
        bank_lines: 16,
        ways: 2,
        look_up_cycle: false,
        atomic_requesters: 1,
        compare_and_swap: false,
        threads: 64,
        reservations: 1,
        network: None,
    };

    /// Two cores, a network interface and a requester without atomic operations, on two banks.
    #[cfg(test)]
    pub(super) fn with_network(bank_lines: usize, ways: usize, look_up_cycle: bool) -> Self {
        let network = NetworkSizes { requester: 2, cores: 2, rings_log2: 10, areas_log2: 0, queues: false };
        let sizes =
            Self { requesters: 4, banks: 2, atomic_requesters: 3, network: Some(network), ..Self::ONE };
        Self { bank_lines, ways, look_up_cycle, ..sizes }
    }

    /// The memory system of an array with this configuration: its requesters are the cores, command
    /// processor and thread spawner, the network interface, the packet ports.
    pub fn of(config: &Config) -> Self {
        let network = config.network.then(|| NetworkSizes {
            requester: config.network_requester(),
            cores: config.cores,
            rings_log2: config.net_rings_log2(),
            areas_log2: config.net_areas_log2(),
            queues: config.command_threads > 0,
        });
        let cores_and_command = config.cores + usize::from(config.command_threads > 0);
        Self {
            requesters: config.cores
                + usize::from(config.command_requester())
                + usize::from(config.network)
                + usize::from(config.packet_ports),
            channels: config.channels,
            banks: config.l2_banks,
            bank_lines: config.l2_bank_lines,
            ways: config.l2_ways,
            look_up_cycle: config.l2_look_up_cycle,
            atomic_requesters: match network {
                Some(network) => network.requester + 1,
                None if config.atomics => cores_and_command,
                None => 0,
            },
            compare_and_swap: config.compare_and_swap,
            threads: config.cores * config.lanes * config.warps + config.command_threads,
            reservations: config.l2_reservations,
            network,
        }
    }

    /// Fetches, and write-backs, that a bank has outstanding, as a power of two: at most 64, and so
    /// many that all IDs of a channel fit 8 bits.
    fn numbers(&self) -> usize {
        let banks_of_channel = self.banks / self.channels;
        (8 - banks_of_channel.ilog2() as usize).min(6)
    }

    /// The requester of the network interface.
    fn network_requester(&self) -> Option<usize> {
        self.network.map(|network| network.requester)
    }
}

/// The L2 with all that is around it: reads and writes of lines by up to 32 requesters, over banks
/// that a fold of the line address selects, to one or more AXI4 channels.
///
/// 1. A requester's reads and writes travel separately. Requests of one requester to one line
///    through one port are performed in order; answers come in any order, one of each kind a cycle,
///    and are always accepted.
/// 2. `written.valid` of a write comes when every later read of any requester sees it.
/// 3. A line stands in bank `fold(line) mod banks` and moves through channel `bank mod channels`.
/// 4. A write of one of the first `atomic_requesters` requesters whose tag has bit 5 set is an
///    atomic operation ([`L2Atomics`]); its answer carries the word that was there. Such requesters
///    read with tags below 0x60.
/// 5. `hit` of a channel follows a write that a bank accepts by one cycle ([`WriteMonitor`]).
/// 6. With a network interface, lines of its command rings can be locked
///    ([`L2Lock`](super::L2Lock)), as `line_lock` says; not in a bank of one way.
/// 7. `maintenance.l2_clean` (one cycle) writes back all lines that were changed,
///    `maintenance.l2_invalidate` (one cycle) also invalidates all lines. `l2_busy` is high from
///    this cycle on until the last of them is acknowledged by AXI4.
#[clocked("every line is invalidated")]
#[derive(Clone, LogicBlock)]
#[new(sizes: MemorySizes, watchers: Watchers, numbers: usize, atomic: bool, reserving: usize, skip: usize, watched: usize, network: bool, queues: bool)]
pub struct MemorySystem {
    /// The reads of each requester.
    #[count(sizes.requesters)]
    pub read: Vec<Flipped<LineRead>>,
    /// The writes of each requester.
    #[count(sizes.requesters)]
    pub write: Vec<Flipped<LineWrite>>,
    /// With the answers of atomic operations (only with these).
    #[there(atomic)]
    #[count(sizes.requesters)]
    pub atomic_answer: Part<Vec<Flipped<AtomicAnswer>>>,
    /// From each requester of atomic operations but the network interface: reservations of `lr.w`
    /// end at this edge, before operations that it requests later are performed.
    #[there(atomic)]
    #[count(reserving)]
    pub reservation_end: Part<Vec<Flipped<ReservationEnd>>>,
    /// To the network interface: the upper half of the value of an atomic operation (only with a
    /// network interface).
    #[there(network)]
    pub written_high: Part<Signal<Out, Bits<32>>>,
    /// Of each requester.
    #[count(sizes.requesters)]
    pub counters: Vec<L2Counters>,
    /// From the command processor: range that each of its channels watches (only with channels).
    #[there(watched > 0)]
    #[count(watched)]
    pub watched: Part<Vec<WatchedRange>>,
    /// To the channels: a bank accepted a write of that in the cycle before.
    #[there(watched > 0)]
    #[count(watched)]
    pub hit: Part<Vec<Signal<Out, Bit>>>,

    /// The line lock (only with a network interface).
    #[there(network)]
    pub line_lock: Part<LineLock>,
    /// From each bank to the cores: a line was written (only with a network interface).
    #[there(network)]
    #[count(sizes.banks)]
    pub written_line: Part<Vec<WrittenLine>>,
    /// From the banks to the command queues (only with these).
    #[there(queues)]
    #[count(sizes.banks)]
    pub tap: Part<Vec<Flipped<WriteTap>>>,

    /// From the registers, and what they show.
    pub maintenance: L2Maintenance,
    /// AXI4 responses other than OKAY in the cycle before.
    pub bus_errors: Signal<Out, Bits<4>>,
    /// The channels to memory.
    #[count(sizes.channels)]
    pub m_axi: Vec<Axi4Master>,

    #[init(RequestCrossbar::new(sizes.requesters, sizes.banks))]
    requests: RequestCrossbar,
    #[init(ResponseCrossbar::new(sizes.requesters, sizes.banks, sizes.atomic_requesters > 0, sizes.network_requester()))]
    responses: ResponseCrossbar,
    #[init(atomics(sizes))]
    atomics: Part<Vec<L2Atomics>>,
    #[init((0..sizes.banks).map(|_| L2Bank::new(sizes.bank_lines, sizes.ways, numbers, skip, sizes.network, sizes.look_up_cycle)).collect())]
    bank: Vec<L2Bank>,
    #[init((0..sizes.channels).map(|_| MemoryChannel::new(sizes.banks / sizes.channels, numbers)).collect())]
    channel: Vec<MemoryChannel>,
    #[init(monitors(sizes, watchers))]
    monitor: Part<Vec<WriteMonitor>>,
    #[init(ring_window(sizes))]
    rings: Part<RingWindow>,
    #[there(network)]
    refused_count: Part<Register<Bits<32>>>,
    #[there(network)]
    expired_count: Part<Register<Bits<32>>>,
    read_count: Register<Bits<32>>,
    write_count: Register<Bits<32>>,
    #[init(sizes.requesters)]
    _requesters: usize,
    #[init(reserving)]
    _reserving: usize,
    #[init(sizes.banks)]
    _banks: usize,
    #[init(watched)]
    _watched: usize,
    #[init(Part::when(network, || vec![IndexHash::new(8, 0); sizes.banks]))]
    fold: Part<Vec<IndexHash>>,
    #[there(network)]
    #[count(sizes.banks)]
    written_q: Part<Vec<Register<Bit>>>,
    #[there(network)]
    #[count(sizes.banks)]
    fold_q: Part<Vec<Register<Bits<8>>>>,
    #[init(sizes.channels)]
    _channels: usize,
    #[init(sizes.banks / sizes.channels)]
    _channel_banks: usize,
}

/// The atomic units, one for each bank; none without atomic instructions.
fn atomics(sizes: MemorySizes) -> Part<Vec<L2Atomics>> {
    let MemorySizes { atomic_requesters, banks, compare_and_swap, reservations, .. } = sizes;
    let patience = PATIENCE * sizes.threads;
    let network = sizes.network_requester();
    let unit = |bank| {
        L2Atomics::new(atomic_requesters, bank, banks, patience, network, compare_and_swap, reservations)
    };
    Part::when(atomic_requesters > 0, || (0..banks).map(unit).collect())
}

/// The write monitors, one for each bank; none if nobody watches.
fn monitors(sizes: MemorySizes, watchers: Watchers) -> Part<Vec<WriteMonitor>> {
    let Watchers { requester, harts, channels } = watchers;
    let monitor = || WriteMonitor::new(requester, harts, channels);
    Part::when(harts * channels > 0, || (0..sizes.banks).map(|_| monitor()).collect())
}

/// Where the command rings of a network interface lie, if there is one.
fn ring_window(sizes: MemorySizes) -> Part<RingWindow> {
    Part::of(sizes.network.map(|network| RingWindow::new(network.rings_log2, network.areas_log2)))
}

impl MemorySystem {
    /// A memory system of these sizes whose writes nobody watches.
    ///
    /// # Panics
    /// If a size is none of those that [`MemorySizes`] names.
    pub fn new(sizes: MemorySizes) -> Self {
        Self::watched(sizes, Watchers::default())
    }

    /// A memory system of these sizes whose writes `watchers` watch.
    ///
    /// # Panics
    /// As [`MemorySystem::new`].
    pub fn watched(sizes: MemorySizes, watchers: Watchers) -> Self {
        let MemorySizes { channels, banks, atomic_requesters, .. } = sizes;
        assert!(matches!(channels, 1 | 2 | 4) && channels <= banks, "MemorySystem: {sizes:?}");
        let fits = |n: NetworkSizes| n.cores <= n.requester && n.requester < atomic_requesters;
        assert!(
            sizes.network.is_none_or(fits),
            "MemorySystem: {sizes:?}: the network interface needs atomic operations"
        );
        let numbers = sizes.numbers();
        let atomic = atomic_requesters > 0;
        let reserving = atomic_requesters - usize::from(sizes.network.is_some());
        let skip = banks.ilog2() as usize;
        let watched = watchers.harts * watchers.channels;
        let network = sizes.network.is_some();
        let queues = sizes.network.is_some_and(|network| network.queues);
        Self::wired(sizes, watchers, numbers, atomic, reserving, skip, watched, network, queues)
    }
}

impl Logic for MemorySystem {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..self._requesters {
            connect!(self.read[i].valid, self.requests.read_valid[i]);
            connect!(self.read[i].ready, self.requests.read_ready[i]);
            connect!(self.read[i].line, self.requests.read_line[i]);
            connect!(self.read[i].tag, self.requests.read_tag[i]);
            connect!(self.read[i].response, self.responses.response[i]);
            connect!(self.write[i].valid, self.requests.write_valid[i]);
            connect!(self.write[i].ready, self.requests.write_ready[i]);
            connect!(self.write[i].line, self.requests.write_line[i]);
            connect!(self.write[i].data, self.requests.write_data[i]);
            connect!(self.write[i].strobe, self.requests.write_strobe[i]);
            connect!(self.write[i].tag, self.requests.write_tag[i]);
            connect!(self.write[i].written, self.responses.written[i]);
            connect!(self.counters[i], self.responses.counters[i]);
        }

        let mut any_busy = self.maintenance.l2_clean.val() || self.maintenance.l2_invalidate.val();
        for b in 0..self._banks {
            self.bank[b].clean.next = self.maintenance.l2_clean.val();
            self.bank[b].invalidate.next = self.maintenance.l2_invalidate.val();
            any_busy = any_busy || self.bank[b].busy.val();
        }
        if self.monitor.is_there() {
            for c in 0..self._watched {
                let mut written = false;
                for b in 0..self._banks {
                    connect!(self.watched[c], self.monitor[b].watched[c]);
                    written = written || self.monitor[b].hit[c].val();
                }
                self.hit[c].next = written;
            }
        }
        if self.atomics.is_there() {
            for b in 0..self._banks {
                connect!(self.requests.request[b], self.atomics[b].request);
                connect!(self.atomics[b].bank, self.bank[b].request);
                connect!(self.bank[b].response, self.atomics[b].bank_response);
                connect!(self.atomics[b].response, self.responses.bank[b]);
                connect!(self.bank[b].written, self.atomics[b].bank_written);
                connect!(self.atomics[b].written, self.responses.bank_written[b]);
                connect!(self.atomics[b].atomic_answer, self.responses.bank_answer[b]);
                for k in 0..self._banks {
                    self.atomics[b].events[k].valid.next = self.atomics[k].event.valid.val();
                    self.atomics[b].events[k].requester.next = self.atomics[k].event.requester.val();
                    self.atomics[b].events[k].thread.next = self.atomics[k].event.thread.val();
                }
                for i in 0..self._reserving {
                    connect!(self.reservation_end[i], self.atomics[b].ends[i]);
                }
                if self.monitor.is_there() {
                    self.monitor[b].write.next = self.atomics[b].bank.valid.val()
                        & self.atomics[b].bank.write.val()
                        & self.bank[b].request.ready.val();
                    connect!(self.atomics[b].bank, self.monitor[b].observed);
                }
                if self.tap.is_there() {
                    // Word 0 of an entry tells that it is published, by bit 8.
                    let publishes =
                        self.atomics[b].bank.write.val() && self.atomics[b].bank.strobe.val().get_bit(1);
                    let waits = publishes && self.tap[b].hold.val();
                    self.bank[b].request.valid.next = self.atomics[b].bank.valid.val() && !waits;
                    self.atomics[b].bank.ready.next = self.bank[b].request.ready.val() && !waits;
                    self.tap[b].valid.next = self.atomics[b].bank.valid.val()
                        && self.bank[b].request.ready.val()
                        && publishes
                        && !waits;
                    self.tap[b].line.next = self.atomics[b].bank.line.val();
                    self.tap[b].phase.next = self.atomics[b].bank.data.val().get_bit(8);
                    if self.monitor.is_there() {
                        self.monitor[b].write.next = self.atomics[b].bank.valid.val()
                            & self.atomics[b].bank.write.val()
                            & self.bank[b].request.ready.val()
                            & !(self.atomics[b].bank.strobe.val().get_bit(1) & self.tap[b].hold.val());
                    }
                }
            }
            for i in 0..self._requesters {
                connect!(self.atomic_answer[i], self.responses.atomic_answer[i]);
            }
        } else {
            for b in 0..self._banks {
                connect!(self.requests.request[b], self.bank[b].request);
                connect!(self.bank[b].response, self.responses.bank[b]);
                connect!(self.bank[b].written, self.responses.bank_written[b]);
                if self.monitor.is_there() {
                    self.monitor[b].write.next = self.requests.request[b].valid.val()
                        & self.requests.request[b].write.val()
                        & self.bank[b].request.ready.val();
                    connect!(self.requests.request[b], self.monitor[b].observed);
                }
            }
        }
        if self.written_high.is_there() {
            for b in 0..self._banks {
                self.responses.bank_written_high[b].next = self.atomics[b].written_word_high.val();
                self.fold[b].line.next = self.atomics[b].bank.line.val();
                // If a tap holds a write up, it may tell more than once, the last time as it is
                // accepted.
                self.written_q[b].d.next = self.atomics[b].bank.valid.val()
                    & self.atomics[b].bank.write.val()
                    & self.bank[b].request.ready.val();
                self.fold_q[b].d.next = self.fold[b].index.val().get_bits::<8>(0);
                self.written_line[b].valid.next = self.written_q[b].q.val();
                self.written_line[b].fold.next = self.fold_q[b].q.val();
            }
            self.written_high.next = self.responses.written_high.val();
            self.rings.area_log2.next = self.line_lock.area_log2.val();
            let mut refused_sum = self.refused_count.q.val();
            let mut expired_sum = self.expired_count.q.val();
            if self.bank[0].rings.is_there() {
                for b in 0..self._banks {
                    self.bank[b].rings.enable.next = self.line_lock.enable.val();
                    self.bank[b].rings.base.next = self.line_lock.base.val();
                    self.bank[b].rings.mask.next = self.rings.mask.val();
                    if self.bank[b].lock_refused.val() {
                        refused_sum = refused_sum + 1;
                    }
                    if self.bank[b].lock_expired.val() {
                        expired_sum = expired_sum + 1;
                    }
                }
            }
            self.refused_count.d.next = refused_sum;
            self.expired_count.d.next = expired_sum;
            self.line_lock.refused.next = self.refused_count.q.val();
            self.line_lock.expired.next = self.expired_count.q.val();
        }
        self.maintenance.l2_busy.next = any_busy;

        // Bank `c + k * channels` is bank `k` of channel `c`.
        let mut errors = bits::<4>(0);
        let mut read_events = bits::<32>(0);
        let mut write_events = bits::<32>(0);
        for c in 0..self._channels {
            if self.channel[c].bus_errors.val().get_bit(0) {
                errors = errors + 1;
            }
            if self.channel[c].bus_errors.val().get_bit(1) {
                errors = errors + 2;
            }
            if self.channel[c].line_read.val() {
                read_events = read_events + 1;
            }
            if self.channel[c].line_written.val() {
                write_events = write_events + 1;
            }
            for k in 0..self._channel_banks {
                connect!(self.bank[c + k * self._channels].fetch, self.channel[c].fetch[k]);
                connect!(self.bank[c + k * self._channels].fill, self.channel[c].fill[k]);
                connect!(self.bank[c + k * self._channels].write_back, self.channel[c].store[k]);
                connect!(self.bank[c + k * self._channels].done, self.channel[c].done[k]);
            }
            connect!(self.m_axi[c], self.channel[c].m_axi);
        }
        self.bus_errors.next = errors;
        self.read_count.d.next = self.read_count.q.val() + read_events;
        self.write_count.d.next = self.write_count.q.val() + write_events;
        self.maintenance.lines_read.next = self.read_count.q.val();
        self.maintenance.lines_written.next = self.write_count.q.val();
    }
}
