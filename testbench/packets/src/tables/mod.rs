//! Tables and rule sets: the files that people have, and what the kernels read in shared memory.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `input` | reading files, errors with line numbers |
//! | `routes`, `mrt` | routing tables: text prefix lists, MRT dumps of BGP routers |
//! | `dir_24_8` | the longest-prefix table that the kernels search |
//! | `filters` | 5-tuple filter sets in the format of ClassBench |
//! | `rule_list`, `bit_vector` | what the kernels search for a filter |
//! | `snort`, `snort_rule` | patterns from rules in the syntax of Snort and Suricata |
//! | `automaton`, `bloom` | what the kernels search for patterns |
//! | `security_association` | keys of an ESP tunnel |
//! | `generate_routes`, `generate_filters`, `generate_patterns` | all of these from a seed |

mod automaton;
mod bit_vector;
mod bloom;
mod dir_24_8;
mod filters;
mod generate_filters;
mod generate_patterns;
mod generate_routes;
mod input;
mod mrt;
mod routes;
mod rule_list;
mod security_association;
mod snort;
mod snort_rule;

pub use automaton::Automaton;
pub use bit_vector::{bit_vectors, TooManyFilters, MAX_FILTERS};
pub use bloom::{PatternTable, SHORTEST as SHORTEST_PATTERN};
pub use dir_24_8::{Dir248, TooManySegments, MISS, SECOND_TABLE};
pub use filters::{Filter, FilterSet, FiveTuple};
pub use generate_filters::{generate_filters, FilterKind};
pub use generate_patterns::generate_rules;
pub use generate_routes::generate_routes;
pub(crate) use input::read_text;
pub use input::InputError;
pub use routes::{LeftOut, Route, RouteTable, MAX_PORTS};
pub use rule_list::{rule_list, rule_verdict};
pub use security_association::{SecurityAssociation, SECURITY_ASSOCIATION_BYTES};
pub use snort::{Pattern, PatternSet};
