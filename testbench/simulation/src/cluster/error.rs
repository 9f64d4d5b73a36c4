//! What can go wrong with a cluster.

use crate::cosim::CosimError;

/// An error of a cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// An option that no cluster can have.
    #[error("{field}: {value} is not possible; expected {expected}")]
    Option {
        /// The option.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// A node failed; the others were stopped.
    #[error("node {node}: {error}")]
    Node {
        /// The node.
        node: usize,
        /// What went wrong there.
        error: CosimError,
    },
    /// The model of a node could not be made.
    #[error(transparent)]
    Model(#[from] verilator_sys::Error),
    /// The socket could not be opened.
    #[error("socket {address}: {error}")]
    Socket {
        /// Its address.
        address: std::net::SocketAddr,
        /// What the system said.
        error: std::io::Error,
    },
    /// A capture could not be written.
    #[error(transparent)]
    Capture(#[from] std::io::Error),
}

impl ClusterError {
    /// [`ClusterError::Option`] unless the value is possible.
    pub(super) fn unless(
        possible: bool,
        field: &'static str,
        value: impl ToString,
        expected: &str,
    ) -> Result<(), Self> {
        if possible {
            return Ok(());
        }
        Err(Self::Option { field, value: value.to_string(), expected: expected.to_string() })
    }
}
