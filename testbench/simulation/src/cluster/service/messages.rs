//! Messages and the threads that serve them.

use std::collections::{BTreeMap, VecDeque};

use super::frames::{before, behind, Come, Kind, Request, Says, Sent, READ_PACKETS};
use super::{ServiceCounts, ServiceOptions, OWN_PATH};

/// A frame that is held on its way out.
struct Held {
    /// Order in which the node sent its frames.
    number: u64,
    /// Cycle of its last beat.
    sent: u64,
    /// The message that it belongs to; none if nobody serves it.
    message: Option<u64>,
    bytes: Vec<u8>,
}

/// A message that no thread has taken.
struct Waiting {
    number: u64,
    /// Its queue pair.
    peer: [u8; 4],
    /// From this cycle on a thread can see it, [`OWN_PATH`] cycles added.
    ready: u64,
}

/// A message whose answer has not come.
struct Outstanding {
    /// Its last packet.
    last: u32,
    /// It is a READ or an atomic operation, which an answer of its own completes and no other.
    answered: bool,
    /// A further READ belongs to the same get.
    goes_on: bool,
}

/// A queue pair.
#[derive(Default)]
struct Pair {
    /// Frames in the order in which they were sent.
    held: VecDeque<Held>,
    /// Messages that were served, and the cycles in which they leave: none before the one of the
    /// first frame that is held, or of the last that was.
    served: VecDeque<(u64, u64)>,
    /// Cycle in which the last one left.
    left: u64,
    /// The packet behind the last one that was sent.
    next: Option<u32>,
    /// Where the rest of a get would begin whose READ, of as many whole packets as one may have,
    /// was the last request.
    rest: Option<u64>,
    /// Long puts without a signal.
    puts: u32,
    /// The message whose packets come.
    current: Option<u64>,
    outstanding: VecDeque<Outstanding>,
    /// Answers, and the cycle in which the node is given them.
    answers: VecDeque<(u64, Vec<u8>)>,
}

/// Those who serve the commands of a node.
///
/// A message can be seen `visible` cycles behind the store that published it. A thread that is free
/// takes the oldest, looks for it (at one queue if others wait too, else at half of its queues),
/// serves it, and rings: then the frames of the message leave, in the order of the queue pair, and
/// never before the node sent them. What completes a message is held for `completion` cycles, and
/// answers of a queue pair stay in order. Frames that the network interface sends again, parts of a
/// long get behind the first, and one 8-byte WRITE or atomic operation behind each put of more than
/// 16 bytes (its signal) are no messages. What the node answers to others passes, as what others
/// ask of it.
///
/// Frames that were held wait here until the line has room for them, and take turns: a frame of
/// each queue pair, then one that the node sends.
pub struct Service {
    options: ServiceOptions,
    mtu: u32,
    /// Most packets of a READ.
    read_packets: u32,
    /// Cycle from which each thread is free, [`OWN_PATH`] cycles added.
    free: Vec<u64>,
    pairs: BTreeMap<[u8; 4], Pair>,
    waiting: VecDeque<Waiting>,
    frames: u64,
    messages: u64,
    /// Frames and answers that are held.
    holds: usize,
    /// Frames of the node that nobody serves, with cycle and number.
    out: Vec<(u64, u64, Vec<u8>)>,
    /// Frames that the node had sent before this cycle.
    known: u64,
    /// The queue pair whose turn was last.
    turn: Option<[u8; 4]>,
    /// A frame that was held went on the line, and none came from the node since.
    released: bool,
    counts: ServiceCounts,
}

impl Service {
    /// For a node whose packets have at most `mtu` bytes.
    pub fn new(options: ServiceOptions, mtu: u32) -> Self {
        Self {
            options,
            mtu,
            read_packets: READ_PACKETS,
            free: vec![0; options.threads as usize],
            pairs: BTreeMap::new(),
            waiting: VecDeque::new(),
            frames: 0,
            messages: 0,
            holds: 0,
            out: Vec::new(),
            known: 0,
            turn: None,
            released: false,
            counts: ServiceCounts::default(),
        }
    }

    /// Packets of the node have at most `mtu` bytes, and `window` of a queue pair are under way
    /// (NET_WINDOW), of which a READ asks for a quarter: 1, 2, 4 or 8.
    pub fn set_packets(&mut self, mtu: u32, window: u32) {
        self.mtu = mtu;
        self.read_packets = 1 << (window.max(4).ilog2() - 2).min(READ_PACKETS.ilog2());
    }

