//! What a run takes of the shared memory.

use hermes_rtl::config::{Config, MAX_WARPS};

use super::device::Device;
use super::error::CosimError;
use super::host::Host;
use super::session::frame_capacity;
use super::setup::{ArrayInfo, ArraySetup};
use crate::apps::{App, Placement};
use crate::egress::EgressLists;
use crate::iss::LINE;

/// What the stacks are called.
pub const STACKS: &str = "the stacks";
/// What the verdicts are called.
pub(super) const VERDICTS: &str = "the verdicts";

/// Slots of a ring as a power of two, unless something else is asked for: as many as usual, or
/// eight times the threads of a large array, so that the quarter that the host reads leaves enough
/// for them; or fewer so that the ring fits into a quarter of the memory. `largest_log2` is the
/// larger one of the bytes of a slot and of an egress list, as a power of two.
#[must_use]
pub fn usual_ring_slots_log2(config: &Config, largest_log2: u32, memory_bytes: u64) -> u32 {
    let threads = config.cores * config.lanes * config.warps;
    let wanted = ArraySetup::default().ring_slots_log2.max((8 * threads).next_power_of_two().ilog2());
    wanted.min(most_ring_slots_log2(largest_log2, memory_bytes))
}

/// The most slots that a ring can have, alike.
#[must_use]
pub fn most_ring_slots_log2(largest_log2: u32, memory_bytes: u64) -> u32 {
    (memory_bytes / 4).max(1).ilog2().saturating_sub(largest_log2).min(20)
}

/// A part of the shared memory that a run needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// What it is for.
    pub what: &'static str,
    /// Its bytes: whole lines.
    pub bytes: u64,
    /// What its address is a multiple of.
    pub alignment: u64,
}

impl ArraySetup {
    /// Bytes of the packet ring.
    #[must_use]
    pub fn ring_bytes(&self) -> usize {
        1 << (self.ring_slots_log2 + self.slot_bytes_log2)
    }

    /// Bytes of the verdicts, a word for each slot.
    #[must_use]
    pub fn verdict_bytes(&self) -> usize {
        4 << self.ring_slots_log2
    }

    /// Bytes of the stacks of an array: a thread's stack is found by core, slot and lane, with room
    /// for all slots that a core can have.
    #[must_use]
    pub fn stack_bytes(&self, info: ArrayInfo) -> usize {
        (info.cores as usize * MAX_WARPS * info.lanes as usize) << self.stack_bytes_log2
    }

    /// What the address of the stacks of an array is a multiple of: with a local window the stacks
    /// of a warp.
    #[must_use]
    pub const fn stack_alignment(&self, info: ArrayInfo) -> u32 {
        if info.local_window {
            info.lanes << self.stack_bytes_log2
        } else {
            LINE as u32
        }
    }

    /// The egress lists of `app` without their address, if it has any, and their bytes.
    pub(super) fn egress_lists(&self, app: &dyn App) -> Option<(EgressLists, usize)> {
        let entries = app.egress_entries(frame_capacity(self));
        let lists = EgressLists { address: 0, bytes_log2: EgressLists::bytes_log2_for(entries) };
        (entries > 0).then_some((lists, 1 << (self.ring_slots_log2 + lists.bytes_log2)))
    }
}

impl<D: Device> Host<D> {
    /// Allocates the stacks of threads that firmware starts, where there are no packets: those of
    /// `setup`, and sets the registers for them.
    ///
    /// # Errors
    /// [`CosimError::OutOfMemory`], or a register does not answer.
    pub fn reserve_stacks(&mut self, setup: &ArraySetup) -> Result<(), CosimError> {
        let info = self.info();
        let base = self.rmalloc_aligned(STACKS, setup.stack_bytes(info), setup.stack_alignment(info))?;
        self.write("STACK_BASE", base)?;
        self.write("STACK_BYTES_LOG2", setup.stack_bytes_log2)
    }

    /// What [`Host::load_app`] and [`Host::configure`] allocate with `setup`, in this order.
    #[must_use]
    pub fn areas(&self, app: Option<&dyn App>, setup: &ArraySetup) -> Vec<Area> {
        let (mut setup, mut tables, mut egress) = (setup.clone(), 0, 0);
        if let Some(app) = app {
            tables = app.table_bytes();
            setup.stack_bytes_log2 = setup.stack_bytes_log2.max(app.stack_bytes_log2());
            let lists = setup.egress_lists(app);
            egress = lists.map_or(0, |(_, bytes)| bytes);
            let lists = lists.map_or(EgressLists { address: 0, bytes_log2: 0 }, |(lists, _)| lists);
            let placement = Placement { tables: 0, egress: lists, ring_slots: 1 << setup.ring_slots_log2 };
            setup.argument = vec![0; 4 * app.argument(&placement).len()];
        }
        let line = LINE as u32;
        let areas = [
            ("the app's tables", tables, line),
            ("the egress lists", egress, line),
            ("the packet ring", setup.ring_bytes(), line),
            (VERDICTS, setup.verdict_bytes(), line),
            (STACKS, setup.stack_bytes(self.info()), setup.stack_alignment(self.info()).max(line)),
            ("the argument block", setup.argument.len().max(1), line),
        ];
        let area = |(what, bytes, alignment): (_, usize, u32)| Area {
            what,
            bytes: bytes.next_multiple_of(LINE) as u64,
            alignment: alignment.into(),
        };
        areas.into_iter().filter(|(_, bytes, _)| *bytes > 0).map(area).collect()
    }

    /// Whether there is room for `areas` beside what was allocated.
    #[must_use]
    pub fn has_room(&self, areas: &[Area]) -> bool {
        let mut allocator = self.allocator.clone();
        areas.iter().all(|area| {
            allocator.allocate_behind(self.kernel_end, area.what, area.bytes, area.alignment).is_ok()
        })
    }

    /// Bytes of the shared memory.
    #[must_use]
    pub fn memory_size(&self) -> u64 {
        self.device.memory_size()
    }

    /// Bytes of the shared memory that are not allocated.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.allocator.free_bytes()
    }
}
