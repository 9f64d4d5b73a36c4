use super::*;

/// A pcapng block of type `kind` around `body`, little-endian.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let length = (12 + body.len() + padding) as u32;
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend(body);
    bytes.extend(vec![0; padding]);
    bytes.extend(length.to_le_bytes());
    bytes
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn section() -> Vec<u8> {
    block(0x0a0d_0d0a, &words(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]))
}

/// An interface of `link_type` with `resolution` as its if_tsresol option.
fn interface(link_type: u32, resolution: u8) -> Vec<u8> {
    block(1, &words(&[link_type, 0, 9 | 1 << 16, u32::from(resolution), 0]))
}

fn enhanced(interface: u32, time: u64, data: &[u8], wire: u32) -> Vec<u8> {
    let mut body = words(&[interface, (time >> 32) as u32, time as u32, data.len() as u32, wire]);
    body.extend(data);
    block(6, &body)
}

/// A pcap file (microseconds, little-endian) with these (captured bytes, length on the wire).
fn pcap(link_type: u32, packets: &[(&[u8], u32)]) -> Vec<u8> {
    let mut bytes = words(&[0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 65535, link_type]);
    for (number, (data, wire)) in packets.iter().enumerate() {
        bytes.extend(words(&[5, number as u32, data.len() as u32, *wire]));
        bytes.extend(*data);
    }
    bytes
}

