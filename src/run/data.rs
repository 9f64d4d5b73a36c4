//! Data of the user's own: tables and an argument block before the run, parts of the memory after
//! it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{anyhow, bail, ensure, Context};
use hermes_testbench::cosim::{ArraySetup, Device, Host};
use hermes_testbench::firmware::Firmware;
use hermes_testbench::input::{self, number};
use hermes_testbench::kernel::{Binding, Executable, Kernel, Segment, Symbol, SymbolError};
use hermes_testbench::output::OutputFile;

use super::prints::{PrintArgs, Prints, VARIABLE};
use super::program::Program;
use crate::files::Files;

/// The most bytes of a table.
const MAX_TABLE_BYTES: u64 = 256 << 20;
/// The most bytes of an argument block.
const MAX_ARGUMENT_BYTES: u64 = 64 << 10;
/// Names that are offered in place of one that is not known, and how like it they are at least
/// (Jaro-Winkler, up to 1).
const MOST_NEAR: usize = 3;
const NEAR: f64 = 0.8;

/// What words of the argument block look like.
const WORDS: &str = "words below 2^32, decimal or 0x..., with commas between them";

/// Data of the user's own.
#[derive(clap::Args)]
#[command(next_help_heading = "Data of your own")]
pub struct DataArgs {
    /// Table of your own, which may be given several times: the bytes of FILE are placed in memory,
    /// at a multiple of 64. The pointer variable NAME of the kernel (4 bytes, not static, not
    /// const) gets their address, and the variable NAME_bytes their number, if there is one.
    /// Without packets the variables are those of the firmware (`TABLE` of hermes_cp.h)
    #[arg(long = "table", value_name = "NAME=FILE")]
    tables: Vec<TableArg>,
    /// The kernel's argument block (a2): the bytes of a file, or 32-bit words, such as `1,0x20,3`
    #[arg(long, value_name = "FILE|WORDS", requires = "pcap")]
    argument: Option<ArgumentArg>,
    /// Part of the memory to write after the run, which may be given several times: the bytes of a
    /// symbol of the kernel, or without packets of the firmware, those of a --table by its NAME, or
    /// LENGTH bytes from ADDRESS on
    #[arg(long = "dump", value_name = "SYMBOL=FILE|ADDRESS:LENGTH=FILE")]
    dumps: Vec<DumpArg>,
    /// What a part of the memory must be after the run, which may be given several times: every
    /// byte of a part as --dump names it is compared with the file, and the run fails if one
    /// differs
    #[arg(long = "expect-dump", value_name = "SYMBOL=FILE|ADDRESS:LENGTH=FILE")]
    expected_dumps: Vec<DumpArg>,
    #[command(flatten)]
    prints: PrintArgs,
}

/// `NAME=FILE`
#[derive(Clone, Debug)]
struct TableArg {
    name: String,
    path: PathBuf,
}

impl FromStr for TableArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').filter(|(name, path)| !name.is_empty() && !path.is_empty());
        let (name, path) = parts.ok_or("expected NAME=FILE, such as rules=rules.bin")?;
        Ok(Self { name: name.to_string(), path: path.into() })
    }
}

/// `FILE` or `WORD,WORD,...`
#[derive(Clone, Debug)]
enum ArgumentArg {
    File(PathBuf),
    Words(Vec<u32>),
}

impl FromStr for ArgumentArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Option<Vec<u32>> = text.split(',').map(|word| number(word.trim())).collect();
        let digits = |c: char| c.is_ascii_hexdigit() || matches!(c, ',' | ' ' | 'x');
        match words {
            Some(words) => Ok(Self::Words(words)),
            None if text.contains(',')
                && text.starts_with(|c: char| c.is_ascii_digit())
                && text.chars().all(digits) =>
            {
                Err(format!("expected {WORDS}, or a file"))
            }
            None => Ok(Self::File(text.into())),
        }
    }
}

/// `SYMBOL=FILE` or `ADDRESS:LENGTH=FILE`
#[derive(Clone, Debug)]
struct DumpArg {
    what: String,
    range: Option<(u32, u32)>,
    path: PathBuf,
}

