//! The commands that are under way.

use super::{check_entries, WorkEntry};
use hermes_hdl::prelude::*;
use hermes_hdl::prim::{RamSized, RamSizedAsync};

/// `entries` places for commands of each owner (1, 2, 4 or 8), a list for each queue pair by links,
/// and the first packet sequence number of each. A place is its owner's number x `entries` and a
/// number below `entries`: so an owner with fewer commands than that always has room, whatever the
/// others do.
///
/// 1. After a reset the places are freed, those of an owner in a cycle: `ready` is high behind
///    that. Nothing is written or released before.
/// 2. `free` is a place of `entry.owner` where no command is, if there is one. `write` puts `entry`
///    there. `begin` writes `first`, the number of the first packet of the command in
///    `begin_place`: it has one when its packets can be sent.
/// 3. `link` writes the link of `link_from`: `link_to` is behind it in its list.
/// 4. `read` reads the command in place `read_place`: `found` from the next cycle on, until the
///    next read. `first_found` and `next_place` answer `at` in the same cycle.
/// 5. `keep` writes `kept` to bits 63:0 of the data of the command `at`; not in a cycle with
///    `write`.
/// 6. `release` frees the place `at`; not in a cycle with `write`.
#[clocked("no command is there")]
#[derive(Clone, LogicBlock)]
#[new(owners_log2: usize, entries: usize, places_log2: usize)]
pub struct WorkTable {
    /// All places were freed.
    pub ready: Signal<Out, Bit>,
    /// Place of a command that may be added.
    pub free: Signal<Out, Bits<12>>,
    /// A command is written there.
    pub write: Signal<In, Bit>,
    /// The command that is added.
    pub entry: Signal<In, WorkEntry>,
    /// The sequence number of the first packet of a command is written.
    pub begin: Signal<In, Bit>,
    /// Place of the command whose first number is set.
    pub begin_place: Signal<In, Bits<12>>,
    /// Number of its first packet.
    pub first: Signal<In, Bits<24>>,
    /// A link is written.
    pub link: Signal<In, Bit>,
    /// Place of the command before it.
    pub link_from: Signal<In, Bits<12>>,
    /// Place of the command behind it.
    pub link_to: Signal<In, Bits<12>>,
    /// A command is read.
    pub read: Signal<In, Bit>,
    /// Place of the command that is read.
    pub read_place: Signal<In, Bits<12>>,
    /// The command that was read last.
    pub found: Signal<Out, WorkEntry>,
    /// A command.
    pub at: Signal<In, Bits<12>>,
    /// The sequence number of its first packet.
    pub first_found: Signal<Out, Bits<24>>,
    /// The command behind it.
    pub next_place: Signal<Out, Bits<12>>,
    /// The result of a command is kept.
    pub keep: Signal<In, Bit>,
    /// The result.
    pub kept: Signal<In, Bits<64>>,
    /// The command is done.
    pub release: Signal<In, Bit>,
    /// Offset and bytes.
    #[init(RamSized::new(places_log2))]
    ranges: RamSized<64>,
    #[init(RamSized::new(places_log2))]
    values: RamSized<128>,
    /// The rest of a command.
    #[init(RamSized::new(places_log2))]
    rest: RamSized<62>,
    #[init(RamSizedAsync::new(places_log2))]
    firsts: RamSizedAsync<24>,
    #[init(RamSizedAsync::new(places_log2))]
    links: RamSizedAsync<12>,
    /// The places of each owner that are taken.
    #[init(RamSizedAsync::new(owners_log2.max(1)))]
    used: RamSizedAsync<8>,
    /// Owners whose places were freed.
    freed: Register<Bits<10>>,
    #[init(Constant::new((1u64 << owners_log2).into()))]
    owners: Constant<Bits<10>>,
    #[init(entries)]
    _entries: usize,
    #[init(entries.ilog2().into())]
    _entries_log2: u64,
    /// Bits of three that a number below `entries` does not have.
    #[init((3 - entries.ilog2()).into())]
    _unused_bits: u64,
}

impl WorkTable {
    /// `entries` places for each of `2^owners_log2` owners.
    ///
    /// # Panics
    /// If there are more than 512 owners, or `entries` is not 1, 2, 4 or 8.
    pub fn new(owners_log2: usize, entries: usize) -> Self {
        assert!(owners_log2 <= 9, "WorkTable: 2^{owners_log2} owners, expected at most 512");
        check_entries("WorkTable", entries);
        // A RAM has an address.
        let places_log2 = (owners_log2 + entries.ilog2() as usize).max(1);
        Self::wired(owners_log2, entries, places_log2)
    }
}

