//! What a program expects of a start-up code: constructors, data of threads, relocations. A kernel
//! has no start-up code, so it must have none of these.

use object::elf::{
    FileHeader32, SectionType, SymbolType, PT_DYNAMIC, PT_INTERP, SHF_ALLOC, SHF_TLS, SHN_UNDEF,
    SHT_FINI_ARRAY, SHT_INIT_ARRAY, SHT_PREINIT_ARRAY, SHT_REL, SHT_RELA, SHT_SYMTAB, STT_GNU_IFUNC, STT_TLS,
};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};
use object::LittleEndian;

use super::symbols::Symbol;

/// Sections with addresses of functions that run before the program, or behind it, by their type
/// or the beginning of their name.
const ARRAYS: [(Option<SectionType>, &str, &str); 5] = [
    (Some(SHT_INIT_ARRAY), ".init_array", "constructor"),
    (Some(SHT_PREINIT_ARRAY), ".preinit_array", "constructor"),
    (None, ".ctors", "constructor"),
    (Some(SHT_FINI_ARRAY), ".fini_array", "destructor"),
    (None, ".dtors", "destructor"),
];

/// Parts of a program that need a start-up code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Startup {
    /// There is none.
    Nothing,
    /// It calls what is in `.init_array`.
    Constructors,
}

/// Makes sure that the ELF file needs no more than `startup` does; `symbols` are those of its
/// functions and objects.
///
/// # Errors
/// The section and the symbol, and what was expected.
pub(crate) fn check(
    header: &FileHeader32<LittleEndian>,
    data: &[u8],
    symbols: &[Symbol],
    startup: Startup,
) -> Result<(), String> {
    let broken = |error: object::Error| format!("broken ELF file: {error}");
    let endian = LittleEndian;
    let sections = header.sections(endian, data).map_err(broken)?;
    let table = sections.symbols(endian, data, SHT_SYMTAB).map_err(broken)?;
    let named = |kind: SymbolType| {
        let symbol =
            table.iter().find(|symbol| symbol.st_type() == kind && symbol.st_shndx(endian) != SHN_UNDEF)?;
        Some(String::from_utf8_lossy(symbol.name(endian, table.strings()).ok()?).into_owned())
    };
    for section in sections.iter().filter(|section| section.sh_size(endian) > 0) {
        let name = String::from_utf8_lossy(sections.section_name(endian, section).map_err(broken)?);
        let flags = section.sh_flags(endian);
        if !flags.contains(SHF_ALLOC) {
            continue;
        }
        let kind = section.sh_type(endian);
        let array = ARRAYS.iter().find(|(known, start, _)| {
            *known == Some(kind)
                || name.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        if let Some((known, _, what)) = array {
            if startup == Startup::Constructors && *known == Some(SHT_INIT_ARRAY) {
                continue;
            }
            let words = section.data(endian, data).map_err(broken)?.chunks_exact(4);
            let mut words = words.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            let function = words.find_map(|word| symbols.iter().find(|s| s.is_function && s.address == word));
            let function = function.map_or(String::new(), |symbol| format!(" `{}`", symbol.name));
            return Err(format!(
                "has a {what}{function} (section {name}), which nothing calls; expected none{}",
                if *what == "constructor" { ": set the values where they are declared" } else { "" }
            ));
        }
        if flags.contains(SHF_TLS) {
            let variable = named(STT_TLS).map_or(String::new(), |name| format!(" `{name}`"));
            return Err(format!(
                "has thread-local data{variable} (section {name}), and its threads have no thread \
                 pointer; expected variables that all threads share"
            ));
        }
        if matches!(kind, SHT_REL | SHT_RELA) {
            let what = named(STT_GNU_IFUNC).map_or("relocations".to_string(), |name| {
                format!("relocations of the indirect function `{name}`")
            });
            return Err(format!(
                "has {what} (section {name}), which nothing applies; expected a program that is \
                 linked for fixed addresses"
            ));
        }
    }
    let segments = header.program_headers(endian, data).map_err(broken)?;
    if segments.iter().any(|segment| matches!(segment.p_type(endian), PT_DYNAMIC | PT_INTERP)) {
        return Err("needs a dynamic linker (PT_DYNAMIC or PT_INTERP); expected a program that is \
                    linked statically"
            .to_string());
    }
    Ok(())
}