impl FromStr for DumpArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected SYMBOL=FILE or ADDRESS:LENGTH=FILE, such as counters=counters.bin or 0x1000:64=code.bin";
        let parts = text.split_once('=').filter(|(what, path)| !what.is_empty() && !path.is_empty());
        let (what, path) = parts.ok_or(expected)?;
        let range = what.split_once(':').map(|(address, length)| Some((number(address)?, number(length)?)));
        if range.is_some_and(|range| range.is_none_or(|(_, length)| length == 0)) {
            return Err(format!("{expected}; numbers are below 2^32, and LENGTH is not 0"));
        }
        Ok(Self { what: what.to_string(), range: range.flatten(), path: path.into() })
    }
}

impl DataArgs {
    /// What is read and written.
    pub fn files(&self) -> Files {
        let mut files = Files::default();
        for TableArg { name, path } in &self.tables {
            files = files.input(format!("--table {name}="), Some(path));
        }
        if let Some(ArgumentArg::File(path)) = &self.argument {
            files = files.input("--argument", Some(path));
        }
        for DumpArg { what, path, .. } in &self.dumps {
            files = files.output(format!("--dump {what}="), Some(path));
        }
        for DumpArg { what, path, .. } in &self.expected_dumps {
            files = files.input(format!("--expect-dump {what}="), Some(path));
        }
        files.and(self.prints.files())
    }

    /// Reads the files and finds the symbols; makes sure that what is dumped can be written.
    ///
    /// # Errors
    /// A file cannot be read or written, or a symbol is none that the option can use.
    pub fn load(&self, program: &Program) -> anyhow::Result<Data> {
        let (kernel, name) = (&program.kernel, &program.name);
        let argument = match &self.argument {
            None => None,
            Some(_) if program.app.is_some() => {
                bail!("--argument: {name} has an argument block of its own; expected no --app with it")
            }
            Some(ArgumentArg::Words(words)) => {
                Some(words.iter().flat_map(|word| word.to_le_bytes()).collect())
            }
            Some(ArgumentArg::File(path)) => {
                let bytes = read(path, MAX_ARGUMENT_BYTES);
                Some(bytes.map_err(|error| match path.exists() {
                    true => error,
                    false => anyhow!("{error:#}; expected a file, or {WORDS}"),
                })?)
            }
        };
        let data = self.load_parts(kernel, name)?;
        let pointer = || variable(kernel, symbol(kernel, VARIABLE)?, "a pointer");
        let prints = self.prints.load(kernel, pointer).with_context(|| name.clone())?;
        Ok(Data { argument, prints, ..data })
    }

    /// As [`Self::load`], with the symbols of firmware.
    ///
    /// # Errors
    /// As [`Self::load`]; or the start-up code clears a variable that a table sets.
    pub fn load_firmware(&self, firmware: &Firmware) -> anyhow::Result<Data> {
        let name = firmware.path.display().to_string();
        let data = self.load_parts(&firmware.executable, &name)?;
        for table in &data.tables {
            let set = [Some((table.name.clone(), table.pointer))].into_iter();
            let set = set.chain([table.length.map(|at| (format!("{}_bytes", table.name), at))]);
            for (variable, address) in set.flatten() {
                ensure!(
                    !firmware.clears(address),
                    "--table {}=: {name}: `{variable}` is in .bss, which the start-up code clears; expected `TABLE` (hermes_cp.h) before its declaration",
                    table.name
                );
            }
        }
        Ok(data)
    }

