//! `classifier` and `classifier-bv`: the same filters, two kernels. The argument block: word 0 =
//! address of the table ([`rule_list`] or [`bit_vectors`]), word 1 = number of filters.

use super::{kernel_source, App, AppEntry, Input, Placement};
use crate::golden::{self, Golden};
use crate::slot::SlotPacket;
use crate::tables::{bit_vectors, rule_list, FilterSet, InputError};

pub(super) const LINEAR: AppEntry = AppEntry {
    name: "classifier",
    summary: "first 5-tuple filter that matches: linear search",
    inputs: &[Input::Filters],
    source: kernel_source!("classifier.S", Rv32e),
    aes_source: None,
    load: |inputs| {
        let set = FilterSet::read(inputs.rules())?;
        let table = rule_list(&set);
        Ok(Box::new(Classifier { set, table }))
    },
};

pub(super) const BIT_VECTOR: AppEntry = AppEntry {
    name: "classifier-bv",
    summary: "first 5-tuple filter that matches: bit vectors, up to 256 filters",
    inputs: &[Input::Filters],
    source: kernel_source!("classifier-bv.S", Rv32e),
    aes_source: None,
    load: |inputs| {
        let set = FilterSet::read(inputs.rules())?;
        let table = bit_vectors(&set).map_err(|error| InputError::file(inputs.rules(), error))?;
        Ok(Box::new(Classifier { set, table }))
    },
};

#[derive(Debug)]
struct Classifier {
    set: FilterSet,
    table: Vec<u8>,
}

/// What was read, and what of it does not count.
pub(super) fn note(set: &FilterSet) -> String {
    let mut note = format!("{} filters", set.filters.len());
    if set.with_flags > 0 {
        note += &format!(", TCP flags of {} of them not looked at", set.with_flags);
    }
    note
}

impl App for Classifier {
    fn table_bytes(&self) -> usize {
        self.table.len()
    }

    fn tables(&self, _: u32) -> Vec<u8> {
        self.table.clone()
    }

    fn argument(&self, placement: &Placement) -> Vec<u32> {
        vec![placement.tables, self.set.filters.len() as u32]
    }

    fn golden(&self, _: u64, packet: &SlotPacket) -> Golden {
        golden::classify(&self.set, packet)
    }

    fn notes(&self) -> Vec<String> {
        vec![note(&self.set)]
    }
}
