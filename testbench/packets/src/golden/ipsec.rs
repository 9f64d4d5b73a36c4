use aes::cipher::{KeyIvInit, StreamCipher};
use etherparse::{IpNumber, Ipv4Header, Ipv4HeaderSlice};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;

use super::{ipv4_header, Golden, ETHERNET};
use crate::slot::SlotPacket;
use crate::tables::SecurityAssociation;
use crate::verdict::{Reason, Verdict};

/// AES-128 in counter mode; the last 32 bits of the counter block count (RFC 3686, section 4).
type Cipher = ctr::Ctr32BE<aes::Aes128>;
/// Bytes of the authenticator: HMAC-SHA1 cut to 96 bits (RFC 2404).
const AUTHENTICATOR: usize = 12;
/// Time to live of the outer header.
const TTL: u8 = 64;
/// Bytes by which a packet may grow: outer header, SPI, sequence number, IV, padding, its length,
/// next header, authenticator.
pub const IPSEC_GROWTH: usize = 20 + 8 + 8 + 3 + 2 + AUTHENTICATOR;

/// ESP in tunnel mode (RFC 4303): every IPv4 packet becomes the payload of one from the tunnel's
/// source to its destination. The packet number `index` of the run has the sequence number
/// `index` + 1, which is also its IV. EtherType, version, header length and total length are
/// checked; a packet that grows beyond `frame_bytes`, what the slot holds, is dropped as too large.
pub fn ipsec(
    association: &SecurityAssociation,
    index: u64,
    packet: &SlotPacket,
    frame_bytes: usize,
) -> Golden {
    match encapsulate(association, index, packet) {
        Ok(frame) if frame.len() <= frame_bytes && frame.len() <= ETHERNET + usize::from(u16::MAX) => {
            Golden { verdict: Verdict::forward(0), frame }
        }
        result => {
            let reason = result.err().unwrap_or(Reason::Fragment);
            Golden { verdict: Verdict::drop(reason), frame: packet.frame.clone() }
        }
    }
}

fn encapsulate(
    association: &SecurityAssociation,
    index: u64,
    packet: &SlotPacket,
) -> Result<Vec<u8>, Reason> {
    ipv4_header(packet)?;
    let datagram = &packet.frame[ETHERNET..];
    let header = Ipv4HeaderSlice::from_slice(datagram).map_err(|_| Reason::HeaderLength)?;
    let total = usize::from(header.total_len());
    if total < header.slice().len() || total > datagram.len() {
        return Err(Reason::TotalLength);
    }

    // The payload: the packet, padding (1, 2, 3, ...) to whole words, its length, the protocol of
    // the payload.
    let mut payload = datagram[..total].to_vec();
    let padding = (4 - (total + 2) % 4) % 4;
    payload.extend((1..=padding).map(|byte| byte as u8));
    payload.extend([padding as u8, IpNumber::IPV4.0]);
    let sequence = (index as u32).wrapping_add(1);
    let iv = u64::from(sequence).to_be_bytes();
    let counter = [&association.nonce[..], &iv, &1_u32.to_be_bytes()].concat();
    let mut cipher = Cipher::new_from_slices(&association.cipher_key, &counter).expect("16 bytes each");
    cipher.apply_keystream(&mut payload);

    let esp = [&association.spi.to_be_bytes()[..], &sequence.to_be_bytes(), &iv, &payload].concat();
    let mut mac = Hmac::<Sha1>::new_from_slice(&association.authentication_key).expect("keys of any length");
    mac.update(&esp);
    let authenticator = mac.finalize().into_bytes();

    let bytes = Ipv4Header::MIN_LEN + esp.len() + AUTHENTICATOR;
    let mut outer = Ipv4Header {
        total_len: bytes as u16,
        identification: sequence as u16,
        dont_fragment: header.dont_fragment(),
        time_to_live: TTL,
        protocol: IpNumber::ENCAPSULATING_SECURITY_PAYLOAD,
        source: association.source.octets(),
        destination: association.destination.octets(),
        ..Ipv4Header::default()
    };
    (outer.dscp, outer.ecn) = (header.dcp(), header.ecn());
    outer.header_checksum = outer.calc_header_checksum();
    Ok([&packet.frame[..ETHERNET], &outer.to_bytes(), &esp, &authenticator[..AUTHENTICATOR]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot;
    use crate::traffic::{Generator, Traffic};
    use std::net::Ipv4Addr;

    fn association() -> SecurityAssociation {
        SecurityAssociation {
            spi: 0x1234_5678,
            source: Ipv4Addr::new(192, 0, 2, 1),
            destination: Ipv4Addr::new(192, 0, 2, 2),
            cipher_key: *b"sixteen byte key",
            nonce: [1, 2, 3, 4],
            authentication_key: [9; 20],
        }
    }

    /// The receiver's side: authenticates, decrypts, and finds the original packet.
    #[test]
    fn decapsulation_gives_the_original() {
        let kind = "imix".parse().unwrap();
        let association = association();
        let traffic = Generator::new(Traffic { kind, seed: crate::test_seed(), bad_share: 0.0, rate: 100.0 });
        for (index, frame) in (0..).zip(traffic.take(60)) {
            let packet = SlotPacket::new(&frame, slot::MAX_BYTES_LOG2);
            let golden = ipsec(&association, index, &packet, 16_000);
            assert!(golden.verdict.is_forward() && golden.frame.len() <= frame.data.len() + IPSEC_GROWTH);
            let (outer, esp) = Ipv4Header::from_slice(&golden.frame[ETHERNET..]).unwrap();
            assert_eq!(outer.header_checksum, outer.calc_header_checksum());
            assert_eq!((outer.protocol.0, usize::from(outer.total_len)), (50, 20 + esp.len()));
            let (message, tag) = esp.split_at(esp.len() - AUTHENTICATOR);
            let mut mac = Hmac::<Sha1>::new_from_slice(&association.authentication_key).unwrap();
            mac.update(message);
            mac.verify_truncated_left(tag).unwrap();
            assert_eq!(message[4..8], (index as u32 + 1).to_be_bytes());
            let counter = [&[1, 2, 3, 4], &message[8..16], &[0, 0, 0, 1]].concat();
            let mut inner = message[16..].to_vec();
            Cipher::new_from_slices(&association.cipher_key, &counter).unwrap().apply_keystream(&mut inner);
            let [.., padding, next] = inner[..] else { panic!("no trailer") };
            assert_eq!((next, inner.len() % 4), (4, 0));
            inner.truncate(inner.len() - 2 - usize::from(padding));
            assert_eq!(inner, frame.data[ETHERNET..ETHERNET + inner.len()]);
            assert_eq!(inner.len(), usize::from(u16::from_be_bytes([frame.data[16], frame.data[17]])));
        }
    }

    /// A packet that does not fit its slot afterwards stays as it is.
    #[test]
    fn too_large() {
        let kind = "fixed:90".parse().unwrap();
        let mut traffic = Generator::new(Traffic { kind, seed: 1, bad_share: 0.0, rate: 100.0 });
        let packet = SlotPacket::new(&traffic.next().unwrap(), slot::MAX_BYTES_LOG2);
        let bytes = ipsec(&association(), 0, &packet, 200).frame.len();
        assert_eq!(bytes, 14 + 20 + 16 + 80 + 12, "76 bytes, 2 of padding, 2 of trailer");
        let golden = ipsec(&association(), 0, &packet, bytes - 1);
        assert_eq!(golden, Golden { verdict: Verdict::drop(Reason::Fragment), frame: packet.frame });
    }
}
