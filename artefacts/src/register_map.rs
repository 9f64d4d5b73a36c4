//! The register map as files for software and for documentation.

use std::fmt::Write as _;

use super::base_name;
use hermes_rtl::host::registers::{Access, RegisterField, RegisterSpec};

/// The register map as a C header: offsets, and masks and shifts of the fields. The names begin
/// with that of the top module without `_top`, in upper case.
#[must_use]
pub fn c_header(top: &str, registers: &[RegisterSpec]) -> String {
    let prefix = base_name(top).to_ascii_uppercase();
    let mut text = format!(
        "/* Register map of the array: byte offsets from the base of the register file; of fields their bits, and the lowest of them. */\n\
         #ifndef {prefix}_REGISTERS_H\n#define {prefix}_REGISTERS_H\n",
    );
    for r in registers {
        let access = match r.access {
            Access::ReadWrite => "read/write",
            Access::ReadOnly => "read only",
            Access::WriteOnly => "write only",
            Access::Command => "command and state",
        };
        let _ = write!(text, "\n/* {}. {access}, {} bits", r.description, r.bits);
        if r.has_reset() {
            let _ = write!(text, ", {:#x} after reset", r.reset);
        } else if let Some(why) = r.unset {
            let _ = write!(text, ", no value after reset: {why}");
        }
        let _ = writeln!(text, ". */\n#define {prefix}_{} 0x{:03x}u", r.name, r.offset);
        for field in r.fields {
            let name = format!("{prefix}_{}_{}", r.name, field.name.to_ascii_uppercase());
            let _ = writeln!(text, "#define {name}_MASK 0x{:08x}u", field.mask());
            let _ = writeln!(text, "#define {name}_SHIFT {}", field.lsb);
        }
    }
    text.push_str("\n#endif\n");
    text
}

/// The register map in SystemRDL 2.0. Fields are named in upper case, since their own names can be
/// words of the language.
#[must_use]
pub fn system_rdl(top: &str, registers: &[RegisterSpec]) -> String {
    let mut text = format!(
        "addrmap {top}_registers {{\n    name = \"Register map of the array\";\n    default regwidth = 32;\n    \
         default accesswidth = 32;\n"
    );
    for r in registers {
        let (software, hardware) = match r.access {
            Access::ReadWrite => ("rw", "r"),
            Access::ReadOnly if r.fixed.is_some() => ("r", "na"),
            Access::ReadOnly => ("r", "w"),
            Access::WriteOnly => ("w", "r"),
            Access::Command => ("rw", "rw"),
        };
        let mut description = r.description.replace('"', "'");
        if let Some(why) = r.unset {
            let _ = write!(description, ". No value after reset: {why}");
        }
        let _ = write!(text, "\n    reg {{\n        desc = \"{description}\";\n");
        for field in fields(r) {
            let (high, name) = (field.lsb + field.width - 1, field.name.to_ascii_uppercase());
            let _ = write!(
                text,
                "        field {{ sw = {software}; hw = {hardware}; }} {name}[{high}:{}]",
                field.lsb
            );
            if r.has_reset() {
                let _ = write!(text, " = {:#x}", (r.reset & field.mask()) >> field.lsb);
            }
            text.push_str(";\n");
        }
        let _ = writeln!(text, "    }} {} @ {:#05x};", r.name, r.offset);
    }
    text.push_str("};\n");
    text
}

