//! The tops, one a board: clock and pins around the [`BoardSystem`](crate::system::BoardSystem).

mod colorlight_i5;
mod ulx3s;

pub use colorlight_i5::ColorlightI5;
pub use ulx3s::Ulx3s;
