//! Commands that a kernel writes to memory and the host of its node posts: the way without a
//! command processor, as in the "dGPU" baseline of the ComP-Net paper (section 5.1), where threads
//! of the host serve the queues.

use super::node::{Node, WINDOW_REGION};
use crate::cosim::{CosimError, PostOptions};

/// Bytes of an entry: sixteen words, as docs/network.md has them.
pub const ENTRY_BYTES: u32 = 64;
/// Word 0: operation in bits 7:0, bytes inline, context in bits 13:12; what the network interface
/// looks at.
const COMMAND: u32 = 0x34ff;
/// Word 0: the entry is published.
const PUBLISHED: u32 = 1 << 8;
/// Word 0, bits 27:16: the node whose memory it is about.
const NODE_SHIFT: u32 = 16;
const NODE_MASK: u32 = 0xfff;
/// Code of a command for a node that is not there.
const NO_SUCH_NODE: u8 = 0x81;
/// Cycles between two looks of the host.
const PAUSE: u64 = 200;
/// Cycles without a completion after which the host gives up: longer than all retries of a command
/// take.
const PATIENCE: u64 = 4_000_000;

/// A list of entries in the memory of a node. A kernel writes entries of its own choice, each once:
/// words 1 to 15, then word 0 with bit 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandList {
    /// Its first entry.
    pub address: u32,
    /// Its entries.
    pub entries: u32,
}

/// What became of the commands of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Served {
    /// Entries that were published.
    pub commands: u32,
    /// Commands that were posted.
    pub posted: u32,
    /// Commands that are complete, failed ones too: each once.
    pub completed: u32,
    /// Commands that failed.
    pub failed: u32,
    /// Code of the last that failed; 0: none.
    pub code: u8,
}

impl CommandList {
    /// A list without published entries.
    ///
    /// # Errors
    /// [`CosimError::OutOfMemory`].
    pub fn allocate(node: &mut Node, entries: u32) -> Result<Self, CosimError> {
        let address = node.host.rmalloc("the commands", entries as usize * ENTRY_BYTES as usize)?;
        Ok(Self { address, entries })
    }

    /// Posts the published entries in their order, each for the queue pair of its node
    /// ([`Node::connect_mesh`]), and waits until all are complete. Call it once, when the kernel
    /// has ended: the host reads memory, so the caches are cleaned first.
    ///
    /// # Errors
    /// A register does not answer, or commands do not complete.
    pub fn serve(&self, node: &mut Node) -> Result<Served, CosimError> {
        let bytes = node.read_clean(self.address, self.entries as usize * ENTRY_BYTES as usize)?;
        let before = (node.host.read("NET_COMPLETED")?, node.host.read("NET_ERROR")? >> 16);
        let mut served = Served::default();
        for entry in bytes.chunks_exact(ENTRY_BYTES as usize) {
            let mut command: [u32; 16] = std::array::from_fn(|word| {
                let word = &entry[4 * word..4 * word + 4];
                u32::from_le_bytes([word[0], word[1], word[2], word[3]])
            });
            if command[0] & PUBLISHED == 0 {
                continue;
            }
            served.commands += 1;
            let peer = command[0] >> NODE_SHIFT & NODE_MASK;
            let Some(pair) = node.pair_for(peer as usize) else {
                served.failed += 1;
                served.code = NO_SUCH_NODE;
                continue;
            };
            command[0] &= COMMAND;
            post(node, pair, &command)?;
            served.posted += 1;
        }
        let refused = served.failed;
        wait_completed(node, before.0.wrapping_add(served.posted))?;
        let error = node.host.read("NET_ERROR")?;
        let failed = (error >> 16).wrapping_sub(before.1) & 0xffff;
        served.failed += failed;
        served.completed = node.host.read("NET_COMPLETED")?.wrapping_sub(before.0) + refused;
        if failed > 0 {
            served.code = error as u8;
        }
        Ok(served)
    }
}

/// What commands read stands in the symmetric window.
const POST: PostOptions = PostOptions { region: WINDOW_REGION, domain: 0 };

/// Posts a command of sixteen words for a queue pair, when there is room.
///
/// # Errors
/// There is none for 4,000,000 cycles, or a register does not answer.
pub fn post(node: &mut Node, pair: u32, command: &[u32; 16]) -> Result<(), CosimError> {
    for _ in 0..PATIENCE / PAUSE {
        if node.host.post(pair, command, POST)? {
            return Ok(());
        }
        node.run(PAUSE)?;
    }
    Err(CosimError::StillBusy { register: "NET_STATUS", cycles: PATIENCE })
}

/// Waits until NET_COMPLETED is `count`.
///
/// # Errors
/// It does not change for 4,000,000 cycles, or a register does not answer.
pub fn wait_completed(node: &mut Node, count: u32) -> Result<(), CosimError> {
    let (mut last, mut waited) = (None, 0);
    while waited < PATIENCE {
        let completed = node.host.read("NET_COMPLETED")?;
        if completed == count {
            return Ok(());
        }
        waited = if last == Some(completed) { waited + PAUSE } else { 0 };
        last = Some(completed);
        node.run(PAUSE)?;
    }
    Err(CosimError::StillBusy { register: "NET_COMPLETED", cycles: PATIENCE })
}
