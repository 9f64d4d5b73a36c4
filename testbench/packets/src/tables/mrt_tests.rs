use super::*;

/// An MRT record: common header and body.
fn record(kind: u16, subtype: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x53, 0x71, 0, 0];
    bytes.extend(kind.to_be_bytes());
    bytes.extend(subtype.to_be_bytes());
    bytes.extend((body.len() as u32).to_be_bytes());
    bytes.extend(body);
    bytes
}

/// A peer index table with one peer of a 4-byte AS number.
fn peers() -> Vec<u8> {
    record(13, 1, &[192, 0, 2, 1, 0, 0, 0, 1, 2, 192, 0, 2, 9, 192, 0, 2, 9, 0, 0, 0xfd, 0xe8])
}

/// The path attributes ORIGIN and AS_PATH.
const ORIGIN: [u8; 13] = [0x40, 1, 1, 0, 0x40, 2, 6, 2, 1, 0, 0, 0xfd, 0xe8];

/// The path attributes ORIGIN, AS_PATH and NEXT_HOP 192.0.2.`host`.
fn attributes(host: u8) -> Vec<u8> {
    [&ORIGIN[..], &[0x40, 3, 4, 192, 0, 2, host]].concat()
}

/// A route in a record of version 2.
fn entry(attributes: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0x53, 0x71, 0, 0];
    bytes.extend((attributes.len() as u16).to_be_bytes());
    bytes.extend(attributes);
    bytes
}

/// A record of version 2 with these routes, each by its attributes.
fn rib(subtype: u16, length: u8, prefix: &[u8], routes: &[Vec<u8>]) -> Vec<u8> {
    let mut body = vec![0, 0, 0, 1, length];
    body.extend(prefix);
    body.extend((routes.len() as u16).to_be_bytes());
    routes.iter().for_each(|attributes| body.extend(entry(attributes)));
    record(13, subtype, &body)
}

fn route(prefix: &[u8], length: u8, host: u8) -> Vec<u8> {
    rib(2, length, prefix, &[attributes(host)])
}

/// A record of version 1.
fn version_1(prefix: [u8; 4], length: u8, host: u8) -> Vec<u8> {
    let attributes =
        [&[0x40, 1, 1, 0, 0x40, 2, 4, 2, 1, 0xfd, 0xe8, 0x40, 3, 4, 192, 0, 2][..], &[host]].concat();
    let mut body = vec![0, 0, 0, 1];
    body.extend(prefix);
    body.extend([length, 1, 0x53, 0x71, 0, 0, 192, 0, 2, 9, 0xfd, 0xe8, 0, attributes.len() as u8]);
    body.extend(attributes);
    record(12, 1, &body)
}

fn text(records: &[Vec<u8>]) -> String {
    parse(&records.concat()).unwrap().to_text()
}

fn error(records: &[Vec<u8>]) -> String {
    parse(&records.concat()).unwrap_err()
}

#[test]
fn a_dump_of_version_2() {
    let dump = [peers(), route(&[10], 8, 1), route(&[10, 1, 128], 17, 2), route(&[], 0, 1)];
    assert!(is_mrt(&dump.concat()));
    assert_eq!(text(&dump), "0.0.0.0/0 0\n10.0.0.0/8 0\n10.1.128.0/17 1\n");
    for cut in 1..route(&[], 0, 1).len() {
        let bytes = dump.concat();
        let error = parse(&bytes[..bytes.len() - cut]).unwrap_err();
        assert!(error.starts_with("MRT record 4 has "), "{error}");
    }
}

#[test]
fn the_first_route_of_a_prefix_counts() {
    let first = [vec![9, 0, 0, 0], vec![10, 0, 0, 0]];
    let version_1 =
        [version_1([9, 0, 0, 0], 8, 250), version_1([10, 0, 0, 0], 8, 1), version_1([10, 0, 0, 0], 8, 2)];
    let version_2 = [
        peers(),
        rib(2, 8, &first[0][..1], &[attributes(250)]),
        rib(2, 8, &first[1][..1], &[attributes(1), attributes(2)]),
    ];
    for dump in [&version_1[..], &version_2[..]] {
        let table = parse(&dump.concat()).unwrap();
        assert_eq!(table.to_text(), "9.0.0.0/8 0\n10.0.0.0/8 1\n");
        assert_eq!(table.left_out, LeftOut { further: 1, ..LeftOut::default() });
        assert_eq!(table.next_hops, 2, "that of the second route is none");
    }
}

#[test]
fn what_is_left_out_is_counted() {
    let mut generic_vpn = vec![0, 0, 0, 1, 0, 1, 128, 88];
    generic_vpn.extend([0; 11]);
    generic_vpn.extend([0, 0]);
    let dump = [
        peers(),
        rib(2, 8, &[10], &[ORIGIN.to_vec(), attributes(1)]),
        rib(2, 8, &[12], &[ORIGIN.to_vec()]),
        rib(2, 8, &[13], &[vec![0x40, 3, 9, 1], attributes(2)]),
        rib(3, 8, &[10], &[attributes(77)]),
        rib(9, 8, &[11], &[]),
        rib(4, 32, &[0x20, 1, 0xd, 0xb8], &[attributes(3)]),
        record(13, 6, &[0, 0, 0, 1, 0, 1, 2, 8, 10, 0, 0]),
        record(13, 6, &[0, 0, 0, 1, 0, 2, 1, 8, 0x20, 0, 0]),
        record(13, 6, &generic_vpn),
        record(13, 7, &[1, 2, 3]),
        record(13, 99, &[1, 2, 3]),
    ];
    let table = parse(&dump.concat()).unwrap();
    assert_eq!(table.to_text(), "10.0.0.0/8 0\n13.0.0.0/8 1\n");
    let expected = LeftOut {
        without_next_hop: 2,
        broken: 1,
        multicast: 3,
        not_ipv4: 2,
        other_family: 1,
        unknown: 1,
        ..LeftOut::default()
    };
    assert_eq!(table.left_out, expected);
}