    /// Tables and dumps.
    fn load_parts(&self, code: &dyn Code, name: &str) -> anyhow::Result<Data> {
        let mut tables: Vec<Table> = Vec::new();
        for TableArg { name: table, path } in &self.tables {
            let option = format!("--table {table}={}", path.display());
            ensure!(tables.iter().all(|other| other.name != *table), "{option}: {table} is given twice");
            let symbol = symbol(code, table).with_context(|| format!("{option}: {name}"))?;
            let pointer = variable(code, symbol, "a pointer").with_context(|| format!("{option}: {name}"))?;
            let length = length(code, symbol).with_context(|| format!("{option}: {name}"))?;
            let bytes = read(path, MAX_TABLE_BYTES)?;
            tables.push(Table { name: table.clone(), bytes, pointer, length, address: 0 });
        }
        let mut dumps = Vec::new();
        for dump in &self.dumps {
            let place = dump.place(code, &tables).with_context(|| dump.option("--dump", name))?;
            let file = OutputFile::create(&dump.path)?;
            dumps.push(Dump { what: dump.what.clone(), place, bytes: Vec::new(), file });
        }
        let mut expected = Vec::new();
        for dump in &self.expected_dumps {
            let option = || dump.option("--expect-dump", name);
            let place = dump.place(code, &tables).with_context(option)?;
            let bytes = read(&dump.path, MAX_TABLE_BYTES)?;
            let length = match place {
                Place::Range { length, .. } => length as usize,
                Place::Table(table) => tables[table].bytes.len(),
            };
            ensure!(
                bytes.len() == length,
                "{}: the file has {} bytes; expected {length}, as many as `{}` has",
                option(),
                bytes.len(),
                dump.what
            );
            let option = format!("--expect-dump {}={}", dump.what, dump.path.display());
            expected.push(ExpectedDump { option, place, bytes, first: 0, found: Vec::new() });
        }
        Ok(Data { tables, argument: None, dumps, expected, prints: None })
    }
}

impl DumpArg {
    /// The option, and the program that it is about.
    fn option(&self, option: &str, program: &str) -> String {
        format!("{option} {}={}: {program}", self.what, self.path.display())
    }

    /// What it names.
    fn place(&self, code: &dyn Code, tables: &[Table]) -> anyhow::Result<Place> {
        let what = &self.what;
        match (self.range, tables.iter().position(|table| table.name == *what)) {
            (Some((address, length)), _) => Ok(Place::Range { address, length }),
            (None, Some(table)) => Ok(Place::Table(table)),
            (None, None) => {
                let symbol = symbol(code, what)?;
                ensure!(
                    symbol.size > 0,
                    "does not tell the size of `{what}`; expected `.size` in its source, or ADDRESS:LENGTH=FILE (it is at {:#010x})",
                    symbol.address
                );
                Ok(Place::Range { address: symbol.address, length: symbol.size })
            }
        }
    }
}

/// A program with symbols: a kernel, or firmware.
pub trait Code {
    /// The symbol called `name`.
    ///
    /// # Errors
    /// There is none, or there are several.
    fn find(&self, name: &str) -> Result<&Symbol, SymbolError>;
    /// All of them.
    fn symbols(&self) -> &[Symbol];
    /// What goes to memory.
    fn segments(&self) -> &[Segment];
}

impl Code for Kernel {
    fn find(&self, name: &str) -> Result<&Symbol, SymbolError> {
        self.symbol(name)
    }

    fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    fn segments(&self) -> &[Segment] {
        &self.segments
    }
}

impl Code for Executable {
    fn find(&self, name: &str) -> Result<&Symbol, SymbolError> {
        self.symbol(name)
    }

    fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    fn segments(&self) -> &[Segment] {
        &self.segments
    }
}

/// A symbol of a program.
pub fn symbol<'a>(code: &'a dyn Code, name: &str) -> anyhow::Result<&'a Symbol> {
    match code.find(name) {
        Err(SymbolError::Missing { .. }) => {}
        found => return Ok(found?),
    }
    let likeness = |symbol: &&'a Symbol| strsim::jaro_winkler(name, &symbol.name);
    let mut near: Vec<_> = code.symbols().iter().filter(|symbol| likeness(symbol) >= NEAR).collect();
    near.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)).then(a.name.cmp(&b.name)));
    near.dedup_by_key(|symbol| &symbol.name);
    let near: Vec<_> = near.iter().take(MOST_NEAR).map(|symbol| format!("`{}`", symbol.name)).collect();
    match near.is_empty() {
        true => bail!("has no symbol `{name}`; `hermes kernel info` lists its symbols"),
        false => bail!("has no symbol `{name}`; near it are {}", near.join(", ")),
    }
}

