//! The documents: every page is in the summary, links lead somewhere, the commands that pages show
//! exist with these options, lines end at column 100, and tables of results follow their data.

mod commands;
#[path = "../common/mod.rs"]
mod common;
mod links;
mod pages;
mod results;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The folder of the project.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A Markdown file.
struct Page {
    /// Its path below the folder of the project, with `/`.
    name: String,
    text: String,
}

impl Page {
    fn read(path: &Path) -> Self {
        let name = path.strip_prefix(root()).expect("a file of the project").display().to_string();
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { name, text }
    }

    /// What it consists of, with the bytes of each part.
    fn events(&self) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
        Parser::new_ext(&self.text, Options::ENABLE_TABLES).into_offset_iter()
    }

    /// File and line of a byte, for messages.
    fn place(&self, offset: usize) -> String {
        format!("{}:{}", self.name, 1 + self.text[..offset].matches('\n').count())
    }

    /// Blocks of code with the language that they name.
    fn code_blocks(&self) -> Vec<(String, String, usize)> {
        let mut blocks: Vec<(String, String, usize)> = Vec::new();
        let mut inside = false;
        for (event, range) in self.events() {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let language = match kind {
                        pulldown_cmark::CodeBlockKind::Fenced(language) => language.to_string(),
                        pulldown_cmark::CodeBlockKind::Indented => String::new(),
                    };
                    blocks.push((language, String::new(), range.start));
                    inside = true;
                }
                Event::End(TagEnd::CodeBlock) => inside = false,
                Event::Text(text) if inside => blocks.last_mut().expect("a block").1 += &text,
                _ => {}
            }
        }
        blocks
    }
}

/// Files that end in `.md` in a folder, and in the folders below it with `deep`; what is built and
/// hidden folders are left out.
fn markdown(folder: &Path, deep: bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            let built = folder == root() && ["target", "book"].contains(&name.as_str());
            if deep && !built && !name.starts_with('.') {
                markdown(&path, deep, found);
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// Every Markdown file of the project.
fn all_pages() -> Vec<Page> {
    let mut found = Vec::new();
    markdown(root(), true, &mut found);
    found.sort();
    assert!(found.len() > 45, "{} files", found.len());
    found.iter().map(|path| Page::read(path)).collect()
}

/// The pages of `docs/`, the summary left out.
fn documents() -> Vec<Page> {
    let mut found = Vec::new();
    markdown(&root().join("docs"), false, &mut found);
    found.sort();
    let pages = found.iter().map(|path| Page::read(path)).filter(|page| page.name != "docs/SUMMARY.md");
    pages.collect()
}

/// A page of this text, for tests of the checks.
fn sample(text: &str) -> Page {
    Page { name: "docs/sample.md".into(), text: text.into() }
}

/// Fails with all faults at once.
fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
