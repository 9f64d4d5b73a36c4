//! A run of packets through any [`Device`], by its registers and its memory alone.
//!
//! A batch is as many packets as the ring has slots. The host writes them, pushes them with one
//! write, waits until COMMITTED_PACKETS has counted them all, cleans and invalidates the caches,
//! and reads what they left; then comes the next batch. What takes time is the way to the board,
//! and neither the array nor the host can use it twice at a time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::cosim::{
    check_lengths, packet_result, slot_address, slot_image, ArraySetup, CosimError, Device, FaultRecord,
    Host, Layout, Packet, PacketResult, ReadOut,
};
use crate::slot::FRAME_OFFSET;

/// Bytes between two parts of the memory that are rather read or written than left out: a request
/// costs more.
const GAP: u32 = 128;
/// Cycles between two looks at COMMITTED_PACKETS.
const POLL_CYCLES: u64 = 256;

/// How a run is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionOptions {
    /// How long packets may be in flight without a commit.
    pub stall_limit: Duration,
}

impl Default for SessionOptions {
    /// Ten seconds.
    fn default() -> Self {
        Self { stall_limit: Duration::from_secs(10) }
    }
}

/// What a run gave.
#[derive(Clone, Debug, Default)]
pub struct SessionResult {
    /// Every packet, in the order in which they were pushed, which is that of their commits.
    pub packets: Vec<PacketResult>,
    /// What the registers counted.
    pub read_out: ReadOut,
    /// The records of the fault FIFO.
    pub faults: Vec<FaultRecord>,
    /// Records that the fault FIFO could not hold, modulo 2^16.
    pub lost_faults: u32,
    /// Wall-clock time of the run.
    pub elapsed: Duration,
}

/// Runs `packets` through an array whose kernel is loaded and which [`Host::configure`] has set up
/// since the last reset. `progress` is told how many packets are done. [`Packet::arrival`] has no
/// meaning: packets go as fast as they can.
///
/// # Errors
/// A frame is too large for a slot, the device fails, nothing is committed for
/// [`SessionOptions::stall_limit`], or COMMITTED_PACKETS does not count what was pushed.
pub fn run<D: Device>(
    host: &mut Host<D>,
    setup: &ArraySetup,
    layout: &Layout,
    packets: &[Packet],
    options: &SessionOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<SessionResult, CosimError> {
    let began = Instant::now();
    check_lengths(setup, packets)?;
    let mut run = Run { host, setup, layout, options, pushed: 0, result: SessionResult::default() };
    run.expect_committed("before the first packet: packetIdx counts from the reset on")?;
    run.host.start(setup.eager)?;
    for batch in packets.chunks(1 << setup.ring_slots_log2) {
        run.write(batch)?;
        run.push(batch.len() as u64)?;
        run.wait(batch.len() as u32)?;
        run.host.clean_and_invalidate_caches()?;
        run.read(batch, progress)?;
        let (faults, lost) = run.host.take_faults()?;
        run.result.faults.extend(faults);
        run.result.lost_faults = lost;
    }
    run.expect_committed("what was pushed")?;
    let read_out = run.host.read_out()?;
    Ok(SessionResult { read_out, elapsed: began.elapsed(), ..run.result })
}

struct Run<'a, D> {
    host: &'a mut Host<D>,
    setup: &'a ArraySetup,
    layout: &'a Layout,
    options: &'a SessionOptions,
    /// Packets that the array was told of.
    pushed: u64,
    result: SessionResult,
}

