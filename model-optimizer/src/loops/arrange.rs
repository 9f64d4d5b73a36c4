//! The order of statements: those that repeat each other side by side, in the order of their
//! numbers.
//!
//! Verilator writes the statements of the lanes in an order in which they can be computed, which
//! may be any: a lane whose number is a power of two has simpler statements and comes at another
//! place. The loops of [`super::repeats`] need them one after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::columns::Names;
use super::effects::{overlap, Effects, Place};
use super::repeats::LEAST;
use super::schedule::Schedule;
use super::tokens::{Parts, Statement};

/// A statement with its own list of tokens.
#[derive(Clone, Debug)]
enum Node<'a> {
    Plain(Vec<&'a str>),
    /// The condition has its brackets.
    If {
        condition: Vec<&'a str>,
        then: Vec<Node<'a>>,
        otherwise: Option<Vec<Node<'a>>>,
    },
}

/// The tokens of `statements` in their new order, which gives every variable the same values.
pub(super) fn arrange<'a>(tokens: &[&'a str], statements: &[Statement], names: &Names<'a>) -> Vec<&'a str> {
    let mut output = Vec::with_capacity(tokens.len());
    write(&mut output, &block(nodes(tokens, statements), names));
    output
}

fn nodes<'a>(tokens: &[&'a str], statements: &[Statement]) -> Vec<Node<'a>> {
    let node = |statement: &Statement| match &statement.parts {
        Parts::Plain => Node::Plain(tokens[statement.begin..statement.end].to_vec()),
        Parts::If { condition_end, then, otherwise } => Node::If {
            condition: tokens[statement.begin + 1..*condition_end].to_vec(),
            then: nodes(tokens, then),
            otherwise: otherwise.as_ref().map(|otherwise| nodes(tokens, otherwise)),
        },
    };
    statements.iter().map(node).collect()
}

fn write<'a>(output: &mut Vec<&'a str>, nodes: &[Node<'a>]) {
    for node in nodes {
        match node {
            Node::Plain(tokens) => output.extend(tokens),
            Node::If { condition, then, otherwise } => {
                output.push("if");
                output.extend(condition);
                output.push("{");
                write(output, then);
                output.push("}");
                if let Some(otherwise) = otherwise {
                    output.extend(["else", "{"]);
                    write(output, otherwise);
                    output.push("}");
                }
            }
        }
    }
}

impl<'a> Node<'a> {
    /// What it reads and writes; none if it has to stay where it is.
    fn effects(&self, names: &Names<'a>) -> Option<Effects<'a>> {
        let mut found = Effects::default();
        self.add_effects(&mut found, names).then_some(found)
    }

    fn add_effects(&self, found: &mut Effects<'a>, names: &Names<'a>) -> bool {
        match self {
            Node::Plain(tokens) => found.add_assignment(tokens, names),
            Node::If { condition, then, otherwise } => {
                let mut all = then.iter().chain(otherwise.iter().flatten());
                found.add_expression(condition, names) && all.all(|node| node.add_effects(found, names))
            }
        }
    }

    /// What it does under its condition in parts, if that is for several numbers and the condition
    /// stays the same meanwhile: one by one, or with an `else`, number by number.
    fn split(self, names: &Names<'a>) -> Vec<Self> {
        let Node::If { condition, then, otherwise } = self else { return vec![self] };
        let inner =
            |nodes: Vec<Self>| nodes.into_iter().flat_map(|node| node.split(names)).collect::<Vec<_>>();
        let (then, otherwise) = (inner(then), otherwise.map(inner));
        let mut found = Effects::default();
        let known =
            then.iter().chain(otherwise.iter().flatten()).all(|node| node.add_effects(&mut found, names));
        let first = found.writes.first().and_then(|write| write.index);
        let several = first.is_some_and(|_| found.writes.iter().any(|write| write.index != first));
        if !known || !several || changes(&found, &condition, names) {
            return vec![Node::If { condition, then, otherwise }];
        }
        match otherwise {
            None => {
                let one = |node| Node::If { condition: condition.clone(), then: vec![node], otherwise: None };
                then.into_iter().map(one).collect()
            }
            Some(otherwise) => {
                let (Some(mut thens), Some(mut others)) = (numbers(&then, names), numbers(&otherwise, names))
                else {
                    return vec![Node::If { condition, then, otherwise: Some(otherwise) }];
                };
                let all: BTreeSet<u64> = thens.keys().chain(others.keys()).copied().collect();
                let one = |number: u64| Node::If {
                    condition: condition.clone(),
                    then: thens.remove(&number).unwrap_or_default(),
                    otherwise: Some(others.remove(&number).unwrap_or_default()),
                };
                all.into_iter().map(one).collect()
            }
        }
    }
}

/// `nodes` by the number whose elements they write; none if one writes those of several or of none,
/// or if they depend on those of another.
fn numbers<'a>(nodes: &[Node<'a>], names: &Names<'a>) -> Option<BTreeMap<u64, Vec<Node<'a>>>> {
    let mut found: BTreeMap<u64, Vec<Node>> = BTreeMap::new();
    let mut effects = Vec::with_capacity(nodes.len());
    for node in nodes {
        let of_node = node.effects(names)?;
        let (number, _) = number(&of_node)?;
        found.entry(number).or_default().push(node.clone());
        effects.push((number, of_node));
    }
    let written: Vec<Place> =
        effects.iter().flat_map(|(_, effects)| effects.writes.iter().copied()).collect();
    let own = |number: u64, read: &Place| {
        read.index == Some(number) || !written.iter().any(|write| overlap(write, read))
    };
    effects
        .iter()
        .all(|(number, effects)| effects.reads.iter().all(|read| own(*number, read)))
        .then_some(found)
}