#[test]
fn next_hops_of_ipv6() {
    let address = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let link = [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let reach = |value: &[u8]| [&ORIGIN[..], &[0x80, 14, value.len() as u8], value].concat();
    let short = reach(&[&[16][..], &address].concat());
    let both = reach(&[&[32][..], &address, &link].concat());
    let long = reach(&[&[0, 1, 1, 16][..], &address, &[0, 8, 10]].concat());
    let extended = [&[0x90, 14, 0, 17, 16][..], &address].concat();
    for attributes in [&short, &both, &long, &extended] {
        assert_eq!(next_hop(attributes), Some(Some(Ipv6Addr::from(address).into())));
    }
    let preferred = [short.clone(), attributes(5)].concat();
    assert_eq!(next_hop(&preferred), Some(Some(Ipv4Addr::new(192, 0, 2, 5).into())));
    assert_eq!(next_hop(&reach(&[0])), Some(None));
    assert_eq!(next_hop(&reach(&[])), None);
    assert_eq!(next_hop(&reach(&[5, 1, 2, 3, 4, 5])), None);
    assert_eq!(
        text(&[peers(), rib(2, 8, &[10], &[short]), route(&[11], 8, 2)]),
        "10.0.0.0/8 0\n11.0.0.0/8 1\n"
    );
}

#[test]
fn records_with_several_paths_and_families() {
    let path = |attributes: &[u8]| {
        let mut bytes = entry(attributes);
        bytes.splice(6..6, [0, 0, 0, 7]);
        bytes
    };
    let routes = [&[0, 2][..], &path(&attributes(1)), &path(&attributes(2))].concat();
    let specific = record(13, 8, &[&[0, 0, 0, 1, 8, 10][..], &routes].concat());
    let in_routes = record(13, 12, &[&[0, 0, 0, 1, 0, 1, 1, 8, 11][..], &routes].concat());
    let in_front = [&[0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 7, 8, 12, 0, 1][..], &entry(&attributes(2))].concat();
    let generic = [&[0, 0, 0, 1, 0, 1, 1, 8, 13, 0, 1][..], &entry(&attributes(3))].concat();
    let dump = [specific, in_routes, record(13, 12, &in_front), record(13, 6, &generic)];
    assert_eq!(text(&dump), "10.0.0.0/8 0\n11.0.0.0/8 0\n12.0.0.0/8 1\n13.0.0.0/8 2\n");
}

#[test]
fn files_that_are_no_table_are_named() {
    let update = record(16, 4, &[0; 20]);
    let expected = "MRT record 1 is an update (BGP4MP): this is a file of updates; expected a routing table";
    assert!(is_mrt(&update));
    assert!(error(&[update.clone(), peers(), route(&[10], 8, 1)]).starts_with(expected));
    assert!(error(&[record(17, 1, &[0; 24])]).starts_with(expected));
    assert!(error(&[peers(), route(&[10], 8, 1), update]).starts_with("MRT record 3 is an update"));
    assert!(error(&[record(16, 3, &[0; 20])]).contains("expected TABLE_DUMP_V2, which OpenBGPD writes"));
    let ospf = record(48, 0, &[0; 20]);
    assert!(is_mrt(&ospf) && error(&[ospf]).starts_with("MRT record 1 is of type 48, no part"));
    assert!(!is_mrt(b"10.0.0.0/8 1\n10.1.0.0/16 2\n"));
    assert!(!is_mrt(b""));
    assert!(!is_mrt(b"\xfe\xff\x001\x000\x00.\x000\x00.\x00"));
}

#[test]
fn broken_records_are_errors() {
    let mut dump = [peers(), route(&[10], 8, 1)].concat();
    let second = peers().len();
    dump[second + 8..second + 12].copy_from_slice(&[0xff; 4]);
    let error_of = |bytes: &[u8]| parse(bytes).unwrap_err();
    assert_eq!(error_of(&dump), "MRT record 2 has 4294967295 bytes by its header; 36 follow in the file");
    let broken = "MRT record 1 ends within a field, or does not end behind its last route";
    let mut many = route(&[10], 8, 1);
    many[18..20].copy_from_slice(&[0xff, 0xff]);
    assert_eq!(error_of(&many), broken);
    assert_eq!(
        error(&[rib(2, 33, &[10, 0, 0, 0, 0], &[])]),
        "MRT record 1 has a prefix of 33 bits; expected 0 to 32"
    );
    assert_eq!(error(&[rib(2, 200, &[10], &[])]), "MRT record 1 has a prefix of 200 bits; expected 0 to 32");
    for (kind, subtype, body) in [(13, 2, route(&[10], 8, 1)), (12, 1, version_1([10, 0, 0, 0], 8, 1))] {
        for length in 0..body.len() - 12 {
            assert_eq!(error(&[record(kind, subtype, &body[12..12 + length])]), broken);
        }
        assert_eq!(error(&[record(kind, subtype, &[&body[12..], &[0]].concat())]), broken);
    }
}

#[test]
fn a_compressed_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rib.gz");
    let dump = [peers(), route(&[10], 8, 1)].concat();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &dump).unwrap();
    std::fs::write(&path, encoder.finish().unwrap()).unwrap();
    assert_eq!(RouteTable::read(&path).unwrap().to_text(), "10.0.0.0/8 0\n");
    std::fs::write(&path, &dump[..dump.len() - 1]).unwrap();
    let error = RouteTable::read(&path).unwrap_err().to_string();
    assert!(error.contains("rib.gz: MRT record 2"), "{error}");
}
