//! The host library: memory, kernels, set-up, tasks, results. Works on every [`Device`].

use std::collections::BTreeMap;

use hermes_rtl::host::registers::core_counters::{CoreCounterValues, L2CounterValues};
use hermes_rtl::host::registers::load_counters::LoadCounterValues;
use hermes_rtl::host::registers::{offset, RegisterSpec, ID, REGISTERS};

use super::adaptive::AdaptiveTimeout;
use super::allocator::Allocator;
use super::counters::{CoreCounters, LoadCounters, LostCycles, ReadOut};
use super::device::Device;
use super::error::CosimError;
use super::fault_record::{fault_registers, FaultRecord};
use super::firmware_link::FirmwareLink;
use super::link::FIRMWARE_FAULTS;
use super::room::{STACKS, VERDICTS};
use super::setup::{ArrayInfo, ArraySetup, KernelImage, Layout};
use crate::apps::{App, Placement};
use crate::egress::EgressLists;
use crate::firmware::{Firmware, FirmwareEnd};
use crate::iss::LINE;

/// Tries of a push while the task FIFO is full, and cycles between two of them.
const PUSH_TRIES: u32 = 5_000;
const PUSH_PAUSE: u64 = 16;
/// Cycles that [`Host::wait_until`] waits at most, and those between two reads.
const WAIT_CYCLES: u64 = 100_000;
const WAIT_PAUSE: u64 = 32;
/// INVALIDATE: drop the instruction caches' lines.
const INVALIDATE_INSTRUCTIONS: u32 = 1;
/// INVALIDATE: drop the L1 data caches' lines.
pub(super) const INVALIDATE_DATA: u32 = 2;
/// L2_MAINTENANCE, written: write all dirty lines back, and drop all lines.
pub(super) const L2_CLEAN_INVALIDATE: u32 = 2;
/// L2_MAINTENANCE, read: maintenance is under way.
pub(super) const L2_BUSY: u32 = 1;

/// Registers that tell what an array that does not go on waits for.
const STATE_REGISTERS: [&str; 9] = [
    "CONTROL",
    "TASK_LEVEL",
    "TASK_ROOM",
    "PENDING",
    "ISSUED_WARPS",
    "COMMITTED_WARPS",
    "FAULTS",
    "BUS_ERRORS",
    "L2_MAINTENANCE",
];

/// The host of an array.
pub struct Host<D> {
    pub(super) device: D,
    pub(super) allocator: Allocator,
    /// What was allocated: first address, name and bytes.
    pub(super) areas: BTreeMap<u64, (String, u64)>,
    info: ArrayInfo,
    /// The CONFIG register, and the QOS register or 0.
    config: u32,
    qos: u32,
    /// The NF_CONFIG register, or 0.
    functions: u32,
    kernel_registers: u32,
    /// The address behind the kernel.
    pub(super) kernel_end: u64,
    /// First address of the firmware, if there is one.
    firmware_at: Option<u32>,
    /// What goes between the host and the firmware that runs.
    firmware: Option<FirmwareLink>,
}

impl<D: Device> Host<D> {
    /// Takes charge of an array that has just been reset. Addresses 0 to 63 of its memory are never
    /// given out, so that 0 is no valid address.
    ///
    /// # Errors
    /// The registers do not answer or do not look like those of a Hermes array.
    pub fn new(mut device: D) -> Result<Self, CosimError> {
        let found = device.read_register(offset("ID"))?;
        if found != ID {
            return Err(CosimError::Identification { found, expected: ID });
        }
        let config = device.read_register(offset("CONFIG"))?;
        let qos = if config >> 30 & 1 == 1 { device.read_register(offset("QOS"))? } else { 0 };
        let functions = if config >> 31 == 1 { device.read_register(offset("NF_CONFIG"))? } else { 0 };
        let info = ArrayInfo {
            lanes: config & 0xff,
            cores: config >> 8 & 0xff,
            warps: config >> 16 & 0xff,
            local_window: config >> 29 & 1 == 1,
            spawner: config >> 26 & 1 == 1,
            load_counters: qos & 1 == 1,
            functions: functions & 15,
            function_branches: functions >> 8 & 1 == 1,
        };
        let allocator = Allocator::new(LINE as u64, device.memory_size());
        Ok(Self {
            device,
            allocator,
            areas: BTreeMap::new(),
            info,
            config,
            qos,
            functions,
            kernel_registers: 32,
            kernel_end: 0,
            firmware_at: None,
            firmware: None,
        })
    }