/// The parts of a register, none of which has a bit of another one: those with names, or the whole.
fn fields(register: &RegisterSpec) -> Vec<RegisterField> {
    let mut parts: Vec<RegisterField> = Vec::new();
    for field in register.fields {
        if parts.iter().all(|part| part.mask() & field.mask() == 0) {
            parts.push(*field);
        }
    }
    if parts.is_empty() {
        parts.push(RegisterField { name: "value", lsb: 0, width: register.bits });
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.lsb));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_rtl::config::Config;
    use hermes_rtl::host::registers::{registers_of, sizes, ID, REGISTERS};

    fn spec(name: &str) -> RegisterSpec {
        *REGISTERS.iter().find(|r| r.name == name).unwrap()
    }

    #[test]
    fn header_defines_every_register() {
        let text = c_header("hermes_top", REGISTERS);
        for r in REGISTERS {
            assert!(text.contains(&format!("#define HERMES_{} 0x{:03x}u\n", r.name, r.offset)), "{}", r.name);
            assert!(!r.description.contains("*/"), "{}", r.name);
        }
    }

    #[test]
    fn header_defines_every_name_once_with_mask_and_shift() {
        let text = c_header("hermes_top", REGISTERS);
        let mut names: Vec<_> =
            text.lines().filter_map(|line| line.strip_prefix("#define ")?.split(' ').next()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(text.contains(
            "#define HERMES_CONTROL_EAGER_MASK 0x00000002u\n#define HERMES_CONTROL_EAGER_SHIFT 1\n"
        ));
        assert!(text
            .contains("#define HERMES_CONFIG_CORES_MASK 0x0000ff00u\n#define HERMES_CONFIG_CORES_SHIFT 8\n"));
    }

    #[test]
    fn rdl_names_every_register_and_balances() {
        let text = system_rdl("hermes_top", REGISTERS);
        for r in REGISTERS {
            assert!(text.contains(&format!("}} {} @ {:#05x};", r.name, r.offset)), "{}", r.name);
        }
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert!(text.contains(" VALUE[31:0] = 0x0;\n    } FAULT_PC @ 0x068;"));
    }

    /// What the hardware drives has a value after reset too, which may follow from the
    /// configuration; what has none says why.
    #[test]
    fn registers_of_the_hardware_have_their_values_after_reset() {
        let config = Config { command_threads: 2, ..Config::preset("fpga").unwrap() };
        let registers = registers_of(&config);
        let rdl = system_rdl("hermes_top", &registers);
        let header = c_header("hermes_top", &registers);
        for (line, place) in [
            ("VALUE[10:0] = 0x400;", "TASK_ROOM @ 0x08c"),
            ("VALUE[7:0] = 0x3;", "CP_QUIET @ 0x318"),
            ("OUT[31:0] = 0x80000000;", "CONSOLE @ 0x360"),
            ("VALUE[31:0];", "CYCLE_LOW @ 0x080"),
            ("VALUE[31:0];", "TASK_PUSH @ 0x040"),
        ] {
            assert!(rdl.contains(&format!("{line}\n    }} {place};")), "{place}");
        }
        assert!(rdl.contains("HARTS[27:24] = 0x2;"));
        assert!(header.contains(", 32 bits, 0x2000000 after reset. */\n#define HERMES_CP_STATUS "));
        let why = "no value after reset: it counts from the end of the reset on";
        assert!(header.contains(&format!("{why}. */\n#define HERMES_CYCLE_LOW ")));
        assert!(rdl.to_lowercase().contains(why));
    }

    #[test]
    fn rdl_has_the_fields_and_what_they_are_after_reset() {
        let config = Config::preset("pangaea").unwrap();
        let registers = registers_of(&config);
        let text = system_rdl("hermes_top", &registers);
        assert!(text
            .contains(&format!("field {{ sw = r; hw = na; }} VALUE[31:0] = {ID:#x};\n    }} ID @ 0x000;")));
        for line in [
            "CORES[15:8] = 0x2;",
            "LANES[7:0] = 0x8;",
            "THREAD_SPAWNER[26:26] = 0x1;",
            "NETWORK[28:28] = 0x0;",
            "RUN[0:0] = 0x0;",
        ] {
            assert!(text.contains(line), "{line}");
        }
        let config_register = registers.iter().find(|r| r.name == "CONFIG").unwrap();
        assert_eq!(config_register.reset, sizes(&config));
        // No bit is in two fields, and none is outside of the register.
        for register in REGISTERS {
            let mut taken = 0_u64;
            for field in fields(register) {
                assert_eq!(taken & u64::from(field.mask()), 0, "{}", register.name);
                taken |= u64::from(field.mask());
            }
            assert!(taken < 1 << register.bits, "{}", register.name);
        }
        assert_eq!(fields(&spec("MCW")), [RegisterField { name: "value", lsb: 0, width: 6 }]);
    }
}
