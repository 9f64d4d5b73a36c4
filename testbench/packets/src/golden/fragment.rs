use anyhow::{ensure, Context};
use etherparse::checksum::Sum16BitWords;
use etherparse::defrag::IpDefragBuf;
use etherparse::{IpFragOffset, Ipv4HeaderSlice};

use super::{ipv4_header, Golden, ETHERNET, IPV4_HEADER};
use crate::slot::SlotPacket;
use crate::verdict::{Reason, Verdict};

/// Smallest MTU that IPv4 allows (RFC 791, section 3.2): a header of 60 bytes and 8 bytes of data.
pub const MIN_MTU: u16 = 68;
/// Options end here; the option that fills up.
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
/// Flag of an option's type: it goes into every fragment.
const COPIED: u8 = 0x80;

/// Fragmentation (RFC 791): packets up to the MTU leave as they are, larger ones as fragments, or
/// not at all if DF is set. The packet in the slot stays unchanged; EtherType, version, header
/// length and total length are checked.
pub fn fragment(packet: &SlotPacket, mtu: u16) -> Golden {
    let verdict = judge(packet, mtu).map_or_else(Verdict::drop, |_| Verdict::forward(0));
    Golden { verdict, frame: packet.frame.clone() }
}

/// Whether a packet that leaves is to be split.
fn judge(packet: &SlotPacket, mtu: u16) -> Result<bool, Reason> {
    ipv4_header(packet)?;
    let datagram = &packet.frame[ETHERNET..];
    let header = Ipv4HeaderSlice::from_slice(datagram).map_err(|_| Reason::HeaderLength)?;
    let total = usize::from(header.total_len());
    if total < header.slice().len() {
        return Err(Reason::TotalLength);
    }
    if total <= usize::from(mtu) {
        return Ok(false);
    }
    if total > datagram.len() {
        return Err(Reason::TotalLength);
    }
    if header.dont_fragment() {
        return Err(Reason::Fragment);
    }
    // A fragment that would end beyond the largest packet, as in the "ping of death".
    let end = 8 * usize::from(header.fragments_offset().value()) + total - header.slice().len();
    if end > usize::from(u16::MAX) {
        return Err(Reason::TotalLength);
    }
    Ok(true)
}

/// Checks the frames that left in place of `packet`: put together they are the packet, each is a
/// right packet of its own, as large as the MTU allows, with the options that belong to it.
///
/// # Errors
/// What is wrong.
pub fn check_fragments(packet: &SlotPacket, mtu: u16, frames: &[Vec<u8>]) -> anyhow::Result<()> {
    if judge(packet, mtu) != Ok(true) {
        ensure!(frames.is_empty(), "{} fragments of a packet that is not to be split", frames.len());
        return Ok(());
    }
    let datagram = &packet.frame[ETHERNET..];
    let original = Ipv4HeaderSlice::from_slice(datagram)?;
    let payload = &datagram[original.slice().len()..usize::from(original.total_len())];
    let copied = copied_options(original.options());
    let mut whole = IpDefragBuf::new(original.protocol(), Vec::new(), Vec::new());
    for (number, frame) in frames.iter().enumerate() {
        let last = number + 1 == frames.len();
        let header =
            check_fragment(&original, frame, mtu, last).with_context(|| format!("fragment {number}"))?;
        ensure!(frame[..ETHERNET] == packet.frame[..ETHERNET], "fragment {number}: other Ethernet header");
        let options = if number == 0 { original.options() } else { &copied };
        ensure!(
            header.options() == options,
            "fragment {number}: options {:?}, expected {options:?}",
            header.options()
        );
        let first = original.fragments_offset().value();
        let offset =
            header.fragments_offset().value().checked_sub(first).context("offset before the packet's")?;
        let data = &frame[ETHERNET + header.slice().len()..];
        whole.add(IpFragOffset::try_new(offset)?, !last, data)?;
    }
    ensure!(whole.is_complete(), "the fragments do not make a whole packet");
    ensure!(whole.data() == payload, "the fragments make another packet");
    Ok(())
}

/// Checks one fragment; gives its header.
fn check_fragment<'a>(
    original: &Ipv4HeaderSlice,
    frame: &'a [u8],
    mtu: u16,
    last: bool,
) -> anyhow::Result<Ipv4HeaderSlice<'a>> {
    let datagram = frame.get(ETHERNET..).context("no Ethernet header")?;
    let header = Ipv4HeaderSlice::from_slice(datagram)?;
    let sum = Sum16BitWords::new().add_slice(header.slice()).ones_complement();
    ensure!(sum == 0, "wrong header checksum");
    let total = usize::from(header.total_len());
    ensure!(total == datagram.len(), "total length {total}, but {} bytes", datagram.len());
    ensure!(total <= usize::from(mtu), "{total} bytes are more than the MTU");
    let data = total - header.slice().len();
    if last {
        ensure!(data > 0, "no data");
        ensure!(header.more_fragments() == original.more_fragments(), "wrong flag: more fragments");
    } else {
        ensure!(header.more_fragments(), "wrong flag: more fragments");
        let most = (usize::from(mtu) - header.slice().len()) / 8 * 8;
        ensure!(data == most, "{data} bytes of data, expected {most}");
    }
    // Type of service, identification, TTL, protocol and addresses are the packet's; so is the
    // reserved flag, and DF is 0.
    let kept = |slice: &[u8]| {
        [&slice[1..2], &slice[4..6], &[slice[6] & 0xc0], &slice[8..10], &slice[12..IPV4_HEADER]].concat()
    };
    ensure!(kept(header.slice()) == kept(original.slice()), "other header fields than the packet has");
    Ok(header)
}

