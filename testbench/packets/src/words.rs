//! Words of reports and errors.

/// A number of things: `1 core`, `2 cores`. `thing` is one of them, whose plural has an s.
#[must_use]
pub fn number_of(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::number_of;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|count| number_of(count, "core")), ["0 cores", "1 core", "2 cores"]);
    }
}
