//! The files that a compiler or an assembler has read.

use std::fs;
use std::path::{Path, PathBuf};

use super::build::BuildError;
use crate::file_identity::FileIdentity;
use crate::input::is_standard;

/// The files that are named in `rules`, a file for `make` as a compiler (`-MD`) or an assembler
/// (`--MD`) writes it: the source and what it includes. Empty if there is no such file, since
/// nothing was included.
pub(crate) fn read(rules: &Path) -> Vec<PathBuf> {
    fs::read_to_string(rules).map(|text| parse(&text)).unwrap_or_default()
}

/// The names behind the targets of the rules in `text`.
fn parse(text: &str) -> Vec<PathBuf> {
    let (mut names, mut name) = (Vec::new(), String::new());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            // A line goes on in the next one.
            ('\\', Some('\n')) => {}
            ('\\', Some(next)) if " \t#:".contains(*next) => {
                name.push(*next);
                characters.next();
            }
            ('$', Some('$')) => {
                name.push('$');
                characters.next();
            }
            // The end of a target.
            (':', Some(' ' | '\t' | '\n') | None) => name.clear(),
            (' ' | '\t' | '\n', _) => {
                if !name.is_empty() {
                    names.push(PathBuf::from(std::mem::take(&mut name)));
                }
            }
            (other, _) => name.push(other),
        }
    }
    if !name.is_empty() {
        names.push(name.into());
    }
    names
}

/// Makes sure that `output` is none of the files that were `read`.
///
/// # Errors
/// [`BuildError::Overwrites`].
pub(crate) fn keep(output: &Path, read: &[PathBuf]) -> Result<(), BuildError> {
    if is_standard(output) {
        return Ok(());
    }
    let written = FileIdentity::of(output);
    match read.iter().find(|file| FileIdentity::of(file).is(&written)) {
        Some(file) => Err(BuildError::Overwrites { output: output.to_path_buf(), read: file.clone() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_behind_the_targets() {
        let names = |text: &str| -> Vec<String> {
            parse(text).into_iter().map(|path| path.display().to_string()).collect()
        };
        assert_eq!(names("k.o: k.c a.h \\\n sub/b.h\n"), ["k.c", "a.h", "sub/b.h"]);
        assert_eq!(names("a\\ b/k.o: a\\ b/k.c \\\n  c$$d.h e\\#f.h"), ["a b/k.c", "c$d.h", "e#f.h"]);
        assert_eq!(names("k.o: k.c\n\na.h:\nb.h:\n"), ["k.c"]);
        assert!(names("k.o:\n").is_empty() && names("").is_empty());
    }

    #[test]
    fn an_output_is_none_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.h"), "").unwrap();
        fs::hard_link(at("a.h"), at("hard")).unwrap();
        let read = [at("k.c"), at("a.h")];
        keep(&at("new"), &read).unwrap();
        keep(Path::new("-"), &[PathBuf::from("-")]).unwrap();
        for name in ["a.h", "hard", "./a.h"] {
            let error = keep(&at(name), &read).unwrap_err().to_string();
            assert!(error.starts_with("-o ") && error.contains("would overwrite"), "{error}");
        }
    }
}
