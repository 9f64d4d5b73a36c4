//! A warp with its packets on the reference simulator.

use hermes_rtl::config::{Config, EXIT_ADDRESS};

use super::device::ReferenceDevice;
use crate::cosim::{
    check_lengths, packet_result, slot_address, slot_image, ArraySetup, CosimError, Device as _, FaultRecord,
    Host, KernelImage, Layout, Packet, PacketResult,
};
use crate::iss::{
    Counters, Expected, Fault, Hart, Isa, LocalStack, Machine, Thread, Warp, WarpMemory, WarpStart,
    BOOT_ADDRESS, SCRATCHPAD_BASE,
};

/// What a warp executed in a step.
pub type Executed = Expected;

/// A warp of a run, in core 0 and warp slot 0, on the reference simulator.
pub struct Reference {
    host: Host<ReferenceDevice>,
    machine: Machine,
    setup: ArraySetup,
    layout: Layout,
    scratchpad: Vec<u8>,
    pub(super) warp: Warp,
    /// Warp-instructions of all warps so far: what the CSR `cycle` reads, for there is no time
    /// here.
    steps: u64,
    /// Instructions of each lane, those of the topmost 256 bytes not counted.
    counts: Vec<u64>,
    /// a0 and the depth of calls of each lane before the last step, which a fault overwrites.
    before: Vec<(u32, u8)>,
    /// Lanes that faulted, as they were in front of the instruction.
    stopped: Vec<Option<Hart>>,
    faults: Vec<FaultRecord>,
}

