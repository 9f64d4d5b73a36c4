//! What declarations of registers are refused, and that each says why.

use quote::ToTokens;
use syn::{parse_str, DeriveInput};

use crate::{block, file};

/// The message about `#[register_block(ARGUMENTS)] struct Block { FIELDS }`, or nothing.
fn block(arguments: &str, fields: &str) -> Option<String> {
    let input: DeriveInput = parse_str(&format!("pub struct Block {{ {fields} }}")).unwrap();
    let made = parse_str(arguments).and_then(|arguments| block::expand(&arguments, &input));
    made.err().map(|error| error.to_string())
}

/// The message about `#[register_file(ARGUMENTS)] struct Registers { FIELDS }`, or nothing.
fn file(arguments: &str, fields: &str) -> Option<String> {
    let input: DeriveInput = parse_str(&format!("pub struct Registers {{ {fields} }}")).unwrap();
    let made = parse_str(arguments).and_then(|arguments| file::expand(&arguments, &input));
    made.err().map(|error| error.to_string())
}

#[test]
fn registers_that_cannot_be_are_refused() {
    const UNKNOWN: &str =
        "a register has `#[register(..)]`, `#[fields(..)]`, `#[beside(..)]`, `#[state(..)]`, `#[on_read(..)]`, each once";
    const BESIDE: &str = "`#[beside(..)]` is for a ReadWrite or ReadOnly register with fields";
    const KINDS: &str = "expected ReadWrite<N>, ReadOnly<N>, Fixed<N>, WriteOnly<N>, Strobe<N> or Command<N>";
    const BITS: &str = "bits of a register are `[high:low]`, 31 to 0";
    const TWICE: &str = "these bits are those of another field too";
    const READ: &str = "`reset` and `unset` are for a register that is read, and not fixed";
    const ONE: &str = "a register has `reset` or `unset`, and one that keeps what the host wrote has a value";
    // Attributes behind the doc comment, type, message
    let refused = [
        ("", "ReadWrite<4>", "a register needs `#[register(\"NAME\", offset)]`"),
        ("#[register(\"X\", 0)] #[fields(a[0])] #[fields(b[1])]", "ReadWrite<4>", UNKNOWN),
        ("#[register(\"X\", 0)] #[serde(skip)]", "ReadWrite<4>", UNKNOWN),
        (
            "#[register(\"X\", 0, size = 4)]",
            "ReadWrite<4>",
            "expected `reset`, `unset`, `value`, `reserved` or `access`",
        ),
        ("#[register(\"X\", 0)]", "Bits<4>", KINDS),
        ("#[register(\"X\", 0)]", "ReadWrite", KINDS),
        ("#[register(\"X\", 0)]", "ReadWrite<N>", KINDS),
        ("#[register(\"X\", 0)]", "ReadWrite<0>", "a register has 1 to 32 bits"),
        ("#[register(\"X\", 0)]", "ReadWrite<33>", "a register has 1 to 32 bits"),
        ("#[register(\"X\", 0)] #[fields(a[0:1])]", "ReadWrite<4>", BITS),
        ("#[register(\"X\", 0)] #[fields(a[32])]", "ReadWrite<4>", BITS),
        ("#[register(\"X\", 0)] #[fields(a[4])]", "ReadWrite<4>", "X has 4 bits"),
        ("#[register(\"X\", 0)] #[state(a[4:0])]", "Command<4>", "X has 4 bits"),
        ("#[register(\"X\", 0)] #[fields(a[1:0], b[3:1])]", "ReadWrite<4>", TWICE),
        ("#[register(\"X\", 0)] #[state(a[1:0], b[1])]", "Command<4>", TWICE),
        (
            "#[register(\"X\", 0)] #[state(a[0])]",
            "ReadWrite<4>",
            "`#[state(..)]` is for a Command or Strobe: other registers show their fields",
        ),
        ("#[register(\"X\", 0, reserved = 1)]", "ReadOnly<4>", "`reserved` is for a ReadWrite register"),
        ("#[register(\"X\", 0, access = ReadWrite)]", "ReadOnly<4>", "`access` is for a Strobe register"),
        ("#[register(\"X\", 0)] #[fields(a[0])]", "Strobe<4>", "a Strobe register has no `#[fields(..)]`"),
        ("#[register(\"X\", 0)]", "Fixed<4>", "a fixed register needs `value = expression`"),
        ("#[register(\"X\", 0, reset = 1)]", "WriteOnly<4>", READ),
        ("#[register(\"X\", 0, reset = 1)]", "Strobe<4>", READ),
        ("#[register(\"X\", 0, value = 1, unset = \"why\")]", "Fixed<4>", READ),
        ("#[register(\"X\", 0, reset = 1, unset = \"why\")]", "ReadOnly<4>", ONE),
        ("#[register(\"X\", 0, unset = \"why\")]", "ReadWrite<4>", ONE),
        ("#[register(\"X\", 0)] #[beside(a[0])]", "ReadWrite<4>", BESIDE),
        ("#[register(\"X\", 0)] #[fields(a[1])] #[beside(b[0])]", "Command<4>", BESIDE),
        (
            "#[register(\"X\", 0, reset = config.cores)]",
            "ReadWrite<4>",
            "the reset value of a ReadWrite register is a number",
        ),
    ];
    for (attributes, ty, message) in refused {
        let field = format!("/// It is a register.\n{attributes} pub x: {ty}");
        assert_eq!(block("Unit", &field).as_deref(), Some(message), "{attributes} {ty}");
    }
    let undocumented = block("Unit", "#[register(\"X\", 0)] pub x: ReadWrite<4>");
    assert_eq!(undocumented.as_deref(), Some("say in a doc comment what the register is"));
}

