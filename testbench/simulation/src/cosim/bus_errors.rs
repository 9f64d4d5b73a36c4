//! Accesses that memory has refused.

use serde::Serialize;

use super::memory::{ErrorResponse, MemoryStatistics};
use super::memory_map::MemoryMap;
use crate::words::number_of;

/// Accesses to which memory gave another response than OKAY, such as those to addresses at which
/// there is none. A load of such a line is a fault as well; a store does not wait for memory, so
/// nothing tells which packet and instruction it was of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BusErrors {
    /// AXI4 responses other than OKAY, modulo 2^32: the register BUS_ERRORS.
    #[serde(rename = "bus_errors")]
    pub count: u64,
    /// Those to writes, whose data is lost. `None`: a board does not tell.
    #[serde(rename = "bus_errors_of_writes")]
    pub writes: Option<u64>,
    /// The first of them, by time. Empty on a board.
    #[serde(rename = "bus_error_responses")]
    pub responses: Vec<RefusedAccess>,
}

/// An access that memory has refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedAccess {
    /// When, which way and where.
    #[serde(flatten)]
    pub response: ErrorResponse,
    /// What lies at its address.
    pub area: String,
}

impl BusErrors {
    /// What the register counted, on a board.
    #[must_use]
    pub fn counted(count: u32) -> Self {
        Self { count: count.into(), ..Self::default() }
    }

    /// What the register counted, and what the simulated memory knows of it; `map` tells what lies
    /// where.
    #[must_use]
    pub fn simulated(count: u32, memory: &MemoryStatistics, map: &MemoryMap) -> Self {
        let refused = |response: &ErrorResponse| RefusedAccess {
            response: *response,
            area: map.describe(response.address),
        };
        Self {
            count: count.into(),
            writes: Some(memory.total().write_errors),
            responses: memory.error_responses.iter().map(refused).collect(),
        }
    }

    /// What is told of them: a line for reads and one for writes, none if there are no errors.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let Some(writes) = self.writes else {
            let text = format!("bus error: memory refused {}", number_of(self.count, "line"));
            return if self.count == 0 { Vec::new() } else { vec![text] };
        };
        let reads = self.count.saturating_sub(writes);
        let kinds = [
            (reads, false, "line that was read", "lines that were read", "loads of it are faults"),
            (
                writes,
                true,
                "line that was written",
                "lines that were written",
                "what was stored there is lost. A store does not wait for memory, so its packet and PC are not known",
            ),
        ];
        let line = |(count, write, one, many, then): (u64, bool, &str, &str, &str)| {
            let what = if count == 1 { one } else { many };
            let first = self.responses.iter().find(|access| access.response.write == write);
            let place = first.map_or_else(String::new, |RefusedAccess { response, area }| {
                let first = if count == 1 { "at" } else { "the first at" };
                format!(", {first} address {:#010x} ({area}) in cycle {}", response.address, response.cycle)
            });
            format!("bus error: memory refused {count} {what}{place}: {then}")
        };
        kinds.into_iter().filter(|(count, ..)| *count > 0).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::ChannelStatistics;

    #[test]
    fn reads_and_writes_are_told_with_the_first_address() {
        let channel = ChannelStatistics { errors: 3, write_errors: 1, ..ChannelStatistics::default() };
        let response = |cycle, write, address| ErrorResponse { cycle, write, address };
        let memory = MemoryStatistics {
            cycles: 9,
            channels: vec![channel],
            error_responses: vec![response(7, false, 0x5000_0000), response(8, true, 0x6000_0040)],
        };
        let told = BusErrors::simulated(3, &memory, &MemoryMap::default()).lines();
        assert!(
            told[0].starts_with(
                "bus error: memory refused 2 lines that were read, the first at address 0x50000000 ("
            ),
            "{told:?}"
        );
        assert!(
            told[1].starts_with("bus error: memory refused 1 line that was written, at address 0x60000040 ("),
            "{told:?}"
        );
        assert!(told[1].contains("in cycle 8: what was stored there is lost"), "{told:?}");
        assert_eq!(BusErrors::counted(1).lines(), ["bus error: memory refused 1 line"]);
        assert!(BusErrors::counted(0).lines().is_empty());
        let json = serde_json::to_value(BusErrors::simulated(3, &memory, &MemoryMap::default())).unwrap();
        assert_eq!((json["bus_errors"].as_u64(), json["bus_errors_of_writes"].as_u64()), (Some(3), Some(1)));
        assert_eq!(json["bus_error_responses"][1]["address"], 0x6000_0040_u32);
    }
}
