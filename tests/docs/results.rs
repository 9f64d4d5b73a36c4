//! docs/results.md, from docs/data/results.toml: `HERMES_UPDATE=1 cargo test -p hermes --test docs`
//! writes it anew.

use std::fmt::Write as _;
use std::fs;

use toml_edit::{DocumentMut, Table};

use super::root;

const HEAD: &str = "# Results\n\n\
Results of runs, each of the date below its table. Cycles are the same on every machine; times,\n\
clocks and areas are of the machine and programs that the table names. [Benches](benches.md) and\n\
[experiments](experiments.md) say how figures are measured. This page is made from\n\
`docs/data/results.toml` (`HERMES_UPDATE=1 cargo test -p hermes --test docs`).\n";

/// The text of a field.
fn text<'a>(table: &'a Table, field: &str) -> &'a str {
    let title = table.get("title").and_then(|title| title.as_str()).unwrap_or("a table without title");
    table
        .get(field)
        .and_then(|value| value.as_str())
        .unwrap_or_else(|| panic!("{title}: {field}: expected a text"))
}

/// The texts of a field that is a list.
fn texts(table: &Table, field: &str) -> Vec<String> {
    let list = table.get(field).and_then(|value| value.as_array());
    let list = list.unwrap_or_else(|| panic!("{}: {field}: expected a list", text(table, "title")));
    list.iter().map(|value| value.as_str().expect("a text").to_string()).collect()
}

/// Rows of a table, each with a cell for each column.
fn rows(table: &Table) -> Vec<Vec<String>> {
    let (title, columns) = (text(table, "title"), texts(table, "columns").len());
    let rows = table.get("rows").and_then(|value| value.as_array());
    let rows = rows.unwrap_or_else(|| panic!("{title}: rows: expected a list"));
    let cells = rows.iter().map(|row| row.as_array().expect("a list of cells"));
    let rows: Vec<Vec<_>> = cells
        .map(|row| row.iter().map(|cell| cell.as_str().expect("a text").to_string()).collect())
        .collect();
    for row in &rows {
        assert_eq!(row.len(), columns, "{title}: cells of {row:?}");
    }
    rows
}

/// The page that the data make.
fn page(data: &str) -> String {
    let document: DocumentMut =
        data.parse().unwrap_or_else(|error| panic!("docs/data/results.toml: {error}"));
    let (mut page, mut section) = (HEAD.to_string(), String::new());
    for table in document["table"].as_array_of_tables().expect("tables") {
        if text(table, "section") != section {
            section = text(table, "section").to_string();
            let _ = write!(page, "\n## {section}\n");
        }
        let _ = write!(page, "\n### {}\n\n", text(table, "title"));
        let note = text(table, "note").trim();
        if !note.is_empty() {
            let _ = write!(page, "{note}\n\n");
        }
        let columns = texts(table, "columns");
        let _ = writeln!(page, "| {} |", columns.join(" | "));
        let _ = writeln!(page, "|{}", " --- |".repeat(columns.len()));
        for row in rows(table) {
            let _ = writeln!(page, "| {} |", row.join(" | "));
        }
        let _ = write!(page, "\nDate: {}.\nMachine: {}.\n", text(table, "date"), text(table, "machine"));
        let commands: String = texts(table, "commands").iter().map(|line| format!("    {line}\n")).collect();
        if !commands.is_empty() {
            let _ = write!(page, "\n{commands}");
        }
    }
    page
}

#[test]
fn the_page_of_results_follows_its_data() {
    let path = root().join("docs/results.md");
    let new = page(&fs::read_to_string(root().join("docs/data/results.toml")).unwrap());
    if std::env::var_os("HERMES_UPDATE").is_some() {
        fs::write(&path, &new).unwrap();
    }
    let old = fs::read_to_string(&path).unwrap_or_default();
    assert!(old == new, "docs/results.md is not up to date; renew it with HERMES_UPDATE=1");
}

#[test]
fn a_table_of_results() {
    let data = "[[table]]\nsection = \"S\"\ntitle = \"T\"\ndate = \"D\"\nmachine = \"M\"\n\
                commands = [\"c\"]\nnote = \"\"\ncolumns = [\"a\", \"b\"]\nrows = [[\"1\", \"2\"]]\n";
    let made = page(data);
    assert!(made.starts_with(HEAD), "{made}");
    let table = "\n## S\n\n### T\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nDate: D.\nMachine: M.\n\n    c\n";
    assert!(made.ends_with(table), "{made}");
}

#[test]
#[should_panic(expected = "T: cells of")]
fn a_row_that_is_too_short() {
    page(
        "[[table]]\nsection = \"S\"\ntitle = \"T\"\ndate = \"D\"\nmachine = \"M\"\ncommands = []\n\
         note = \"\"\ncolumns = [\"a\", \"b\"]\nrows = [[\"1\"]]\n",
    );
}
