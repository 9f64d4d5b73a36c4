//! Files in TOML: what they hold by its place in the text, and errors that name file, line and
//! field.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_spanned::Spanned;

use crate::input;

/// Most bytes of a chain file or a manifest.
const MOST_BYTES: u64 = 1 << 20;

/// What is wrong with a chain, and where it says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// The line, counted from 1, if one is at fault.
    pub line: Option<usize>,
    /// The field, if one is at fault.
    pub field: Option<String>,
    /// What is wrong, and what was expected.
    pub problem: String,
}

impl fmt::Display for Problem {
    /// `FILE:LINE: FIELD: PROBLEM`, without what is not known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", input::name(&self.path))?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        if let Some(field) = &self.field {
            write!(f, " {field}:")?;
        }
        write!(f, " {}", self.problem)
    }
}

/// All that is wrong with a chain, as far as it could be looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainError(pub Vec<Problem>);

impl ChainError {
    /// `Ok` if there is none.
    ///
    /// # Errors
    /// There are some.
    pub fn check(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Self(problems))
        }
    }
}

impl From<Problem> for ChainError {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for ChainError {
    /// A line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for ChainError {}

/// A file in TOML.
#[derive(Clone, Debug)]
pub struct Text {
    path: PathBuf,
    text: String,
}

impl Text {
    /// Reads `path`.
    ///
    /// # Errors
    /// It cannot be read, is too large, or is no text.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let problem = |line, problem| Problem { path: path.to_path_buf(), line, field: None, problem };
        let bytes = input::read(path, MOST_BYTES).map_err(|error| problem(None, error.to_string()))?;
        let text = input::text(bytes).map_err(|(line, what)| problem(Some(line), what.to_string()))?;
        Ok(Self { path: path.to_path_buf(), text })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `file`, which the text names, seen from the folder of this file.
    #[must_use]
    pub fn beside(&self, file: &Path) -> PathBuf {
        self.path.parent().map_or_else(|| file.to_path_buf(), |folder| folder.join(file))
    }

    /// What the text holds.
    ///
    /// # Errors
    /// It is no TOML, has a field that is not known or lacks one, or a value is of another kind
    /// than its field.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        toml_edit::de::from_str(&self.text).map_err(|error| {
            let (line, field) = match error.span() {
                Some(span) => (Some(self.line(&span)), self.field(&span)),
                None => (None, None),
            };
            let problem = error.message().trim().replace('\n', " ");
            // What is said of a field as such names it.
            let field = field.filter(|_| !problem.contains(" field `"));
            Problem { path: self.path.clone(), line, field, problem }
        })
    }

    /// An error of the value `at` of `field`.
    pub fn problem<T>(&self, at: &Spanned<T>, field: &str, problem: impl fmt::Display) -> Problem {
        let line = Some(self.line(&at.span()));
        Problem {
            path: self.path.clone(),
            line,
            field: Some(field.to_string()),
            problem: problem.to_string(),
        }
    }

    /// The line of a value, counted from 1.
    #[must_use]
    pub fn line_of<T>(&self, at: &Spanned<T>) -> usize {
        self.line(&at.span())
    }

    fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.bytes().take(span.start);
        1 + before.filter(|byte| *byte == b'\n').count()
    }

    /// The field that the line of a value begins with.
    fn field(&self, span: &Range<usize>) -> Option<String> {
        let line = self.text.lines().nth(self.line(span) - 1)?;
        let field = line.split_once('=')?.0.trim();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        (!field.is_empty() && field.chars().all(is_name)).then(|| field.to_string())
    }
}

/// `a, b or c`.
#[must_use]
pub fn one_of<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::new(),
        [name] => name.as_ref().to_string(),
        [names @ .., last] => {
            let names: Vec<_> = names.iter().map(AsRef::as_ref).collect();
            format!("{} or {}", names.join(", "), last.as_ref())
        }
    }
}
