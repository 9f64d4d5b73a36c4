//! Links to files, and to headings in them.

use std::collections::{BTreeMap, BTreeSet};

use pulldown_cmark::{Event, Tag, TagEnd};

use super::{all_pages, assert_none, root, sample, Page};

/// The name by which a heading is linked to: its letters and digits in lower case, `-` for a space.
fn anchor(title: &str) -> String {
    let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

/// The anchors of a page; equal headings are numbered from the second on.
fn anchors(page: &Page) -> BTreeSet<String> {
    let (mut titles, mut inside) = (Vec::new(), false);
    for (event, _) in page.events() {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                titles.push(String::new());
                inside = true;
            }
            Event::End(TagEnd::Heading(_)) => inside = false,
            Event::Text(text) | Event::Code(text) if inside => {
                *titles.last_mut().expect("a heading") += &text;
            }
            _ => {}
        }
    }
    let (mut times, mut found) = (BTreeMap::new(), BTreeSet::new());
    for title in titles {
        let name = anchor(&title);
        let count: &mut usize = times.entry(name.clone()).or_default();
        found.insert(if *count == 0 { name } else { format!("{name}-{count}") });
        *count += 1;
    }
    found
}

/// What is wrong with the links of a page; `anchors_of` gives the anchors of another one, if it is
/// there.
fn faults(page: &Page, anchors_of: impl Fn(&str) -> Option<BTreeSet<String>>) -> Vec<String> {
    let mut faults = Vec::new();
    let folder = page.name.rsplit_once('/').map_or("", |(folder, _)| folder);
    for (event, range) in page.events() {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else { continue };
        if dest_url.contains("://") {
            continue;
        }
        let (path, heading) = dest_url.split_once('#').map_or((&*dest_url, None), |(p, h)| (p, Some(h)));
        let place = page.place(range.start);
        if !path.is_empty() && !root().join(folder).join(path).exists() {
            faults.push(format!("{place}: {dest_url}: no such file"));
            continue;
        }
        // The book is built in a folder beside docs/: from there a link leads to the same file, but
        // mdBook makes pages of the book of what ends in `.md`.
        if folder == "docs" && path.starts_with("..") && path.ends_with(".md") {
            faults.push(format!("{place}: {dest_url}: no page of the book; link to its folder"));
        }
        let Some(heading) = heading else { continue };
        let target = match (path, folder) {
            ("", _) => page.name.clone(),
            (_, "") => path.to_string(),
            _ => normal(&format!("{folder}/{path}")),
        };
        if anchors_of(&target).is_some_and(|anchors| !anchors.contains(heading)) {
            faults.push(format!("{place}: {dest_url}: no such heading in {target}"));
        }
    }
    faults
}

/// A path without `..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn links_lead_to_files_and_headings() {
    let pages = all_pages();
    let all: BTreeMap<_, _> = pages.iter().map(|page| (page.name.as_str(), anchors(page))).collect();
    let links = pages.iter().map(|page| page.text.matches("](").count()).sum::<usize>();
    assert!(links > 400, "{links} links");
    let anchors_of = |name: &str| all.get(name).cloned();
    assert_none(&pages.iter().flat_map(|page| faults(page, anchors_of)).collect::<Vec<_>>());
}

#[test]
fn which_links_are_wrong() {
    let page = sample(
        "# A title\n\n## `x`: Y, z\n\n## `x`: Y, z\n\n[good](#x-y-z-1) [good](papers.md#p) [none](#x) \
         [none](no.md) [none](papers.md#q) [outside](../README.md) [elsewhere](https://a.example/#b)\n",
    );
    let own = anchors(&page);
    assert_eq!(own, ["a-title", "x-y-z", "x-y-z-1"].map(String::from).into());
    let faults = faults(&page, |name| match name {
        "docs/sample.md" => Some(own.clone()),
        "docs/papers.md" => Some(["p".to_string()].into()),
        _ => None,
    });
    let ends =
        ["#x: no such heading", "no.md: no such file", "papers.md#q: no such heading", "no page of the book"];
    assert_eq!(faults.len(), ends.len(), "{faults:?}");
    for (fault, end) in faults.iter().zip(ends) {
        assert!(fault.contains(end), "{fault}: {end}");
    }
}
