//! The rule by which a comment stands alone, for comments of ports in the Verilog and of fields in
//! the sources.

/// Words with which no comment begins, and no clause behind one of [`PREFIXES`] and a colon.
const PRONOUNS: [&str; 10] = ["it", "its", "they", "them", "their", "this", "these", "that", "those", "both"];

/// Words that ask, with which no comment begins.
const QUESTIONS: [&str; 8] = ["what", "which", "who", "whose", "where", "when", "why", "how"];

/// First words of what may stand before the thing: a stage, another unit, a port that is high.
const PREFIXES: [&str; 4] = ["stage", "from", "to", "with"];

/// The words of a text or a name, in lower case.
fn words(text: &str) -> Vec<String> {
    let list = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    list.map(str::to_lowercase).collect()
}

/// The pronoun or the word that asks with which a comment begins, or the pronoun with which the
/// clause behind its stage or end does.
pub fn pronoun(comment: &str) -> Option<String> {
    let first = words(comment).into_iter().next()?;
    if PRONOUNS.contains(&first.as_str()) || QUESTIONS.contains(&first.as_str()) {
        return Some(first);
    }
    let (prefix, clause) = comment.split_once(": ")?;
    let is_prefix = PREFIXES.contains(&first.as_str()) && !prefix.contains(". ");
    words(clause).into_iter().next().filter(|word| is_prefix && PRONOUNS.contains(&word.as_str()))
}

/// Whether a comment has only words with which the name ends.
pub fn repeats(name: &str, comment: &str) -> bool {
    let mut said = words(comment);
    if said.first().is_some_and(|word| ["a", "an", "the"].contains(&word.as_str())) {
        said.remove(0);
    }
    !said.is_empty() && words(&name.replace('_', " ")).ends_with(&said)
}
