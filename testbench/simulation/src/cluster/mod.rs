//! Several arrays and the switch between them.
//!
//! | part | what it does |
//! | --- | --- |
//! | `link`, `switch` | the wires: rate, latency, loss, duplicates, reordering, damage; the star between them |
//! | `lockstep` | the nodes on their threads, a step at a time |
//! | `node` | a node: its array, its host, its end of the link, its queue pairs |
//! | `serve` | commands that a kernel wrote to memory, and the host posts |
//! | `program` | a kernel on every node, from its start to its last completion |
//! | `queues` | the same with command queues, which firmware serves while the kernel runs |
//! | `harts` | what the harts do while a kernel runs |
//! | `line_lock` | commands that wait in the L2 beside warps that stream, on one node |
//! | `service` | who serves the commands of a kernel in baselines, as delays in front of the link |
//! | `workloads` | kernels whose work is known: what they are told, and what must come of it |
//! | `heap` | pieces of the symmetric heap |
//! | `status` | queue pairs and counters, as a user reads them |
//! | `outside` | a port that is a socket: frames to and from another program |
//! | `pcapng` | what passes a port, as a capture |
//!
//! A program for a cluster is one function that every node runs, on a thread of its own, with the
//! host library of the single array:
//!
//! ```no_run
//! # use hermes_simulation::cluster::{self, ClusterOptions};
//! # fn example(library: &verilator_sys::ModelLibrary) -> Result<(), cluster::ClusterError> {
//! let options = ClusterOptions { nodes: 4, ..ClusterOptions::default() };
//! let result = cluster::run(library, &options, |node| {
//!     let window = node.host.rmalloc("the window", 4096)?;
//!     node.connect_mesh(window, 4096)?;
//!     node.meet()?;
//!     node.read_clean(window, 4096)
//! })?;
//! # Ok(())
//! # }
//! ```

mod error;
mod harts;
mod heap;
mod line_lock;
mod link;
mod lockstep;
mod node;
mod outside;
mod pcapng;
mod program;
mod queues;
mod serve;
mod service;
mod status;
mod switch;
mod workloads;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use verilator_sys::{Model, ModelLibrary};

pub use error::ClusterError;
pub use harts::HartCounts;
pub use heap::{HeapError, SymmetricHeap};
pub use line_lock::{LineLock, LineLockMet};
pub use link::{FaultCounts, LinkOptions, Place};
pub use node::{address, Node, OUTSIDE_PAIR, WINDOW_REGION};
pub use outside::{OutsideOptions, OutsidePeer};
pub use pcapng::{Direction, PcapngWriter};
pub use program::{KernelOutcome, NodeReport, NodeUp, Program};
pub use queues::{QueueArea, QueueMode, QueueProgram, QueueReport, QueueService, QUEUE_ENTRIES};
pub use serve::{post, wait_completed, CommandList, Served, ENTRY_BYTES};
pub use service::{CostsError, ServiceCosts, ServiceCounts, ServiceDelays, ServiceOptions};
pub use status::{counter_name, NetStatus, PairStatus};
pub use switch::{Delivery, PortCounts, Switch};
pub use workloads::{Jacobi, JacobiGolden, JacobiTimes, Ring, WorkloadError, WORKLOAD};

use crate::cosim::{CosimError, MemoryOptions, Simulation};
use lockstep::Lockstep;
use node::LinkEnd;
use outside::Outside;
use service::Service;

/// Bytes of a packet, unless a node takes others.
const DEFAULT_MTU: u32 = 1_024;
/// Most nodes of a cluster.
pub const MOST_NODES: usize = 8;

/// A cluster.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Nodes: 2 to 8, or 1 to 8 with a socket.
    pub nodes: usize,
    /// Bytes of the shared memory of a node.
    pub memory_bytes: u64,
    /// Its timing; the seed is another one in each node.
    pub memory: MemoryOptions,
    /// The links.
    pub link: LinkOptions,
    /// Links of single nodes that are different.
    pub links: Vec<(usize, LinkOptions)>,
    /// Who serves the commands of a node; itself, if nobody.
    pub service: Option<ServiceOptions>,
    /// Seed of faults and of the first packet sequence numbers.
    pub seed: u64,
    /// Threads that work at a time; the result does not depend on it.
    pub threads: usize,
    /// Folder for a capture of each port, `port-N.pcapng`.
    pub captures: Option<PathBuf>,
    /// A port that is a socket. With one, the result depends on what comes when.
    pub outside: Option<OutsideOptions>,
}

impl Default for ClusterOptions {
    /// Two nodes of 16 MiB on good links, one thread, seed 1.
    fn default() -> Self {
        Self {
            nodes: 2,
            memory_bytes: 16 << 20,
            memory: MemoryOptions::default(),
            link: LinkOptions::default(),
            links: Vec::new(),
            service: None,
            seed: 1,
            threads: 1,
            captures: None,
            outside: None,
        }
    }
}

impl ClusterOptions {
    /// Checks every option against its range.
    ///
    /// # Errors
    /// [`ClusterError::Option`] for the first that is outside.
    pub fn check(&self) -> Result<(), ClusterError> {
        let (least, with) = if self.outside.is_some() { (1, " with a socket") } else { (2, "") };
        let nodes = (least..=MOST_NODES).contains(&self.nodes);
        ClusterError::unless(nodes, "nodes", self.nodes, &format!("{least} to {MOST_NODES}{with}"))?;
        ClusterError::unless(self.threads > 0, "threads", self.threads, "1 or more")?;
        self.link.check()?;
        self.service.as_ref().map_or(Ok(()), ServiceOptions::check)?;
        let there = format!("0 to {}", self.nodes - 1);
        if let Some(peer) = self.outside.as_ref().and_then(|outside| outside.peer) {
            ClusterError::unless(peer.node < self.nodes, "node of the peer", peer.node, &there)?;
        }
        for (node, link) in &self.links {
            ClusterError::unless(*node < self.nodes, "node of a link", node, &there)?;
            link.check()?;
        }
        Ok(())
    }

