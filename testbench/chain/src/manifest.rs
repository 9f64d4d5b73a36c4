//! The manifest of a network function, which its vendor writes.

use std::path::PathBuf;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_spanned::Spanned;

use super::text::{Problem, Text};
use crate::apps::{AppEntry, Inputs};
use crate::cosim::Guards;
use crate::input;

/// Most bytes of a table: as of those of a kernel in a run.
const MOST_TABLE_BYTES: u64 = 256 << 20;
/// Most words of an argument block: 64 KiB.
const MOST_ARGUMENT_WORDS: usize = 16 << 10;
/// Most bytes of a function's state.
const MOST_STATE_BYTES: u32 = 256 << 20;
/// Longest name of a function.
const MOST_NAME: usize = 32;
/// What stands in place of the next function behind the last one, so that none can have this name.
pub const END: &str = "end";
/// What stands for the address of the state in an argument block.
const STATE: &str = "state";

/// The file of a manifest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    function: RawFunction,
    #[serde(default)]
    table: Vec<RawTable>,
}

/// `[function]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFunction {
    name: Spanned<String>,
    app: Option<Spanned<String>>,
    kernel: Option<Spanned<PathBuf>>,
    source: Option<Spanned<PathBuf>>,
    #[serde(default)]
    rv32e: bool,
    #[serde(default)]
    atomics: bool,
    #[serde(default)]
    aes: bool,
    inputs: Option<Spanned<RawInputs>>,
    argument: Option<Spanned<Vec<Spanned<RawWord>>>>,
    packet: Option<Packet>,
    grow: Option<Spanned<u32>>,
    watchdog: Option<Spanned<u32>>,
    #[serde(default)]
    trusted: bool,
    #[serde(default)]
    keep_verdict: bool,
    mcw: Option<Spanned<u32>>,
    state_bytes: Option<Spanned<u32>>,
    stack_bytes: Option<Spanned<u32>>,
    max_latency: Option<Spanned<u32>>,
}

/// Inputs of an app.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawInputs {
    rules: Option<PathBuf>,
    routes: Option<PathBuf>,
    mtu: Option<u16>,
    keys: Option<PathBuf>,
}

impl RawInputs {
    /// The files as they are seen from that of `text`.
    pub(super) fn beside(self, text: &Text) -> Inputs {
        let beside = |path: Option<PathBuf>| path.map(|path| text.beside(&path));
        let Self { rules, routes, mtu, keys } = self;
        Inputs { rules: beside(rules), routes: beside(routes), mtu, keys: beside(keys) }
    }
}

/// `[[table]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    name: Spanned<String>,
    file: Spanned<PathBuf>,
}

/// A word of the argument block.
#[derive(Clone, Debug)]
enum RawWord {
    Word(u32),
    Name(String),
}

impl<'de> Deserialize<'de> for RawWord {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(WordVisitor)
    }
}

/// Tells which value is wrong.
struct WordVisitor;

impl Visitor<'_> for WordVisitor {
    type Value = RawWord;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a number below 2^32, the name of a [[table]], NAME.bytes or \"{STATE}\"")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<RawWord, E> {
        let word = u32::try_from(value);
        word.map(RawWord::Word).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<RawWord, E> {
        Ok(RawWord::Name(value.to_string()))
    }
}

/// What a function does to the packets that it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Packet {
    /// Nothing: it decides by the packet's number.
    None,
    /// It loads from them.
    Read,
    /// It changes them.
    Write,
}

/// Where the kernel of a function comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// That of the app.
    App,
    /// An ELF file, linked to an address of its own.
    Kernel(PathBuf),
    /// A source, which is built for the place that the function gets.
    Source {
        /// The file.
        path: PathBuf,
        /// It uses 16 registers.
        rv32e: bool,
        /// It may have atomic instructions.
        atomics: bool,
        /// It may have AES instructions.
        aes: bool,
    },
}

/// A word of an argument block before it is known where things lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A number.
    Number(u32),
    /// The address of a table, by its number in the manifest.
    Table(usize),
    /// The bytes of a table, alike.
    TableBytes(usize),
    /// The address of the state.
    State,
}