/// The address of the variable for the bytes of the table to which `pointer` points, if there is
/// one.
fn length(code: &dyn Code, pointer: &Symbol) -> anyhow::Result<Option<u32>> {
    let symbol = match code.find(&format!("{}_bytes", pointer.name)) {
        Err(SymbolError::Missing { .. }) => return Ok(None),
        found => found?,
    };
    // It may be that of another source.
    ensure!(
        symbol.binding != Binding::Local || pointer.binding == Binding::Local,
        "`{}` is local (`static`), and `{}` is not; expected both to be global",
        symbol.name,
        pointer.name
    );
    variable(code, symbol, "a number").map(Some)
}

/// The address of the word that `symbol` is.
fn variable(code: &dyn Code, symbol: &Symbol, what: &str) -> anyhow::Result<u32> {
    let Symbol { name, address, size, is_function, .. } = symbol;
    ensure!(!is_function, "`{name}` is a function; expected a variable, {what} of 4 bytes");
    ensure!(matches!(size, 0 | 4), "`{name}` has {size} bytes; expected {what} of 4 bytes");
    ensure!(address % 4 == 0, "`{name}` is at {address:#010x}; expected a multiple of 4");
    let inside = |segment: &Segment| {
        let offset = address.checked_sub(segment.address);
        offset.is_some_and(|offset| u64::from(offset) + 4 <= segment.bytes.len() as u64)
    };
    ensure!(
        code.segments().iter().any(inside),
        "`{name}` is at {address:#010x}, outside every loaded segment"
    );
    Ok(*address)
}

/// The bytes of a file that is not empty.
fn read(path: &Path, most: u64) -> anyhow::Result<Vec<u8>> {
    let bytes = input::read(path, most).with_context(|| input::name(path))?;
    ensure!(!bytes.is_empty(), "{}: is empty; expected 1 to {most} bytes", input::name(path));
    Ok(bytes)
}

/// The data, read, and where they belong.
pub struct Data {
    tables: Vec<Table>,
    argument: Option<Vec<u8>>,
    dumps: Vec<Dump>,
    expected: Vec<ExpectedDump>,
    prints: Option<Prints>,
}

struct Table {
    name: String,
    bytes: Vec<u8>,
    /// Addresses of the variables for its address and its length.
    pointer: u32,
    length: Option<u32>,
    /// Where it lies, once it is placed.
    address: u32,
}

/// What is dumped.
enum Place {
    Range {
        address: u32,
        length: u32,
    },
    /// The table with this number.
    Table(usize),
}

/// What a part of the memory must be.
struct ExpectedDump {
    /// The option, as it was given.
    option: String,
    place: Place,
    bytes: Vec<u8>,
    /// Address of the first byte, and what was there.
    first: u32,
    found: Vec<u8>,
}

impl ExpectedDump {
    /// # Errors
    /// Bytes differ: how many, and the first.
    fn check(&self) -> anyhow::Result<()> {
        let differ = |(_, (found, expected)): &(usize, (&u8, &u8))| found != expected;
        let mut wrong = self.found.iter().zip(&self.bytes).enumerate().filter(differ);
        let Some((at, (found, expected))) = wrong.next() else { return Ok(()) };
        bail!(
            "{}: {} of {} bytes differ; the first, byte {at} at {:#010x}, is {found:#04x}; expected {expected:#04x}",
            self.option,
            1 + wrong.count(),
            self.bytes.len(),
            self.first as usize + at
        )
    }
}

struct Dump {
    what: String,
    place: Place,
    bytes: Vec<u8>,
    file: OutputFile,
}

impl Data {
    /// Writes the tables to the memory of an array whose kernel is loaded and which does not run
    /// yet, and puts the argument block into `setup`.
    ///
    /// # Errors
    /// There is no room, or what is to be dumped is outside the memory.
    pub fn place<D: Device>(&mut self, host: &mut Host<D>, setup: &mut ArraySetup) -> anyhow::Result<()> {
        self.allocate(host)?;
        for (address, value) in self.variables() {
            host.device_mut().write_memory(address, &value.to_le_bytes())?;
        }
        if let Some(prints) = &mut self.prints {
            prints.place(host)?;
        }
        if let Some(argument) = self.argument.take() {
            setup.argument = argument;
        }
        Ok(())
    }

