//! The system that the papers compare with: a CPU gathers a batch of packets, a GPU behind PCIe
//! processes it (Hermes, sections 2.4 and 4.2; its first paper, section 2.3).
//!
//! A discrete-event model of three stages: transfer to the GPU, kernel, transfer back. The kernel's
//! time is measured elsewhere; what the papers do not tell is a parameter.

/// How batches share the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipelining {
    /// A batch begins when the one before it has left: the overhead is the sum of its components,
    /// as the paper has it.
    Serial,
    /// A stage takes the next batch as soon as it is free; PCIe carries both directions at once.
    Overlapped,
}

/// What is around the kernel. Times are cycles of 1 ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct System {
    /// Bandwidth of PCIe in each direction, in GB/s, which is bytes a cycle: 8 in the first paper,
    /// 16 in the journal's.
    pub bandwidth: f64,
    /// Share of it that transfers reach, above 0 and at most 1.
    pub efficiency: f64,
    /// Time of a transfer besides its bytes.
    pub transfer_latency: f64,
    /// Time to launch a kernel.
    pub launch: f64,
    /// Time to notice its end.
    pub synchronization: f64,
    /// How batches share the stages.
    pub pipelining: Pipelining,
}

impl System {
    /// PCIe of the journal's paper, 16 GB/s, with an efficiency of 0.75, 1.5 us a transfer, 4 us a
    /// launch, 2 us to notice the end. The papers tell the bandwidth alone; the rest is assumed.
    pub const JOURNAL: Self = Self {
        bandwidth: 16.0,
        efficiency: 0.75,
        transfer_latency: 1_500.0,
        launch: 4_000.0,
        synchronization: 2_000.0,
        pipelining: Pipelining::Serial,
    };

    /// The same without anything around the kernel.
    pub const NONE: Self = Self {
        bandwidth: f64::INFINITY,
        efficiency: 1.0,
        transfer_latency: 0.0,
        launch: 0.0,
        synchronization: 0.0,
        pipelining: Pipelining::Serial,
    };

    fn transfer(&self, bytes: f64) -> f64 {
        self.transfer_latency + bytes / (self.efficiency * self.bandwidth)
    }
}

/// A batch of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch {
    /// Arrival of its last packet: it cannot begin before.
    pub ready: f64,
    /// Bytes that go to the GPU.
    pub bytes_in: f64,
    /// Bytes that come back.
    pub bytes_out: f64,
    /// Time of the kernel.
    pub kernel: f64,
}

/// When a batch left the stages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatchTimes {
    /// It is on the GPU.
    pub transferred: f64,
    /// Its kernel has ended.
    pub processed: f64,
    /// Its results are back.
    pub done: f64,
}

/// Runs batches in their order.
#[must_use]
pub fn run(system: &System, batches: &[Batch]) -> Vec<BatchTimes> {
    let mut before = BatchTimes::default();
    let mut all = Vec::with_capacity(batches.len());
    for batch in batches {
        let (link_free, gpu_free, back_free) = match system.pipelining {
            Pipelining::Serial => (before.done, before.done, before.done),
            Pipelining::Overlapped => (before.transferred, before.processed, before.done),
        };
        let transferred = batch.ready.max(link_free) + system.transfer(batch.bytes_in);
        let processed = transferred.max(gpu_free) + system.launch + batch.kernel;
        let done = processed.max(back_free) + system.synchronization + system.transfer(batch.bytes_out);
        before = BatchTimes { transferred, processed, done };
        all.push(before);
    }
    all
}

/// Delay and throughput of packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Delay of each packet, in the order of arrival: until the results of its batch are back.
    pub delays: Vec<f64>,
    /// From the first arrival until the last results are back.
    pub cycles: f64,
    /// Packets a cycle in the steady state: of all batches but the first, over the time between the
    /// first results and the last; of all over `cycles` if there is only one.
    pub throughput: f64,
}

