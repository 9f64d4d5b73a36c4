//! Programs as linkers make them: names of every binding, load addresses, and what needs a
//! start-up code.

use std::path::PathBuf;

use hermes_testbench::kernel::Kernel;
use rand::Rng;

use super::{each, one, output};

/// Files of which `readelf` tells at once.
const AT_ONCE: usize = 100;
/// `lw a0, 8(gp)`, `addi gp, zero, 4` and `ret`.
const USES_GP: u32 = 0x0081_a503;
const SETS_GP: u32 = 0x0040_0193;
const RET: u32 = 0x0000_8067;

/// A symbol: name, binding (0 local, 1 global, 2 weak), address, section.
type Named = (&'static str, u8, u32, u16);

/// A file, and what it is by the program that made it.
struct Made {
    bytes: Vec<u8>,
    /// The address of `kernel`, or a part of the error.
    expected: Result<u32, &'static str>,
}

/// Sections that a kernel cannot have: name, type, flags (with SHF_ALLOC), and a part of the error.
const REFUSED: [(&str, u32, u32, &str); 7] = [
    (".init_array", 14, 3, "has a constructor"),
    (".preinit_array", 16, 3, "has a constructor"),
    (".ctors", 1, 3, "has a constructor"),
    (".fini_array.00100", 15, 3, "has a destructor"),
    (".tdata", 1, 0x403, "has thread-local data"),
    (".tbss", 8, 0x403, "has thread-local data"),
    (".rela.iplt", 4, 2, "has relocations"),
];
/// Sections that matter to nobody, or are empty.
const HARMLESS: [(&str, u32, u32, u32); 4] =
    [(".comment", 1, 0x30, 8), (".init_array", 14, 3, 0), (".note", 7, 0, 8), (".initial", 1, 2, 8)];

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Adds a text with its end to a string table; gives its place.
fn text(table: &mut Vec<u8>, name: &str) -> u32 {
    let at = table.len() as u32;
    table.extend(name.bytes().chain([0]));
    at
}

/// The symbol that `name` stands for, as the documents say it.
fn chosen(symbols: &[Named], name: &str) -> Result<u32, &'static str> {
    let of = |binding: u8| symbols.iter().filter(move |symbol| (symbol.0, symbol.1) == (name, binding));
    if let Some(symbol) = of(1).next().or(of(2).next()) {
        return Ok(symbol.2);
    }
    let mut local: Vec<_> = of(0).map(|symbol| symbol.2).collect();
    local.sort_unstable();
    local.dedup();
    match local[..] {
        [] => Err("has no symbol `kernel`"),
        [address] => Ok(address),
        _ => Err("symbol `kernel` is ambiguous"),
    }
}

fn made(random: &mut impl Rng) -> Made {
    let run = 0x1000 * random.gen_range(1..9_u32);
    let load = if random.gen() { run } else { run + 0x1_0000 };
    let mut code = vec![RET; 16];
    let gp = random.gen_range(0..6);
    match gp {
        0 => code[..15].fill(USES_GP),
        1 => code[..15].fill(SETS_GP),
        _ => {}
    }
    let mut symbols: Vec<Named> = Vec::new();
    for _ in 0..random.gen_range(1..6) {
        let name = one(random, &["kernel", "rules", "kernel"]);
        // One global or weak symbol of a name, as linkers see to it.
        let taken = symbols.iter().any(|symbol| symbol.0 == name && symbol.1 != 0);
        let binding = if taken { 0 } else { one(random, &[0, 0, 1, 2]) };
        symbols.push((name, binding, run + 4 * random.gen_range(0..15), 1));
    }
    symbols.sort_by_key(|symbol| symbol.1 != 0);
    let mut expected = chosen(&symbols, "kernel");
    let mut sections = vec![(".text", 1_u32, 6_u32, run, words(&code))];
    if random.gen_ratio(1, 3) {
        let (name, kind, flags, error) = one(random, &REFUSED);
        sections.push((name, kind, flags, run, words(&[run, run])));
        expected = expected.and(Err(error));
    }
    if random.gen() {
        let (name, kind, flags, bytes) = one(random, &HARMLESS);
        sections.push((name, kind, flags, run, vec![0; bytes as usize]));
    }
    if gp == 0 {
        expected = expected.and(Err("uses gp at"));
    }

    let program_headers = if random.gen() { 1 } else { 2 };
    let mut bytes = vec![0; 52 + 32 * program_headers];
    let mut names = vec![0];
    let mut headers = vec![0; 40];
    for (name, kind, flags, address, content) in &sections {
        let header =
            [text(&mut names, name), *kind, *flags, *address, bytes.len() as u32, content.len() as u32];
        headers.extend(words(&header));
        headers.extend(words(&[0, 0, 4, 0]));
        bytes.extend(content);
    }
    let (mut strings, mut table) = (vec![0], vec![0; 16]);
    for (name, binding, address, section) in &symbols {
        table.extend(words(&[text(&mut strings, name), *address, 4]));
        table.extend([binding << 4 | 2, 0]);
        table.extend(section.to_le_bytes());
    }
    let local = 1 + symbols.iter().filter(|symbol| symbol.1 == 0).count() as u32;
    let count = sections.len() as u32;
    for (name, kind, content, link, info, size) in
        [(".symtab", 2, table, count + 2, local, 16), (".strtab", 3, strings, 0, 0, 0)]
    {
        let header = [text(&mut names, name), kind, 0, 0, bytes.len() as u32, content.len() as u32];
        headers.extend(words(&header));
        headers.extend(words(&[link, info, 4, size]));
        bytes.extend(content);
    }
    let name = text(&mut names, ".shstrtab");
    headers.extend(words(&[name, 3, 0, 0, bytes.len() as u32, names.len() as u32, 0, 0, 1, 0]));
    bytes.extend(&names);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let section_headers = bytes.len() as u32;
    bytes.extend(headers);

    let mut head = b"\x7fELF\x01\x01\x01".to_vec();
    head.resize(16, 0);
    head.extend([2, 0, 243, 0]);
    head.extend(words(&[1, run, 52, section_headers, 0]));
    let halves = [52, 32, program_headers as u16, 40, count as u16 + 4, count as u16 + 3];
    head.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
    let begin = 52 + 32 * program_headers as u32;
    head.extend(words(&[1, begin, run, load, 64, 64, 5, 4]));
    if program_headers == 2 {
        head.extend(words(&[1, begin, run + 0x800, load + 64, 16, 32, 6, 4]));
    }
    bytes[..head.len()].copy_from_slice(&head);
    Made { bytes, expected }
}

