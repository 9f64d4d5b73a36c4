//! Numbers in the Verilog have names. In comparisons hardly any stand bare but 0 and 1, and as
//! labels of `case` hardly any at all.

use std::fmt::Write as _;

use hermes_rtl::config::Config;
use hermes_rtl::top::emit_top;

/// Bare numbers that the Verilog of the preset `node` may have.
const LIMIT: usize = 60;

/// A module, and the lines of its bare numbers, one for each number.
#[derive(Debug, PartialEq)]
struct Module {
    name: String,
    lines: Vec<String>,
}

/// What Verilog is made of, as far as bare numbers need it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    /// A number with a width: its digits.
    Number(&'a str),
    Symbol(&'a str),
}

const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

/// Symbols of more than one character; the longer ones first.
const LONG_SYMBOLS: [&str; 9] = [">>>", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||"];

/// The first token of `text`, which does not begin with a space, and what follows.
fn token(text: &str) -> (Token<'_>, &str) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (word, rest) = text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()));
    if word.is_empty() {
        let long = LONG_SYMBOLS.iter().find(|symbol| text.starts_with(**symbol));
        let length =
            long.map_or_else(|| text.chars().next().map_or(0, char::len_utf8), |symbol| symbol.len());
        return (Token::Symbol(&text[..length]), &text[length..]);
    }
    let Some(digits) = rest.strip_prefix("'h").or(rest.strip_prefix("'d")).or(rest.strip_prefix("'b")) else {
        return (Token::Word(word), rest);
    };
    let (digits, rest) = digits.split_at(digits.find(|c| !is_word(c)).unwrap_or(digits.len()));
    (Token::Number(digits), rest)
}

/// The tokens of a line without its comment.
fn tokens(line: &str) -> Vec<Token<'_>> {
    let mut rest = line.split("//").next().unwrap_or_default().trim_start();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (next, behind) = token(rest);
        found.push(next);
        rest = behind.trim_start();
    }
    found
}

/// Whether a number is neither 0 nor 1.
fn counts(digits: &str) -> bool {
    !matches!(digits.trim_start_matches(['0', '_']), "" | "1")
}

/// The numbers among the labels with which a line begins: `4'd3, LAST: begin`.
fn labels(line: &[Token]) -> usize {
    let Some(end) = line.iter().position(|token| *token == Token::Symbol(":")) else { return 0 };
    let is_list = line[..end].iter().enumerate().all(|(i, token)| match token {
        Token::Symbol(symbol) => i % 2 == 1 && *symbol == ",",
        _ => i % 2 == 0,
    });
    if is_list {
        line[..end].iter().filter(|token| matches!(token, Token::Number(_))).count()
    } else {
        0
    }
}

/// The modules with bare numbers: those other than 0 and 1 on either side of a comparison, and all
/// that are labels of `case`.
fn bare(verilog: &str) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    // The two tokens before, without opening parentheses; brackets that are open; whether the
    // statement has assigned, so that `<=` compares.
    let (mut before, mut depth, mut assigns) = ([Token::Symbol(""); 2], 0usize, false);
    for line in verilog.lines() {
        let found = tokens(line);
        let mut count = labels(&found);
        for next in found {
            match next {
                Token::Word(name) if before[0] == Token::Word("module") => {
                    modules.push(Module { name: name.to_string(), lines: Vec::new() });
                }
                Token::Word("begin" | "end" | "else") | Token::Symbol(";" | ":") if depth == 0 => {
                    assigns = false
                }
                Token::Symbol("(" | "[" | "{") => depth += 1,
                Token::Symbol(")" | "]" | "}") => depth = depth.saturating_sub(1),
                Token::Symbol("=") if depth == 0 => assigns = true,
                Token::Symbol("<=") if depth == 0 && !assigns => {
                    assigns = true;
                    before = [Token::Symbol("="), before[0]];
                    continue;
                }
                _ => {}
            }
            let compares =
                |token: Token| matches!(token, Token::Symbol(symbol) if COMPARISONS.contains(&symbol));
            let is_right = matches!(next, Token::Number(digits) if counts(digits)) && compares(before[0]);
            let is_left = compares(next) && matches!(before[0], Token::Number(digits) if counts(digits));
            count += usize::from(is_right) + usize::from(is_left);
            if next != Token::Symbol("(") {
                before = [next, before[0]];
            }
        }
        if let Some(module) = modules.last_mut() {
            module.lines.extend((0..count).map(|_| line.trim().to_string()));
        }
    }
    modules.retain(|module| !module.lines.is_empty());
    modules
}

#[test]
fn numbers_of_the_preset_node_have_names() {
    let design = emit_top(&Config::preset("node").unwrap()).unwrap();
    let mut modules = bare(&design.verilog());
    modules.sort_by_key(|module| std::cmp::Reverse(module.lines.len()));
    let total: usize = modules.iter().map(|module| module.lines.len()).sum();
    println!("{total} bare numbers, at most {LIMIT} are allowed");
    let mut worst = String::new();
    for Module { name, lines } in modules.iter().take(10) {
        let _ = writeln!(worst, "{name}: {}", lines.len());
        lines.iter().for_each(|line| worst += &format!("    {line}\n"));
    }
    assert!(
        total <= LIMIT,
        "{total} numbers stand bare in comparisons and as labels, at most {LIMIT} are allowed: give them \
         names (docs/verilog.md). The modules with most of them:\n{worst}"
    );
}

#[test]
fn bare_numbers_are_found() {
    let verilog = "\
module first (
    input  wire [3:0] a
);
    localparam [3:0] LAST = 4'd9;
    assign y = (a == 4'd2) && (a != 4'h0) && a[3:1] >= 3'd1; // a == 4'd3
    assign z = {a <= 4'd3, 4'd12 > a, 1'b0} | (8'd4 << a) | (8'd4 >> 2'd3);
    assign w = a ==
        4'd5;
    assign v = a == (4'd6 + b);
    assign u = a == LAST;
    always @(posedge clk) begin
        a <= 4'd7;
        b[4'd2] <= a <= 4'd8;
        if (a < 4'd1) begin
            c <= 4'd7;
        end else if (a > 4'b10) begin
            c <= 4'd7;
        end
    end
endmodule
module second (
    input  wire [3:0] a
);
    always @* begin
        case (a)
            4'd0: begin
                y = 4'd5;
            end
            4'd3, LAST, 4'd4: begin
                y = x[4'd3:0];
            end
            LAST: ;
            default: begin
                y = 32'h2;
            end
        endcase
    end
endmodule
module third (
    input  wire a
);
endmodule
";
    let expected = [
        (
            "first",
            vec![
                "assign y = (a == 4'd2) && (a != 4'h0) && a[3:1] >= 3'd1; // a == 4'd3",
                "assign z = {a <= 4'd3, 4'd12 > a, 1'b0} | (8'd4 << a) | (8'd4 >> 2'd3);",
                "assign z = {a <= 4'd3, 4'd12 > a, 1'b0} | (8'd4 << a) | (8'd4 >> 2'd3);",
                "4'd5;",
                "assign v = a == (4'd6 + b);",
                "b[4'd2] <= a <= 4'd8;",
                "end else if (a > 4'b10) begin",
            ],
        ),
        ("second", vec!["4'd0: begin", "4'd3, LAST, 4'd4: begin", "4'd3, LAST, 4'd4: begin"]),
    ];
    let expected = expected.map(|(name, lines)| Module {
        name: name.to_string(),
        lines: lines.into_iter().map(str::to_string).collect(),
    });
    assert_eq!(bare(verilog), expected);
}