    /// Sizes of the array.
    #[must_use]
    pub fn info(&self) -> ArrayInfo {
        self.info
    }

    /// The array.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// The array, without its host.
    #[must_use]
    pub fn into_device(self) -> D {
        self.device
    }

    /// Allocates whole lines of the shared memory, which host and array both use in place. `what`
    /// is for the error.
    ///
    /// # Errors
    /// [`CosimError::OutOfMemory`].
    pub fn rmalloc(&mut self, what: &str, bytes: usize) -> Result<u32, CosimError> {
        self.rmalloc_aligned(what, bytes, LINE as u32)
    }

    /// As [`Host::rmalloc`], behind the kernel if there is room, so that windows can leave out what
    /// lies below; at a multiple of `alignment`, a power of two.
    ///
    /// # Errors
    /// [`CosimError::OutOfMemory`].
    pub fn rmalloc_aligned(&mut self, what: &str, bytes: usize, alignment: u32) -> Result<u32, CosimError> {
        let alignment = u64::from(alignment).max(LINE as u64);
        let bytes = bytes.next_multiple_of(LINE).max(LINE) as u64;
        let address = self.allocator.allocate_behind(self.kernel_end, what, bytes, alignment)?;
        self.areas.insert(address.into(), (what.to_string(), bytes));
        Ok(address)
    }

    /// Frees what [`Host::rmalloc`] gave.
    ///
    /// # Errors
    /// [`CosimError::NotAllocated`].
    pub fn rfree(&mut self, address: u32) -> Result<(), CosimError> {
        self.areas.remove(&address.into());
        self.allocator.free(address)
    }

    /// Writes a kernel to its addresses and makes it the one that threads start with. Load it
    /// before the rest is allocated, since its addresses are fixed.
    ///
    /// # Errors
    /// A segment is outside the memory or lies on something else; the number of registers is not 16
    /// or 32.
    pub fn load_kernel(&mut self, kernel: &KernelImage) -> Result<(), CosimError> {
        option("registers", kernel.registers, matches!(kernel.registers, 16 | 32), "16 or 32")?;
        for (address, bytes) in kernel.segments.iter().filter(|(_, bytes)| !bytes.is_empty()) {
            self.allocator.reserve("the kernel's segment", u64::from(*address), bytes.len() as u64)?;
            self.device.write_memory(*address, bytes)?;
        }
        self.kernel_registers = kernel.registers;
        let ends = kernel.segments.iter().map(|(address, bytes)| u64::from(*address) + bytes.len() as u64);
        self.kernel_end = ends.max().unwrap_or(0);
        self.write("KERNEL_ENTRY", kernel.entry)?;
        self.write("KERNEL_CLASS", u32::from(kernel.registers == 16))?;
        self.write("INVALIDATE", INVALIDATE_INSTRUCTIONS | INVALIDATE_DATA)
    }

    /// Takes the addresses of `firmware`, and gives up those of the firmware that was there before,
    /// which must not run any more ([`Host::stop_firmware`]). Do so before the rest is allocated,
    /// since its addresses are fixed.
    ///
    /// # Errors
    /// It is outside the memory or lies on something else.
    pub fn reserve_firmware(&mut self, firmware: &Firmware) -> Result<(), CosimError> {
        if let Some(address) = self.firmware_at.take() {
            self.allocator.free(address)?;
        }
        let (first, end) = firmware.extent();
        if first < end {
            self.allocator.reserve("the firmware", first.into(), u64::from(end - first))?;
            self.firmware_at = Some(first);
        }
        Ok(())
    }

    /// Loads `firmware`, whose addresses are reserved, and starts all harts with it. While packets
    /// run, the host attends to it.
    ///
    /// # Errors
    /// As [`FirmwareLink::load`].
    pub fn start_firmware(&mut self, firmware: &Firmware) -> Result<(), CosimError> {
        self.start_firmware_with(firmware, &[])
    }

    /// As [`Self::start_firmware`], with words that are stored behind the firmware's own: addresses
    /// and values.
    ///
    /// # Errors
    /// As [`FirmwareLink::load`].
    pub fn start_firmware_with(
        &mut self,
        firmware: &Firmware,
        words: &[(u32, u32)],
    ) -> Result<(), CosimError> {
        let link = FirmwareLink::load_with(self, firmware, words)?;
        self.firmware = Some(link);
        Ok(())
    }