#[test]
fn registers_of_every_kind_are_taken() {
    let taken = [
        ("#[register(\"X\", 0, reset = 4, reserved = 2)] #[fields(a[0], b[3:2])]", "ReadWrite<4>"),
        ("#[register(\"X\", 0)] #[fields(a[1])] #[beside(b[0])]", "ReadWrite<2>"),
        ("#[register(\"X\", 0)] #[fields(a[1])] #[beside(b[0])]", "ReadOnly<2>"),
        ("#[register(\"X\", 0, unset = \"it counts on\")] #[on_read(looked)]", "ReadOnly<32>"),
        ("#[register(\"X\", 0, reset = config.cores)]", "ReadOnly<4>"),
        ("#[register(\"X\", 0, value = config.cores)] #[fields(a[3:0])]", "Fixed<32>"),
        ("#[register(\"X\", 0)] #[fields(a[0])]", "WriteOnly<4>"),
        ("#[register(\"X\", 0)] #[fields(a[0])] #[state(b[0])]", "Command<4>"),
        ("#[register(\"X\", 0, access = ReadWrite)]", "Strobe<4>"),
    ];
    for (attributes, ty) in taken {
        let field = format!("/// It is a register.\n{attributes} pub x: {ty}");
        assert_eq!(block("Unit, part = Spawn, values = Values", &field), None, "{attributes} {ty}");
    }
}

#[test]
fn blocks_that_cannot_be_are_refused() {
    let register = "/// It is a register.\n#[register(\"X\", 0)] pub x: ReadOnly<4>";
    assert_eq!(block("Unit, size = 4", register).unwrap(), "expected `part`, `selected` or `values`");
    let selected = "a block of which one is selected has registers of the kind ReadOnly<32> without fields";
    assert_eq!(block("Unit, selected", register).as_deref(), Some(selected));
    assert_eq!(block("Unit, selected", &register.replace("<4>", "<32>")), None);
    let tuple: DeriveInput = parse_str("struct Block(ReadOnly<4>);").unwrap();
    let error = block::expand(&parse_str("Unit").unwrap(), &tuple).unwrap_err();
    assert_eq!(error.to_string(), "a block of registers is a struct with named fields");
}

#[test]
fn register_files_that_cannot_be_are_refused() {
    let fields = "pub identity: Identity, pub configuration: Configuration";
    assert_eq!(file("core_select = configuration.core_select", fields), None);
    let key = "expected `core_select = block.port`";
    assert_eq!(file("select = configuration.core_select", fields).as_deref(), Some(key));
    let second = file("core_select = configuration.core_select, third = Part", fields);
    assert_eq!(second.as_deref(), Some("expected `second_master = Part`"));
    let unknown = file("core_select = windows.core_select", fields);
    assert_eq!(unknown.as_deref(), Some("no block has this name"));
    let tuple: DeriveInput = parse_str("struct Registers(Identity);").unwrap();
    let arguments = parse_str("core_select = identity.core_select").unwrap();
    let error = file::expand(&arguments, &tuple).unwrap_err();
    assert_eq!(error.to_string(), "a register file is a struct with named fields");
}

/// A block that belongs to a part is not there in every array: the file that lists it as if it were
/// does not compile.
#[test]
fn the_file_checks_that_parts_are_optional() {
    let input: DeriveInput = parse_str("pub struct Registers { pub spawn: SpawnControl }").unwrap();
    let made = file::expand(&parse_str("core_select = spawn.core_select").unwrap(), &input).unwrap();
    let text = made.into_token_stream().to_string();
    assert!(text.contains("block `spawn` belongs to a part: list it as Optional<..>"), "{text}");
}
