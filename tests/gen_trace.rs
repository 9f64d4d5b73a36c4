//! `hermes gen-trace`: captures that other tools read, the same for the same seed.

mod common;

use common::{frames, Folder};

#[test]
fn sizes_and_counts() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 120 --seed 3 -o imix.pcap");
    let lengths: Vec<_> = frames(folder.path("imix.pcap")).iter().map(Vec::len).collect();
    let count = |bytes| lengths.iter().filter(|length| **length == bytes).count();
    assert_eq!((count(64), count(594), count(1518)), (70, 40, 10));
    folder.succeed("gen-trace --kind fixed:256 --packets 7 -o fixed.pcap");
    assert_eq!(frames(folder.path("fixed.pcap")).iter().map(Vec::len).collect::<Vec<_>>(), [256; 7]);
    folder.succeed("gen-trace --kind tcp-mix --packets 0 -o none.pcap");
    assert_eq!(folder.read("none.pcap").len(), 24, "a capture without packets is its header");
}

#[test]
fn seeds() {
    let folder = Folder::new();
    for (name, seed) in [("a", 7), ("b", 7), ("c", 8)] {
        folder.succeed(&format!(
            "gen-trace --kind tcp-mix --packets 500 --bad-share 30 --seed {seed} -o {name}.pcap"
        ));
    }
    assert_eq!(folder.read("a.pcap"), folder.read("b.pcap"));
    assert_ne!(folder.read("a.pcap"), folder.read("c.pcap"));
}
