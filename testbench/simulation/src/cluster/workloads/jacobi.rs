//! `kernels-asm/c/jacobi.c`: Jacobi relaxation, and the same in plain Rust.

use super::{word, WorkloadError};

/// Words in front of a row, of which the last is the border.
const EDGE: usize = 16;
/// Bytes of `struct control`, of `struct record`, and of a line.
const CONTROL: usize = 448;
const RECORD: usize = 16;
const LINE: usize = 64;
/// Own words of the kernel.
const OWN: usize = 7;
/// Most rows, and columns, of a node.
const MOST: u32 = 1 << 14;
/// Most iterations.
const MOST_ITERATIONS: u32 = 1 << 20;

/// Jacobi relaxation: a node has a block of rows, below that of the node before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jacobi {
    /// Warps of a node, each with a block of rows.
    pub warps: u32,
    /// Rows of a node: 3 to 16,384.
    pub rows: u32,
    /// Words of a row: 1 to 16,384.
    pub columns: u32,
    /// Most iterations: 1 to 2^20.
    pub iterations: u32,
    /// It ends behind the first iteration whose residual is less.
    pub limit: u32,
    /// Seed of the words at the start.
    pub seed: u32,
}

/// What is right: one field for the rows of all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JacobiGolden {
    /// The rows of all nodes behind the last iteration, without the border.
    pub field: Vec<u32>,
    /// The residual of each iteration: the sum of the changes, 8 bits less, modulo 2^32.
    pub residuals: Vec<u32>,
}

/// What the kernel of a node measured of an iteration, in cycles. The three are all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JacobiTimes {
    /// Until the warp that reduces had computed its rows.
    pub compute: u32,
    /// Until all warps of the node had.
    pub wait: u32,
    /// Until the residual of all nodes was known.
    pub reduce: u32,
}

impl JacobiTimes {
    /// All cycles of the iteration.
    #[must_use]
    pub fn all(&self) -> u32 {
        self.compute + self.wait + self.reduce
    }
}

impl Jacobi {
    /// The name that the kernel has for it.
    pub const NAME: &'static str = "jacobi";

    /// What the kernel is told by its own words, on an array of so many lanes.
    ///
    /// # Errors
    /// One is missing, or cannot be.
    pub fn from_own(own: &[u32], lanes: usize) -> Result<Self, WorkloadError> {
        let expected = format!("{OWN}: threads of a warp, warps, rows, columns, iterations, limit, seed");
        WorkloadError::unless(own.len() == OWN, "own words", own.len() as u64, &expected)?;
        WorkloadError::unless(own[0] == lanes as u32, "threads of a warp", own[0], &lanes.to_string())?;
        let jacobi = Self {
            warps: own[1],
            rows: own[2],
            columns: own[3],
            iterations: own[4],
            limit: own[5],
            seed: own[6],
        };
        jacobi.check_sizes()?;
        Ok(jacobi)
    }

    /// The kernel's own words.
    #[must_use]
    pub fn own(&self, lanes: usize) -> Vec<u32> {
        let Self { warps, rows, columns, iterations, limit, seed } = *self;
        vec![lanes as u32, warps, rows, columns, iterations, limit, seed]
    }

    fn check_sizes(&self) -> Result<(), WorkloadError> {
        let within = |field, value: u32, least: u32, most: u32| {
            let expected = format!("{least} to {most}");
            WorkloadError::unless((least..=most).contains(&value), field, value, &expected)
        };
        within("rows of a node", self.rows, 3, MOST)?;
        within("columns", self.columns, 1, MOST)?;
        within("iterations", self.iterations, 1, MOST_ITERATIONS)?;
        let expected = format!("1 to {}, a row each", self.rows);
        WorkloadError::unless((1..=self.rows).contains(&self.warps), "warps", self.warps, &expected)
    }

    /// Checks all values; `on_cores` warps can be on the cores of a node at once, and `heap_bytes`
    /// is what its heap has.
    ///
    /// # Errors
    /// The first that is not possible.
    pub fn check(&self, on_cores: usize, heap_bytes: u64) -> Result<(), WorkloadError> {
        self.check_sizes()?;
        let expected = format!("1 to {on_cores}, those that can be on the cores at once");
        let on_cores = self.warps as usize <= on_cores;
        WorkloadError::unless(on_cores, "warps", self.warps, &expected)?;
        let expected = format!("at least {}", self.heap_bytes());
        WorkloadError::unless(heap_bytes >= self.heap_bytes(), "bytes of the heap", heap_bytes, &expected)
    }

