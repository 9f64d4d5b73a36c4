//! Clusters that cannot be, and nodes that fail.

use hermes_testbench::cluster::{self, ClusterError, ClusterOptions, LinkOptions, Node};
use hermes_testbench::cosim::CosimError;

use super::library;

fn error(options: ClusterOptions) -> String {
    cluster::run(library(), &options, |_| Ok(())).unwrap_err().to_string()
}

#[test]
fn options_that_cannot_be() {
    let with = |nodes| ClusterOptions { nodes, ..ClusterOptions::default() };
    assert_eq!(error(with(0)), "nodes: 0 is not possible; expected 2 to 8");
    assert_eq!(error(with(9)), "nodes: 9 is not possible; expected 2 to 8");
    let threads = ClusterOptions { threads: 0, ..ClusterOptions::default() };
    assert_eq!(error(threads), "threads: 0 is not possible; expected 1 or more");
    let bad = LinkOptions { loss: 100.5, ..LinkOptions::default() };
    let link = ClusterOptions { link: bad.clone(), ..ClusterOptions::default() };
    assert_eq!(error(link), "loss: 100.5 is not possible; expected 0 to 100 percent");
    let links = ClusterOptions { links: vec![(1, bad)], ..ClusterOptions::default() };
    assert_eq!(error(links), "loss: 100.5 is not possible; expected 0 to 100 percent");
    let links = ClusterOptions { links: vec![(2, LinkOptions::default())], ..ClusterOptions::default() };
    assert_eq!(error(links), "node of a link: 2 is not possible; expected 0 to 1");
    let folder = tempfile::tempdir().unwrap();
    let captures = Some(folder.path().join("none"));
    let text = error(ClusterOptions { captures, ..ClusterOptions::default() });
    assert!(text.contains("none/port-0.pcapng: No such file"), "{text}");
}

/// A node that fails stops the others, wherever they are; the error names it, the same with any
/// number of threads. Two that fail in one step: the first of them.
#[test]
fn a_node_that_fails_stops_the_others() {
    for threads in [1, 2, 3] {
        let options = ClusterOptions { nodes: 3, threads, ..ClusterOptions::default() };
        let fails = |at: u64| {
            move |node: &mut Node| {
                if node.number == 0 {
                    return node.meet().and_then(|()| node.run(1 << 40));
                }
                node.run(if node.number == 1 { at } else { 1_030 })?;
                Err::<(), _>(CosimError::NoPacketPorts)
            }
        };
        for (at, culprit) in [(1_090, 1), (2_000, 2)] {
            match cluster::run(library(), &options, fails(at)).unwrap_err() {
                ClusterError::Node { node, error: CosimError::NoPacketPorts } => assert_eq!(node, culprit),
                other => panic!("{other}"),
            }
        }
    }
}

/// A program that panics does not leave the others waiting.
#[test]
fn a_panic_reaches_the_caller() {
    let options = ClusterOptions { nodes: 2, threads: 1, ..ClusterOptions::default() };
    let panics = std::panic::catch_unwind(|| {
        cluster::run(library(), &options, |node| {
            assert!(node.number == 0, "node 1 panics");
            node.meet()
        })
    });
    let text = panics.unwrap_err();
    assert_eq!(text.downcast_ref::<&str>(), Some(&"node 1 panics"));
}