/// A table of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name in the argument block.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What a vendor says of a network function. Its files were read.
#[derive(Clone, Debug)]
pub struct Manifest {
    pub(super) text: Text,
    /// The name.
    pub name: Spanned<String>,
    /// The app whose tables, argument block and golden model it has, with its inputs.
    pub app: Option<(Spanned<String>, &'static AppEntry, Inputs)>,
    /// Where its kernel comes from.
    pub code: Code,
    /// The field that says so.
    pub code_field: &'static str,
    code_at: Spanned<()>,
    /// Its tables, if it has no app.
    pub tables: Vec<Table>,
    /// Its argument block, alike.
    pub argument: Vec<Word>,
    /// What it does to packets.
    pub packet: Packet,
    /// Most bytes by which it makes frames longer, if the manifest says so.
    pub grow: Option<Spanned<u32>>,
    /// It is not guarded: it needs no watchdog, reaches all packets of the ring, may use `lr.w`,
    /// and its instructions may come from anywhere.
    pub trusted: bool,
    /// Packets that it forwards keep the verdict of the function before.
    pub keep_verdict: bool,
    /// Cycles that a warp of it may be on a core; 0: any number, of a function that is trusted.
    pub watchdog: u32,
    /// Most warps of it on a core, if the manifest says so.
    pub mcw: Option<Spanned<u32>>,
    /// Bytes that it may store to and keeps from packet to packet, beside the data of its kernel.
    pub state_bytes: u32,
    /// Bytes of stack that a thread of it needs, if the manifest says so.
    pub stack_bytes: Option<Spanned<u32>>,
    /// Most cycles that a warp of it is to take, if the manifest says so: what cores are given out
    /// by.
    pub max_latency: Option<Spanned<u32>>,
    /// Every file that was read or is to be.
    pub files: Vec<PathBuf>,
}

impl Manifest {
    /// Reads the manifest in `text`, and the tables that it names.
    ///
    /// # Errors
    /// All that is wrong with it, as far as it could be looked for.
    pub fn read(text: Text) -> Result<Self, Vec<Problem>> {
        let file: File = text.parse().map_err(|problem| vec![problem])?;
        let mut problems = Vec::new();
        let manifest = Self::of(text, &file, &mut problems);
        match manifest {
            Some(manifest) if problems.is_empty() => Ok(manifest),
            _ => Err(problems),
        }
    }

    /// What the hardware keeps the function to: what it says that it does to packets, and unless it
    /// is trusted nothing else.
    #[must_use]
    pub fn guards(&self) -> Guards {
        Guards {
            guarded: !self.trusted,
            may_load: self.packet != Packet::None,
            may_store: self.packet == Packet::Write,
            may_reserve: self.trusted,
            keeps_verdict: self.keep_verdict,
        }
    }