    /// As [`Self::start_firmware_with`], but all harts stop before their first instruction, for a
    /// [`Debugger`](super::Debugger).
    ///
    /// # Errors
    /// As [`FirmwareLink::load`].
    pub fn start_firmware_stopped(
        &mut self,
        firmware: &Firmware,
        words: &[(u32, u32)],
    ) -> Result<(), CosimError> {
        let link = FirmwareLink::load_stopped(self, firmware, words)?;
        self.firmware = Some(link);
        Ok(())
    }

    /// Takes console output and messages of the firmware, if there is one; gives how it ended, if
    /// it has.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn attend_firmware(&mut self) -> Result<Option<FirmwareEnd>, CosimError> {
        let Some(mut link) = self.firmware.take() else { return Ok(None) };
        let end = link.attend(self);
        self.firmware = Some(link);
        end
    }

    /// Whether firmware runs.
    #[must_use]
    pub fn has_firmware(&self) -> bool {
        self.firmware.is_some()
    }

    /// Whether firmware runs that takes the fault records (CP_CONTROL bit 10).
    ///
    /// # Errors
    /// The register does not answer.
    pub fn firmware_takes_faults(&mut self) -> Result<bool, CosimError> {
        Ok(self.firmware.is_some() && self.read("CP_CONTROL")? & FIRMWARE_FAULTS != 0)
    }

    /// What goes between the host and the firmware that runs.
    pub fn firmware_mut(&mut self) -> Option<&mut FirmwareLink> {
        self.firmware.as_mut()
    }

    /// Holds all harts.
    ///
    /// # Errors
    /// A hart does not become quiet, or a register does not answer.
    pub fn stop_firmware(&mut self) -> Result<(), CosimError> {
        self.firmware = None;
        FirmwareLink::stop(self)
    }

    /// Writes the tables of `app` to the shared memory and allocates its egress lists; puts the
    /// kernel's argument block and the lists into `setup`, the rest of which must be decided by
    /// now.
    ///
    /// # Errors
    /// [`CosimError::OutOfMemory`].
    pub fn load_app(&mut self, app: &dyn App, setup: &mut ArraySetup) -> Result<(), CosimError> {
        let bytes = app.table_bytes();
        let tables = if bytes == 0 { 0 } else { self.rmalloc("the app's tables", bytes)? };
        self.device.write_memory(tables, &app.tables(tables))?;
        setup.stack_bytes_log2 = setup.stack_bytes_log2.max(app.stack_bytes_log2());
        let ring_slots = 1 << setup.ring_slots_log2;
        let mut egress = EgressLists { address: 0, bytes_log2: EgressLists::bytes_log2_for(0) };
        if let Some((lists, bytes)) = setup.egress_lists(app) {
            egress = EgressLists { address: self.rmalloc("the egress lists", bytes)?, ..lists };
            setup.egress = Some(egress);
        }
        let argument = app.argument(&Placement { tables, egress, ring_slots });
        setup.argument = argument.iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(())
    }

    /// Allocates ring, verdicts, stacks and argument block, and sets every register of the set-up.
    /// The array does not run yet.
    ///
    /// # Errors
    /// An option is out of its range, or the memory is too small.
    pub fn configure(&mut self, setup: &ArraySetup) -> Result<Layout, CosimError> {
        option("ring_slots_log2", setup.ring_slots_log2, setup.ring_slots_log2 <= 20, "0 to 20")?;
        option(
            "slot_bytes_log2",
            setup.slot_bytes_log2,
            (7..=16).contains(&setup.slot_bytes_log2),
            "7 to 16",
        )?;
        option(
            "stack_bytes_log2",
            setup.stack_bytes_log2,
            (4..=16).contains(&setup.stack_bytes_log2),
            "4 to 16",
        )?;
        option("watchdog", setup.watchdog, setup.watchdog >> 31 == 0, "0 to 2147483647")?;
        let most = self.most_warps();
        option(
            "mcw",
            setup.mcw,
            (1..=most).contains(&setup.mcw),
            &format!("1 to {most} with this kernel and array"),
        )?;

        let layout = Layout {
            ring_base: self.rmalloc("the packet ring", setup.ring_bytes())?,
            verdict_base: self.rmalloc(VERDICTS, setup.verdict_bytes())?,
            stack_base: self.rmalloc_aligned(
                STACKS,
                setup.stack_bytes(self.info),
                setup.stack_alignment(self.info),
            )?,
            argument: self.rmalloc("the argument block", setup.argument.len())?,
            local_window: self.info.local_window,
        };
        self.device.write_memory(layout.argument, &setup.argument)?;
        self.write("CONTROL", 0)?;
        self.write("RING_BASE", layout.ring_base)?;
        self.write("RING_SLOTS_LOG2", setup.ring_slots_log2)?;
        self.write("SLOT_BYTES_LOG2", setup.slot_bytes_log2)?;
        self.write("VERDICT_BASE", layout.verdict_base)?;
        self.write("ARGUMENT", layout.argument)?;
        self.write("STACK_BASE", layout.stack_base)?;
        self.write("STACK_BYTES_LOG2", setup.stack_bytes_log2)?;
        self.write("MCW", setup.mcw)?;
        self.write("TIMEOUT", setup.timeout)?;
        for (name, value) in setup.adaptive.iter().flat_map(AdaptiveTimeout::registers) {
            self.write(name, value)?;
        }
        self.write("WATCHDOG", setup.watchdog)?;
        Ok(layout)
    }

    /// Most warps a core can have with the loaded kernel: its slots, and its registers shared among
    /// them.
    #[must_use]
    pub fn most_warps(&self) -> u32 {
        hermes_rtl::config::most_warps(self.info.warps, self.kernel_registers)
    }

    /// Lets warps be formed and issued.
    ///
    /// # Errors
    /// The register does not answer.
    pub fn start(&mut self, eager: bool) -> Result<(), CosimError> {
        self.write("CONTROL", 1 | u32::from(eager) << 1)
    }

    /// Stops forming and issuing warps; those on the cores run to their end.
    ///
    /// # Errors
    /// The register does not answer.
    pub fn stop(&mut self) -> Result<(), CosimError> {
        self.write("CONTROL", 0)
    }

    /// Tells the array that the next `count` packets are in their slots. While the task FIFO is
    /// full it tries again.
    ///
    /// # Errors
    /// The register does not answer, or the FIFO is still full after 80,000 cycles, such as when
    /// the array does not run: nothing is pushed then.
    pub fn push_tasks(&mut self, count: u32) -> Result<(), CosimError> {
        for _ in 1..PUSH_TRIES {
            if self.try_push_tasks(count)? {
                return Ok(());
            }
            self.device.run(PUSH_PAUSE)?;
        }
        self.write("TASK_PUSH", count)
    }

    /// As [`Host::push_tasks`], but only once: whether the task FIFO had room.
    ///
    /// # Errors
    /// The register does not answer.
    pub fn try_push_tasks(&mut self, count: u32) -> Result<bool, CosimError> {
        match self.write("TASK_PUSH", count) {
            Ok(()) => Ok(true),
            Err(CosimError::RegisterResponse { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// How many times [`Host::push_tasks`] can be called now without meeting a full task FIFO.
    ///
    /// # Errors
    /// The register does not answer.
    pub fn task_room(&mut self) -> Result<u32, CosimError> {
        self.read("TASK_ROOM")
    }

    /// Packets committed since reset, modulo 2^32.
    ///
    /// # Errors
    /// The register does not answer.
    pub fn committed(&mut self) -> Result<u32, CosimError> {
        self.read("COMMITTED_PACKETS")
    }

    /// The event counters of a core.
    ///
    /// # Errors
    /// The registers do not answer.
    pub fn counters(&mut self, core: u32) -> Result<CoreCounters, CosimError> {
        self.write("CORE_SELECT", core)?;
        Ok(CoreCounters {
            core: CoreCounterValues::read(|register| self.device.read_register(register.offset))?,
            l2: L2CounterValues::read(|register| self.device.read_register(register.offset))?,
            lost: LostCycles::read(|register| self.device.read_register(register.offset))?,
        })
    }

    /// The load counters, if the array has them.
    ///
    /// # Errors
    /// The registers do not answer.
    pub fn load_counters(&mut self) -> Result<Option<LoadCounters>, CosimError> {
        if !self.info.load_counters {
            return Ok(None);
        }
        let mut line_hits = Vec::new();
        for core in 0..self.info.cores {
            self.write("CORE_SELECT", core)?;
            line_hits.push(self.read("CORE_LINE_HITS")?);
        }
        let values = LoadCounterValues::read(|register| self.device.read_register(register.offset))?;
        Ok(Some(LoadCounters::new(line_hits, values)))
    }

    /// The registers that the array has, by its CONFIG, QOS and NF_CONFIG registers.
    pub fn registers(&self) -> impl Iterator<Item = &'static RegisterSpec> {
        let (config, qos, functions) = (self.config, self.qos, self.functions);
        REGISTERS.iter().filter(move |register| register.part.is_announced(config, qos, functions))
    }

    /// Takes the records that wait in the fault FIFO; also the number of records that it could not
    /// hold, modulo 2^16. Those that come meanwhile are left: threads may fault as quickly as this
    /// reads on a slow line.
    ///
    /// # Errors
    /// The registers do not answer.
    pub fn take_faults(&mut self) -> Result<(Vec<FaultRecord>, u32), CosimError> {
        let mut faults = Vec::new();
        let mut level = self.read("FAULT_LEVEL")?;
        for _ in 0..level & 0xffff {
            // Firmware may take them, from any time on: then FAULT_POP of the host removes nothing.
            if self.firmware_takes_faults()? {
                break;
            }
            let registers = fault_registers(self.info.spawner);
            let words = registers.iter().map(|name| self.read(name)).collect::<Result<Vec<_>, _>>()?;
            self.write("FAULT_POP", 1)?;
            faults.push(FaultRecord::from_words(&words, self.info.functions));
            level = self.read("FAULT_LEVEL")?;
        }
        Ok((faults, level >> 16))
    }

    /// Writes all that was stored back to memory, where the host reads it, and drops the L2's
    /// lines.
    ///
    /// # Errors
    /// [`CosimError::StillBusy`] after 100,000 cycles, or a register does not answer.
    pub fn clean_caches(&mut self) -> Result<(), CosimError> {
        self.write("L2_MAINTENANCE", L2_CLEAN_INVALIDATE)?;
        self.wait_until("L2_MAINTENANCE", |value| value & L2_BUSY == 0)
    }

    /// As [`Self::clean_caches`], and drops the lines of the L1 data caches: cores read what the
    /// host writes from now on.
    ///
    /// # Errors
    /// As [`Self::clean_caches`].
    pub fn clean_and_invalidate_caches(&mut self) -> Result<(), CosimError> {
        self.write("INVALIDATE", INVALIDATE_DATA)?;
        self.clean_caches()
    }

    /// Stops the array at the end of a run and reads what its registers counted.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn read_out(&mut self) -> Result<ReadOut, CosimError> {
        let counters = (0..self.info.cores).map(|core| self.counters(core)).collect::<Result<_, _>>()?;
        let load = self.load_counters()?;
        let (fault_count, bus_errors) = (self.read("FAULTS")?, self.read("BUS_ERRORS")?);
        self.stop()?;
        Ok(ReadOut { counters, load, fault_count, bus_errors })
    }

    /// What the registers show of an array that does not go on, each behind a semicolon; up to the
    /// first that does not answer.
    pub fn describe(&mut self) -> String {
        let mut state = String::new();
        for name in STATE_REGISTERS {
            match self.read(name) {
                Ok(value) => state += &format!("; {name} = {value}"),
                Err(error) => return state + &format!("; {error}"),
            }
        }
        state
    }

    /// Reads the register called `name` until `done` holds for its value.
    ///
    /// # Errors
    /// [`CosimError::StillBusy`] after 100,000 cycles, or the register does not answer.
    pub fn wait_until(&mut self, name: &'static str, done: impl Fn(u32) -> bool) -> Result<(), CosimError> {
        for _ in 0..WAIT_CYCLES / WAIT_PAUSE {
            if done(self.read(name)?) {
                return Ok(());
            }
            self.device.run(WAIT_PAUSE)?;
        }
        Err(CosimError::StillBusy { register: name, cycles: WAIT_CYCLES })
    }

    /// Reads the register called `name` in the register map.
    ///
    /// # Errors
    /// The register does not answer.
    pub fn read(&mut self, name: &str) -> Result<u32, CosimError> {
        self.device.read_register(offset(name))
    }

    /// Writes the register called `name` in the register map.
    ///
    /// # Errors
    /// The register does not answer.
    pub fn write(&mut self, name: &str, value: u32) -> Result<(), CosimError> {
        self.device.write_register(offset(name), value)
    }
}

pub(crate) fn option(
    field: &'static str,
    value: u32,
    possible: bool,
    expected: &str,
) -> Result<(), CosimError> {
    if possible {
        Ok(())
    } else {
        Err(CosimError::Option { field, value: value.to_string(), expected: expected.to_string() })
    }
}
