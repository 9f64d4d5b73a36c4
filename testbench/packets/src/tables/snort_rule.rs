//! The syntax of rules, in the forms of Snort 2, Snort 3 and Suricata (Emerging Threats): where a
//! rule begins and ends, and its parts. What they mean is in `snort`.

/// What a rule begins with: actions of Snort 2, of Snort 3 and of Suricata.
const ACTIONS: [&str; 14] = [
    "alert",
    "log",
    "pass",
    "drop",
    "reject",
    "sdrop",
    "activate",
    "dynamic",
    "block",
    "react",
    "rewrite",
    "rejectsrc",
    "rejectdst",
    "rejectboth",
];
/// Directions between the addresses.
const DIRECTIONS: [&str; 3] = ["->", "<>", "=>"];

/// A rule.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// The line where it begins, from 1.
    pub line: usize,
    /// The protocol, or the service.
    pub protocol: String,
    /// The options, in their order.
    pub options: Vec<Setting>,
}

/// An option of a rule: `NAME;`, `NAME:VALUE;` or `NAME:[!]"TEXT", MORE;`
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Setting {
    pub name: String,
    /// Whether `!` stands in front of the value.
    pub negated: bool,
    /// What is in the quotes with which the value begins, as it stands there.
    pub text: Option<String>,
    /// The value without these quotes: what is behind them, from the comma on.
    pub value: String,
}

/// The rules of a text. Comments are skipped: lines that begin with `#`, from `#begin` to `#end`,
/// and between `/*` and `*/`. A rule goes on to the `)` behind its options, over line ends and over
/// backslashes in front of them.
///
/// # Errors
/// The number of the line where the first bad rule begins, and what is wrong with it.
pub(super) fn rules(text: &str) -> Result<Vec<Rule>, (usize, String)> {
    let (mut rules, mut cursor) = (Vec::new(), Cursor { text, at: 0 });
    let mut counted = (0, 1);
    loop {
        let skipped = cursor.blank(true);
        let line = counted.1 + text[counted.0..cursor.at].matches('\n').count();
        counted = (cursor.at, line);
        skipped.map_err(|problem| (line, problem))?;
        if cursor.rest().is_empty() {
            return Ok(rules);
        }
        rules.push(cursor.rule(line).map_err(|problem| (line, problem))?);
    }
}