    fn of(text: Text, file: &File, problems: &mut Vec<Problem>) -> Option<Self> {
        let function = &file.function;
        check_name(&text, &function.name, problems);
        let code = code(&text, function, problems);
        let app = app(&text, function, problems);
        let (tables, argument) = data(&text, file, app.is_some(), problems);
        let packet = function.packet.unwrap_or(Packet::Write);
        if let Some(grow) =
            function.grow.as_ref().filter(|grow| *grow.get_ref() > 0 && packet != Packet::Write)
        {
            problems.push(text.problem(
                grow,
                "grow",
                "a function that makes frames longer; expected packet = \"write\"",
            ));
        }
        let watchdog = watchdog(&text, function, problems);
        for (field, value, most) in [
            ("state_bytes", &function.state_bytes, MOST_STATE_BYTES),
            ("grow", &function.grow, u32::from(u16::MAX)),
        ] {
            if let Some(value) = value.as_ref().filter(|value| *value.get_ref() > most) {
                let told = format!("{}: expected 0 to {most}", value.get_ref());
                problems.push(text.problem(value, field, told));
            }
        }
        if let Some(cycles) = function.max_latency.as_ref().filter(|cycles| *cycles.get_ref() == 0) {
            problems.push(text.problem(cycles, "max_latency", "0: expected 1 or more cycles"));
        }
        let inputs = app.as_ref().map(|(_, _, inputs)| inputs.clone()).unwrap_or_default();
        let inputs = [inputs.rules, inputs.routes, inputs.keys].into_iter().flatten();
        let (code, code_field, code_at) = code?;
        let file_of_code = match &code {
            Code::App => None,
            Code::Kernel(path) | Code::Source { path, .. } => Some(path.clone()),
        };
        let table_files = file.table.iter().map(|table| text.beside(table.file.get_ref()));
        let files =
            [text.path().to_path_buf()].into_iter().chain(inputs).chain(file_of_code).chain(table_files);
        Some(Self {
            name: function.name.clone(),
            app,
            code,
            code_field,
            code_at,
            tables,
            argument,
            packet,
            trusted: function.trusted,
            keep_verdict: function.keep_verdict,
            grow: function.grow.clone(),
            watchdog,
            mcw: function.mcw.clone(),
            state_bytes: function.state_bytes.as_ref().map_or(0, |bytes| *bytes.get_ref()),
            stack_bytes: function.stack_bytes.clone(),
            max_latency: function.max_latency.clone(),
            files: files.collect(),
            text,
        })
    }