    /// What the threads did.
    pub fn counts(&self) -> ServiceCounts {
        self.counts
    }

    /// The node sent a frame, whose last beat was in cycle `sent`.
    pub fn send(&mut self, sent: u64, bytes: Vec<u8>) {
        let number = self.frames;
        self.frames += 1;
        self.released = false;
        let Sent::Request(request) = Sent::of(&bytes, self.mtu, self.read_packets) else {
            return self.out.push((sent, number, bytes));
        };
        let peer = request.peer;
        let pair = self.pairs.entry(peer).or_default();
        let message = match pair.place(request) {
            Place::Again => None,
            Place::Further => pair.current,
            Place::Signal => {
                self.counts.signals += 1;
                pair.current
            }
            Place::Message => {
                let number = self.messages;
                self.messages += 1;
                let ready = sent + u64::from(self.options.delays.visible);
                self.waiting.push_back(Waiting { number, peer, ready });
                pair.current = Some(number);
                pair.current
            }
        };
        pair.held.push_back(Held { number, sent, message, bytes });
        self.holds += 1;
    }

    /// A frame comes to the node in cycle `now`; given back if the node is to have it at once.
    pub fn receive(&mut self, now: u64, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let Come::Answer { peer, sequence, says } = Come::of(&bytes) else { return Some(bytes) };
        let pair = self.pairs.entry(peer).or_default();
        let delay = match pair.complete(sequence, says) {
            true => u64::from(self.options.delays.completion),
            false => 0,
        };
        let due = pair.answers.back().map_or(0, |(due, _)| *due).max(now + delay);
        if due <= now && pair.answers.is_empty() {
            return Some(bytes);
        }
        pair.answers.push_back((due, bytes));
        self.holds += 1;
        None
    }

    /// Ends cycle `now`: gives the frames of this cycle that are not held, with the cycle in which
    /// each was sent, and adds to `come` what the node is given. [`Self::release`] has the others.
    pub fn cycle(&mut self, now: u64, come: &mut Vec<Vec<u8>>) -> Vec<(u64, Vec<u8>)> {
        if self.holds == 0 && self.out.is_empty() {
            return Vec::new();
        }
        self.serve(now);
        for pair in self.pairs.values_mut() {
            while let Some(front) = pair.held.front() {
                let (number, sent) = (front.number, front.sent);
                if number < self.known || pair.leave().is_none_or(|leave| leave > sent) {
                    break;
                }
                let Some(Held { bytes, .. }) = pair.held.pop_front() else { break };
                pair.left = sent;
                self.holds -= 1;
                self.out.push((sent, number, bytes));
            }
            while pair.answers.front().is_some_and(|(due, _)| *due <= now) {
                come.extend(pair.answers.pop_front().map(|(_, bytes)| bytes));
                self.holds -= 1;
            }
        }
        self.known = self.frames;
        if self.out.is_empty() {
            return Vec::new();
        }
        self.out.sort_unstable_by_key(|(_, number, _)| *number);
        self.out.drain(..).map(|(sent, _, bytes)| (sent, bytes)).collect()
    }

    /// The next of the frames that were held and may leave in cycle `now`, for a line that has room
    /// for it. `node_waits`: the node has a frame for the line, and its turn comes behind each of
    /// these.
    pub fn release(&mut self, now: u64, node_waits: bool) -> Option<Vec<u8>> {
        if self.holds == 0 || (node_waits && self.released) {
            return None;
        }
        let (mut first, mut next) = (None, None);
        for (peer, pair) in &mut self.pairs {
            if pair.leave().is_some_and(|leave| leave <= now) {
                first = first.or(Some(*peer));
                if Some(*peer) > self.turn {
                    next = Some(*peer);
                    break;
                }
            }
        }
        let next = next.or(first)?;
        let pair = self.pairs.get_mut(&next)?;
        let Held { bytes, .. } = pair.held.pop_front()?;
        pair.left = now;
        self.holds -= 1;
        (self.turn, self.released) = (Some(next), true);
        Some(bytes)
    }

