//! Plain Verilog identifiers.

use std::collections::HashSet;
use std::sync::OnceLock;

/// Reserved words of Verilog-2005 and SystemVerilog-2017 (IEEE 1364-2005 annex B, IEEE 1800-2017
/// annex B).
const KEYWORDS: &str = "accept_on alias always always_comb always_ff always_latch and assert assign assume automatic \
before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class \
clocking cmos config const constraint context continue cover covergroup coverpoint cross deassign default \
defparam design disable dist do edge else end endcase endchecker endclass endclocking endconfig endfunction \
endgenerate endgroup endinterface endmodule endpackage endprimitive endprogram endproperty endspecify \
endsequence endtable endtask enum event eventually expect export extends extern final first_match for force \
foreach forever fork forkjoin function generate genvar global highz0 highz1 if iff ifnone ignore_bins \
illegal_bins implements implies import incdir include initial inout input inside instance int integer \
interconnect interface intersect join join_any join_none large let liblist library local localparam logic \
longint macromodule matches medium modport module nand negedge nettype new nexttime nmos nor \
noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive priority \
program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand \
randc randcase randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos \
rtran rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint \
shortreal showcancelled signed small soft solve specify specparam static string strong strong0 strong1 struct \
super supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout time timeprecision \
timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned \
until until_with untyped use uwire var vectored virtual void wait wait_order wand weak weak0 weak1 while \
wildcard wire with within wor xnor xor";

/// Words that Verilator reports as names because its models are C++ or SystemC.
const MODEL_WORDS: &str = "abort alignas alignof and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bit_vector bitand bitor \
bool catch cdecl char char16_t char32_t compl complex concept const_cast const_iterator constexpr decltype \
delete deque double dynamic_cast explicit false far float friend goto huge inline interrupt iterator list \
long map mutable namespace near noexcept not_eq nullptr operator or_eq pascal private public queue reference \
register requires sc_clock sc_in sc_inout sc_out sc_signal sensitive sensitive_neg sensitive_pos set short \
sizeof stack static_assert static_cast std switch synchronized template thread_local throw transaction_safe \
transaction_safe_dynamic true try type_info typeid typename using vector volatile wchar_t xor_eq";

/// `name` with underscores for what an identifier may not hold, and one more after a reserved word.
pub fn identifier(name: &str) -> String {
    let mut text: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        text.insert(0, 'n');
    }
    static SET: OnceLock<HashSet<&str>> = OnceLock::new();
    let words = || KEYWORDS.split_ascii_whitespace().chain(MODEL_WORDS.split_ascii_whitespace());
    let keywords = SET.get_or_init(|| words().collect());
    if keywords.contains(text.as_str()) {
        text.push('_');
    }
    text
}

/// Identifiers in use in one name space.
#[derive(Debug, Default)]
pub struct Names {
    taken: HashSet<String>,
    clash: Option<String>,
}

impl Names {
    /// The identifier like `name`; it is in use from now on. That it was in use already is noted as
    /// the clash.
    pub fn take(&mut self, name: &str) -> String {
        self.take_one(&[name])
    }

    /// The first of the identifiers like `names` that is not in use yet. The last one is taken in
    /// any case, as by [`take`](Self::take).
    pub fn take_one(&mut self, names: &[&str]) -> String {
        let identifiers = names.iter().map(|name| identifier(name));
        let mut last = String::new();
        for candidate in identifiers {
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
            last = candidate;
        }
        self.clash.get_or_insert_with(|| last.clone());
        last
    }

    /// Those of the identifiers like `names` that are not in use.
    pub fn unused(&self, names: &[&str]) -> Vec<String> {
        names.iter().map(|name| identifier(name)).filter(|name| !self.taken.contains(name)).collect()
    }

    /// The first identifier that two things should have had.
    pub fn clash(&self) -> Option<&str> {
        self.clash.as_deref()
    }
}

/// Snake case of a Rust type or variant name: `DelayCommitQueue` is `delay_commit_queue`.
pub fn snake_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut text = String::new();
    for (i, &c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|j| chars[j]);
        let after = chars.get(i + 1);
        let starts_word = before.is_some_and(|b| {
            c.is_ascii_uppercase()
                && (b.is_ascii_lowercase()
                    || b.is_ascii_digit()
                    || (b.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase)))
        });
        if starts_word {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// Module name of a type: paths dropped, parameters appended. `a::SyncFifo<b::Bits<32>, 10>` is
/// `sync_fifo_32_10`.
pub fn module_name(type_name: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in type_name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':')) {
        let last = word.rsplit("::").next().unwrap_or(word);
        match last {
            "" | "Bits" | "Signed" => {}
            "bool" | "Clock" if !words.is_empty() => words.push("1".to_string()),
            _ => words.push(snake_case(last)),
        }
    }
    identifier(&words.join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_become_module_names() {
        let cases = [
            ("design::queues::DelayLine", "delay_line"),
            ("a::SyncFifo<rust_hdl_core::bits::Bits<32>, 10>", "sync_fifo_32_10"),
            ("RamSync<bool, 3>", "ram_sync_1_3"),
            ("AxiLite<4>", "axi_lite_4"),
            ("AXILite", "axi_lite"),
            ("Table", "table_"),
        ];
        for (name, expected) in cases {
            assert_eq!(module_name(name), expected);
        }
    }

    #[test]
    fn identifiers_are_plain_and_taken_once() {
        let mut names = Names::default();
        assert_eq!(names.take("bit"), "bit_");
        assert_eq!(names.take("long"), "long_");
        assert_eq!(names.take("lane$0$y"), "lane_0_y");
        assert_eq!(names.take("0"), "n0");
        assert_eq!(names.take_one(&["bit", "bit_net"]), "bit_net");
        assert_eq!(names.clash(), None);
        assert_eq!(names.take("lane_0$y"), "lane_0_y");
        assert_eq!(names.clash(), Some("lane_0_y"));
    }
}