impl<D: Device> Run<'_, D> {
    /// Writes the next packets to their slots: what is close together in one piece.
    fn write(&mut self, batch: &[Packet]) -> Result<(), CosimError> {
        let arrival = self.host.read("CYCLE_LOW")?;
        let (mut start, mut image) = (slot_address(self.setup, self.layout, self.pushed), Vec::new());
        for (packet, index) in batch.iter().zip(self.pushed..) {
            let address = slot_address(self.setup, self.layout, index);
            if address - start > image.len() as u32 + GAP {
                self.host.device_mut().write_memory(start, &image)?;
                image.clear();
                start = address;
            }
            image.resize((address - start) as usize, 0);
            slot_image(packet, arrival, &mut image);
        }
        self.host.device_mut().write_memory(start, &image)
    }

    /// Tells the array of the packets that were written.
    fn push(&mut self, count: u64) -> Result<(), CosimError> {
        let began = Instant::now();
        while !self.host.try_push_tasks(count as u32)? {
            self.give_up_after(began)?;
            self.host.device_mut().run(POLL_CYCLES)?;
        }
        self.pushed += count;
        Ok(())
    }

    /// Waits until all packets that were pushed are committed; `in_flight` of them may not be yet.
    fn wait(&mut self, mut in_flight: u32) -> Result<(), CosimError> {
        let mut moved = Instant::now();
        loop {
            let committed = self.host.committed()?;
            let left = (self.pushed as u32).wrapping_sub(committed);
            if left > in_flight {
                let expected = format!("at most {} and no less than before", self.pushed);
                return Err(CosimError::Committed { found: committed, expected, state: self.state() });
            }
            if left == 0 {
                return Ok(());
            }
            if left < in_flight {
                (in_flight, moved) = (left, Instant::now());
            }
            self.give_up_after(moved)?;
            self.host.device_mut().run(POLL_CYCLES)?;
        }
    }

    /// Reads what the packets of the batch left.
    fn read(&mut self, batch: &[Packet], progress: &mut dyn FnMut(u64)) -> Result<(), CosimError> {
        let Self { setup, layout, .. } = *self;
        let first = self.pushed - batch.len() as u64;
        let mut memory = Fetched::default();
        // A batch begins with the first slot.
        memory.fetch(self.host.device_mut(), [(layout.verdict_base, 4 * batch.len() as u32)])?;
        // A kernel may make a frame longer: the rest is read then.
        let part = |(packet, index): (&Packet, u64)| {
            (slot_address(setup, layout, index), (FRAME_OFFSET + packet.frame.len()) as u32)
        };
        memory.fetch(self.host.device_mut(), batch.iter().zip(first..).map(part))?;
        for index in first..self.pushed {
            let device = self.host.device_mut();
            let result =
                packet_result(|address, bytes| memory.read(device, address, bytes), setup, layout, index)?;
            self.result.packets.push(result);
            progress(index + 1);
        }
        Ok(())
    }

    /// COMMITTED_PACKETS must be what was pushed.
    fn expect_committed(&mut self, expected: &str) -> Result<(), CosimError> {
        let found = self.host.committed()?;
        if found == self.pushed as u32 {
            return Ok(());
        }
        let expected = format!("{}, {expected}", self.pushed);
        Err(CosimError::Committed { found, expected, state: self.state() })
    }

    fn give_up_after(&mut self, began: Instant) -> Result<(), CosimError> {
        let quiet = began.elapsed();
        if quiet <= self.options.stall_limit {
            return Ok(());
        }
        Err(CosimError::Stalled { seconds: quiet.as_secs_f64(), state: self.state() })
    }

    /// What is pending, in a few words.
    fn state(&mut self) -> String {
        let committed = match self.host.committed() {
            Ok(committed) => committed.to_string(),
            Err(error) => format!("an unknown number ({error})"),
        };
        let state = format!("packets: {} pushed, {committed} committed", self.pushed);
        state + &self.host.describe()
    }
}

/// Parts of the memory that were read.
#[derive(Debug, Default)]
struct Fetched {
    /// The bytes of each part, by their first address.
    parts: BTreeMap<u32, Vec<u8>>,
}

impl Fetched {
    /// Reads parts, each an address and a length, what is close together in one piece.
    fn fetch<D: Device>(
        &mut self,
        device: &mut D,
        parts: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<(), CosimError> {
        let mut parts = parts.into_iter().peekable();
        while let Some((start, length)) = parts.next() {
            let mut end = start + length;
            while let Some((address, length)) = parts.next_if(|(next, _)| (end..=end + GAP).contains(next)) {
                end = address + length;
            }
            let mut bytes = vec![0; (end - start) as usize];
            device.read_memory(start, &mut bytes)?;
            self.parts.insert(start, bytes);
        }
        Ok(())
    }

    /// Reads bytes from the parts, or from the device if they are not there.
    fn read<D: Device>(&self, device: &mut D, address: u32, bytes: &mut [u8]) -> Result<(), CosimError> {
        let part = self.parts.range(..=address).next_back().and_then(|(&start, part)| {
            let offset = (address - start) as usize;
            part.get(offset..offset + bytes.len())
        });
        match part {
            Some(part) => {
                bytes.copy_from_slice(part);
                Ok(())
            }
            None => device.read_memory(address, bytes),
        }
    }
}
