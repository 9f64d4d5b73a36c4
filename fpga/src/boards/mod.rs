//! The tops, one a board: clock and pins around the [`BoardSystem`](crate::system::BoardSystem).

mod ulx3s;

pub use ulx3s::Ulx3s;
