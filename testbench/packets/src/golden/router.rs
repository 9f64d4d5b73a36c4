use super::{check_ip_header, classify, dec_ttl, Golden, RouteModel};
use crate::slot::SlotPacket;
use crate::tables::FilterSet;

/// A router: the packet goes through the other models, one after the other, until one drops it. A
/// dropped packet stays unchanged; a forwarded one goes to the port of its route.
pub fn router(filters: &FilterSet, routes: &RouteModel, packet: &SlotPacket) -> Golden {
    let before = [check_ip_header(packet), classify(filters, packet)];
    if let Some(dropped) = before.into_iter().find(|golden| !golden.verdict.is_forward()) {
        return dropped;
    }
    let routed = routes.route_lookup(packet);
    if !routed.verdict.is_forward() {
        return routed;
    }
    let forwarded = dec_ttl(packet);
    if forwarded.verdict.is_forward() {
        Golden { verdict: routed.verdict, ..forwarded }
    } else {
        forwarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::RouteTable;
    use crate::traffic::{correct_checksum, Frame, Generator, Traffic};
    use crate::verdict::{Reason, Verdict};

    /// The first stage that objects decides, and a packet that none objects to is changed by the
    /// last.
    #[test]
    fn stages_in_their_order() {
        let kind = "fixed:60".parse().unwrap();
        let good = Generator::new(Traffic { kind, seed: 1, bad_share: 0.0, rate: 100.0 }).next().unwrap();
        let any = "0 : 65535 0 : 65535 0x00/0x00";
        let filters = format!("@10.66.0.0/16 0.0.0.0/0 {any} deny\n@10.0.0.0/8 0.0.0.0/0 {any}\n");
        let filters = FilterSet::parse(&filters).unwrap();
        let routes = RouteModel::new(&RouteTable::parse("198.0.0.0/8 5\n").unwrap());
        let run = |changes: &[(usize, u8)]| {
            let mut data = good.data.clone();
            changes.iter().for_each(|(position, value)| data[*position] = *value);
            correct_checksum(&mut data);
            let golden = router(
                &filters,
                &routes,
                &SlotPacket::new(&Frame { data: data.clone(), ..good.clone() }, 11),
            );
            assert_eq!(golden.frame == data, !golden.verdict.is_forward());
            golden.verdict
        };
        let (source, net, destination, ttl) = ((26, 127), (27, 66), (30, 199), (22, 1));
        assert_eq!(run(&[(27, 1)]), Verdict::forward(5));
        assert_eq!(run(&[(27, 1), ttl]), Verdict::drop(Reason::Ttl));
        assert_eq!(run(&[(27, 1), ttl, destination]), Verdict::drop(Reason::NoRoute));
        assert_eq!(run(&[net, ttl, destination]), Verdict::drop_by_rule(0));
        assert_eq!(run(&[(26, 11), net, ttl, destination]), Verdict::drop(Reason::NoRule));
        assert_eq!(run(&[source, net, ttl, destination]), Verdict::drop(Reason::Source));
    }
}
