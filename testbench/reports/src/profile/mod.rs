//! Where the cycles of the warps go: by instruction, source line and function, and by reason.
//!
//! A warp-cycle is a cycle of a warp between its issue and its finish. In each of them the warp
//! either executes (an instruction of it retires) or waits, for one of the reasons of the
//! [timeline](crate::timeline::Wait). A wait is charged to the instruction that waited, the one
//! that retires at its end: that of a loaded value to the instruction that uses it, not to the
//! load. What comes behind the last instruction of a warp is charged to that one.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `report` | the cost of lines and functions, annotated source and disassembly |
//! | `sources` | finds the source files |
//! | `text`, `html` | the report for people |

mod html;
mod report;
mod sources;
mod text;

pub use report::{
    FunctionCost, InstructionCost, LineCost, ProfileFacts, ProfileReport, SourceFile, SourceLine,
};
pub use sources::SourceFinder;
pub use text::ProfileText;