/// A place in the text.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// Bytes of a backslash at the end of a line with the end of the line, if `text` begins so.
fn continuation(text: &str) -> Option<usize> {
    let behind = text.strip_prefix('\\')?;
    let end = behind.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n')?;
    Some(text.len() - end.len())
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips white space, ends of lines and, with `comments`, comments.
    fn blank(&mut self, comments: bool) -> Result<(), String> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            let skipped = rest.len() - trimmed.len();
            let until = |end: &str| trimmed.find(end).map(|at| at + end.len());
            let skipped = match trimmed {
                _ if skipped > 0 => skipped,
                _ if trimmed.starts_with('\\') => continuation(trimmed).unwrap_or(0),
                _ if !comments => 0,
                _ if trimmed.starts_with("#begin") => {
                    until("\n#end").ok_or("`#begin`: expected `#end` at the beginning of a line")?
                }
                _ if trimmed.starts_with('#') => until("\n").unwrap_or(trimmed.len()),
                _ if trimmed.starts_with("/*") => until("*/").ok_or("`/*`: expected `*/`")?,
                _ => 0,
            };
            if skipped == 0 {
                return Ok(());
            }
            self.at += skipped;
        }
    }

    /// The rule that begins here.
    fn rule(&mut self, line: usize) -> Result<Rule, String> {
        let action = self.rest().split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
        if !ACTIONS.contains(&action) {
            return Err(format!(
                "`{action}`: expected a rule, which begins with one of {}",
                ACTIONS.join(", ")
            ));
        }
        let header = self.header()?;
        let protocol = match &header[..] {
            // All addresses and ports: a service, or a protocol of Snort 3.
            [_, protocol] => protocol.clone(),
            [_, protocol, _, _, direction, _, _] if DIRECTIONS.contains(&direction.as_str()) => {
                protocol.clone()
            }
            [_, _, _, _, direction, _, _] => {
                return Err(format!(
                    "`{direction}`: expected one of {} between the addresses",
                    DIRECTIONS.join(", ")
                ));
            }
            fields => {
                return Err(format!("{} fields before the options; expected action, protocol, address, port, direction, address, port, or action and service", fields.len()));
            }
        };
        let mut options = Vec::new();
        while let Some(option) = self.option()? {
            options.push(option);
        }
        Ok(Rule { line, protocol, options })
    }

    /// The fields in front of the options; a list in brackets is one.
    fn header(&mut self) -> Result<Vec<String>, String> {
        let (mut fields, mut field, mut depth) = (Vec::new(), String::new(), 0_usize);
        loop {
            let begin = self.at;
            if field.is_empty() || self.rest().starts_with(|c: char| c.is_whitespace() || c == '\\') {
                self.blank(true)?;
            }
            let skipped = &self.text[begin..self.at];
            // `!` belongs to what it negates, and a list is one field.
            if !skipped.is_empty() && depth == 0 && field != "!" && !field.is_empty() {
                fields.push(std::mem::take(&mut field));
            }
            let rest = self.rest();
            let next_rule = skipped.contains('\n')
                && rest.split_whitespace().next().is_some_and(|word| ACTIONS.contains(&word));
            let character = rest.chars().next().filter(|_| !next_rule);
            match character {
                None if depth > 0 => return Err("expected `]` at the end of a list".into()),
                None => return Err("expected options in parentheses".into()),
                Some('(') if depth == 0 => break,
                Some('[') => depth += 1,
                Some(']') => depth = depth.checked_sub(1).ok_or("`]`: expected `[` in front of it")?,
                Some(_) => {}
            }
            field.extend(character);
            self.at += character.map_or(0, char::len_utf8);
        }
        self.at += 1;
        fields.push(field);
        fields.retain(|field| !field.is_empty());
        Ok(fields)
    }

    /// The option that begins here; none at the end of the rule, which is passed.
    fn option(&mut self) -> Result<Option<Setting>, String> {
        self.blank(true)?;
        let rest = self.rest();
        if rest.is_empty() {
            return Err("expected `)` at the end of the rule".into());
        }
        if rest.starts_with(')') {
            self.at += 1;
            return Ok(None);
        }
        if rest.starts_with(';') {
            self.at += 1;
            return self.option();
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        self.at += name.len();
        self.blank(false)?;
        let next = self.rest().chars().next();
        match next {
            Some(';' | ':') if !name.is_empty() => self.at += 1,
            Some(')') if !name.is_empty() => {}
            _ => {
                let word = rest.split(['\n', ';']).next().unwrap_or_default().trim();
                return Err(format!("`{word}`: expected an option, `NAME;` or `NAME:VALUE;`"));
            }
        }
        let mut setting = Setting { name: name.to_string(), ..Setting::default() };
        if next == Some(':') {
            self.value(&mut setting)?;
        }
        Ok(Some(setting))
    }

    /// The value of an option and the semicolon behind it.
    fn value(&mut self, setting: &mut Setting) -> Result<(), String> {
        self.blank(false)?;
        if self.rest().starts_with('!') {
            setting.negated = true;
            self.at += 1;
            self.blank(false)?;
        }
        if self.rest().starts_with('"') {
            self.at += 1;
            setting.text = Some(self.quoted(&setting.name)?);
            self.blank(false)?;
            match self.rest().chars().next() {
                Some(',') => {}
                Some(';') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(')') => return Ok(()),
                _ => return Err(format!("{}: expected ; or , behind the closing quote", setting.name)),
            }
        }
        setting.value = self.plain(&setting.name)?;
        Ok(())
    }

    /// What is in quotes, up to the closing one. A backslash keeps the character behind it from
    /// being one; in other options than `content` a quote is none, either, if the option goes on
    /// behind it.
    fn quoted(&mut self, name: &str) -> Result<String, String> {
        let (mut text, begin) = (String::new(), self.rest());
        let mut skip = 0;
        for (at, character) in begin.char_indices() {
            let rest = &begin[at..];
            if at < skip {
                continue;
            }
            match character {
                '\n' => break,
                '\\' => match continuation(rest) {
                    Some(length) => {
                        let indented = &rest[length..];
                        skip = at + length + indented.len() - indented.trim_start_matches([' ', '\t']).len();
                    }
                    None => {
                        let next = rest[1..].chars().next().filter(|next| *next != '\n');
                        text.push('\\');
                        text.extend(next);
                        skip = at + 1 + next.map_or(0, char::len_utf8);
                    }
                },
                '"' if closes(name, &text, &rest[1..]) => {
                    self.at += at + 1;
                    return Ok(text);
                }
                _ => text.push(character),
            }
        }
        Err(format!("{name}: expected a closing quote"))
    }

    /// A value without quotes and the semicolon behind it, which the last option of a rule may
    /// lack. Over the end of a line only a list goes on.
    fn plain(&mut self, name: &str) -> Result<String, String> {
        let (mut value, begin) = (String::new(), self.rest());
        let mut behind_parenthesis = 0;
        let mut characters = begin.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let rest = &begin[at..];
            let line_end = if character == '\n' { Some(1) } else { continuation(rest) };
            match (character, line_end) {
                (';', _) => {
                    self.at += at + 1;
                    return Ok(value.trim().to_string());
                }
                (_, Some(length)) => {
                    let behind = rest[length..].trim_start();
                    let goes_on = value.trim_end().ends_with(',') || behind.starts_with([',', ';', ')']);
                    if !goes_on {
                        break;
                    }
                    while characters.next_if(|(next, _)| *next < at + length).is_some() {}
                    value.push(' ');
                }
                ('\\', None) => {
                    value.push('\\');
                    value.extend(characters.next_if(|(_, next)| *next != '\n').map(|(_, next)| next));
                }
                _ => value.push(character),
            }
            if character == ')' {
                behind_parenthesis = at;
            }
        }
        match value.trim_end().strip_suffix(')') {
            Some(last) => {
                self.at += behind_parenthesis;
                Ok(last.trim().to_string())
            }
            None => Err(format!("{name}: expected ; at the end of `{}`", value.trim())),
        }
    }
}

/// Whether a quote behind `text` is the closing one; `rest` follows it.
fn closes(name: &str, text: &str, rest: &str) -> bool {
    if name == "content" {
        return true;
    }
    let mut behind = rest.trim_start_matches([' ', '\t', '\r']);
    while let Some(length) = continuation(behind) {
        behind = behind[length..].trim_start();
    }
    let ends = behind.is_empty() || behind.starts_with([';', ',', ')', '\n']);
    // An expression ends with a slash and letters.
    let expression = matches!(name, "pcre" | "regex") && text.starts_with(['/', '!']);
    let flags = || text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    ends && (!expression || (flags().ends_with('/') && flags().len() > 1))
}
