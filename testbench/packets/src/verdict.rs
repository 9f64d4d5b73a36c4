//! The verdict word that a kernel returns for its packet.

use std::fmt;

use hermes_rtl::config::WATCHDOG_CAUSE;

/// A verdict: forward to a port, drop for a reason, or fault with a cause.
///
/// Bits 31:30 tell which: `0x` forward (bits 30:0 are the port), `10` drop (bits 29:0 the reason),
/// `11` fault (bits 29:0 the cause of the RISC-V privileged specification).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Verdict(pub u32);

/// Bits of a drop verdict without its reason.
pub const DROP: u32 = 0x8000_0000;
/// Bits of a fault verdict without its cause.
pub const FAULT: u32 = 0xc000_0000;

/// Why the known apps drop a packet. `kernels-asm/include` has the same numbers for kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reason {
    /// The EtherType is not IPv4 (0x0800).
    NotIpv4 = 1,
    /// Too few bytes for an Ethernet header and the shortest IPv4 header.
    Short = 2,
    /// The IP version is not 4.
    Version = 3,
    /// The header length is below 20 bytes, or the header ends beyond the frame.
    HeaderLength = 4,
    /// The total length is below the header length, or beyond the frame.
    TotalLength = 5,
    /// The header checksum is wrong.
    Checksum = 6,
    /// A source address that no host may have.
    Source = 7,
    /// The time to live ran out.
    Ttl = 8,
    /// No prefix of the routing table holds the destination.
    NoRoute = 9,
    /// No rule matches.
    NoRule = 10,
    /// Larger than the MTU, and not to be fragmented: the sender is to be told with ICMP.
    Fragment = 11,
}

/// Reason of the packets that rule 0 drops; rule n has this plus n.
pub const DROP_RULE: u32 = 0x1_0000;
/// Reasons from here on are no rules: more than any list has.
const NO_RULES: u32 = 0x100_0000;

impl Reason {
    /// Every reason with its name in the kernels' include file and the words of the reports.
    pub const ALL: [(Self, &'static str, &'static str); 11] = [
        (Self::NotIpv4, "DROP_NOT_IPV4", "not IPv4"),
        (Self::Short, "DROP_SHORT", "frame too short"),
        (Self::Version, "DROP_VERSION", "version"),
        (Self::HeaderLength, "DROP_HEADER_LENGTH", "header length"),
        (Self::TotalLength, "DROP_TOTAL_LENGTH", "total length"),
        (Self::Checksum, "DROP_CHECKSUM", "checksum"),
        (Self::Source, "DROP_SOURCE", "source address"),
        (Self::Ttl, "DROP_TTL", "TTL ran out"),
        (Self::NoRoute, "DROP_NO_ROUTE", "no route"),
        (Self::NoRule, "DROP_NO_RULE", "no rule"),
        (Self::Fragment, "DROP_FRAGMENT", "fragmentation needed"),
    ];
}

/// Causes of a fault (RISC-V privileged specification, `mcause` of exceptions), and that of the
/// watchdog.
const CAUSES: [(u32, &str); 10] = [
    (0, "instruction address misaligned"),
    (1, "instruction access"),
    (2, "illegal instruction"),
    (3, "breakpoint"),
    (4, "load address misaligned"),
    (5, "load access"),
    (6, "store address misaligned"),
    (7, "store access"),
    (11, "environment call"),
    (WATCHDOG_CAUSE as u32, "watchdog"),
];

impl Verdict {
    /// Forward to `port` (31 bits).
    pub const fn forward(port: u32) -> Self {
        Self(port & !DROP)
    }

    /// Drop for `reason`.
    pub const fn drop(reason: Reason) -> Self {
        Self(DROP | reason as u32)
    }

    /// Drop by rule number `rule`, counted from 0.
    pub const fn drop_by_rule(rule: u32) -> Self {
        Self(DROP | (DROP_RULE + rule))
    }

    /// The number of the rule that drops the packet, if one does.
    pub const fn rule(self) -> Option<u32> {
        if self.is_forward() || self.is_fault() {
            return None;
        }
        let reason = self.0 & !FAULT;
        if reason >= NO_RULES {
            return None;
        }
        reason.checked_sub(DROP_RULE)
    }

    /// Whether the packet leaves through a port.
    pub const fn is_forward(self) -> bool {
        self.0 & DROP == 0
    }

    /// Whether the packet's thread ended with a fault.
    pub const fn is_fault(self) -> bool {
        self.0 & FAULT == FAULT
    }
}

impl fmt::Display for Verdict {
    /// The name of the verdict, such as `drop: checksum`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = self.0 & !FAULT;
        if self.is_forward() {
            write!(f, "forward: port {}", self.0)
        } else if self.is_fault() {
            match CAUSES.iter().find(|(cause, _)| *cause == low) {
                Some((_, name)) => write!(f, "fault: {name}"),
                None if low < DROP_RULE => write!(f, "fault: cause {low}"),
                None => write!(f, "fault: cause {low:#x}"),
            }
        } else {
            match Reason::ALL.iter().find(|(reason, ..)| *reason as u32 == low) {
                Some((.., name)) => write!(f, "drop: {name}"),
                None => match self.rule() {
                    Some(rule) => write!(f, "drop: rule {rule}"),
                    None if low < DROP_RULE => write!(f, "drop: reason {low}"),
                    None => write!(f, "drop: reason {low:#x}"),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (word, name) in [
            (0, "forward: port 0"),
            (0x7fff_ffff, "forward: port 2147483647"),
            (0x8000_0006, "drop: checksum"),
            (0x8000_0063, "drop: reason 99"),
            (0x8000_ffff, "drop: reason 65535"),
            (0x8001_0007, "drop: rule 7"),
            (0x80ff_ffff, "drop: rule 16711679"),
            (0x8000_0000, "drop: reason 0"),
            (0x8100_0000, "drop: reason 0x1000000"),
            (0xbfff_ffff, "drop: reason 0x3fffffff"),
            (0xc000_0002, "fault: illegal instruction"),
            (0xc000_0009, "fault: cause 9"),
            (0xc000_0018, "fault: watchdog"),
        ] {
            assert_eq!(Verdict(word).to_string(), name);
        }
    }
}