    /// Writes the tables to memory.
    ///
    /// # Errors
    /// As [`Self::place`].
    pub fn allocate<D: Device>(&mut self, host: &mut Host<D>) -> anyhow::Result<()> {
        for table in &mut self.tables {
            let option = || format!("--table {}=", table.name);
            table.address =
                host.rmalloc(&format!("the table {}", table.name), table.bytes.len()).with_context(option)?;
            host.device_mut().write_memory(table.address, &table.bytes)?;
        }
        let dumps = self.dumps.iter().map(|dump| (format!("--dump {}=", dump.what), &dump.place));
        let expected = self.expected.iter().map(|dump| (dump.option.clone(), &dump.place));
        for (option, place) in dumps.chain(expected) {
            if let Place::Range { address, length } = *place {
                let (end, size) = (u64::from(address) + u64::from(length), host.memory_size());
                ensure!(
                    end <= size,
                    "{option}: {length} bytes from {address:#010x} on end beyond the memory of {size} bytes"
                );
            }
        }
        Ok(())
    }

    /// The variables of the tables, which are placed: addresses and values.
    pub fn variables(&self) -> Vec<(u32, u32)> {
        let of = |table: &Table| {
            let length = table.length.map(|length| (length, table.bytes.len() as u32));
            std::iter::once((table.pointer, table.address)).chain(length)
        };
        self.tables.iter().flat_map(of).collect()
    }

    /// Reads what is to be dumped, and what kernels printed, at the end of a run.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn read<D: Device>(&mut self, host: &mut Host<D>) -> anyhow::Result<()> {
        if self.dumps.is_empty() && self.expected.is_empty() && self.prints.is_none() {
            return Ok(());
        }
        host.clean_caches()?;
        if let Some(prints) = &mut self.prints {
            prints.read(host)?;
        }
        let tables = &self.tables;
        let mut read = |place: &Place| -> anyhow::Result<(u32, Vec<u8>)> {
            let (address, length) = match *place {
                Place::Range { address, length } => (address, length as usize),
                Place::Table(table) => (tables[table].address, tables[table].bytes.len()),
            };
            let mut bytes = vec![0; length];
            host.device_mut().read_memory(address, &mut bytes)?;
            Ok((address, bytes))
        };
        for dump in &mut self.dumps {
            dump.bytes = read(&dump.place)?.1;
        }
        for dump in &mut self.expected {
            (dump.first, dump.found) = read(&dump.place)?;
        }
        Ok(())
    }

    /// Compares what was read with what is expected.
    ///
    /// # Errors
    /// A byte differs.
    pub fn compare(&self) -> anyhow::Result<()> {
        self.expected.iter().try_for_each(ExpectedDump::check)
    }

    /// Writes the files with what was read.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn write(self) -> anyhow::Result<()> {
        for Dump { bytes, mut file, .. } in self.dumps {
            file.write_all(&bytes)?;
            file.commit()?;
        }
        self.prints.map_or(Ok(()), Prints::write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options() {
        let words = |text: &str| match text.parse() {
            Ok(ArgumentArg::Words(words)) => words,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(words("7"), [7]);
        assert_eq!(words("1, 0x20,0xffffffff"), [1, 32, u32::MAX]);
        for file in ["argument.bin", "./7", "0xzz", "a,b"] {
            assert!(matches!(file.parse(), Ok(ArgumentArg::File(_))), "{file}");
        }
        for text in ["1,0x100000000", "1,,2", "1,"] {
            assert!(text.parse::<ArgumentArg>().is_err(), "{text}");
        }
        assert!("rules".parse::<TableArg>().is_err() && "=x".parse::<TableArg>().is_err());
        let dump: DumpArg = "0x1000:64=a=b".parse().unwrap();
        assert_eq!((dump.range, dump.path), (Some((4096, 64)), PathBuf::from("a=b")));
        assert_eq!("counters=x".parse::<DumpArg>().unwrap().range, None);
        for text in ["counters", "counters=", "1:0=x", "1:=x", "a:b=x", "0x1ffffffff:4=x"] {
            assert!(text.parse::<DumpArg>().is_err(), "{text}");
        }
    }
}