impl Reference {
    /// Takes over a host that [has configured](Host::configure) the device for `kernel`, with the
    /// windows that it has set. There is no warp yet.
    #[must_use]
    pub fn new(
        mut host: Host<ReferenceDevice>,
        config: &Config,
        kernel: &KernelImage,
        setup: &ArraySetup,
        layout: &Layout,
    ) -> Self {
        let isa = Isa::of(config, kernel.registers == 16);
        let lanes = config.lanes as u32;
        let machine = Machine {
            protection: host.device_mut().protection(),
            scratchpad: true,
            instret: true,
            network: config.network,
            ..layout.machine(isa, lanes, kernel, setup)
        };
        let start = WarpStart { core: 0, slot: 0, first_packet: 0, count: 0 };
        Self {
            host,
            scratchpad: Warp::scratchpads(&machine, 1).remove(0),
            machine,
            setup: setup.clone(),
            layout: *layout,
            warp: Warp::new(start),
            steps: 0,
            counts: Vec::new(),
            before: Vec::new(),
            stopped: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// What the threads run on.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The host, whose memory is that of the threads.
    pub fn host_mut(&mut self) -> &mut Host<ReferenceDevice> {
        &mut self.host
    }

    /// The threads of the warp, one a lane.
    #[must_use]
    pub fn threads(&self) -> &[Thread] {
        &self.warp.threads
    }

    /// Writes `packets`, of which `first` is the packetIdx of the first, to their slots, and forms
    /// a warp of them that stands in front of the kernel.
    ///
    /// # Errors
    /// A frame is too large for a slot.
    ///
    /// # Panics
    /// There are no packets, or more than lanes.
    pub fn form_warp(&mut self, first: u64, packets: &[Packet]) -> Result<(), CosimError> {
        assert!((1..=self.machine.lanes as usize).contains(&packets.len()), "a warp has 1 to all lanes");
        check_lengths(&self.setup, packets)?;
        let mut image = Vec::new();
        for (index, packet) in (first..).zip(packets) {
            image.clear();
            slot_image(packet, 0, &mut image);
            self.host.device_mut().write_memory(slot_address(&self.setup, &self.layout, index), &image)?;
        }
        let count = packets.len();
        let start = WarpStart { core: 0, slot: 0, first_packet: first as u32, count: count as u32 };
        self.warp = Warp::new(start);
        (self.counts, self.before, self.stopped) = (vec![0; count], vec![(0, 0); count], vec![None; count]);
        while self.warp.preferred().is_some_and(|(pc, _)| (BOOT_ADDRESS..EXIT_ADDRESS).contains(&pc)) {
            self.step();
        }
        Ok(())
    }

    /// Executes the next instruction of the preferred path; `None` when all lanes ended. Lanes that
    /// fault end.
    pub fn step(&mut self) -> Option<Executed> {
        let executed = self.step_among(u32::MAX)?;
        let retired = &executed.retired;
        if let Some((lane, fault)) = executed.faults.first() {
            self.faults.push(FaultRecord {
                cause: retired.cause,
                threads: executed.faults.len() as u8,
                ..self.record(*lane, retired.pc, *fault)
            });
        }
        for (lane, _) in &executed.faults {
            let mut hart = self.warp.threads[*lane].hart.clone();
            (hart.pc, hart.x[10]) = (retired.pc, self.before[*lane].0);
            self.stopped[*lane] = Some(hart);
        }
        Some(executed)
    }

    /// As [`Self::step`], with the lanes in `among` alone, and without records of faults.
    pub(super) fn step_among(&mut self, among: u32) -> Option<Executed> {
        for (before, thread) in self.before.iter_mut().zip(&self.warp.threads) {
            *before = (thread.hart.x[10], thread.depth);
        }
        let memory = WarpMemory {
            shared: self.host.device_mut().image_mut(),
            scratchpad: Some(&mut self.scratchpad),
            protection: &self.machine.protection,
        };
        let executed = self.warp.step_among(among, &self.machine, memory, self.steps)?;
        if executed.retired.pc < BOOT_ADDRESS {
            self.steps += 1;
            let active = executed.retired.active;
            let counts = self.counts.iter_mut().enumerate();
            counts.for_each(|(lane, count)| *count += u64::from(active >> lane & 1));
        }
        Some(executed)
    }

    /// Puts a lane that has just faulted at `pc` back in front of the instruction.
    pub(super) fn undo_fault(&mut self, lane: usize, pc: u32) {
        let thread = &mut self.warp.threads[lane];
        (thread.hart.x[10], thread.depth) = self.before[lane];
        thread.hart.pc = pc;
        self.counts[lane] -= u64::from(pc < BOOT_ADDRESS);
    }

    /// Ends a lane that stands in front of an instruction that faults.
    pub(super) fn end_lane(&mut self, lane: usize, fault: Fault) {
        let hart = self.warp.threads[lane].hart.clone();
        let pc = hart.pc;
        self.faults.push(self.record(lane, pc, fault));
        self.stopped[lane] = Some(hart);
        self.counts[lane] += u64::from(pc < BOOT_ADDRESS);
        self.warp.threads[lane].end_with(fault.cause);
    }

    fn record(&self, lane: usize, pc: u32, fault: Fault) -> FaultRecord {
        FaultRecord {
            cause: fault.cause as u8,
            core: 0,
            slot: 0,
            threads: 1,
            pc,
            address: fault.value,
            packet: self.warp.threads[lane].place.packet,
            job: None,
            function: None,
        }
    }

    /// What threads faulted of, of all warps.
    #[must_use]
    pub fn faults(&self) -> &[FaultRecord] {
        &self.faults
    }

    /// PC and registers of a lane; of one that faulted, as they were in front of the instruction.
    #[must_use]
    pub fn hart(&self, lane: usize) -> &Hart {
        self.stopped[lane].as_ref().unwrap_or(&self.warp.threads[lane].hart)
    }

    /// Whether a lane faulted.
    #[must_use]
    pub fn has_faulted(&self, lane: usize) -> bool {
        self.stopped[lane].is_some()
    }

    /// Instructions of a lane and of its warp, without the boot sequence.
    #[must_use]
    pub fn instructions(&self, lane: usize) -> (u64, u64) {
        (self.counts[lane], self.warp.instret)
    }

    /// The value of a CSR of a lane, if it has one with this number.
    #[must_use]
    pub fn csr(&self, lane: usize, number: u32) -> Option<u32> {
        let counters = Counters { cycle: self.steps, instret: self.warp.instret, leader: lane as u8 };
        self.warp.threads[lane].csr(&self.machine, counters, number)
    }

    /// What the packet of a lane left in memory.
    ///
    /// # Errors
    /// An egress list is outside the memory or cannot be read.
    pub fn result(&mut self, index: u64) -> Result<PacketResult, CosimError> {
        let image = self.host.device_mut().image();
        packet_result(|address, bytes| Ok(image.read(address, bytes)?), &self.setup, &self.layout, index)
    }

    /// The bytes of memory at `address` as a lane sees them, its stack and the scratchpad among it,
    /// whatever the windows say: as many from the first on as there are.
    #[must_use]
    pub fn read_memory(&mut self, lane: usize, address: u32, bytes: &mut [u8]) -> usize {
        let mut at = address;
        for (count, byte) in bytes.iter_mut().enumerate() {
            let Some(found) = self.byte(lane, at) else { return count };
            *byte = found.read(&mut self.host, &self.scratchpad);
            at = at.wrapping_add(1);
        }
        bytes.len()
    }

    /// Writes to memory as a lane sees it; `false`, and nothing is written, if not all of it is
    /// there.
    pub fn write_memory(&mut self, lane: usize, address: u32, bytes: &[u8]) -> bool {
        let places: Option<Vec<_>> =
            (0..bytes.len() as u32).map(|offset| self.byte(lane, address.wrapping_add(offset))).collect();
        let Some(places) = places else { return false };
        for (place, byte) in places.iter().zip(bytes) {
            place.write(&mut self.host, &mut self.scratchpad, *byte);
        }
        true
    }

    /// Where a byte is that a lane sees at `address`.
    fn byte(&mut self, lane: usize, address: u32) -> Option<Byte> {
        let inside = |at: u32, host: &mut Host<ReferenceDevice>| {
            host.device_mut().image().contains(at, 1).then_some(Byte::Shared(at))
        };
        if let Some(offset) = address.checked_sub(SCRATCHPAD_BASE) {
            return ((offset as usize) < self.scratchpad.len()).then_some(Byte::Scratchpad(offset as usize));
        }
        match self.machine.local_stack(&self.warp.threads[lane].place) {
            Some(stack) if LocalStack::REGION.contains(address) => {
                inside(stack.place(address)?, &mut self.host)
            }
            _ => inside(address, &mut self.host),
        }
    }
}

/// Where a byte is.
enum Byte {
    Shared(u32),
    Scratchpad(usize),
}

impl Byte {
    fn read(&self, host: &mut Host<ReferenceDevice>, scratchpad: &[u8]) -> u8 {
        let mut byte = [0];
        match self {
            Self::Shared(address) => host.device_mut().image().read(*address, &mut byte).unwrap_or_default(),
            Self::Scratchpad(offset) => byte[0] = scratchpad[*offset],
        }
        byte[0]
    }

    fn write(&self, host: &mut Host<ReferenceDevice>, scratchpad: &mut [u8], byte: u8) {
        match self {
            Self::Shared(address) => {
                host.device_mut().image_mut().write(*address, &[byte]).unwrap_or_default()
            }
            Self::Scratchpad(offset) => scratchpad[*offset] = byte,
        }
    }
}
