use etherparse::checksum::Sum16BitWords;

use super::{ipv4_header, Golden, ETHERNET, IPV4_HEADER};
use crate::slot::SlotPacket;
use crate::verdict::{Reason, Verdict};

/// Offsets in the IPv4 header.
const TTL: usize = 8;
const CHECKSUM: usize = 10;

/// Forwarding of a router: the time to live falls by one and the checksum follows (RFC 1812,
/// section 5.3.1; RFC 1624); a packet whose time to live runs out is dropped unchanged. The rest of
/// the header is taken as it is: a wrong checksum stays as wrong as it was.
pub fn dec_ttl(packet: &SlotPacket) -> Golden {
    let mut frame = packet.frame.clone();
    let decrement = |_| decrement(&mut frame[ETHERNET..ETHERNET + IPV4_HEADER]);
    let verdict =
        ipv4_header(packet).and_then(decrement).map_or_else(Verdict::drop, |()| Verdict::forward(0));
    Golden { verdict, frame }
}

/// The header of a packet that is forwarded.
pub(super) fn decrement(header: &mut [u8]) -> Result<(), Reason> {
    let before = sum(header);
    header[TTL] = header[TTL].checked_sub(1).filter(|ttl| *ttl > 0).ok_or(Reason::Ttl)?;
    let after = sum(header);
    // The checksum is the complement of a sum. What the sum gained is what the header gained,
    // whether the checksum was right or not: ~new = ~old + after - before in one's complement.
    let old = u16::from_ne_bytes([header[CHECKSUM], header[CHECKSUM + 1]]);
    let new = Sum16BitWords::new()
        .add_2bytes((!old).to_ne_bytes())
        .add_2bytes(after.to_ne_bytes())
        .add_2bytes((!before).to_ne_bytes())
        .ones_complement();
    header[CHECKSUM..CHECKSUM + 2].copy_from_slice(&new.to_ne_bytes());
    Ok(())
}

/// One's complement sum of the header without its checksum field, in the packet's byte order.
fn sum(header: &[u8]) -> u16 {
    !Sum16BitWords::new().add_slice(&header[..CHECKSUM]).add_slice(&header[CHECKSUM + 2..]).ones_complement()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot;
    use crate::traffic::{Frame, Generator, Traffic};
    use etherparse::Ipv4Header;

    fn run(data: &[u8]) -> Golden {
        let frame = Frame { data: data.to_vec(), wire_length: 0, timestamp: 0, port: 0 };
        dec_ttl(&SlotPacket::new(&frame, slot::MAX_BYTES_LOG2))
    }

    fn traffic(kind: &str) -> Generator {
        let kind = kind.parse().unwrap();
        Generator::new(Traffic { kind, seed: crate::test_seed(), bad_share: 0.0, rate: 100.0 })
    }

    #[test]
    fn good_headers_stay_good_and_only_two_fields_change() {
        for frame in traffic("imix").take(500) {
            let golden = run(&frame.data);
            assert_eq!(golden.verdict, Verdict::forward(0));
            let (before, _) = Ipv4Header::from_slice(&frame.data[14..]).unwrap();
            let (after, rest) = Ipv4Header::from_slice(&golden.frame[14..]).unwrap();
            assert_eq!(after.header_checksum, after.calc_header_checksum());
            assert_eq!(after.time_to_live, before.time_to_live - 1);
            let header_checksum = before.header_checksum;
            assert_eq!(Ipv4Header { time_to_live: before.time_to_live, header_checksum, ..after }, before);
            assert_eq!(rest, &frame.data[frame.data.len() - rest.len()..]);
            assert_eq!(golden.frame[..14], frame.data[..14]);
        }
    }

    /// The example and the corner of RFC 1624: HC' = ~(~HC + ~m + m'), for every checksum.
    #[test]
    fn equation_3_of_rfc_1624() {
        let frame = traffic("fixed:60").next().unwrap();
        for checksum in 0..=u16::MAX {
            let mut data = frame.data.clone();
            data[24..26].copy_from_slice(&checksum.to_be_bytes());
            let m = u16::from_be_bytes([data[22], data[23]]);
            let sum = u32::from(!checksum) + u32::from(!m) + u32::from(m - 0x100);
            let sum = (sum & 0xffff) + (sum >> 16);
            let expected = !(((sum & 0xffff) + (sum >> 16)) as u16);
            let golden = run(&data);
            assert_eq!(u16::from_be_bytes([golden.frame[24], golden.frame[25]]), expected, "{checksum:#06x}");
        }
    }

    #[test]
    fn packets_that_are_dropped_stay_unchanged() {
        let good = traffic("fixed:60").next().unwrap().data;
        let changed = |position: usize, value| {
            let mut data = good.clone();
            data[position] = value;
            data
        };
        let cases = [
            (changed(22, 0), Reason::Ttl),
            (changed(22, 1), Reason::Ttl),
            (changed(13, 6), Reason::NotIpv4),
            (changed(14, 0x65), Reason::Version),
            (good[..33].to_vec(), Reason::Short),
            (good[..13].to_vec(), Reason::Short),
            (Vec::new(), Reason::Short),
        ];
        for (data, reason) in cases {
            assert_eq!(run(&data), Golden { verdict: Verdict::drop(reason), frame: data });
        }
        assert_eq!(run(&changed(22, 2)).verdict, Verdict::forward(0));
    }
}