    /// An error of the field that says where the kernel comes from.
    pub(super) fn code_problem(&self, problem: impl std::fmt::Display) -> Problem {
        self.text.problem(&self.code_at, self.code_field, problem)
    }
}

fn check_name(text: &Text, name: &Spanned<String>, problems: &mut Vec<Problem>) {
    if let Err(told) = function_name(name.get_ref()) {
        problems.push(text.problem(name, "name", told));
    }
}

/// Makes sure that a function can have this name.
pub(super) fn function_name(name: &str) -> Result<(), String> {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > MOST_NAME || !name.chars().all(is_word) || name == END {
        return Err(format!("`{name}`: expected 1 to {MOST_NAME} of a-z, 0-9, - and _, and not `{END}`"));
    }
    Ok(())
}

type FoundCode = (Code, &'static str, Spanned<()>);

/// Where the kernel comes from, and what says so.
fn code(text: &Text, function: &RawFunction, problems: &mut Vec<Problem>) -> Option<FoundCode> {
    if let (Some(kernel), Some(_)) = (&function.kernel, &function.source) {
        problems.push(text.problem(kernel, "kernel", "beside `source`; expected one of them"));
        return None;
    }
    if let Some(path) = &function.source {
        let code = Code::Source {
            path: text.beside(path.get_ref()),
            rv32e: function.rv32e,
            atomics: function.atomics,
            aes: function.aes,
        };
        return Some((code, "source", Spanned::new(path.span(), ())));
    }
    let options = [("rv32e", function.rv32e), ("atomics", function.atomics), ("aes", function.aes)];
    if let Some((option, _)) = options.iter().find(|(_, given)| *given) {
        problems.push(text.problem(
            &function.name,
            option,
            "is of use to `source` only; expected it with that",
        ));
    }
    if let Some(path) = &function.kernel {
        return Some((Code::Kernel(text.beside(path.get_ref())), "kernel", Spanned::new(path.span(), ())));
    }
    match &function.app {
        Some(app) => Some((Code::App, "app", Spanned::new(app.span(), ()))),
        None => {
            let told = "has no kernel; expected app = \"NAME\", kernel = \"FILE.elf\" or source = \"FILE.c\"";
            problems.push(text.problem(&function.name, "function", told));
            None
        }
    }
}

type FoundApp = (Spanned<String>, &'static AppEntry, Inputs);

/// The app, with its inputs.
fn app(text: &Text, function: &RawFunction, problems: &mut Vec<Problem>) -> Option<FoundApp> {
    let Some(name) = &function.app else {
        if let Some(inputs) = &function.inputs {
            problems.push(text.problem(inputs, "inputs", "are those of an app; expected app = \"NAME\""));
        }
        return None;
    };
    let entry = match AppEntry::find(name.get_ref()) {
        Ok(entry) => entry,
        Err(_) => {
            let names: Vec<_> = crate::apps::APPS.iter().map(|app| app.name).collect();
            let told = format!("`{}` is not known; expected {}", name.get_ref(), super::text::one_of(&names));
            problems.push(text.problem(name, "app", told));
            return None;
        }
    };
    let raw = function.inputs.as_ref().map(|inputs| inputs.get_ref().clone()).unwrap_or_default();
    Some((name.clone(), entry, raw.beside(text)))
}

/// Tables and argument block of a function without an app.
fn data(text: &Text, file: &File, has_app: bool, problems: &mut Vec<Problem>) -> (Vec<Table>, Vec<Word>) {
    let function = &file.function;
    if function.app.is_some() {
        let told = "an app has its own; expected a function without `app`";
        problems.extend(file.table.iter().map(|table| text.problem(&table.name, "table", told)));
        problems.extend(function.argument.as_ref().map(|argument| text.problem(argument, "argument", told)));
        assert!(has_app || !problems.is_empty());
        return Default::default();
    }
    let mut tables: Vec<Table> = Vec::new();
    for RawTable { name, file } in &file.table {
        let table = name.get_ref();
        if table == STATE || function_name(table).is_err() {
            let told = format!(
                "`{table}`: expected 1 to {MOST_NAME} of a-z, 0-9, - and _, not `{STATE}` or `{END}`"
            );
            problems.push(text.problem(name, "table.name", told));
        }
        if tables.iter().any(|other| other.name == *table) {
            problems.push(text.problem(
                name,
                "table.name",
                format!("two tables are called `{table}`; expected one"),
            ));
        }
        let path = text.beside(file.get_ref());
        match input::read(&path, MOST_TABLE_BYTES) {
            Ok(bytes) => tables.push(Table { name: table.clone(), bytes }),
            Err(error) => {
                problems.push(text.problem(file, "table.file", format!("{}: {error}", path.display())));
            }
        }
    }
    let words = function.argument.as_ref().map_or(&[][..], |argument| argument.get_ref());
    if let Some(word) = words.get(MOST_ARGUMENT_WORDS) {
        let told = format!("has {} words; expected at most {MOST_ARGUMENT_WORDS}", words.len());
        problems.push(text.problem(word, "argument", told));
    }
    let word = |word: &Spanned<RawWord>| match word.get_ref() {
        RawWord::Word(number) => Some(Word::Number(*number)),
        RawWord::Name(name) if name == STATE => Some(Word::State),
        RawWord::Name(name) => {
            let number = |name: &str| file.table.iter().position(|table| table.name.get_ref() == name);
            let bytes = name.strip_suffix(".bytes").and_then(number).map(Word::TableBytes);
            let found = number(name).map(Word::Table).or(bytes);
            if found.is_none() {
                let told = format!(
                    "`{name}` is no table; expected a number, the name of a [[table]], NAME.bytes or \"{STATE}\""
                );
                problems.push(text.problem(word, "argument", told));
            }
            found
        }
    };
    let argument = words.iter().filter_map(word).collect();
    (tables, argument)
}

/// The watchdog's time-out, without which only a function that is trusted may be.
fn watchdog(text: &Text, function: &RawFunction, problems: &mut Vec<Problem>) -> u32 {
    match &function.watchdog {
        None if function.trusted => 0,
        None => {
            let told = "missing; expected the cycles that a warp may be on a core, or trusted = true";
            problems.push(text.problem(&function.name, "watchdog", told));
            0
        }
        Some(cycles) => {
            if !(1..1 << 31).contains(cycles.get_ref()) {
                let told = format!("{}: expected 1 to {}", cycles.get_ref(), (1_u32 << 31) - 1);
                problems.push(text.problem(cycles, "watchdog", told));
            }
            *cycles.get_ref()
        }
    }
}
