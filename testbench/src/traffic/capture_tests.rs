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
    // The bits above the link type tell the length of the FCS.
    assert_eq!(parse(&pcap(0x5400_0001, &[(&[1; 60], 60)])).unwrap().frames.len(), 1);
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
