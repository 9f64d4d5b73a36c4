//! Puts that hosts post when a kernel has ended: the messages of kernels that end for each of them.

use anyhow::{ensure, Context};
use hermes_testbench::cluster::{self, ClusterOptions, Node};
use hermes_testbench::cosim::{put, CosimError, Device as _};
use serde::{Deserialize, Serialize};
use verilator_sys::ModelLibrary;

use super::{outcome::pattern, MTU, TIMEOUT};

/// Every host puts bytes to the next node, and to the one before it if there are two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Messages {
    /// Bytes of a put.
    pub bytes: u32,
    /// Nodes that are put to, 1 or 2.
    pub peers: u32,
    /// Times that all do so.
    pub rounds: u32,
}

/// Their times on node 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageTimes {
    /// Mean cycles of a round but the first: from the first post until the host knows that all of
    /// its puts are complete.
    pub mean: f64,
    /// Those of the first.
    pub first: u64,
}

impl Messages {
    /// Most bytes of a put.
    const MOST_BYTES: u32 = 16 << 20;
    /// Cycles of a round after which a host gives up: several times those of the most bytes.
    const PATIENCE: u64 = 10_000_000;

    /// Makes sure that `nodes` nodes can do it.
    ///
    /// # Errors
    /// The field, its value and what was expected.
    pub fn check(&self, nodes: usize) -> anyhow::Result<()> {
        let Self { bytes, peers, rounds } = *self;
        let most = Self::MOST_BYTES;
        ensure!((1..=most).contains(&bytes), "bytes {bytes}: expected 1 to {most}");
        let most = 2.min(nodes as u32 - 1);
        ensure!((1..=most).contains(&peers), "peers {peers}: expected 1 to {most}");
        ensure!((2..=1_000).contains(&rounds), "rounds {rounds}: expected 2 to 1000, the first is left out");
        Ok(())
    }

    /// Bytes of the heap: those that are put, and a place for those of each peer.
    const fn heap_bytes(&self) -> u32 {
        3 * self.place()
    }

    const fn place(&self) -> u32 {
        self.bytes.next_multiple_of(64)
    }

    /// A node's part: its times, and what its places hold at the end.
    fn run(&self, node: &mut Node) -> Result<(Vec<u64>, Vec<u8>), CosimError> {
        node.mtu = MTU;
        node.host.write("NET_TIMEOUT", TIMEOUT)?;
        let heap = node.host.rmalloc("the symmetric heap", self.heap_bytes() as usize)?;
        let source: Vec<u8> = (0..self.bytes as usize).map(|at| pattern(at + node.number)).collect();
        node.host.device_mut().write_memory(heap, &source)?;
        node.connect_mesh(heap, self.heap_bytes())?;
        let nodes = node.nodes;
        let peers = [(node.number + 1) % nodes, (node.number + nodes - 1) % nodes];
        let (mut completed, mut times) = (node.host.read("NET_COMPLETED")?, Vec::new());
        for _ in 0..self.rounds {
            node.meet()?;
            let begin = node.host.device_mut().cycle();
            for (place, peer) in (1..).zip(peers).take(self.peers as usize) {
                let command = put(heap + place * self.place(), heap, self.bytes);
                cluster::post(node, peer as u32, &command)?;
                completed = completed.wrapping_add(1);
            }
            while node.host.read("NET_COMPLETED")? != completed {
                let waited = node.host.device_mut().cycle() - begin;
                if waited > Self::PATIENCE {
                    return Err(CosimError::StillBusy { register: "NET_COMPLETED", cycles: waited });
                }
            }
            times.push(node.host.device_mut().cycle() - begin);
        }
        node.meet()?;
        let error = node.host.read("NET_ERROR")?;
        if error != 0 {
            return Err(CosimError::Firmware(format!("a put failed: NET_ERROR {error:#x}")));
        }
        Ok((times, node.read_clean(heap, self.heap_bytes() as usize)?))
    }

    /// Runs it, and compares every byte. Gives the cycles of all nodes too.
    pub(super) fn simulate(
        &self,
        options: &ClusterOptions,
        library: &ModelLibrary,
    ) -> anyhow::Result<(MessageTimes, u64)> {
        let result = cluster::run(library, options, |node| {
            let (times, heap) = self.run(node)?;
            Ok((times, heap, node.host.device_mut().cycle()))
        })?;
        let nodes = result.nodes.len();
        for (number, (_, heap, _)) in result.nodes.iter().enumerate() {
            let from = [(number + nodes - 1) % nodes, (number + 1) % nodes];
            for (place, from) in (1..).zip(from).take(self.peers as usize) {
                let first = place * self.place() as usize;
                let wrong = (0..self.bytes as usize).find(|at| heap[first + at] != pattern(at + from));
                ensure!(
                    wrong.is_none(),
                    "node {number}: byte {} of what node {from} put is wrong",
                    wrong.unwrap_or(0)
                );
            }
        }
        let (times, _, cycles) = result.nodes.first().context("a cluster without nodes")?;
        let (first, behind) = times.split_first().context("no round")?;
        let mean = behind.iter().sum::<u64>() as f64 / behind.len().max(1) as f64;
        Ok((MessageTimes { mean, first: *first }, cycles * nodes as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked() {
        let good = Messages { bytes: 100, peers: 2, rounds: 3 };
        good.check(3).unwrap();
        assert_eq!(good.heap_bytes(), 3 * 128);
        let wrong = |messages: Messages, nodes| messages.check(nodes).unwrap_err().to_string();
        assert_eq!(wrong(good, 2), "peers 2: expected 1 to 1");
        assert_eq!(wrong(Messages { bytes: 0, ..good }, 3), "bytes 0: expected 1 to 16777216");
        assert_eq!(
            wrong(Messages { rounds: 1, ..good }, 3),
            "rounds 1: expected 2 to 1000, the first is left out"
        );
    }
}