/// `nodes` in their new order, with one condition for those that follow each other under the same.
fn block<'a>(nodes: Vec<Node<'a>>, names: &Names<'a>) -> Vec<Node<'a>> {
    let mut arranged = Vec::new();
    let mut movable = Vec::new();
    for node in nodes.into_iter().flat_map(|node| node.split(names)) {
        match node.effects(names) {
            Some(effects) => movable.push((node, effects)),
            None => {
                arranged.extend(in_order(std::mem::take(&mut movable)));
                arranged.push(node);
            }
        }
    }
    arranged.extend(in_order(movable));
    merged(arranged, names)
}

/// Nodes that follow each other under the same condition become one, as far as it stays the same.
fn merged<'a>(nodes: Vec<Node<'a>>, names: &Names<'a>) -> Vec<Node<'a>> {
    let mut output: Vec<Node> = Vec::with_capacity(nodes.len());
    for node in nodes {
        match (output.last_mut(), node) {
            (
                Some(Node::If { condition, then, otherwise }),
                Node::If { condition: same, then: more, otherwise: others },
            ) if *condition == same
                && otherwise.is_some() == others.is_some()
                && keeps(then, condition, names)
                && keeps(otherwise.as_deref().unwrap_or_default(), condition, names) =>
            {
                then.extend(more);
                otherwise.iter_mut().for_each(|otherwise| otherwise.extend(others.iter().flatten().cloned()));
            }
            (_, node) => output.push(node),
        }
    }
    for node in &mut output {
        if let Node::If { then, otherwise, .. } = node {
            *then = block(std::mem::take(then), names);
            *otherwise = otherwise.take().map(|nodes| block(nodes, names));
        }
    }
    output
}

/// Whether `condition` is the same behind `nodes` as before.
fn keeps<'a>(nodes: &[Node<'a>], condition: &[&'a str], names: &Names<'a>) -> bool {
    let mut found = Effects::default();
    nodes.iter().all(|node| node.add_effects(&mut found, names)) && !changes(&found, condition, names)
}

/// Whether `found` writes something that `condition` depends on.
fn changes<'a>(found: &Effects<'a>, condition: &[&'a str], names: &Names<'a>) -> bool {
    let mut tested = Effects::default();
    let known = tested.add_expression(condition, names);
    !known || found.writes.iter().any(|write| tested.reads.iter().any(|read| overlap(read, write)))
}

/// Names of variables, and whether each is a member, in the order in which a statement writes them.
type Targets<'a> = Vec<(&'a str, bool)>;

/// Statements that write the same variables for the numbers of a family, the `time`th ones to do
/// so.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Group<'a> {
    targets: Targets<'a>,
    time: usize,
}

/// The number whose elements `effects` write, and their variables; none for those of several
/// numbers or of none.
fn number<'a>(effects: &Effects<'a>) -> Option<(u64, Targets<'a>)> {
    let number = effects.writes.first()?.index?;
    let mut targets: Vec<_> = effects.writes.iter().map(|write| (write.name, write.member)).collect();
    targets.dedup();
    effects.writes.iter().all(|write| write.index == Some(number)).then_some((number, targets))
}

