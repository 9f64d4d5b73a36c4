//! A filter set for linear search. In shared memory, a filter has 32 bytes, in the order of
//! priority:
//!
//! | offset | what |
//! | --- | --- |
//! | 0, 4 | source prefix and its mask, as a load of the packet's field gives them (network byte order) |
//! | 8, 12 | destination prefix and its mask, alike |
//! | 16 | source ports: bits 15:0 the lowest, bits 31:16 the highest less the lowest |
//! | 20 | destination ports, alike |
//! | 24 | bits 15:8 protocol, bits 31:24 its mask; as the word of the packet with TTL and protocol has it |
//! | 28 | verdict |
//!
//! A last filter that matches every packet follows, with the verdict "no rule".

use std::ops::RangeInclusive;

use ipnet::Ipv4Net;

use super::filters::{Filter, FilterSet};
use crate::verdict::{Reason, Verdict};

/// Verdict of a packet whose first match is the filter number `rule`: forward to the port of that
/// number, or drop by rule.
pub fn rule_verdict(rule: usize, filter: &Filter) -> Verdict {
    if filter.deny {
        Verdict::drop_by_rule(rule as u32)
    } else {
        Verdict::forward(rule as u32)
    }
}

/// The filters as they stand in shared memory.
pub fn rule_list(set: &FilterSet) -> Vec<u8> {
    let numbered = set.filters.iter().enumerate();
    let mut words: Vec<u32> =
        numbered.flat_map(|(rule, filter)| words(filter, rule_verdict(rule, filter))).collect();
    let every = 0xffff << 16;
    words.extend([0, 0, 0, 0, every, every, 0, Verdict::drop(Reason::NoRule).0]);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(filter: &Filter, verdict: Verdict) -> [u32; 8] {
    let [source, source_mask] = prefix(filter.source);
    let [destination, destination_mask] = prefix(filter.destination);
    let (source_ports, destination_ports) = (ports(&filter.source_ports), ports(&filter.destination_ports));
    let protocol =
        u32::from(filter.protocol & filter.protocol_mask) << 8 | u32::from(filter.protocol_mask) << 24;
    [source, source_mask, destination, destination_mask, source_ports, destination_ports, protocol, verdict.0]
}

/// Network and mask with the bytes in network order.
fn prefix(net: Ipv4Net) -> [u32; 2] {
    [net.network(), net.netmask()].map(|address| u32::from_le_bytes(address.octets()))
}

fn ports(range: &RangeInclusive<u16>) -> u32 {
    u32::from(*range.start()) | u32::from(range.end() - range.start()) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a filter.
    const RULE_BYTES: usize = 32;

    #[test]
    fn layout() {
        let text = "@10.1.2.0/24 192.0.2.1/32 1 : 3 80 : 80 0x06/0xff\n@0.0.0.0/0 0.0.0.0/0 0 : 65535 0 : 65535 0x0/0x0 deny";
        let set = FilterSet::parse(text).unwrap();
        let bytes = rule_list(&set);
        assert_eq!(bytes.len(), 3 * RULE_BYTES);
        assert_eq!(bytes[..16], [10, 1, 2, 0, 255, 255, 255, 0, 192, 0, 2, 1, 255, 255, 255, 255]);
        assert_eq!(bytes[16..32], [1, 0, 2, 0, 80, 0, 0, 0, 0, 6, 0, 0xff, 0, 0, 0, 0]);
        assert_eq!(
            bytes[32..64],
            [
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 0, 0,
                1, 0, 1, 0x80
            ]
        );
        assert_eq!(bytes[92..], Verdict::drop(Reason::NoRule).0.to_le_bytes());
    }
}
