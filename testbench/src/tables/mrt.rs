//! MRT dumps of a BGP router's table (RFC 6396): TABLE_DUMP_V2 and TABLE_DUMP.

use bgpkit_parser::models::{MrtMessage, TableDumpV2Message};
use bgpkit_parser::parser::mrt::mrt_record::parse_mrt_record;
use bgpkit_parser::ParserError;
use ipnet::IpNet;

use super::routes::{Builder, RouteTable};

/// Whether `bytes` begin as an MRT dump of a routing table does: type 12 or 13 in the common
/// header.
pub(super) fn is_mrt(bytes: &[u8]) -> bool {
    bytes.len() >= 12 && bytes[4] == 0 && matches!(bytes[5], 12 | 13)
}

/// The table in a dump: the route of a prefix is the first of its entries that has a next hop.
pub(super) fn parse(mut bytes: &[u8]) -> Result<RouteTable, String> {
    let mut builder = Builder::default();
    for number in 1_usize.. {
        complete(bytes).map_err(|problem| format!("MRT record {number}: {problem}"))?;
        let record = match parse_mrt_record(&mut bytes) {
            Ok(record) => record,
            Err(error) if matches!(error.error, ParserError::EofExpected) => break,
            Err(error) => return Err(format!("MRT record {number}: {}", error.error)),
        };
        let (prefix, next_hop) = match record.message {
            MrtMessage::TableDumpMessage(message) => (message.prefix.prefix, message.attributes.next_hop()),
            MrtMessage::TableDumpV2Message(TableDumpV2Message::RibAfi(rib)) => {
                let next_hop = rib.rib_entries.iter().find_map(|entry| entry.attributes.next_hop());
                (rib.prefix.prefix, next_hop)
            }
            MrtMessage::TableDumpV2Message(TableDumpV2Message::PeerIndexTable(_)) => continue,
            _ => return Err(format!("MRT record {number} is no part of a routing table")),
        };
        match (prefix, next_hop) {
            (IpNet::V4(prefix), Some(next_hop)) => builder.add(prefix.trunc(), &next_hop.to_string()),
            (IpNet::V4(prefix), None) => {
                return Err(format!("MRT record {number}: {prefix} has no next hop"));
            }
            (IpNet::V6(_), _) => builder.table.not_ipv4 += 1,
        }
    }
    Ok(builder.finish())
}

/// Checks that the first record of `bytes` is whole: the parser sets memory aside for as many bytes
/// as its header promises.
fn complete(bytes: &[u8]) -> Result<(), String> {
    let Some(length) = bytes.get(8..12).and_then(|field| field.try_into().ok()) else {
        return Ok(());
    };
    let (length, rest) = (u32::from_be_bytes(length) as usize, bytes.len() - 12);
    if length > rest {
        return Err(format!("has {length} bytes by its header; {rest} follow in the file"));
    }
    // The parser doubles the count of a prefix's routes in 16 bits. RIB records are of the subtypes
    // 2 to 5 and 8 to 11.
    if bytes[5] == 13 && matches!(bytes[7], 2..=5 | 8..=11) {
        let prefix_bytes = bytes.get(16).map_or(0, |bits| usize::from(*bits).div_ceil(8));
        if let Some([high, low]) = bytes.get(17 + prefix_bytes..19 + prefix_bytes) {
            let routes = u16::from_be_bytes([*high, *low]);
            if routes > i16::MAX as u16 {
                return Err(format!("has {routes} routes of one prefix; expected at most {}", i16::MAX));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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

    /// The path attributes ORIGIN, AS_PATH and NEXT_HOP.
    fn attributes(next_hop: [u8; 4]) -> Vec<u8> {
        let mut bytes = vec![0x40, 1, 1, 0, 0x40, 2, 6, 2, 1, 0, 0, 0xfd, 0xe8, 0x40, 3, 4];
        bytes.extend(next_hop);
        bytes
    }

    /// A RIB_IPV4_UNICAST record with one entry.
    fn route(sequence: u32, prefix: &[u8], length: u8, next_hop: [u8; 4]) -> Vec<u8> {
        let mut body = sequence.to_be_bytes().to_vec();
        body.push(length);
        body.extend(prefix);
        body.extend([0, 1, 0, 0, 0x53, 0x71, 0, 0]);
        let attributes = attributes(next_hop);
        body.extend((attributes.len() as u16).to_be_bytes());
        body.extend(attributes);
        record(13, 2, &body)
    }

    #[test]
    fn a_dump_of_version_2() {
        let mut dump = peers();
        dump.extend(route(0, &[10], 8, [192, 0, 2, 1]));
        dump.extend(route(1, &[10, 1, 128], 17, [192, 0, 2, 2]));
        dump.extend(route(2, &[], 0, [192, 0, 2, 1]));
        assert!(is_mrt(&dump));
        let table = parse(&dump).unwrap();
        assert_eq!(table.to_text(), "0.0.0.0/0 0\n10.0.0.0/8 0\n10.1.128.0/17 1\n");
        let error = parse(&dump[..dump.len() - 3]).unwrap_err();
        assert!(error.starts_with("MRT record 4"), "{error}");
        dump.extend(record(16, 4, &[0; 40]));
        assert!(parse(&dump).unwrap_err().starts_with("MRT record 5"));
    }

    #[test]
    fn a_record_is_no_longer_than_the_file() {
        let mut dump = [peers(), route(0, &[10], 8, [192, 0, 2, 1])].concat();
        let second = peers().len();
        dump[second + 8..second + 12].copy_from_slice(&[0xff; 4]);
        let error = parse(&dump).unwrap_err();
        assert!(error.starts_with("MRT record 2: has 4294967295 bytes by its header; "), "{error}");
    }

    #[test]
    fn too_many_routes_of_a_prefix_are_an_error() {
        let mut dump = route(0, &[10], 8, [192, 0, 2, 1]);
        dump[18..20].copy_from_slice(&[0x80, 0]);
        let error = parse(&dump).unwrap_err();
        assert_eq!(error, "MRT record 1: has 32768 routes of one prefix; expected at most 32767");
    }

    #[test]
    fn a_compressed_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rib.gz");
        let dump = [peers(), route(0, &[10], 8, [192, 0, 2, 1])].concat();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &dump).unwrap();
        std::fs::write(&path, encoder.finish().unwrap()).unwrap();
        assert_eq!(RouteTable::read(&path).unwrap().to_text(), "10.0.0.0/8 0\n");
        std::fs::write(&path, &dump[..dump.len() - 1]).unwrap();
        let error = RouteTable::read(&path).unwrap_err().to_string();
        assert!(error.contains("rib.gz: MRT record 2"), "{error}");
    }

    #[test]
    fn text_is_no_dump() {
        assert!(!is_mrt(b"10.0.0.0/8 1\n10.1.0.0/16 2\n"));
        assert!(!is_mrt(b""));
    }
}