/// The options of later fragments: those with the copied flag, filled up to whole words. What
/// stands behind an option whose length cannot be is not copied.
fn copied_options(mut options: &[u8]) -> Vec<u8> {
    let mut copied = Vec::new();
    loop {
        options = match options {
            [] | [END, ..] => break,
            [NO_OPERATION, rest @ ..] => rest,
            [kind, length, ..] if (2..=options.len()).contains(&usize::from(*length)) => {
                let (option, rest) = options.split_at(usize::from(*length));
                if kind & COPIED != 0 {
                    copied.extend(option);
                }
                rest
            }
            _ => break,
        };
    }
    copied.resize(copied.len().next_multiple_of(4), END);
    copied
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{correct_checksum, Frame, Generator, Traffic};

    fn packet(change: &dyn Fn(&mut Vec<u8>)) -> SlotPacket {
        let kind = "fixed:1014".parse().unwrap();
        let mut traffic = Generator::new(Traffic { kind, seed: 2, bad_share: 0.0, rate: 100.0 });
        let mut frame = traffic.find(|frame| frame.data[14] == 0x45).unwrap();
        frame.data[20] &= !0x40;
        change(&mut frame.data);
        correct_checksum(&mut frame.data);
        SlotPacket::new(&Frame { wire_length: 0, ..frame }, 11)
    }

    /// Bytes of `packet` as a fragment.
    fn piece(packet: &SlotPacket, from: usize, to: usize, more: bool) -> Vec<u8> {
        let mut frame = packet.frame[..34].to_vec();
        frame.extend(&packet.frame[34 + from..34 + to]);
        frame[16..18].copy_from_slice(&((20 + to - from) as u16).to_be_bytes());
        frame[20..22].copy_from_slice(&(u16::from(more) << 13 | (from / 8) as u16).to_be_bytes());
        correct_checksum(&mut frame);
        frame
    }

    #[test]
    fn verdicts() {
        let verdict = |mtu, change: &dyn Fn(&mut Vec<u8>)| fragment(&packet(change), mtu).verdict;
        assert_eq!(verdict(1000, &|_| ()), Verdict::forward(0));
        assert_eq!(verdict(999, &|_| ()), Verdict::forward(0));
        assert_eq!(verdict(999, &|data| data[20] |= 0x40), Verdict::drop(Reason::Fragment));
        assert_eq!(verdict(1000, &|data| data[20] |= 0x40), Verdict::forward(0));
        assert_eq!(verdict(999, &|data| data.truncate(1013)), Verdict::drop(Reason::TotalLength));
        assert_eq!(
            verdict(999, &|data| (data[20], data[21]) = (0x1f, 0xff)),
            Verdict::drop(Reason::TotalLength)
        );
        assert_eq!(verdict(999, &|data| (data[16], data[17]) = (0, 19)), Verdict::drop(Reason::TotalLength));
    }

    #[test]
    fn right_and_wrong_fragments() {
        let packet = packet(&|_| ());
        let right =
            [piece(&packet, 0, 480, true), piece(&packet, 480, 960, true), piece(&packet, 960, 980, false)];
        let check =
            |frames: &[Vec<u8>]| check_fragments(&packet, 500, frames).map_err(|error| format!("{error:#}"));
        check(&right).unwrap();
        let [a, b, c] = &right;
        let mut wrong = b.clone();
        wrong[40] ^= 1;
        let mut bad_sum = b.clone();
        bad_sum[24] ^= 1;
        for (frames, expected) in [
            (vec![], "do not make a whole packet"),
            (vec![a.clone(), c.clone()], "do not make a whole packet"),
            (vec![a.clone(), b.clone()], "fragment 1: wrong flag"),
            (vec![a.clone(), wrong, c.clone()], "make another packet"),
            (vec![a.clone(), bad_sum, c.clone()], "fragment 1: wrong header checksum"),
            (
                vec![piece(&packet, 0, 472, true), b.clone(), c.clone()],
                "fragment 0: 472 bytes of data, expected 480",
            ),
            (vec![piece(&packet, 0, 488, true)], "508 bytes are more than the MTU"),
        ] {
            let error = check(&frames).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert!(check_fragments(&packet, 1000, &right).is_err());
        check_fragments(&packet, 1000, &[]).unwrap();
    }

    #[test]
    fn options_by_their_flag() {
        assert_eq!(copied_options(&[]), [0; 0]);
        assert_eq!(copied_options(&[1, 1, 0x94, 4, 9, 9, 0, 7]), [0x94, 4, 9, 9], "nothing behind the end");
        assert_eq!(
            copied_options(&[7, 3, 4, 0x83, 3, 4, 1, 0]),
            [0x83, 3, 4, 0],
            "record route stays behind"
        );
        assert_eq!(copied_options(&[0x83, 9, 4, 0]), [0; 0], "a length beyond the header");
        assert_eq!(copied_options(&[0x83, 1, 4, 0]), [0; 0], "a length below 2");
        assert_eq!(copied_options(&[1, 1, 1, 0x83]), [0; 0]);
    }
}
