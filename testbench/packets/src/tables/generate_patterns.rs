//! Snort rules from a seed, with the statistics of the Snort community rules.

use std::fmt::Write;

use rand::distributions::{Distribution, WeightedIndex};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Lengths of content strings from, to, and the share of the 4,673 different ones of the community
/// rules.
const LENGTHS: [(usize, usize, u32); 5] =
    [(1, 3, 328), (4, 7, 1060), (8, 15, 1676), (16, 31, 1054), (32, 60, 555)];
/// Rules whose content has bytes that are no text, and rules with `nocase`, in percent.
const BINARY_PERCENT: u32 = 19;
const NOCASE_PERCENT: u32 = 18;
/// Rules with a second content, in percent.
const SECOND_PERCENT: u32 = 41;
/// What text contents are made of.
const WORDS: [&str; 24] = [
    "User-Agent",
    "GET /",
    "POST /",
    "Host",
    ".php?",
    "cmd",
    "admin",
    "/index",
    "login",
    "shell",
    "Content-",
    "upload",
    "id=",
    ".exe",
    "passwd",
    "Version",
    "HTTP/1",
    "install",
    "/bin/",
    "update",
    "=",
    "&",
    "Mozilla",
    "update.asp",
];

/// The text of `count` rules, the same for the same seed.
pub fn generate_rules(count: usize, seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let lengths =
        WeightedIndex::new(LENGTHS.map(|(.., weight)| weight)).expect("the weights are not all zero");
    let mut text = String::new();
    for number in 0..count {
        let mut content = || {
            let (low, high, _) = LENGTHS[lengths.sample(&mut random)];
            let length = random.gen_range(low..=high);
            content(&mut random, length)
        };
        let (first, second) = (content(), content());
        let mut options =
            format!("msg:\"generated rule {number}\"; flow:to_server,established; content:\"{first}\";");
        if random.gen_ratio(NOCASE_PERCENT, 100) {
            options += " nocase;";
        }
        if random.gen_ratio(SECOND_PERCENT, 100) {
            options += &format!(" content:\"{second}\"; distance:0;");
        }
        let port = [80, 25, 21, 443, 8080].choose(&mut random).unwrap_or(&80);
        let sid = 1_000_000 + number;
        // Writing to a string does not fail.
        let _ =
            writeln!(text, "alert tcp $EXTERNAL_NET any -> $HOME_NET {port} ({options} sid:{sid}; rev:1;)");
    }
    text
}

/// A content string of `length` bytes, as it stands between quotes.
fn content(random: &mut impl Rng, length: usize) -> String {
    if random.gen_ratio(BINARY_PERCENT, 100) {
        let bytes: Vec<_> = (0..length).map(|_| format!("{:02X}", random.gen::<u8>())).collect();
        return format!("|{}|", bytes.join(" "));
    }
    let mut text = String::new();
    while text.len() < length {
        match WORDS.choose(random) {
            Some(word) if random.gen_ratio(2, 3) => text += word,
            _ => text.push(char::from(random.gen_range(b'a'..=b'z'))),
        }
    }
    text.truncate(length);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::PatternSet;

    #[test]
    fn statistics_of_the_community_rules() {
        let set = PatternSet::parse(&generate_rules(2000, crate::test_seed()), 1).unwrap();
        assert_eq!((set.patterns.len(), set.left_out.len()), (2000, 0));
        let count =
            |what: &dyn Fn(&crate::tables::Pattern) -> bool| set.patterns.iter().filter(|p| what(p)).count();
        assert!((280..440).contains(&count(&|pattern| pattern.nocase)));
        assert!((20..150).contains(&count(&|pattern| pattern.bytes.len() < 4)));
        assert!(count(&|pattern| !pattern.bytes.is_ascii()) > 300);
        assert_eq!(set.not_evaluated["flow"], 2000);
        assert!((740..900).contains(&set.not_evaluated["further content"]));
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(generate_rules(50, 3), generate_rules(50, 3));
        assert_ne!(generate_rules(50, 3), generate_rules(50, 4));
    }
}
