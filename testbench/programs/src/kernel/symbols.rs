//! Names in an ELF file, and which symbol a name stands for.

use std::fmt;

/// Who sees a symbol (ELF, `st_info`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Its own source only: `static` in C, a label without `.globl` in assembly.
    Local,
    /// Every source; a global one of the same name takes its place.
    Weak,
    /// Every source.
    Global,
}

/// A name of a function, an object or a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// Address of its first byte.
    pub address: u32,
    /// Its bytes; 0 if the source does not tell (labels in assembly without `.size`).
    pub size: u32,
    /// Whether it is a function.
    pub is_function: bool,
    /// Who sees it.
    pub binding: Binding,
    /// Whether it is a number that a linker script or `.set` gives, and no place in a section.
    pub is_absolute: bool,
}

impl Symbol {
    /// Whether it is a label that the compiler made up.
    #[must_use]
    pub fn is_compilers(&self) -> bool {
        self.name.starts_with(".L")
    }

    /// Whether it names a place of the program, and is not made up by the compiler.
    #[must_use]
    pub fn is_place(&self) -> bool {
        !self.is_absolute && !self.is_compilers()
    }
}

/// Why a name stands for no symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolError {
    /// No symbol has this name.
    Missing {
        /// The name.
        name: String,
    },
    /// Several sources have a local symbol of this name, and none is global or weak.
    Ambiguous {
        /// The name.
        name: String,
        /// Their addresses, ascending.
        addresses: Vec<u32>,
    },
}

impl std::error::Error for SymbolError {}

impl fmt::Display for SymbolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { name } => write!(f, "has no symbol `{name}`"),
            Self::Ambiguous { name, addresses } => {
                let places: Vec<_> = addresses.iter().map(|at| format!("{at:#010x}")).collect();
                write!(
                    f,
                    "symbol `{name}` is ambiguous: it is local (`static`) at {}; expected one that is global",
                    places.join(" and ")
                )
            }
        }
    }
}

/// The symbol that `name` stands for outside of the sources: a global one, otherwise a weak one,
/// otherwise a local one if it is alone.
pub(super) fn find<'a>(symbols: &'a [Symbol], name: &str) -> Result<&'a Symbol, SymbolError> {
    let named = |binding| symbols.iter().filter(move |s| s.name == name && s.binding == binding);
    let missing = || SymbolError::Missing { name: name.to_string() };
    if let Some(seen) = named(Binding::Global).next().or_else(|| named(Binding::Weak).next()) {
        return Ok(seen);
    }
    // Symbols are sorted by their addresses. Several names of one place are one symbol.
    let first = named(Binding::Local).next().ok_or_else(missing)?;
    let mut addresses: Vec<_> = named(Binding::Local).map(|symbol| symbol.address).collect();
    addresses.dedup();
    match addresses.len() {
        1 => Ok(first),
        _ => Err(SymbolError::Ambiguous { name: name.to_string(), addresses }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(address: u32, binding: Binding) -> Symbol {
        let name = "rules".to_string();
        Symbol { name, address, size: 4, is_function: false, binding, is_absolute: false }
    }

    fn address(symbols: &[Symbol]) -> Result<u32, String> {
        find(symbols, "rules").map(|symbol| symbol.address).map_err(|error| error.to_string())
    }

    #[test]
    fn a_global_symbol_wins_and_a_local_one_is_alone() {
        use Binding::{Global, Local, Weak};
        assert_eq!(address(&[symbol(4, Local), symbol(8, Weak), symbol(12, Global)]), Ok(12));
        assert_eq!(address(&[symbol(4, Local), symbol(8, Weak)]), Ok(8));
        assert_eq!(address(&[symbol(4, Local)]), Ok(4));
        assert_eq!(address(&[symbol(4, Local), symbol(4, Local)]), Ok(4));
        assert_eq!(
            address(&[symbol(4, Local), symbol(8, Local)]).unwrap_err(),
            "symbol `rules` is ambiguous: it is local (`static`) at 0x00000004 and 0x00000008; \
             expected one that is global"
        );
        assert_eq!(address(&[]).unwrap_err(), "has no symbol `rules`");
    }
}
