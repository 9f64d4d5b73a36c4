//! `route-lookup`: the argument block is the address of the [`Dir248`] table.

use super::{kernel_source, App, AppEntry, Input, Placement};
use crate::golden::{Golden, RouteModel};
use crate::slot::SlotPacket;
use crate::tables::{Dir248, InputError, RouteTable};

pub(super) const ENTRY: AppEntry = AppEntry {
    name: "route-lookup",
    summary: "longest prefix of the destination address (DIR-24-8)",
    inputs: &[Input::Routes],
    source: kernel_source!("route-lookup.S", Rv32e),
    aes_source: None,
    load: |inputs| Ok(Box::new(Routing::read(inputs.routes())?)),
};

/// A routing table for the kernel and for the golden model.
#[derive(Debug)]
pub(super) struct Routing {
    pub(super) table: Dir248,
    pub(super) model: RouteModel,
    note: String,
}

impl Routing {
    pub(super) fn read(path: &std::path::Path) -> Result<Self, InputError> {
        let routes = RouteTable::read(path)?;
        let table = Dir248::new(&routes.routes).map_err(|error| InputError::file(path, error))?;
        Ok(Self { table, model: RouteModel::new(&routes), note: note(&routes) })
    }

    pub(super) fn note(&self) -> &str {
        &self.note
    }
}

/// What was read, and what of it does not count.
fn note(routes: &RouteTable) -> String {
    let note = format!("{} prefixes, {} next hops", routes.routes.len(), routes.next_hops);
    match routes.left_out.reasons() {
        reasons if reasons.is_empty() => note,
        reasons => format!("{note}; left out: {}", reasons.join(", ")),
    }
}

impl App for Routing {
    fn table_bytes(&self) -> usize {
        self.table.size()
    }

    fn tables(&self, _: u32) -> Vec<u8> {
        self.table.to_bytes()
    }

    fn argument(&self, placement: &Placement) -> Vec<u32> {
        vec![placement.tables]
    }

    fn golden(&self, _: u64, packet: &SlotPacket) -> Golden {
        self.model.route_lookup(packet)
    }

    fn notes(&self) -> Vec<String> {
        vec![self.note.clone()]
    }
}
