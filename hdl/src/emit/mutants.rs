//! Which fault of the kernels is turned on, with the feature `mutants`.

use std::sync::OnceLock;

/// Whether the fault with this number is the one that the variable `HERMES_MUTANT` names, in
/// hexadecimal. `#[hdl_gen]` writes both, the fault and what is sound, where a fault can stand.
///
/// # Panics
/// If the variable is no hexadecimal number.
#[inline]
#[must_use]
pub fn is_mutant(number: u64) -> bool {
    static CHOSEN: OnceLock<Option<u64>> = OnceLock::new();
    let chosen = CHOSEN.get_or_init(|| {
        let text = std::env::var("HERMES_MUTANT").ok().filter(|text| !text.is_empty())?;
        match u64::from_str_radix(&text, 16) {
            Ok(number) => Some(number),
            Err(error) => panic!("HERMES_MUTANT is `{text}`: expected a hexadecimal number: {error}"),
        }
    });
    *chosen == Some(number)
}