impl Logic for WorkTable {
    #[hdl_gen]
    fn update(&mut self) {
        // The lowest place of its owner that is free
        let new_entry = self.entry.val();
        let clears = self.freed.q.val() != self.owners.val();
        self.ready.next = !clears;
        if clears {
            self.freed.d.next = self.freed.q.val() + bits::<10>(1);
        }
        always!(freed_owners_stop_at_all, self.freed.q.val() <= self.owners.val());
        let mut owner = new_entry.owner;
        if self.release.val() {
            owner = bit_cast::<10, 12>(self.at.val() >> self._entries_log2);
        }
        self.used.read_address.next = bit_cast::<16, 10>(owner);
        let taken = self.used.read_data.val();
        let mut place = bits::<3>(0);
        for i in 0..self._entries {
            if !taken.get_bit(self._entries - 1 - i) {
                place = bits::<3>((self._entries - 1 - i) as u64);
            }
        }
        let whole = (bit_cast::<12, 10>(new_entry.owner) << self._entries_log2) | bit_cast::<12, 3>(place);
        self.free.next = whole;
        self.used.write_enable.next = self.write.val() || self.release.val() || clears;
        self.used.write_address.next = bit_cast::<16, 10>(owner);
        self.used.write_data.next = taken.replace_bit(place.index(), true);
        if self.release.val() {
            // Of the place the bits below its owner's number
            self.used.write_data.next = taken.replace_bit(
                ((self.at.val() << self._unused_bits).get_bits::<3>(0) >> self._unused_bits).index(),
                false,
            );
        }
        if clears {
            self.used.write_address.next = bit_cast::<16, 10>(self.freed.q.val());
            self.used.write_data.next = bits::<8>(0);
        }

        self.ranges.write_enable.next = self.write.val();
        self.ranges.write_address.next = bit_cast::<16, 12>(whole);
        self.ranges.write_data.next =
            bit_cast::<64, 32>(new_entry.offset) | (bit_cast::<64, 32>(new_entry.bytes) << 32);
        self.values.write_enable.next = self.write.val() || self.keep.val();
        self.values.write_address.next = bit_cast::<16, 12>(whole);
        self.values.write_data.next = new_entry.data;
        if self.keep.val() {
            self.values.write_address.next = bit_cast::<16, 12>(self.at.val());
            self.values.write_data.next = bit_cast::<128, 64>(self.kept.val());
        }
        self.rest.write_enable.next = self.write.val();
        self.rest.write_address.next = bit_cast::<16, 12>(whole);
        self.rest.write_data.next = bit_cast::<62, 23>(new_entry.packets).replace_bit(23, new_entry.memory)
            | (bit_cast::<62, 4>(new_entry.region) << 24)
            | (bit_cast::<62, 4>(new_entry.domain) << 28)
            | (bit_cast::<62, 10>(new_entry.owner) << 32)
            | (bit_cast::<62, 2>(new_entry.context) << 42)
            | (bit_cast::<62, 2>(new_entry.operation) << 44)
            | (bit_cast::<62, 16>(new_entry.index) << 46);
        self.ranges.read_enable.next = self.read.val();
        self.ranges.read_address.next = bit_cast::<16, 12>(self.read_place.val());
        self.values.read_enable.next = self.read.val();
        self.values.read_address.next = bit_cast::<16, 12>(self.read_place.val());
        self.rest.read_enable.next = self.read.val();
        self.rest.read_address.next = bit_cast::<16, 12>(self.read_place.val());
        let others = self.rest.read_data.val();
        self.found.next.offset = self.ranges.read_data.val().get_bits::<32>(0);
        self.found.next.bytes = self.ranges.read_data.val().get_bits::<32>(32);
        self.found.next.data = self.values.read_data.val();
        self.found.next.packets = others.get_bits::<23>(0);
        self.found.next.memory = others.get_bit(23);
        self.found.next.region = others.get_bits::<4>(24);
        self.found.next.domain = others.get_bits::<4>(28);
        self.found.next.owner = others.get_bits::<10>(32);
        self.found.next.context = others.get_bits::<2>(42);
        self.found.next.operation = others.get_bits::<2>(44);
        self.found.next.index = others.get_bits::<16>(46);

        self.firsts.write_enable.next = self.begin.val();
        self.firsts.write_address.next = bit_cast::<16, 12>(self.begin_place.val());
        self.firsts.write_data.next = self.first.val();
        self.firsts.read_address.next = bit_cast::<16, 12>(self.at.val());
        self.first_found.next = self.firsts.read_data.val();
        self.links.write_enable.next = self.link.val();
        self.links.write_address.next = bit_cast::<16, 12>(self.link_from.val());
        self.links.write_data.next = self.link_to.val();
        self.links.read_address.next = bit_cast::<16, 12>(self.at.val());
        self.next_place.next = self.links.read_data.val();
    }
}

#[cfg(test)]
#[path = "work_table_tests.rs"]
mod tests;
