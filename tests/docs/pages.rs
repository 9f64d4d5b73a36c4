//! The summary of the book, the doors of README.md, and the length of lines.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::{all_pages, assert_none, documents, root, sample, Page};

/// Pages that a crate writes from its declarations, with the lines that the crate has.
const GENERATED: [&str; 2] = ["docs/options.md", "docs/registers.md"];

/// The pages that a page links to, in order; those of other folders are left out.
fn linked(page: &Page) -> Vec<String> {
    let links = page.events().filter_map(|(event, _)| match event {
        Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    });
    links.filter(|link| link.ends_with(".md") && !link.contains('/')).collect()
}

/// The parts of the summary: title and pages.
fn parts(summary: &Page) -> Vec<(String, Vec<String>)> {
    let mut parts: Vec<(String, Vec<String>)> = vec![(String::new(), Vec::new())];
    let mut title: Option<String> = None;
    for (event, _) in summary.events() {
        match event {
            Event::Start(Tag::Heading { .. }) => title = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => parts.push((title.take().unwrap_or_default(), Vec::new())),
            Event::Text(text) => title.iter_mut().for_each(|title| *title += &text),
            Event::Start(Tag::Link { dest_url, .. }) => {
                parts.last_mut().expect("a part").1.push(dest_url.to_string());
            }
            _ => {}
        }
    }
    parts
}

/// The parts for readers: those with a title and pages.
fn doors(summary: &Page) -> Vec<(String, Vec<String>)> {
    let parts = parts(summary).into_iter();
    parts.filter(|(title, pages)| title != "Summary" && !title.is_empty() && !pages.is_empty()).collect()
}

fn summary() -> Page {
    Page::read(&root().join("docs/SUMMARY.md"))
}

#[test]
fn the_summary_has_every_page_once() {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for page in documents() {
        times.insert(page.name.trim_start_matches("docs/").to_string(), 0);
    }
    let mut faults = Vec::new();
    for link in parts(&summary()).into_iter().flat_map(|(_, pages)| pages) {
        match times.get_mut(&link) {
            Some(count) => *count += 1,
            None => faults.push(format!("docs/SUMMARY.md: {link} is no page of docs/")),
        }
    }
    let wrong = times.iter().filter(|(_, count)| **count != 1);
    faults.extend(
        wrong.map(|(page, count)| format!("docs/SUMMARY.md has {page} {count} times; expected once")),
    );
    assert_none(&faults);
}

/// The same pages in the same order, for those who read on a web page of the repository.
#[test]
fn the_list_by_reader_follows_the_summary() {
    let list = linked(&Page::read(&root().join("docs/README.md")));
    let summary: Vec<_> = parts(&summary()).into_iter().flat_map(|(_, pages)| pages).collect();
    assert_eq!(list, summary[1..], "docs/README.md beside docs/SUMMARY.md");
}

#[test]
fn the_readme_has_a_door_for_each_part() {
    let readme = Page::read(&root().join("README.md"));
    let links: Vec<String> = readme
        .events()
        .filter_map(|(event, _)| match event {
            Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.to_string()),
            _ => None,
        })
        .collect();
    let doors = doors(&summary());
    assert_eq!(doors.len(), 6, "{doors:?}");
    for (title, pages) in doors {
        let first = format!("docs/{}", pages[0]);
        assert!(links.contains(&first), "README.md: no link to {first}, the first page of {title:?}");
    }
}

/// Lines of more than 100 characters that are neither a table nor code.
fn long_lines(page: &Page) -> Vec<String> {
    let free: Vec<_> = page
        .events()
        .filter(|(event, _)| matches!(event, Event::Start(Tag::CodeBlock(_) | Tag::Table(_))))
        .map(|(_, range)| range)
        .collect();
    let (mut start, mut faults) = (0, Vec::new());
    for line in page.text.split_inclusive('\n') {
        let end = start + line.len();
        let length = line.trim_end().chars().count();
        if length > 100 && !free.iter().any(|range| range.start < end && start < range.end) {
            faults.push(format!("{}: {length} characters; expected at most 100", page.place(start)));
        }
        start = end;
    }
    faults
}

#[test]
fn lines_end_at_column_100() {
    let pages = all_pages();
    let written = pages.iter().filter(|page| !GENERATED.contains(&page.name.as_str()));
    assert_none(&written.flat_map(long_lines).collect::<Vec<_>>());
}

#[test]
fn which_lines_are_too_long() {
    let long = "word ".repeat(30);
    assert_eq!(long_lines(&sample(&format!("{long}\n\n- {long}\n"))).len(), 2);
    let table = format!("| {long} |\n| --- |\n| {long} |\n");
    assert!(long_lines(&sample(&format!("{table}\n    {long}\n\n```\n{long}\n```\n"))).is_empty());
    assert!(long_lines(&sample(&"ä".repeat(100))).is_empty());
}

#[test]
fn parts_of_a_summary() {
    let page = sample("# Summary\n\n[First](a.md)\n\n# One\n\n- [B](b.md)\n  - [C](c.md)\n");
    assert_eq!(doors(&page), [("One".to_string(), vec!["b.md".to_string(), "c.md".to_string()])]);
    assert_eq!(parts(&page)[1].1, ["a.md"]);
}
