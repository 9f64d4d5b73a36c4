//! A packet kernel on every node.

use std::collections::BTreeMap;
use std::time::Duration;

use super::node::Node;
use super::serve::{CommandList, Served};
use super::service::ServiceCounts;
use super::status::NetStatus;
use crate::cosim::{
    self, ArraySetup, BusErrors, CosimError, FaultRecord, Host, KernelImage, MemoryMap, Packet, RunOptions,
    RunResult, Simulation,
};
use crate::verdict::Verdict;

/// A kernel that leaves commands in a list in memory, and what it needs.
///
/// Each node runs its packets through the kernel; then its host serves the list, and waits until
/// its commands are complete. The argument block has six words: address of the [`CommandList`],
/// address of the symmetric heap, number of the node, number of nodes (with the peer outside of a
/// node that has one), entries of the list, bytes of the heap.
#[derive(Clone, Debug)]
pub struct Program {
    /// The kernel.
    pub kernel: KernelImage,
    /// The packets of each node.
    pub packets: Vec<Vec<Packet>>,
    /// How the kernel runs; its argument block is made here.
    pub setup: ArraySetup,
    /// Bytes of the symmetric heap, which has the same address on all nodes, and holds zeros.
    pub heap_bytes: u32,
    /// Entries of the list of commands.
    pub commands: u32,
    /// NET_TIMEOUT, if not that of the reset: longer for a peer outside, whose time is another one.
    pub timeout: Option<u32>,
    /// Once all commands are complete, the nodes work on until nothing has come from outside for so
    /// long.
    pub linger: Option<Duration>,
}

/// A node whose queue pairs are up, as a peer outside must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeUp {
    /// Its number.
    pub node: usize,
    /// Address of its symmetric heap.
    pub heap: u32,
    /// Key of the region that the heap is.
    pub key: u32,
    /// First packet sequence number to its peer outside, if it has one.
    pub sequence: Option<u32>,
}

/// What a node did.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct NodeReport {
    /// Cycles since reset at which its kernel began, ended, and its last command was complete.
    pub began: u64,
    /// The kernel has ended.
    pub ended: u64,
    /// The last command is complete.
    pub complete: u64,
    /// Packets that the kernel processed.
    pub packets: usize,
    /// What became of its packets.
    #[serde(flatten)]
    pub outcome: KernelOutcome,
    /// Its commands.
    #[serde(flatten)]
    pub served: Served,
    /// What the threads that serve its commands did; none if the node serves them itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceCounts>,
    /// CRC-32 of its symmetric heap when all commands of all nodes were complete.
    pub heap_crc: u32,
    /// Its network interface then.
    pub status: NetStatus,
    /// The heap.
    #[serde(skip)]
    pub heap: Vec<u8>,
}

/// What became of the packets of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct KernelOutcome {
    /// Threads that ended with a fault.
    pub faults: u32,
    /// The records of the fault FIFO.
    pub fault_records: Vec<FaultRecord>,
    /// Packets of each verdict, by the word.
    #[serde(skip)]
    pub words: BTreeMap<u32, usize>,
    /// Packets that the kernel forwards with a length beyond their slot, and the length.
    pub wrong_lengths: Vec<(u64, u32)>,
    /// Accesses that memory has refused.
    #[serde(flatten)]
    pub bus_errors: BusErrors,
    /// What lay where beside the kernel.
    #[serde(skip)]
    pub memory: MemoryMap,
}

impl KernelOutcome {
    /// That of a run with `setup`.
    pub(super) fn of(host: &Host<Simulation>, setup: &ArraySetup, result: &RunResult) -> Self {
        let mut words = BTreeMap::new();
        for packet in &result.packets {
            *words.entry(packet.verdict).or_default() += 1;
        }
        let most = cosim::frame_capacity(setup);
        let wrong = result
            .packets
            .iter()
            .filter(|packet| Verdict(packet.verdict).is_forward() && packet.left.length as usize > most);
        let memory = host.named_areas(setup.stack_bytes_log2);
        Self {
            faults: result.fault_count,
            fault_records: result.faults.clone(),
            words,
            wrong_lengths: wrong.map(|packet| (packet.index, packet.left.length)).collect(),
            bus_errors: BusErrors::simulated(result.bus_errors, &result.memory, &memory),
            memory,
        }
    }
}

impl Program {
    /// Runs it on a node; all nodes must. They begin together, when all queue pairs are up; each
    /// calls `up` then.
    ///
    /// # Errors
    /// The kernel does not fit or is stuck, or commands do not complete.
    pub fn run(&self, node: &mut Node, up: impl Fn(NodeUp)) -> Result<NodeReport, CosimError> {
        node.host.load_kernel(&self.kernel)?;
        let heap = node.host.rmalloc("the symmetric heap", self.heap_bytes as usize)?;
        let list = CommandList::allocate(node, self.commands)?;
        let nodes = node.nodes + usize::from(node.outside.is_some());
        let words = [list.address, heap, node.number as u32, nodes as u32, list.entries, self.heap_bytes];
        let argument = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let setup = ArraySetup { argument, ..self.setup.clone() };
        let layout = node.host.configure(&setup)?;
        if let Some(cycles) = self.timeout {
            node.host.write("NET_TIMEOUT", cycles)?;
        }
        node.connect_mesh(heap, self.heap_bytes)?;
        let sequence = node.outside.map(|_| node.first_sequence_outside());
        up(NodeUp { node: node.number, heap, key: node.window_key(), sequence });

        let began = node.host.device_mut().cycle();
        let packets = &self.packets[node.number];
        let options = RunOptions { skip_idle: false, ..RunOptions::default() };
        let result = cosim::run(&mut node.host, &setup, &layout, packets, options, &mut |_| {})?;
        let ended = node.host.device_mut().cycle();
        let served = list.serve(node)?;
        let complete = node.host.device_mut().cycle();
        node.meet()?;
        self.linger.map_or(Ok(()), |quiet| node.linger(quiet))?;
        let status = NetStatus::read(&mut node.host)?;
        let heap = node.read_clean(heap, self.heap_bytes as usize)?;
        Ok(NodeReport {
            began,
            ended,
            complete,
            packets: result.packets.len(),
            outcome: KernelOutcome::of(&node.host, &setup, &result),
            served,
            service: node.service_counts(),
            heap_crc: crc32fast::hash(&heap),
            status,
            heap,
        })
    }
}
