//! The commands that are under way.

use super::WorkEntry;
use crate::prelude::*;

/// Eight commands of the host: a list for each queue pair by links, and the first packet sequence number of each.
///
/// 1. While `has_room`, `free` is a place where no command is. `write` puts `entry` there. `begin` writes `first`, the number of the first packet of
///    the command in `begin_place`: it has one when its packets can be sent.
/// 2. `link` writes the link of `link_from`: `link_to` is behind it in its list.
/// 3. `read` reads the command in place `read_place`: `found` from the next cycle on, until the next read. `first_found` and `next_place`
///    answer `at` in the same cycle.
/// 4. `release` frees the place `at`.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct WorkTable {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high: no command is there.
    pub reset: Signal<In, Bit>,
    /// There is room for a command.
    pub has_room: Signal<Out, Bit>,
    /// Where.
    pub free: Signal<Out, Bits<3>>,
    /// A command is written there.
    pub write: Signal<In, Bit>,
    /// It.
    pub entry: Signal<In, WorkEntry>,
    /// The sequence number of the first packet of a command is written.
    pub begin: Signal<In, Bit>,
    /// Of this command.
    pub begin_place: Signal<In, Bits<3>>,
    /// It.
    pub first: Signal<In, Bits<24>>,
    /// A link is written.
    pub link: Signal<In, Bit>,
    /// Of this command.
    pub link_from: Signal<In, Bits<3>>,
    /// To this one.
    pub link_to: Signal<In, Bits<3>>,
    /// A command is read.
    pub read: Signal<In, Bit>,
    /// Which one.
    pub read_place: Signal<In, Bits<3>>,
    /// The command that was read last.
    pub found: Signal<Out, WorkEntry>,
    /// A command.
    pub at: Signal<In, Bits<3>>,
    /// The sequence number of its first packet.
    pub first_found: Signal<Out, Bits<24>>,
    /// The command behind it.
    pub next_place: Signal<Out, Bits<3>>,
    /// It is done.
    pub release: Signal<In, Bit>,
    entries: RamSync<WorkEntry, 3>,
    firsts: RamAsync<Bits<24>, 3>,
    links: RamAsync<Bits<3>, 3>,
    used: Register<Bits<8>>,
}

impl Logic for WorkTable {
    #[hdl_gen]
    fn update(&mut self) {
        // The lowest place that is free
        let mut place = bits::<3>(0);
        for i in 0..8 {
            if !self.used.q.val().get_bit(7 - i) {
                place = bits::<3>(7 - i as u64);
            }
        }
        self.has_room.next = !self.used.q.val().all();
        self.free.next = place;
        let mut places = self.used.q.val();
        if self.write.val() {
            places = places.replace_bit(place.index(), true);
        }
        if self.release.val() {
            places = places.replace_bit(self.at.val().index(), false);
        }
        self.used.d.next = places;

        self.entries.write_enable.next = self.write.val();
        self.entries.write_address.next = place;
        self.entries.write_data.next = self.entry.val();
        self.entries.read_enable.next = self.read.val();
        self.entries.read_address.next = self.read_place.val();
        self.found.next = self.entries.read_data.val();
        self.firsts.write_enable.next = self.begin.val();
        self.firsts.write_address.next = self.begin_place.val();
        self.firsts.write_data.next = self.first.val();
        self.firsts.read_address.next = self.at.val();
        self.first_found.next = self.firsts.read_data.val();
        self.links.write_enable.next = self.link.val();
        self.links.write_address.next = self.link_from.val();
        self.links.write_data.next = self.link_to.val();
        self.links.read_address.next = self.at.val();
        self.next_place.next = self.links.read_data.val();
    }
}