/// The nodes in an order in which each comes behind those that it depends on, and groups are
/// together if possible.
fn in_order<'a>(nodes: Vec<(Node<'a>, Effects<'a>)>) -> Vec<Node<'a>> {
    let mut times: HashMap<(Targets, u64), usize> = HashMap::new();
    let mut groups: BTreeMap<Group, Vec<(u64, usize)>> = BTreeMap::new();
    for (at, (_, effects)) in nodes.iter().enumerate() {
        let Some((number, targets)) = number(effects) else { continue };
        let time = times.entry((targets.clone(), number)).or_default();
        groups.entry(Group { targets, time: *time }).or_default().push((number, at));
        *time += 1;
    }
    let mut schedule = Schedule::new(nodes.iter().map(|(_, effects)| effects));
    for mut members in groups.into_values().filter(|members| members.len() >= LEAST) {
        members.sort_unstable();
        schedule.add_group(members.into_iter().map(|(_, at)| at).collect());
    }
    let order = schedule.run();
    let mut nodes: Vec<Option<Node>> = nodes.into_iter().map(|(node, _)| Some(node)).collect();
    order.into_iter().map(|at| nodes[at].take().expect("each is there once")).collect()
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::super::arrays::Arrays;
    use super::super::tokens::{statements, tokens};
    use super::*;

    /// Calls `run` with the names of members `a_0` to `a_7` and `b_0` to `b_7`, and of locals `c_0`
    /// to `c_7`.
    fn with_names<T>(run: impl FnOnce(&Names) -> T) -> T {
        let family = |letter: char| (0..8).map(move |i| format!("{letter}_{i}"));
        let members: Vec<String> = family('a').chain(family('b')).collect();
        let locals: Vec<String> = family('c').collect();
        let members = Arrays::of(members.iter().map(|name| ("IData", name.as_str())));
        let locals = Arrays::of(locals.iter().map(|name| ("IData", name.as_str())));
        run(&Names { members: &members, locals: &locals })
    }

    fn arranged(text: &str) -> String {
        let tokens = tokens(text);
        with_names(|names| arrange(&tokens, &statements(&tokens).unwrap(), names).concat())
            .replace("vlSelf->", "")
    }

    fn repeated(order: &[usize], one: &str) -> String {
        order.iter().map(|i| one.replace('#', &i.to_string())).collect()
    }

    #[test]
    fn statements_of_one_kind_come_together_by_number() {
        let text = repeated(&[2, 0, 3, 1], "vlSelf->a_#=x;c_#=vlSelf->a_#;");
        let expected = repeated(&[0, 1, 2, 3], "a_#=x;") + &repeated(&[0, 1, 2, 3], "c_#=a_#;");
        assert_eq!(arranged(&text), expected);
        let text = repeated(&[3, 12, 11, 4], "w[#U]=vlSelf->a_1;").replace("12U", "0xcU");
        assert_eq!(arranged(&text), "w[3U]=a_1;w[4U]=a_1;w[11U]=a_1;w[0xcU]=a_1;");
    }

    #[test]
    fn what_depends_on_another_stays_behind_it() {
        for text in [
            "a_3=x;a_2=a_3;a_1=a_2;a_0=a_1;",
            "a_0=a_3;a_1=a_3;a_2=a_3;a_3=x;",
            "a_3=w[1U];w[y]=x;a_2=w[1U];a_1=z;a_0=z;",
            "a_3=x;f(a_1);a_2=x;a_1=x;a_0=x;",
            "a_3=x;x=z;a_2=x;a_1=x;a_0=x;",
        ] {
            let written = arranged(&text.replace("a_", "vlSelf->a_"));
            let found = |part: &str| written.find(part).unwrap();
            let parts: Vec<&str> = text.split_inclusive(';').collect();
            assert_eq!(written.len(), text.len());
            let pairs: &[(usize, usize)] = match parts[1] {
                "a_2=a_3;" => &[(0, 1), (1, 2), (2, 3)],
                "a_1=a_3;" => &[(0, 3), (1, 3), (2, 3)],
                _ => &[(0, 1), (1, 2)],
            };
            for (before, after) in pairs {
                assert!(found(parts[*before]) < found(parts[*after]), "{written}");
            }
        }
    }

    #[test]
    fn what_is_under_one_condition_is_arranged_and_stays_under_one() {
        let text = format!(
            "if((x)){{{}}}if((x)){{vlSelf->a_1=y;vlSelf->b_1=vlSelf->a_1;}}",
            repeated(&[0, 3, 2], "vlSelf->a_#=y;vlSelf->b_#=vlSelf->a_#;")
        );
        let expected = "if((x)){a_0=y;a_1=y;a_2=y;a_3=y;b_0=a_0;b_1=a_1;b_2=a_2;b_3=a_3;}";
        assert_eq!(arranged(&text), expected);
        let text = "if((x)){vlSelf->a_2=y;vlSelf->a_0=y;vlSelf->a_1=y;}else{vlSelf->a_2=z;vlSelf->a_0=z;}if((x)){vlSelf->a_3=y;}else{vlSelf->a_3=z;}";
        assert_eq!(arranged(text), "if((x)){a_0=y;a_1=y;a_2=y;a_3=y;}else{a_0=z;a_2=z;a_3=z;}");
        // One number depends on another.
        let text = "if((x)){vlSelf->a_2=y;vlSelf->a_1=vlSelf->a_2;}else{vlSelf->a_2=z;vlSelf->a_1=z;}";
        assert_eq!(arranged(text), text.replace("vlSelf->", ""));
        // The condition changes meanwhile.
        let text = "if((vlSelf->a_0)){vlSelf->a_0=y;vlSelf->a_1=y;}if((vlSelf->a_0)){vlSelf->a_2=y;}";
        assert_eq!(arranged(text), text.replace("vlSelf->", ""));
    }

    /// Runs random statements as they are and in their new order.
    #[test]
    fn variables_have_the_same_values() {
        let seed =
            std::env::var("HERMES_SEED").map_or(1, |seed| seed.parse().expect("HERMES_SEED is a number"));
        println!("HERMES_SEED={seed}");
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for program in 0..300 {
            let count = random.gen_range(10..60);
            let text: String = (0..count).map(|_| statement(&mut random, 2)).collect();
            let tokens = tokens(&text);
            let found = statements(&tokens).unwrap();
            let output = with_names(|names| arrange(&tokens, &found, names).join(" "));
            let output = super::super::tokens::tokens(&output);
            let run = |tokens: &[&str]| {
                let mut values = HashMap::new();
                execute(&nodes(tokens, &statements(tokens).unwrap()), &mut values);
                values.into_iter().collect::<BTreeMap<String, u32>>()
            };
            assert_eq!(run(&tokens), run(&output), "program {program}: {text}\n{}", output.concat());
        }
    }

    fn variable(random: &mut ChaCha8Rng) -> String {
        let i = random.gen_range(0..8);
        match random.gen_range(0..10) {
            0..=2 => format!("vlSelf->a_{i}"),
            3..=5 => format!("vlSelf->b_{i}"),
            6 | 7 => format!("c_{i}"),
            8 => format!("w[{i}U]"),
            _ => ["x", "y"][i % 2].to_string(),
        }
    }

    fn statement(random: &mut ChaCha8Rng, depth: usize) -> String {
        if depth == 0 || random.gen_range(0..4) > 0 {
            return format!("{} = ({} + {});\n", variable(random), variable(random), variable(random));
        }
        let block = |random: &mut ChaCha8Rng| -> String {
            (0..random.gen_range(1..5)).map(|_| statement(random, depth - 1)).collect()
        };
        let condition = variable(random);
        let then = block(random);
        let otherwise = if random.gen() { format!("else {{ {} }}", block(random)) } else { String::new() };
        format!("if (({condition})) {{ {then} }} {otherwise}\n")
    }

    /// Values are mixed so that each order of additions has its own.
    fn execute(nodes: &[Node], values: &mut HashMap<String, u32>) {
        let value = |values: &HashMap<String, u32>, name: &str| {
            values.get(name).copied().unwrap_or(name.bytes().map(u32::from).sum())
        };
        for node in nodes {
            match node {
                Node::Plain(tokens) => {
                    let text = tokens.concat();
                    let (target, sum) = text.trim_end_matches(");").split_once("=(").unwrap();
                    let (first, second) = sum.split_once('+').unwrap();
                    let mixed = value(values, first).wrapping_mul(31) ^ value(values, second).rotate_left(7);
                    values.insert(target.to_string(), mixed);
                }
                Node::If { condition, then, otherwise } => {
                    let tested = value(values, &condition[2..condition.len() - 2].concat());
                    match (tested % 3 > 0, otherwise) {
                        (true, _) => execute(then, values),
                        (false, Some(otherwise)) => execute(otherwise, values),
                        (false, None) => {}
                    }
                }
            }
        }
    }
}
