//! The order in which packets visit the functions of a chain, from the edges in its file.

use std::path::PathBuf;

use serde_spanned::Spanned;

use super::edges::{edge_mut, Edges, Next};
use super::manifest::END;
use super::text::{one_of, ChainError, Problem, Text};

/// The functions of a chain in an order in which every edge leads to a later one.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// The place of each function in the file.
    pub(super) order: Vec<usize>,
    /// The edges of each, by the numbers that they have by this order.
    pub(super) edges: Vec<Edges>,
}

/// An edge as it stands in the file.
struct Named<'a> {
    /// Where it stands.
    at: Place<'a>,
    /// Its field.
    field: String,
    /// The place of its function in the file.
    to: Option<usize>,
}

/// A value of the file.
enum Place<'a> {
    /// `next = "name"`
    Whole(&'a Spanned<Next>),
    /// One of the names in `next = { .. }`
    Part(&'a Spanned<String>),
}

impl Place<'_> {
    fn problem(&self, text: &Text, field: &str, told: String) -> Problem {
        match self {
            Self::Whole(at) => text.problem(at, field, told),
            Self::Part(at) => text.problem(at, field, told),
        }
    }
}

impl Graph {
    /// Reads the edges: of each function its manifest and its `next`, and the name of each.
    ///
    /// # Errors
    /// An edge of no verdict or to no function, a cycle, a function that no packet comes to.
    pub(super) fn read(
        text: &Text,
        links: &[(&Spanned<PathBuf>, &Spanned<Next>)],
        names: &[String],
    ) -> Result<Self, ChainError> {
        let mut problems = Vec::new();
        let mut edges = vec![Edges::default(); links.len()];
        let mut named: Vec<Vec<Named<'_>>> = Vec::new();
        for ((_, next), edges) in links.iter().zip(&mut edges) {
            let (mut of_function, mut not_known) = (Vec::new(), Vec::new());
            let mut add = |edge: &mut Option<usize>, at: Place<'_>, field: &str, name: &String| {
                let to = names.iter().position(|other| other == name);
                if to.is_none() && name != END {
                    let expected: Vec<_> = names.iter().map(String::as_str).chain([END]).collect();
                    let told =
                        format!("`{name}` is no function of this chain; expected {}", one_of(&expected));
                    not_known.push(at.problem(text, field, told));
                }
                *edge = to;
                to
            };
            match next.get_ref() {
                Next::One(name) => {
                    let field = "next".to_string();
                    let to = add(&mut edges.other, Place::Whole(next), &field, name);
                    of_function.push(Named { at: Place::Whole(next), field, to });
                }
                Next::ByVerdict(by_verdict) => {
                    for (key, name) in by_verdict {
                        let field = format!("next.{key}");
                        match edge_mut(edges, key) {
                            Ok(edge) => {
                                let to = add(edge, Place::Part(name), &field, name.get_ref());
                                of_function.push(Named { at: Place::Part(name), field, to });
                            }
                            Err(told) => problems.push(text.problem(name, &field, told)),
                        }
                    }
                }
            }
            problems.extend(not_known);
            named.push(of_function);
        }
        ChainError::check(problems)?;
        let order = order(text, links, &named, names)?;
        let number = |at: usize| order.iter().position(|other| *other == at).unwrap_or(0);
        let edges = order.iter().map(|at| edges[*at].map(number)).collect();
        Ok(Self { order, edges })
    }
}

/// The places in the file of the functions in the order of their visits, from the first one on: of
/// those behind which all that lead to them stand, the one that stands first in the file.
fn order(
    text: &Text,
    links: &[(&Spanned<PathBuf>, &Spanned<Next>)],
    named: &[Vec<Named<'_>>],
    names: &[String],
) -> Result<Vec<usize>, ChainError> {
    let mut reached = vec![false; links.len()];
    find_cycle(text, named, names, &mut vec![0], &mut reached)?;
    let known: Vec<_> = (0..links.len()).filter(|at| reached[*at]).collect();
    let problems = (0..links.len()).filter(|at| !reached[*at]).map(|at| {
        let told = not_reached(named, names, &known);
        text.problem(links[at].0, "function", format!("`{}` gets no packets{told}", names[at]))
    });
    ChainError::check(problems.collect())?;
    let mut order: Vec<usize> = Vec::new();
    let leads = |from: usize, to: usize| named[from].iter().any(|edge| edge.to == Some(to));
    let is_next = |order: &[usize], at: usize| {
        !order.contains(&at) && !known.iter().any(|from| leads(*from, at) && !order.contains(from))
    };
    while let Some(at) = (0..links.len()).find(|at| is_next(&order, *at)) {
        order.push(at);
    }
    Ok(order)
}

/// Where packets go instead of a function that gets none: through those at `known`.
fn not_reached(named: &[Vec<Named<'_>>], names: &[String], known: &[usize]) -> String {
    if known.iter().any(|at| named[*at].len() != 1) {
        let known: Vec<_> = known.iter().map(|at| names[*at].as_str()).collect();
        return format!("; expected an edge of {} to it", one_of(&known));
    }
    let mut line = Vec::new();
    let mut at = Some(0);
    while let Some(function) = at {
        line.push(names[function].as_str());
        at = named[function][0].to;
    }
    line.push(END);
    format!(", which go {}; expected that one of these leads to it", line.join(" -> "))
}

/// Follows all edges from the last function of `way` on, and notes what is reached.
///
/// # Errors
/// An edge leads back to a function of `way`.
fn find_cycle(
    text: &Text,
    named: &[Vec<Named<'_>>],
    names: &[String],
    way: &mut Vec<usize>,
    reached: &mut [bool],
) -> Result<(), ChainError> {
    let Some(&at) = way.last() else { return Ok(()) };
    if std::mem::replace(&mut reached[at], true) {
        return Ok(());
    }
    for edge in &named[at] {
        let Some(to) = edge.to else { continue };
        if let Some(again) = way.iter().position(|other| *other == to) {
            let cycle = way[again..].iter().chain([&to]).map(|other| names[*other].as_str());
            let told = format!(
                "{}: packets would never leave; expected \"{END}\" behind one of them",
                cycle.collect::<Vec<_>>().join(" -> ")
            );
            return Err(edge.at.problem(text, &edge.field, told).into());
        }
        way.push(to);
        find_cycle(text, named, names, way, reached)?;
        way.pop();
    }
    Ok(())
}
