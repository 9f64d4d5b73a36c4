//! Data races: two threads that touch a byte, one of them writing, without an atomic operation or
//! an order between them; and stores into the slot of another packet.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `order` | which thread comes before which |
//! | `shadow` | the last accesses to each word |
//! | `detector` | follows what retires, and finds races |
//! | `findings` | what was found, with source lines |
//!
//! It is a happens-before check, in the manner of FastTrack (Flanagan, Freund: PLDI 2009): an
//! access has the number of its warp, its lane, and how many instructions the warp had retired. It
//! comes before another one if an order that does not depend on the time leads from one to the
//! other:
//!
//! - the program order of a thread;
//! - a release and the acquire that reads behind it: a store or an atomic operation behind a
//!   `fence` that orders writes before it, or any atomic operation, which the machine performs when
//!   all earlier accesses are; and an atomic operation with `aq`, or a read with a `fence` behind
//!   it;
//! - the ring: a warp has the slots of packets whose warps were committed;
//! - the hardware thread, for warps that ask for core, warp slot or stack: what is kept by these is
//!   not used by two warps at a time;
//! - jobs: a job that was triggered when another was complete comes behind it. Harts are not
//!   followed, so packets and jobs that do not overlap in time count as ordered.
//!
//! A plain load and an atomic operation on the same word are no race: compilers make relaxed atomic
//! loads of it. So is a store directly behind a releasing `fence`: it is a release store. In the
//! scratchpad the lanes of a warp are ordered, by instructions and by lanes; in shared memory they
//! are not. Stacks belong to their threads and are left out.

mod detector;
mod findings;
mod order;
mod shadow;

pub use detector::{Detector, Places};
pub use findings::{Access, AccessKind, Explain, Findings, ForeignStore, Race, RaceReport};