    fn stride(&self) -> usize {
        EDGE + (self.columns as usize + 1).next_multiple_of(EDGE)
    }

    /// Where the two fields begin.
    fn fields(&self) -> usize {
        CONTROL + (RECORD * (self.iterations as usize + 1)).next_multiple_of(LINE)
    }

    /// Bytes of the heap that it needs.
    #[must_use]
    pub fn heap_bytes(&self) -> u64 {
        (self.fields() + 2 * (self.rows as usize + 2) * self.stride() * 4) as u64
    }

    /// The word at the start in a row and column of all nodes, border included.
    pub(super) fn start(&self, row: u32, column: u32) -> u32 {
        let place = row.wrapping_mul(0x9e37_79b1).wrapping_add(column.wrapping_mul(0x85eb_ca77));
        let word = self.seed.wrapping_add(place);
        let word = (word ^ word >> 15).wrapping_mul(0x2c1b_3c6d);
        (word ^ word >> 12) >> 2
    }

    /// What so many nodes compute, by one array.
    #[must_use]
    pub fn golden(&self, nodes: usize) -> JacobiGolden {
        let (rows, width) = (nodes * self.rows as usize + 2, self.columns as usize + 2);
        let places = (0..rows).flat_map(|row| (0..width).map(move |column| (row, column)));
        let mut old: Vec<u32> = places.map(|(row, column)| self.start(row as u32, column as u32)).collect();
        let mut new = old.clone();
        let mut residuals = Vec::new();
        for _ in 0..self.iterations {
            let mut residual = 0u32;
            for row in 1..rows - 1 {
                for at in row * width + 1..(row + 1) * width - 1 {
                    let word = (old[at - width] + old[at + width] + old[at - 1] + old[at + 1]) >> 2;
                    residual = residual.wrapping_add(word.abs_diff(old[at]) >> 8);
                    new[at] = word;
                }
            }
            std::mem::swap(&mut old, &mut new);
            residuals.push(residual);
            if residual < self.limit {
                break;
            }
        }
        let inner = (1..rows - 1).flat_map(|row| &old[row * width + 1..(row + 1) * width - 1]);
        JacobiGolden { field: inner.copied().collect(), residuals }
    }

    /// Compares what the heap of node `number` holds at the end, each word and residual, and gives
    /// what its kernel measured.
    ///
    /// # Errors
    /// The first that is wrong, its place and what is right.
    pub fn compare(
        &self,
        golden: &JacobiGolden,
        number: usize,
        heap: &[u8],
    ) -> Result<Vec<JacobiTimes>, String> {
        let record = |iteration: usize, field: usize| word(heap, CONTROL + RECORD * iteration + 4 * field);
        let mut times = Vec::new();
        for (place, right) in golden.residuals.iter().enumerate() {
            let iteration = place + 1;
            let found = record(iteration, 0);
            if found != *right {
                return Err(format!(
                    "node {number}: residual of iteration {iteration} is {found}; expected {right}"
                ));
            }
            let [computed, arrived, reduced] = [1, 2, 3].map(|field| record(iteration, field));
            times.push(JacobiTimes {
                compute: computed.wrapping_sub(record(place, 3)),
                wait: arrived.wrapping_sub(computed),
                reduce: reduced.wrapping_sub(arrived),
            });
        }
        let columns = self.columns as usize;
        let own = self.rows as usize * columns;
        let field = self.fields() + golden.residuals.len() % 2 * (self.rows as usize + 2) * self.stride() * 4;
        for (place, right) in golden.field[number * own..(number + 1) * own].iter().enumerate() {
            let (row, column) = (place / columns, place % columns);
            let found = word(heap, field + ((row + 1) * self.stride() + EDGE + column) * 4);
            if found != *right {
                return Err(format!(
                    "node {number}: row {row}, column {column} is {found:#x}; expected {right:#x}"
                ));
            }
        }
        Ok(times)
    }
}