/// Packets that arrive at `arrivals`, rising, in batches of `size`; the last may be smaller, and is
/// ready with its last packet. `bytes` are those of a packet to the GPU and back. `kernel` gives
/// the time for so many packets. `size` is above 0.
#[must_use]
pub fn process(
    system: &System,
    arrivals: &[f64],
    size: usize,
    bytes: (f64, f64),
    kernel: impl Fn(usize) -> f64,
) -> Outcome {
    let groups: Vec<_> = arrivals.chunks(size).collect();
    let batches: Vec<_> = groups
        .iter()
        .map(|group| Batch {
            ready: group.last().copied().unwrap_or(0.0),
            bytes_in: bytes.0 * group.len() as f64,
            bytes_out: bytes.1 * group.len() as f64,
            kernel: kernel(group.len()),
        })
        .collect();
    let times = run(system, &batches);
    let delays =
        groups.iter().zip(&times).flat_map(|(group, times)| group.iter().map(|arrival| times.done - arrival));
    let end = |times: Option<&BatchTimes>| times.map_or(0.0, |times| times.done);
    let cycles = end(times.last()) - arrivals.first().copied().unwrap_or(0.0);
    let throughput = match times.len() {
        0 | 1 => arrivals.len() as f64 / cycles,
        _ => (arrivals.len() - groups[0].len()) as f64 / (end(times.last()) - end(times.first())),
    };
    Outcome { delays: delays.collect(), cycles, throughput }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYSTEM: System = System {
        bandwidth: 2.0,
        efficiency: 0.5,
        transfer_latency: 10.0,
        launch: 5.0,
        synchronization: 3.0,
        pipelining: Pipelining::Serial,
    };

    fn batch(ready: f64) -> Batch {
        Batch { ready, bytes_in: 100.0, bytes_out: 20.0, kernel: 50.0 }
    }

    /// Transfers of 110 and 30 cycles, kernel of 55 with its launch, 3 to notice its end: 198.
    #[test]
    fn serial_by_hand() {
        let times = run(&SYSTEM, &[batch(0.0), batch(40.0), batch(1000.0)]);
        let first = BatchTimes { transferred: 110.0, processed: 165.0, done: 198.0 };
        assert_eq!(times[0], first);
        assert_eq!(times[1].done, 198.0 + 198.0, "it begins when the first has left");
        assert_eq!(times[2].done, 1198.0, "it begins when it is ready");
    }

    #[test]
    fn overlapped_by_hand() {
        let system = System { pipelining: Pipelining::Overlapped, ..SYSTEM };
        let times = run(&system, &[batch(0.0), batch(40.0), batch(40.0)]);
        // The link is the slowest stage: a batch every 110 cycles.
        assert_eq!(times.iter().map(|t| t.done).collect::<Vec<_>>(), [198.0, 308.0, 418.0]);
        // A long kernel is the slowest stage: one every 405 cycles.
        let long = Batch { kernel: 400.0, ..batch(0.0) };
        let times = run(&system, &[long; 3]);
        assert_eq!(times.iter().map(|t| t.processed).collect::<Vec<_>>(), [515.0, 920.0, 1325.0]);
    }

    /// Without overheads a batch takes what its kernel takes.
    #[test]
    fn without_overheads_it_is_the_kernel() {
        for pipelining in [Pipelining::Serial, Pipelining::Overlapped] {
            let system = System { pipelining, ..System::NONE };
            let times = run(&system, &[batch(0.0), batch(0.0)]);
            assert_eq!((times[0].done, times[1].done), (50.0, 100.0));
        }
    }

    #[test]
    fn packets_wait_for_their_batch() {
        let arrivals: Vec<f64> = (0..5).map(f64::from).collect();
        let outcome = process(&System::NONE, &arrivals, 2, (64.0, 64.0), |packets| 10.0 * packets as f64);
        // Ready at 1, 3 and 4; 20, 20 and 10 cycles, one after the other.
        assert_eq!(outcome.delays, [21.0, 20.0, 39.0, 38.0, 47.0]);
        assert_eq!(outcome.cycles, 51.0);
        assert_eq!(outcome.throughput, 3.0 / 30.0);
        let one = process(&System::NONE, &arrivals, 8, (64.0, 64.0), |_| 10.0);
        assert_eq!((one.cycles, one.throughput), (14.0, 5.0 / 14.0));
    }
}
