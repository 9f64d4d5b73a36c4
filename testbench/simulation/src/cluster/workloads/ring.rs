//! `kernels-asm/c/ring.c`: allreduce by rings, and the same in plain Rust.

use super::{word, WorkloadError};

/// Bytes of a ring's signal and times.
const LINE: usize = 64;
/// Where the times of a ring stand behind its signal.
const TIMES: usize = 16;

/// Allreduce: the sums of the words of all nodes, modulo 2^32, come to all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// Rings, each of a warp of every node.
    pub rings: u32,
    /// Words of a ring: as many as nodes, or more.
    pub words: u32,
    /// Words of a piece, in which they are passed on: 1 or more.
    pub piece: u32,
    /// Rounds, 1 or more: the sums are summed again in each, and the last one is timed.
    pub rounds: u32,
    /// Seed of the words.
    pub seed: u32,
}

impl Ring {
    /// The kernel's own words, on an array of so many lanes.
    #[must_use]
    pub fn own(&self, lanes: usize) -> Vec<u32> {
        vec![lanes as u32, self.rings, self.words, self.piece, self.rounds]
    }

    /// Checks all values for so many nodes; `on_cores` warps can be on the cores of a node at once,
    /// and its heap has at most `heap_bytes`.
    ///
    /// # Errors
    /// The first that is not possible.
    pub fn check(&self, nodes: usize, on_cores: usize, heap_bytes: u64) -> Result<(), WorkloadError> {
        let rings = (1..=on_cores).contains(&(self.rings as usize));
        let expected = format!("1 to {on_cores}, a warp each, that can be on the cores at once");
        WorkloadError::unless(rings, "rings", self.rings, &expected)?;
        let expected = format!("{nodes} or more, a word for each node");
        WorkloadError::unless(self.words as usize >= nodes, "words of a ring", self.words, &expected)?;
        WorkloadError::unless(self.piece > 0, "words of a piece", self.piece, "1 or more")?;
        WorkloadError::unless(self.rounds > 0, "rounds", self.rounds, "1 or more")?;
        let needs = self.heap_bytes(nodes);
        let expected = format!("at least {needs}");
        WorkloadError::unless(heap_bytes >= needs, "bytes of the heap", heap_bytes, &expected)
    }

    /// Words of all rings.
    #[must_use]
    pub fn all_words(&self) -> usize {
        self.rings as usize * self.words as usize
    }

    /// Bytes of the heap that it needs on so many nodes.
    #[must_use]
    pub fn heap_bytes(&self, nodes: usize) -> u64 {
        let rings = u64::from(self.rings);
        let landing = rings * (nodes as u64 - 1) * u64::from(self.words).div_ceil(nodes as u64);
        (LINE as u64 * rings + 4 * (self.all_words() as u64 + landing)).next_multiple_of(LINE as u64)
    }

    /// A word of a node at the start.
    fn term(&self, node: usize, at: usize) -> u32 {
        let place =
            (node as u32).wrapping_mul(0x85eb_ca77).wrapping_add((at as u32).wrapping_mul(0x9e37_79b1));
        let word = self.seed.wrapping_add(place);
        let word = (word ^ word >> 15).wrapping_mul(0x2c1b_3c6d);
        word ^ word >> 12
    }

    /// What the heap of a node holds at the start.
    #[must_use]
    pub fn start(&self, node: usize) -> Vec<u8> {
        let words = (0..self.all_words()).flat_map(|at| self.term(node, at).to_le_bytes());
        vec![0; LINE * self.rings as usize].into_iter().chain(words).collect()
    }

    /// Compares what the heap of node `number` holds at the end, each word, and gives the cycles at
    /// which the last round of its first ring began and that of its last one ended.
    ///
    /// # Errors
    /// The first that is wrong, its place and what is right.
    pub fn compare(&self, nodes: usize, number: usize, heap: &[u8]) -> Result<(u32, u32), String> {
        let first = LINE * self.rings as usize;
        let times_each = (1..self.rounds).fold(1u32, |times, _| times.wrapping_mul(nodes as u32));
        for at in 0..self.all_words() {
            let sum = (0..nodes).fold(0, |sum: u32, node| sum.wrapping_add(self.term(node, at)));
            let right = sum.wrapping_mul(times_each);
            let found = word(heap, first + 4 * at);
            if found != right {
                let (ring, place) = (at / self.words as usize, at % self.words as usize);
                return Err(format!(
                    "node {number}: word {place} of ring {ring} is {found:#x}; expected {right:#x}"
                ));
            }
        }
        let times = |ring: usize, field: usize| word(heap, LINE * ring + TIMES + 4 * field);
        let rings = 0..self.rings as usize;
        let begin = rings.clone().map(|ring| times(ring, 0)).min().unwrap_or(0);
        Ok((begin, rings.map(|ring| times(ring, 1)).max().unwrap_or(0)))
    }
}
