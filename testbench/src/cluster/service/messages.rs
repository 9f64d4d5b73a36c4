//! Messages and the threads that serve them.

use std::collections::{BTreeMap, VecDeque};

use super::frames::{before, behind, Come, Kind, Request, Sent};
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
    /// From this cycle on a thread can see it.
    ready: u64,
}

/// A message whose answer has not come.
struct Outstanding {
    /// Its last packet.
    last: u32,
    /// A further READ belongs to the same get.
    goes_on: bool,
}

/// A queue pair.
#[derive(Default)]
struct Pair {
    /// Frames in the order in which they were sent.
    held: VecDeque<Held>,
    /// Cycle in which the last one left.
    left: u64,
    /// The packet behind the last one that was sent.
    next: Option<u32>,
    /// Where the rest of a get would begin whose READ of eight whole packets was the last request.
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
pub struct Service {
    options: ServiceOptions,
    mtu: u32,
    /// Cycle from which each thread is free.
    free: Vec<u64>,
    pairs: BTreeMap<[u8; 4], Pair>,
    waiting: VecDeque<Waiting>,
    /// Cycles in which messages leave that have frames to come, by their number.
    leaves: BTreeMap<u64, u64>,
    frames: u64,
    messages: u64,
    /// Frames and answers that are held.
    holds: usize,
    /// Frames that left, with cycle and number.
    out: Vec<(u64, u64, Vec<u8>)>,
    counts: ServiceCounts,
}

impl Service {
    /// For a node whose packets have at most `mtu` bytes.
    pub fn new(options: ServiceOptions, mtu: u32) -> Self {
        let (pairs, leaves, waiting) = (BTreeMap::new(), BTreeMap::new(), VecDeque::new());
        let free = vec![0; options.threads as usize];
        let (frames, messages, holds, out, counts) = (0, 0, 0, Vec::new(), ServiceCounts::default());
        Self { options, mtu, free, pairs, waiting, leaves, frames, messages, holds, out, counts }
    }

    /// Packets of the node have at most so many bytes.
    pub fn set_mtu(&mut self, mtu: u32) {
        self.mtu = mtu;
    }

    /// What the threads did.
    pub fn counts(&self) -> ServiceCounts {
        self.counts
    }

    /// The node sent a frame, whose last beat was in cycle `sent`.
    pub fn send(&mut self, sent: u64, bytes: Vec<u8>) {
        let number = self.frames;
        self.frames += 1;
        let Sent::Request(request) = Sent::of(&bytes, self.mtu) else {
            return self.out.push((sent, number, bytes));
        };
        let pair = self.pairs.entry(request.peer).or_default();
        let message = match pair.place(request) {
            Place::Again => None,
            Place::Further => pair.current,
            Place::Message => {
                let message = self.messages;
                self.messages += 1;
                let ready = (sent + u64::from(self.options.delays.visible)).saturating_sub(OWN_PATH);
                self.waiting.push_back(Waiting { number: message, ready });
                pair.current = Some(message);
                pair.current
            }
        };
        pair.held.push_back(Held { number, sent, message, bytes });
        self.holds += 1;
    }

    /// A frame comes to the node in cycle `now`; given back if the node is to have it at once.
    pub fn receive(&mut self, now: u64, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let Come::Answer { peer, completes } = Come::of(&bytes) else { return Some(bytes) };
        let pair = self.pairs.entry(peer).or_default();
        let delay = match completes.is_some_and(|last| pair.complete(last)) {
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

    /// Ends cycle `now`: gives what leaves, with the cycle in which it does, and adds to `come`
    /// what the node is given.
    pub fn cycle(&mut self, now: u64, come: &mut Vec<Vec<u8>>) -> Vec<(u64, Vec<u8>)> {
        if self.holds == 0 && self.out.is_empty() {
            return Vec::new();
        }
        self.serve(now);
        for pair in self.pairs.values_mut() {
            while let Some(front) = pair.held.front() {
                let leave = match front.message {
                    Some(message) => match self.leaves.get(&message) {
                        Some(leave) => *leave,
                        None => break,
                    },
                    None => 0,
                };
                let leave = leave.max(front.sent).max(pair.left);
                if leave > now {
                    break;
                }
                let Some(Held { number, bytes, .. }) = pair.held.pop_front() else { break };
                pair.left = leave;
                self.holds -= 1;
                self.out.push((leave, number, bytes));
            }
            while pair.answers.front().is_some_and(|(due, _)| *due <= now) {
                come.extend(pair.answers.pop_front().map(|(_, bytes)| bytes));
                self.holds -= 1;
            }
        }
        if self.out.is_empty() {
            return Vec::new();
        }
        // A message whose packets all left is not asked for any more.
        let current: Vec<_> = self.pairs.values().filter_map(|pair| pair.current).collect();
        let held: Vec<_> =
            self.pairs.values().flat_map(|pair| &pair.held).filter_map(|held| held.message).collect();
        self.leaves.retain(|message, _| current.contains(message) || held.contains(message));
        self.out.sort_unstable_by_key(|(leave, number, _)| (*leave, *number));
        self.out.drain(..).map(|(leave, _, bytes)| (leave, bytes)).collect()
    }

    /// Threads take messages, up to cycle `now`.
    fn serve(&mut self, now: u64) {
        let ServiceOptions { delays, threads, queues } = self.options;
        while let Some(&Waiting { number, ready }) = self.waiting.front() {
            let Some(thread) = self.free.iter_mut().min() else { return };
            let begin = ready.max(*thread);
            if begin > now {
                return;
            }
            let others = self.waiting.iter().skip(1).any(|other| other.ready <= begin);
            let own = u64::from(queues.div_ceil(threads));
            let look = match others {
                true => u64::from(delays.poll),
                false => u64::from(delays.poll) * (own + 1) / 2,
            };
            let end = begin + look + u64::from(delays.service);
            *thread = end;
            let leave = end + u64::from(delays.doorbell);
            self.leaves.insert(number, leave);
            self.waiting.pop_front();
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
    /// A message begins.
    Message,
}

impl Pair {
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
        let ends = |pair: &mut VecDeque<Outstanding>| pair.push_back(Outstanding { last, goes_on: false });
        match kind {
            Kind::Put { whole, long, short } => {
                if whole {
                    ends(&mut self.outstanding);
                }
                if short && self.puts > 0 {
                    self.puts -= 1;
                    return Place::Further;
                }
                self.puts += u32::from(long);
                Place::Message
            }
            Kind::Atomic => {
                ends(&mut self.outstanding);
                if self.puts > 0 {
                    self.puts -= 1;
                    return Place::Further;
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

    /// An answer says that packets up to `last` are done. Whether a message is complete by that.
    fn complete(&mut self, last: u32) -> bool {
        let mut completes = false;
        while self.outstanding.front().is_some_and(|message| !before(last, message.last)) {
            completes |= self.outstanding.pop_front().is_some_and(|message| !message.goes_on);
        }
        completes
    }
}
