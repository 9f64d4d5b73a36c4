//! The macros of the include files change the registers that docs/kernels.md says, and jump to the
//! labels that it names.

use std::collections::BTreeSet;

use crate::isa::{register_name, Instruction, Isa};
use crate::kernel::{build_source, Kernel, RegisterClass, HERMES_H, PACKET_INC};
use crate::verdict::{Reason, Verdict, DROP, DROP_RULE};

const DOCUMENTATION: &str = include_str!("../../../../docs/kernels.md");

/// The registers that the instructions of a macro write. Behind it stand the labels that its row of
/// the table names in `expects`, alone.
fn changes(call: &str, expects: &str) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("k.elf");
    let includes = ["packet", "check", "ttl", "route", "classify", "payload", "hermes_shmem"];
    let mut text: String = includes.iter().map(|name| format!(".include \"{name}.inc\"\n")).collect();
    text += &format!(".globl kernel\nkernel:\n{call}\nbehind: ret\n");
    for name in expects.split('`').skip(1).step_by(2) {
        match name {
            "header_drops" => text += "header_drops\n",
            label if label.starts_with("drop_") => text += &format!("{label}: ret\n"),
            _ => {}
        }
    }
    build_source("k.S", &text, RegisterClass::Rv32i, &output).unwrap();
    let kernel = Kernel::read(&output).unwrap();
    let end = kernel.symbol("behind").unwrap().address;
    let words = (kernel.entry..end).step_by(4).map(|address| kernel.word(address).unwrap());
    let written = words.filter_map(|word| Instruction::decode(word, &Isa::EVERYTHING).unwrap().writes());
    written.map(|register| register_name(register).to_string()).collect()
}

#[test]
fn macros_change_what_is_documented() {
    let rows = DOCUMENTATION.lines().filter(|line| line.starts_with("| `") && line.contains(".inc` |"));
    let mut count = 0;
    for row in rows {
        let cells: Vec<_> =
            row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let (call, expects, documented) = (cells[0], cells[3], cells[5]);
        // t6 and t5 stand for registers that the user chooses, 1 for the reason.
        let call = call.replace("REASON", "1").replace("REGISTER", "t6").replace("ENTRY, COMMAND", "t6, t5");
        let documented = documented.replace("REGISTER", "t6").replace("none", "");
        let documented: BTreeSet<_> = documented.split_whitespace().map(str::to_string).collect();
        assert_eq!(changes(&call, &format!("`{expects}`")), documented, "{call}");
        count += 1;
    }
    let include = |text: &str| text.lines().filter(|line| line.trim_start().starts_with(".macro")).count();
    let macros: usize = super::INCLUDES.iter().map(|(_, text)| include(text)).sum();
    assert_eq!(count, macros, "every macro stands in docs/kernels.md");
}

/// The numbers of the kernels' include files are those of [`Reason`].
#[test]
fn include_files_agree() {
    let number = |text: &str, name: &str| -> u32 {
        let mut definitions = text.lines().filter(|l| l.starts_with(".equ") || l.starts_with("#define"));
        let line = definitions.find(|l| l.split([' ', ',']).any(|w| w == name)).unwrap();
        let value = line.split(name).nth(1).unwrap().trim_start_matches([' ', ',']);
        let value = value.split([' ', 'u']).next().unwrap();
        value.strip_prefix("0x").map_or_else(|| value.parse(), |hex| u32::from_str_radix(hex, 16)).unwrap()
    };
    for text in [PACKET_INC, HERMES_H] {
        assert_eq!(number(text, "VERDICT_DROP"), DROP);
        assert_eq!(number(text, "VERDICT_FORWARD"), Verdict::forward(0).0);
        assert_eq!(number(text, "DROP_RULE"), DROP_RULE);
        for (reason, name, _) in Reason::ALL {
            assert_eq!(number(text, name), reason as u32, "{name}");
        }
    }
}