/// What `readelf` tells of a file: symbols called `kernel` with their binding, the segments
/// (address of the run, bytes in memory), and whether a section needs a start-up code.
#[derive(Debug, Default)]
struct Read {
    kernels: Vec<(String, u32)>,
    segments: Vec<(u32, usize)>,
    startup: bool,
}

fn by_readelf(paths: &[PathBuf]) -> Option<Vec<Read>> {
    let text = output("readelf", &["-lsSW"], paths)?;
    let number = |word: &str| u32::from_str_radix(word.trim_start_matches("0x"), 16).unwrap();
    let mut files = Vec::new();
    for line in text.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        if line.starts_with("File: ") {
            files.push(Read::default());
        }
        let Some(file) = files.last_mut() else { continue };
        match &words[..] {
            ["LOAD", _, run, _, _, memory, ..] => file.segments.push((number(run), number(memory) as usize)),
            [_, address, _, "FUNC", binding, _, _, "kernel"] => {
                file.kernels.push(((*binding).to_string(), number(address)));
            }
            _ if line.trim_start().starts_with('[') => {
                let fields: Vec<_> = line.split(']').nth(1).unwrap_or_default().split_whitespace().collect();
                let [name, kind, _, _, size, rest @ ..] = &fields[..] else { continue };
                let flags = rest.get(1).copied().unwrap_or_default();
                let array = kind.ends_with("_ARRAY") || name.starts_with(".ctors");
                let needs = array || *kind == "RELA" || flags.contains('T');
                file.startup |= needs && flags.contains('A') && number(size) > 0;
            }
            _ => {}
        }
    }
    assert_eq!(files.len(), paths.len());
    Some(files)
}

pub fn test(count: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (mut waiting, mut installed, mut taken) = (Vec::new(), true, 0);
    each(count, |number, random| {
        let Made { bytes, expected } = made(random);
        let path = folder.path().join(format!("{number}.elf"));
        std::fs::write(&path, &bytes).unwrap();
        let kernel = Kernel::read(&path);
        match (&kernel, expected) {
            (Ok(kernel), Ok(entry)) => assert_eq!(kernel.entry, entry, "program {number}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "program {number}: {error}"),
            (read, made) => panic!("program {number}: {:?}, made as {made:x?}", read.as_ref().err()),
        }
        taken += usize::from(kernel.is_ok());
        waiting.push((path, kernel.ok()));
        if waiting.len() < AT_ONCE && number + 1 != count {
            return;
        }
        let (paths, kernels): (Vec<_>, Vec<_>) = waiting.drain(..).unzip();
        let others = if installed { by_readelf(&paths) } else { None };
        installed = others.is_some();
        for ((path, kernel), other) in paths.iter().zip(kernels).zip(others.into_iter().flatten()) {
            let Some(kernel) = kernel else { continue };
            let of = |binding: &str| {
                let found = other.kernels.iter().find(|(known, _)| known == binding);
                found.map(|(_, address)| *address)
            };
            let entry = of("GLOBAL").or(of("WEAK")).or(of("LOCAL"));
            assert_eq!(Some(kernel.entry), entry, "{}: {other:x?}", path.display());
            let mut segments = other.segments.clone();
            segments.sort_unstable();
            let own: Vec<_> = kernel.segments.iter().map(|s| (s.address, s.bytes.len())).collect();
            assert_eq!(own, segments, "{}", path.display());
            assert!(!other.startup, "{}: {other:x?}", path.display());
        }
        paths.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    });
    println!("{count} programs, {taken} of them kernels, compared with readelf: {installed}");
    assert!(taken > count / 8 && taken < count);
}