    /// Threads take messages, up to cycle `now`. Their times have [`OWN_PATH`] cycles added, which
    /// a message may have been seen before its frame came here; so a thread that sees messages
    /// before that takes one when all that it saw are known.
    fn serve(&mut self, now: u64) {
        let ServiceOptions { delays, threads, queues } = self.options;
        let seen = now + OWN_PATH.min(delays.visible.into());
        while let Some(&Waiting { number, peer, ready }) = self.waiting.front() {
            let Some(thread) = self.free.iter_mut().min() else { return };
            let begin = ready.max(*thread);
            if begin > seen {
                return;
            }
            // They are in the order in which they can be seen.
            let others = self.waiting.get(1).is_some_and(|other| other.ready <= begin);
            let own = u64::from(queues.div_ceil(threads));
            let look = match others {
                true => u64::from(delays.poll),
                false => u64::from(delays.poll) * (own + 1) / 2,
            };
            let end = begin + look + u64::from(delays.service);
            *thread = end;
            let leave = end + u64::from(delays.doorbell);
            self.waiting.pop_front();
            let pair = self.pairs.entry(peer).or_default();
            pair.served.push_back((number, leave.saturating_sub(OWN_PATH)));
            self.counts.messages += 1;
            self.counts.busy_cycles += end - begin;
            self.counts.waiting_cycles += leave - ready;
        }
    }
}

/// What a request is to the threads.
enum Place {
    /// The network interface sends it again.
    Again,
    /// It belongs to the message before it.
    Further,
    /// It is taken for the signal of a put before it.
    Signal,
    /// A message begins.
    Message,
}

impl Pair {
    /// The cycle in which the first frame that is held may leave, once its message was served.
    fn leave(&mut self) -> Option<u64> {
        let front = self.held.front()?;
        let leave = match front.message {
            Some(message) => {
                while self.served.front().is_some_and(|(served, _)| *served < message) {
                    self.served.pop_front();
                }
                self.served.front().filter(|(served, _)| *served == message)?.1
            }
            None => 0,
        };
        Some(leave.max(front.sent).max(self.left))
    }

    /// Takes note of a request that is sent.
    fn place(&mut self, request: Request) -> Place {
        let Request { sequence, kind, .. } = request;
        if self.next.is_some_and(|next| before(sequence, next)) {
            return Place::Again;
        }
        let packets = match kind {
            Kind::Read { packets, .. } => packets,
            _ => 1,
        };
        self.next = Some(behind(sequence, packets));
        let rest = self.rest.take();
        let last = behind(sequence, packets - 1);
        let answered = matches!(kind, Kind::Read { .. } | Kind::Atomic);
        let ends =
            |pair: &mut VecDeque<Outstanding>| pair.push_back(Outstanding { last, answered, goes_on: false });
        match kind {
            Kind::Put { whole, long, short } => {
                if whole {
                    ends(&mut self.outstanding);
                }
                if short && self.puts > 0 {
                    self.puts -= 1;
                    return Place::Signal;
                }
                self.puts += u32::from(long);
                Place::Message
            }
            Kind::Atomic => {
                ends(&mut self.outstanding);
                if self.puts > 0 {
                    self.puts -= 1;
                    return Place::Signal;
                }
                Place::Message
            }
            Kind::Further { last } => {
                if last {
                    ends(&mut self.outstanding);
                }
                Place::Further
            }
            Kind::Read { address, rest: next, .. } => {
                let goes_on = rest == Some(address);
                if goes_on {
                    self.outstanding.iter_mut().last().into_iter().for_each(|before| before.goes_on = true);
                }
                ends(&mut self.outstanding);
                self.rest = next;
                match goes_on {
                    true => Place::Further,
                    false => Place::Message,
                }
            }
        }
    }

    /// An answer says something of packet `sequence`. Whether a message is complete by that: an
    /// ACK, or what tells that the packets before were taken, completes puts up to the next READ or
    /// atomic operation, which have answers of their own; a refusal ends all.
    fn complete(&mut self, sequence: u32, says: Says) -> bool {
        let target = match says {
            Says::Nothing => return false,
            Says::Taken => behind(sequence, 1),
            Says::Before | Says::Ends | Says::Refuses => sequence,
        };
        let is_due = |message: &Outstanding| match says {
            Says::Refuses => true,
            Says::Ends if message.answered => message.last == sequence,
            _ => !message.answered && before(message.last, target),
        };
        let mut completes = false;
        while self.outstanding.front().is_some_and(is_due) {
            completes |= self.outstanding.pop_front().is_some_and(|message| !message.goes_on);
        }
        completes
    }
}
