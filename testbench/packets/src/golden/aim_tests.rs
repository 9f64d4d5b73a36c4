//! Golden models on traffic that is aimed at their tables.

use super::{classify, RouteModel};
use crate::slot::SlotPacket;
use crate::tables::{generate_filters, generate_routes, FilterKind};
use crate::traffic::{Aim, Generator, Traffic};

fn packets(aim: Aim, kind: &str) -> Vec<SlotPacket> {
    let traffic =
        Traffic { kind: kind.parse().unwrap(), seed: crate::test_seed(), bad_share: 0.0, rate: 1.0 };
    Generator::aimed(traffic, aim).take(400).map(|frame| SlotPacket::new(&frame, 11)).collect()
}

#[test]
fn most_packets_match_a_filter_or_have_a_route() {
    let set = generate_filters(FilterKind::Acl, 100, 0, 1);
    let aimed = packets(Aim { filters: set.filters.clone(), ..Aim::default() }, "imix");
    let matching = aimed.iter().filter(|packet| classify(&set, packet).verdict.is_forward()).count();
    assert!((200..400).contains(&matching), "{matching} of 400");

    let table = generate_routes(500, 8, 1);
    let model = RouteModel::new(&table);
    let aimed = packets(Aim { routes: table.routes, ..Aim::default() }, "imix");
    let routed = aimed.iter().filter(|packet| model.route_lookup(packet).verdict.is_forward()).count();
    assert!((300..400).contains(&routed), "{routed} of 400");
}