fn parse(bytes: &[u8]) -> Result<Capture, CaptureError> {
    read_from(bytes, Path::new("in.pcap"), None)
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

fn message(bytes: &[u8]) -> String {
    parse(bytes).unwrap_err().to_string()
}

#[test]
fn pcap_frames_and_snap_length() {
    let capture = parse(&pcap(1, &[(&[1; 60], 60), (&[2; 96], 1514), (&[], 0), (&[3; 60], 20)])).unwrap();
    assert_eq!(capture.cut, 1);
    let frames = &capture.frames;
    assert_eq!(frames[0], Frame { data: vec![1; 60], wire_length: 60, timestamp: 5_000_000_000, port: 0 });
    assert_eq!((frames[1].wire_length, frames[1].timestamp), (1514, 5_000_001_000));
    assert_eq!(frames[2].data.len(), 0);
    assert_eq!(frames[3].wire_length, 60);
    // The bits above the link type tell the length of the FCS, which is no part of the frame.
    let frames = parse(&pcap(0x2400_0001, &[(&[1; 64], 64), (&[1; 60], 62), (&[1; 60], 80)])).unwrap().frames;
    let lengths: Vec<_> = frames.iter().map(|frame| (frame.data.len(), frame.wire_length)).collect();
    assert_eq!(lengths, [(60, 60), (58, 58), (60, 76)]);
    assert_eq!(parse(&pcap(0x2000_0001, &[(&[1; 64], 64)])).unwrap().frames[0].data.len(), 64);
    let limited = read_from(&pcap(1, &[(&[1; 60][..], 60); 5])[..], Path::new("in.pcap"), Some(3)).unwrap();
    assert_eq!(limited.frames.len(), 3);
}

#[test]
fn every_byte_order_and_resolution_of_pcap() {
    let little = pcap(1, &[(&[7; 61], 61)]);
    let big: Vec<u8> = little[..4].iter().rev().copied().chain([0, 2, 0, 4]).collect();
    let words = little[8..40].chunks(4).flat_map(|word| word.iter().rev().copied());
    let big: Vec<u8> = big.into_iter().chain(words).chain(little[40..].iter().copied()).collect();
    assert_eq!(parse(&big).unwrap().frames, parse(&little).unwrap().frames);
    let mut nano = little;
    nano[..4].copy_from_slice(&0xa1b2_3c4d_u32.to_le_bytes());
    nano[28..32].copy_from_slice(&321_u32.to_le_bytes());
    assert_eq!(parse(&nano).unwrap().frames[0].timestamp, 5_000_000_321);
}

#[test]
fn pcapng_interfaces_times_and_other_blocks() {
    let mut bytes = section();
    bytes.extend(block(0x0000_0bad, &[1, 2, 3, 4]));
    bytes.extend(interface(1, 9));
    bytes.extend(interface(1, 0x80 | 20));
    bytes.extend(enhanced(0, 1_500_000_000_123_456_789, &[1; 61], 61));
    bytes.extend(enhanced(1, 3 << 19, &[2; 62], 1000));
    bytes.extend(block(3, &[words(&[63]), vec![3; 63]].concat()));
    bytes.extend(section());
    bytes.extend(interface(1, 3));
    bytes.extend(enhanced(0, 7, &[4; 64], 64));
    let capture = parse(&bytes).unwrap();
    let seen: Vec<_> =
        capture.frames.iter().map(|f| (f.data.len(), f.wire_length, f.timestamp, f.port)).collect();
    let expected = [
        (61, 61, 1_500_000_000_123_456_789, 0),
        (62, 1000, 1_500_000_000, 1),
        (63, 63, 1_500_000_000, 0),
        (64, 64, 7_000_000, 0),
    ];
    assert_eq!(seen, expected);
    assert_eq!(capture.cut, 1);
}

/// A pcapng section with an interface for each of these if_tsresol and if_tsoffset, and a packet of
/// each interface at `time`, in one byte order.
fn section_in_order(big: bool, interfaces: &[(u8, i64)], time: u64) -> Vec<u8> {
    let half = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let word = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let words = |values: &[u32]| values.iter().flat_map(|value| word(*value)).collect::<Vec<u8>>();
    let block = |kind: u32, body: &[u8]| {
        let length = word(12 + body.len() as u32);
        [&word(kind)[..], &length, body, &length].concat()
    };
    let mut version = [half(1), half(0)].concat();
    version.splice(0..0, word(0x1a2b_3c4d));
    version.extend([0xff; 8]);
    let mut bytes = block(0x0a0d_0d0a, &version);
    for (resolution, offset) in interfaces {
        let mut body = [half(1), half(0)].concat();
        body.extend(word(0));
        body.extend([half(9), half(1), [*resolution, 0], [0, 0], half(14), half(8)].concat());
        body.extend(if big { offset.to_be_bytes() } else { offset.to_le_bytes() });
        body.extend([half(0), half(0)].concat());
        bytes.extend(block(1, &body));
    }
    for interface in 0..interfaces.len() {
        let mut body = words(&[interface as u32, (time >> 32) as u32, time as u32, 60, 61]);
        body.extend([7; 60]);
        bytes.extend(block(6, &body));
    }
    bytes
}

/// Options are in the section's byte order, and a file may have sections of both.
#[test]
fn options_in_the_byte_order_of_the_section() {
    let interfaces = [(6, 0), (9, 1), (0x80 | 10, -3)];
    let time = 5_000_000_000;
    let expected =
        [5_000_000_000_000, 6_000_000_000, ((5_000_000_000_u64 * 1_000_000_000) >> 10) - 3_000_000_000];
    for orders in [[false, true], [true, false], [true, true]] {
        let file = orders.map(|big| section_in_order(big, &interfaces, time)).concat();
        let frames = parse(&file).unwrap().frames;
        let times: Vec<_> = frames.iter().map(|frame| frame.timestamp).collect();
        assert_eq!(times, [expected, expected].concat());
        assert!(frames.iter().all(|frame| (frame.data.len(), frame.wire_length) == (60, 61)));
    }
    for offset in [-6_000_000, i64::MIN, i64::MAX] {
        let error = message(&section_in_order(true, &[(6, offset)], time));
        assert!(
            error.contains("packet 0, counted from 0: its time is before 1970 or behind 2554"),
            "{error}"
        );
    }
    let error = message(&section_in_order(true, &[(127, 0)], time));
    assert!(error.contains("interface description: timestamp resolution 0x7f"), "{error}");
}

#[test]
fn options_that_make_no_sense() {
    let with = |options: &[u8]| {
        let interface = block(1, &[&words(&[1, 0])[..], options].concat());
        parse(&[section(), interface, enhanced(0, 7, &[1; 60], 60)].concat())
    };
    let error = |options: &[u8]| with(options).unwrap_err().to_string();
    assert!(error(&[13, 0, 0, 0]).contains("if_fcslen has 0 bytes; expected 1"));
    for length in [4, 32] {
        assert_eq!(with(&[13, 0, 1, 0, length, 0, 0, 0]).unwrap().frames[0].data.len(), 56);
    }
    assert!(error(&[13, 0, 1, 0, 7, 0, 0, 0]).contains("a frame check sequence of length 7; expected 0 or 4"));
    assert!(error(&[9, 0, 2, 0, 6, 6, 0, 0]).contains("if_tsresol has 2 bytes; expected 1"));
    assert!(error(&[14, 0, 4, 0, 1, 0, 0, 0]).contains("if_tsoffset has 4 bytes; expected 8"));
    // The option in front is longer than the block.
    assert!(error(&[2, 0, 99, 0, 9, 0, 1, 0, 9, 0, 0, 0]).contains("an option ends beyond the block"));
    // What is behind the end of the options does not count, and the first of several does.
    let time = |options: &[u8]| with(options).unwrap().frames[0].timestamp;
    assert_eq!(time(&[0, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0]), 7000);
    assert_eq!(time(&[9, 0, 1, 0, 9, 0, 0, 0, 9, 0, 1, 0, 0, 0, 0, 0]), 7);
}

#[test]
fn errors_name_file_and_packet() {
    assert!(message(b"").starts_with("in.pcap: the file is empty"));
    assert!(message(b"ab").contains("no capture's magic number; expected a pcap or pcapng capture"));
    let Err(CaptureError::Read { source, .. }) = parse(&[0x1f, 0x8b, 8, 0]) else {
        panic!("a damaged gzip file")
    };
    assert!(source.to_string().starts_with("damaged gzip file: "), "{source}");
    let twice = packed(&packed(&pcap(1, &[(&[1; 60], 60)])));
    assert!(message(&twice).contains("compressed twice (gzip)"), "{}", message(&twice));
    assert!(message(&pcap(101, &[(&[1; 60], 60)]))
        .contains("link type 101 at packet 0, counted from 0; expected Ethernet"));
    let good = pcap(1, &[(&[1; 60], 60), (&[2; 60], 60)]);
    assert!(message(&good[..good.len() - 1]).contains("truncated: the file ends inside packet 1"));
    assert!(message(&good[..24 + 16 + 60 + 3]).contains("truncated: the file ends inside packet 1"));
    assert!(message(&good[..20]).contains("truncated: the file ends inside packet 0"));
    let mut huge = good;
    huge[32..36].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(message(&huge).contains("truncated: the file ends inside packet 0"));

    let mut mixed = section();
    mixed.extend(interface(1, 6));
    mixed.extend(interface(113, 6));
    mixed.extend(enhanced(0, 0, &[1; 60], 60));
    let none = [mixed.clone(), enhanced(2, 0, &[1; 60], 60)].concat();
    assert!(
        message(&none).contains("packet 1, counted from 0: interface 2 is not described"),
        "{}",
        message(&none)
    );
    mixed.extend(enhanced(1, 0, &[1; 60], 60));
    assert!(message(&mixed).contains("link type 113 at packet 1"));
    assert!(message(&[section(), block(2, &[0; 20])].concat()).contains("obsolete packet block"));
    let missing = anyhow::Error::from(read(Path::new("no/such.pcap"), None).unwrap_err());
    assert!(format!("{missing:#}").starts_with("no/such.pcap: No such file"), "{missing:#}");
}

/// Frames larger than the reader's buffer, and a file of many packets.
#[test]
fn large_frames_and_many_packets() {
    let data = vec![9; 300_000];
    let capture = parse(&pcap(1, &[(&[1; 60], 60), (&data, 300_000), (&[1; 60], 60)])).unwrap();
    assert_eq!(capture.frames[1].data, data);
    let packets: Vec<(&[u8], u32)> = (0..5000).map(|n| (&data[..n % 1500], (n % 1500) as u32)).collect();
    let capture = parse(&pcap(1, &packets)).unwrap();
    assert_eq!(capture.frames.len(), 5000);
    assert!(capture.frames.iter().enumerate().all(|(n, frame)| frame.data.len() == n % 1500));
}

/// Damaged files give an error or frames, never a panic and never more packets than records.
#[test]
fn damage_never_panics() {
    let seed = crate::test_seed();
    let mut random = <rand_chacha::ChaCha8Rng as rand::SeedableRng>::seed_from_u64(seed);
    let mut ng = [section(), interface(1, 6), interface(1, 0x8a)].concat();
    for number in 0..4 {
        ng.extend(enhanced(number % 2, 1 << 40, &[number as u8; 70], 70));
    }
    for file in [pcap(1, &[(&[1; 60][..], 60); 4]), ng] {
        for _ in 0..3000 {
            let mut damaged = file.clone();
            for _ in 0..rand::Rng::gen_range(&mut random, 1..4) {
                let position = rand::Rng::gen_range(&mut random, 0..damaged.len());
                damaged[position] = rand::Rng::gen(&mut random);
            }
            damaged.truncate(rand::Rng::gen_range(&mut random, 0..=file.len()));
            if let Ok(capture) = parse(&damaged) {
                assert!(capture.frames.len() <= 30);
            }
        }
    }
}
