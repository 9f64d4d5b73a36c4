//! What can be wrong with a design.

/// Why a design cannot be written as Verilog. Every variant names the signal or unit by its path
/// from the top.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// The block handed to the back end is not a unit.
    #[error("{path}: not a unit with ports")]
    NotAUnit {
        /// Name that was asked for.
        path: String,
    },
    /// No statement drives the signal.
    #[error("{path}: is read or is a port but nothing drives it")]
    Undriven {
        /// The signal.
        path: String,
    },
    /// Two drivers, or a statement drives what it may not.
    #[error("{path}: is driven twice: {why}")]
    DoublyDriven {
        /// The signal.
        path: String,
        /// The other driver.
        why: String,
    },
    /// The signal keeps its old value on some path through the kernel.
    #[error("{path}: is not assigned on every path through `update`, which would be a latch")]
    Latch {
        /// The signal.
        path: String,
    },
    /// A local or output is read where it is not assigned yet.
    #[error("{path}: is read before it is assigned in `update`")]
    ReadBeforeAssignment {
        /// The signal.
        path: String,
    },
    /// Signals depend on themselves without a register between.
    #[error("combinational loop: {}", path.join(" -> "))]
    CombinationalLoop {
        /// The signals of the loop, the first one again at the end.
        path: Vec<String>,
    },
    /// A simulator would run statements of the unit again and again: each run changes, if only for
    /// a moment, what they read.
    #[error(
        "{path}: statements would wake themselves in a simulator, through {signal}: a signal that is assigned again after others \
         have read it ties them together; use two signals"
    )]
    WokenByItself {
        /// The unit.
        path: String,
        /// A signal that the statements drive.
        signal: String,
    },
    /// Operands or sides of an assignment have different widths.
    #[error("{path}: {what}: {left} bits against {right} bits")]
    Width {
        /// The signal assigned, or the unit for a condition.
        path: String,
        /// The operation.
        what: String,
        /// Width of the left side.
        left: usize,
        /// Width of the right side.
        right: usize,
    },
    /// Two things of a unit, or two modules, would have one identifier.
    #[error("{path}: {first} and {second} would both be called `{name}` in the Verilog: {remedy}")]
    NameTaken {
        /// The unit.
        path: String,
        /// The identifier.
        name: String,
        /// One of the two.
        first: String,
        /// The other one.
        second: String,
        /// What to change.
        remedy: String,
    },
    /// Something in the kernel does not translate.
    #[error("{path}: {what}")]
    Unsupported {
        /// The signal or unit.
        path: String,
        /// What, and what to write instead.
        what: String,
    },
}

impl EmitError {
    pub(super) fn unsupported(path: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Unsupported { path: path.into(), what: what.into() }
    }
}