    /// The link of a node.
    fn link_of(&self, node: usize) -> &LinkOptions {
        self.links.iter().rev().find(|(number, _)| *number == node).map_or(&self.link, |(_, link)| link)
    }
}

/// The capture of port `port` in `folder`.
#[must_use]
pub fn capture_path(folder: &Path, port: usize) -> PathBuf {
    folder.join(format!("port-{port}.pcapng"))
}

/// What a cluster gave.
#[derive(Clone, Debug)]
pub struct ClusterResult<T> {
    /// What the program of each node gave.
    pub nodes: Vec<T>,
    /// What the port of each node counted; behind them the socket's, if there is one.
    pub ports: Vec<PortCounts>,
}

/// The node did not fail: it was stopped because another did.
fn was_stopped(error: &CosimError) -> bool {
    matches!(error, CosimError::Wire { message, .. } if message == lockstep::STOPPED)
}

/// What the thread of a node gives.
type Ended<T> = (Result<T, CosimError>, std::io::Result<()>);

/// Runs `program` on every node of a cluster of arrays of `library`. A node whose program has ended
/// works on, and answers the others, until all have. Results and captures are the same for any
/// number of threads.
///
/// # Errors
/// An option is out of its range, a capture cannot be written, or a node failed: then all are
/// stopped, and the captures that have frames are there.
///
/// # Panics
/// If `program` does.
pub fn run<T: Send>(
    library: &ModelLibrary,
    options: &ClusterOptions,
    program: impl Fn(&mut Node) -> Result<T, CosimError> + Sync,
) -> Result<ClusterResult<T>, ClusterError> {
    options.check()?;
    let links: Vec<LinkOptions> = (0..options.nodes).map(|node| options.link_of(node).clone()).collect();
    let step = links.iter().chain([&options.link]).map(|link| u64::from(link.latency)).min().unwrap_or(1);
    let ports = links.iter().enumerate().map(|(node, link)| (Some(address(node).mac), link.clone()));
    let to_outside = options.outside.iter().map(|_| (None, options.link.clone()));
    let switch = Switch::new(ports.chain(to_outside), options.seed);
    let open = |outside: &OutsideOptions| {
        Outside::open(outside).map_err(|error| ClusterError::Socket { address: outside.local, error })
    };
    let socket = options.outside.as_ref().map(open).transpose()?;
    let lockstep = Arc::new(Lockstep::new(switch, socket, [options.nodes, options.threads], step));
    let mut parts = Vec::new();
    for node in 0..options.nodes {
        let folder = options.captures.as_deref();
        let capture =
            folder.map(|folder| PcapngWriter::create(&capture_path(folder, node), &format!("port {node}")));
        parts.push((library.instantiate()?, capture.transpose()?));
    }
    let (program, lockstep_of_nodes) = (&program, &lockstep);
    let ended: Vec<Ended<T>> = std::thread::scope(|scope| {
        let nodes = parts.into_iter().zip(links).enumerate();
        let threads: Vec<_> = nodes
            .map(|(number, ((model, capture), link))| {
                scope.spawn(move || {
                    let service = options.service.map(|service| Service::new(service, DEFAULT_MTU));
                    let end = LinkEnd::new(number, link, Arc::clone(lockstep_of_nodes), capture, service);
                    run_node(model, number, options, lockstep_of_nodes, end, program)
                })
            })
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<Ended<T>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let (results, captures): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
    // The node that failed, and not those that were stopped because it did.
    let culprit = results.iter().position(|result| result.as_ref().is_err_and(|error| !was_stopped(error)));
    let mut nodes = Vec::new();
    for (node, result) in results.into_iter().enumerate() {
        match result {
            Err(error) if culprit == Some(node) => return Err(ClusterError::Node { node, error }),
            Err(_) => {}
            Ok(value) => nodes.push(value),
        }
    }
    captures.into_iter().collect::<Result<(), _>>()?;
    Ok(ClusterResult { nodes, ports: lockstep.counts() })
}

/// Leaves the lock-step when a node ends, however it ends.
struct Membership<'a> {
    lockstep: &'a Lockstep,
    fails: bool,
}

impl Drop for Membership<'_> {
    fn drop(&mut self) {
        self.lockstep.leave(self.fails);
    }
}

/// The thread of a node.
fn run_node<T>(
    model: Model,
    number: usize,
    options: &ClusterOptions,
    lockstep: &Lockstep,
    end: LinkEnd,
    program: &(impl Fn(&mut Node) -> Result<T, CosimError> + Sync),
) -> Ended<T> {
    lockstep.join();
    let mut membership = Membership { lockstep, fails: true };
    let end = Rc::new(RefCell::new(end));
    let shared = Rc::clone(&end);
    let result = (|| {
        let memory = MemoryOptions { seed: options.memory.seed ^ number as u64, ..options.memory.clone() };
        let simulation = Simulation::new(model, options.memory_bytes, memory)?;
        let outside = options.outside.as_ref().and_then(|outside| outside.peer);
        let outside = outside.filter(|peer| peer.node == number);
        let mut node = Node::new([number, options.nodes], options.seed, outside, simulation, shared)?;
        let value = program(&mut node)?;
        node.meet()?;
        Ok(value)
    })();
    membership.fails = result.is_err();
    drop(membership);
    let written = end.borrow_mut().commit(result.is_err());
    (result, written)
}
