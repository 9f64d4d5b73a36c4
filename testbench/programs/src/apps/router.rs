//! `router`: the argument block is the addresses of the DIR-24-8 table and, behind it, of the rule
//! list.

use super::classifier;
use super::route_lookup::Routing;
use super::{kernel_source, App, AppEntry, Input, Placement};
use crate::golden::{self, Golden};
use crate::slot::SlotPacket;
use crate::tables::{rule_list, FilterSet};

pub(super) const ENTRY: AppEntry = AppEntry {
    name: "router",
    summary: "check-ip-header, classifier, route-lookup and dec-ttl in one kernel",
    inputs: &[Input::Filters, Input::Routes],
    source: kernel_source!("router.S", Rv32e),
    aes_source: None,
    load: |inputs| {
        let filters = FilterSet::read(inputs.rules())?;
        let rules = rule_list(&filters);
        Ok(Box::new(Router { filters, rules, routing: Routing::read(inputs.routes())? }))
    },
};

#[derive(Debug)]
struct Router {
    filters: FilterSet,
    /// The filters as they stand in shared memory.
    rules: Vec<u8>,
    routing: Routing,
}

impl App for Router {
    fn table_bytes(&self) -> usize {
        self.routing.table.size() + self.rules.len()
    }

    fn tables(&self, _: u32) -> Vec<u8> {
        [self.routing.table.to_bytes(), self.rules.clone()].concat()
    }

    fn argument(&self, placement: &Placement) -> Vec<u32> {
        vec![placement.tables, placement.tables + self.routing.table.size() as u32]
    }

    fn golden(&self, _: u64, packet: &SlotPacket) -> Golden {
        golden::router(&self.filters, &self.routing.model, packet)
    }

    fn notes(&self) -> Vec<String> {
        vec![classifier::note(&self.filters), self.routing.note().to_string()]
    }
}
