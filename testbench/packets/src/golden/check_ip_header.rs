use etherparse::checksum::Sum16BitWords;
use etherparse::err::ipv4::{HeaderError, HeaderSliceError};
use etherparse::{EtherType, Ethernet2HeaderSlice, Ipv4HeaderSlice};

use super::{Golden, ETHERNET};
use crate::slot::SlotPacket;
use crate::verdict::{Reason, Verdict};

/// The checks of a router before it forwards a packet (RFC 1812, section 5.2.2) and that of the
/// source address (section 5.3.7). The first that fails, in this order, is the verdict's reason:
/// length of the frame, EtherType, version, header length, total length, checksum, source address.
pub fn check_ip_header(packet: &SlotPacket) -> Golden {
    let verdict = check(packet).map_or_else(Verdict::drop, |()| Verdict::forward(0));
    Golden { verdict, frame: packet.frame.clone() }
}

fn check(packet: &SlotPacket) -> Result<(), Reason> {
    let ethernet = Ethernet2HeaderSlice::from_slice(&packet.frame).map_err(|_| Reason::Short)?;
    if ethernet.ether_type() != EtherType::IPV4 {
        return Err(Reason::NotIpv4);
    }
    let datagram = &packet.frame[ETHERNET..];
    let header = Ipv4HeaderSlice::from_slice(datagram).map_err(|error| match error {
        HeaderSliceError::Len(_) if datagram.len() < 20 => Reason::Short,
        HeaderSliceError::Content(HeaderError::UnexpectedVersion { .. }) => Reason::Version,
        _ => Reason::HeaderLength,
    })?;
    let total = usize::from(header.total_len());
    if total < header.slice().len() || total > packet.wire_length() - ETHERNET {
        return Err(Reason::TotalLength);
    }
    if Sum16BitWords::new().add_slice(header.slice()).ones_complement() != 0 {
        return Err(Reason::Checksum);
    }
    let source = header.source_addr();
    let reserved = source.octets()[0] >= 240;
    if source.octets()[0] == 0 || source.is_loopback() || source.is_multicast() || reserved {
        return Err(Reason::Source);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot;
    use crate::traffic::{Defect, Frame, Generator, Traffic};
    use rand::SeedableRng;

    fn packet(data: &[u8], wire_length: u32) -> SlotPacket {
        SlotPacket::new(
            &Frame { data: data.to_vec(), wire_length, timestamp: 0, port: 0 },
            slot::MAX_BYTES_LOG2,
        )
    }

    fn verdict(data: &[u8]) -> String {
        check_ip_header(&packet(data, 0)).verdict.to_string()
    }

    #[test]
    fn every_defect_has_its_reason() {
        let seed = crate::test_seed();
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let kind = "imix".parse().unwrap();
        for frame in Generator::new(Traffic { kind, seed, bad_share: 0.0, rate: 100.0 }).take(300) {
            assert_eq!(verdict(&frame.data), "forward: port 0");
            for defect in Defect::ALL {
                let expected = match defect {
                    Defect::NotIpv4 => "drop: not IPv4",
                    Defect::Short => "drop: frame too short",
                    Defect::Version => "drop: version",
                    Defect::HeaderTooSmall | Defect::HeaderTooLarge => "drop: header length",
                    Defect::TotalTooSmall | Defect::TotalTooLarge => "drop: total length",
                    Defect::Checksum => "drop: checksum",
                    Defect::Source => "drop: source address",
                    Defect::Ttl => "forward: port 0",
                };
                let mut data = frame.data.clone();
                defect.apply(&mut data, &mut random);
                assert_eq!(verdict(&data), expected, "{defect:?}");
            }
        }
    }

    #[test]
    fn short_frames_and_cut_frames() {
        let kind = "fixed:1514".parse().unwrap();
        let frame = Generator::new(Traffic { kind, seed: 1, bad_share: 0.0, rate: 100.0 }).next().unwrap();
        assert_eq!(verdict(&[]), "drop: frame too short");
        assert_eq!(verdict(&frame.data[..13]), "drop: frame too short");
        assert_eq!(verdict(&frame.data[..33]), "drop: frame too short");
        assert_eq!(verdict(&[0; 20]), "drop: not IPv4");
        // Cut by the capture, the packet is judged by its length on the wire; really cut off, it is
        // broken.
        assert_eq!(check_ip_header(&packet(&frame.data[..96], 1514)).verdict, Verdict::forward(0));
        assert_eq!(verdict(&frame.data[..96]), "drop: total length");
    }
}
