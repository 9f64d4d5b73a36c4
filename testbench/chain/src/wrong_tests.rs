//! What is wrong in the files of a chain, and among its functions.

use super::*;

/// What is wrong in the files, with file, line, field and what was expected.
#[test]
fn files_that_are_wrong() {
    let fixture = Fixture::new();
    let config = default_array();
    let manifest = "[function]\nname = \"f\"\nwatchdog = 1000\napp = \"dec-ttl\"\n";
    let chain = "limit = 8\n[[function]]\nmanifest = \"f.toml\"\nnext = \"end\"\n";
    fixture.write("f.toml", manifest);
    fixture.write("chain.toml", chain);
    fixture.place(&config).unwrap();
    for (from, to, expected) in [
        ("watchdog", "watch_dog", "f.toml:3: unknown field `watch_dog`, expected one of `name`, `app`"),
        ("\"dec-ttl\"", "\"dec\"", "f.toml:4: app: `dec` is not known; expected dec-ttl, "),
        (
            "watchdog = 1000\n",
            "",
            "f.toml:2: watchdog: missing; expected the cycles that a warp may be on a core, or trusted",
        ),
        ("1000", "0", "f.toml:3: watchdog: 0: expected 1 to 2147483647"),
        ("1000", "\"a\"", "f.toml:3: watchdog: invalid type: string \"a\", expected u32"),
        ("1000", "-5", "f.toml:3: watchdog: invalid value: integer `-5`, expected u32"),
        (
            "app = \"dec-ttl\"",
            "",
            "f.toml:2: function: has no kernel; expected app = \"NAME\", kernel = \"FILE.elf\"",
        ),
        ("\"f\"", "\"F f\"", "f.toml:2: name: `F f`: expected 1 to 32 of a-z"),
        ("\"f\"", "\"end\"", "f.toml:2: name: `end`: expected"),
        ("app", "mcw = 99\napp", "f.toml:4: mcw: 99: expected 1 to 8 (8 warp slots a core, 16 registers"),
        ("app", "packet = \"write\"\ngrow = 70000\napp", "f.toml:5: grow: 70000: expected 0 to 65535"),
        (
            "app",
            "packet = \"read\"\ngrow = 7\napp",
            "f.toml:5: grow: a function that makes frames longer; expected packet = \"write\"",
        ),
        (
            "app",
            "packet = \"eat\"\napp",
            "f.toml:4: packet: unknown variant `eat`, expected one of `none`, `read`, `write`",
        ),
        ("app", "argument = [1]\napp", "f.toml:4: argument: an app has its own"),
        (
            "app",
            "inputs = { rules = \"x\" }\napp",
            "f.toml:5: inputs: dec-ttl does not take `rules`; expected it left away",
        ),
        (
            "\"dec-ttl\"",
            "\"route-lookup\"",
            "f.toml:4: inputs: route-lookup needs `routes`; expected inputs = { routes = .. }",
        ),
        ("app", "rv32e = true\napp", "f.toml:2: rv32e: is of use to `source` only"),
        ("app = \"dec-ttl\"", "source = \"no.S\"", "f.toml:4: source: "),
        ("app = \"dec-ttl\"", "kernel = \"no.elf\"", "f.toml:4: kernel: "),
        (
            "app = \"dec-ttl\"",
            "kernel = \"a\"\nsource = \"b\"",
            "f.toml:4: kernel: beside `source`; expected one of them",
        ),
        (
            "app = \"dec-ttl\"",
            "kernel = \"a\"\nargument = [-1]",
            "f.toml:5: argument: invalid value: integer `-1`, expected a number below 2^32, the name of",
        ),
        (
            "app = \"dec-ttl\"",
            "kernel = \"a\"\nargument = [1.5]",
            "f.toml:5: argument: invalid type: floating point `1.5`, expected a number below 2^32",
        ),
        (
            "app = \"dec-ttl\"",
            "kernel = \"a\"\nargument = [\"t\"]",
            "f.toml:5: argument: `t` is no table; expected a number",
        ),
        (
            "app = \"dec-ttl\"",
            "kernel = \"a\"\n[[table]]\nname = \"state\"\nfile = \"keys\"",
            "f.toml:6: table.name: `state`: expected",
        ),
        (
            "app = \"dec-ttl\"",
            "kernel = \"a\"\n[[table]]\nname = \"t\"\nfile = \"none\"",
            "f.toml:7: table.file: ",
        ),
        ("[function]", "[func]", "f.toml:1: unknown field `func`"),
        ("= \"f\"", "\"f\"", "f.toml:2:"),
    ] {
        let text = manifest.replacen(from, to, 1);
        assert_ne!(text, manifest, "{from}");
        fixture.write("f.toml", text);
        let error = fixture.wrong(&config);
        assert!(error.starts_with(expected), "{error}\nexpected: {expected}");
    }
    // An error of the manifest itself also says who names it.
    fixture.write("f.toml", manifest.replace("1000", "0"));
    assert!(fixture.wrong(&config).ends_with("(named by chain.toml:3)"), "{}", fixture.wrong(&config));

    fixture.write("f.toml", manifest);
    for (from, to, expected) in [
        ("limit", "limits", "chain.toml:1: unknown field `limits`, expected one of `limit`"),
        ("limit = 8", "limit = 1025", "chain.toml:1: limit: 1025: expected 0 to 1024"),
        (
            "limit = 8",
            "ring_slots = 16",
            "chain.toml:1: ring_slots: 16: expected a power of two, 32 to 1048576",
        ),
        ("limit = 8", "ring_slots = 48", "chain.toml:1: ring_slots: 48: expected a power of two"),
        (
            "limit = 8",
            "slot_bytes = 64",
            "chain.toml:1: slot_bytes: 64: expected a power of two, 128 to 65536",
        ),
        ("limit = 8", "stack_bytes = 300", "chain.toml:1: stack_bytes: 300: expected a power of two"),
        ("limit = 8", "frame_bytes = 9", "chain.toml:1: frame_bytes: 9: expected 14 to 65518"),
        ("\"end\"", "\"g\"", "chain.toml:4: next: `g` is no function of this chain; expected f or end"),
        ("\"end\"", "\"f\"", "chain.toml:4: next: f -> f: packets would never leave"),
        ("f.toml", "g.toml", "chain.toml:3: manifest: g.toml: No such file"),
        ("next = \"end\"", "", "chain.toml:2: missing field `next`"),
        ("\"end\"", "\"end\"\ncores = 0", "chain.toml:5: cores: 0: expected 1 or more"),
        ("\"end\"", "\"end\"\ncores = 3", "chain.toml:5: cores: f 3: 3 of 2 cores; expected at most 2"),
        ("\"end\"", "\"end\"\nat = 0x1001", "chain.toml:5: at: 4097: expected a multiple of 64"),
        (
            "\"end\"",
            "\"end\"\nat = 0xffffffc0",
            "chain.toml:5: at: 0xffffffc0: expected a multiple of 64, 0x40 to",
        ),
        ("\"end\"", "\"end\"\nname = \"Q\"", "chain.toml:5: name: `Q`: expected"),
        ("[[function]]", "[[funktion]]", "chain.toml:2: unknown field `funktion`"),
        (
            "[[function]]\nmanifest = \"f.toml\"\nnext = \"end\"\n",
            "",
            "chain.toml: no function; expected [[function]]",
        ),
    ] {
        let text = chain.replacen(from, to, 1);
        assert_ne!(text, chain, "{from}");
        fixture.write("chain.toml", text);
        let error = fixture.wrong(&config);
        assert!(error.starts_with(expected), "{error}\nexpected: {expected}");
    }
}

/// What is wrong among the functions: names, order, numbers, sizes.
#[test]
fn chains_that_are_wrong() {
    let fixture = Fixture::new();
    let config = default_array();
    let wrong = |text: &str, config: &Config, expected: &[&str]| {
        fixture.write("chain.toml", text);
        let error = fixture.wrong(config);
        for expected in expected {
            assert!(error.contains(expected), "{error}\nexpected: {expected}");
        }
    };
    let function =
        |name: &str, next: &str| format!("[[function]]\nmanifest = \"{name}.toml\"\nnext = \"{next}\"\n");
    let chain =
        |names: &[(&str, &str)]| names.iter().map(|(name, next)| function(name, next)).collect::<String>();
    wrong(
        &chain(&[("firewall", "router"), ("router", "nids"), ("nids", "router")]),
        &config,
        &["chain.toml:9: next: router -> nids -> router: packets would never leave"],
    );
    wrong(
        &chain(&[("firewall", "end"), ("router", "end")]),
        &config,
        &["chain.toml:5: function: `router` gets no packets, which go firewall -> end; expected that one"],
    );
    wrong(
        &chain(&[("firewall", "end"), ("firewall", "end")]),
        &config,
        &["chain.toml:5: name: two functions are called `firewall`, by firewall.toml:2 and firewall.toml:2"],
    );
    wrong(
        &chain(&[("firewall", "router"), ("router", "nids"), ("nids", "end")]),
        &config,
        &["chain.toml:8: function: nids: the chain has 3 functions, and the array 2 cores; expected a core for each"],
    );
    // The same manifest twice, with another name
    let twice = format!("{}name = \"again\"\n", function("firewall", "end"));
    fixture.write("chain.toml", function("firewall", "again") + &twice);
    fixture.place(&config).unwrap();
    // More than the hardware has
    let names: Vec<_> = (0..9).map(|number| format!("n{number}")).collect();
    let mut many = String::new();
    for (number, name) in names.iter().enumerate() {
        let next = names.get(number + 1).map_or(END, |next| next);
        many += &format!("{}name = \"{name}\"\n", function("firewall", next));
    }
    wrong(
        &many,
        &Config { cores: 16, ..default_array() },
        &["n8: the chain has 9 functions; expected at most 8"],
    );
    // Frames that grow beyond the slot
    let growing = format!(
        "slot_bytes = 2048\nframe_bytes = 2000\n{}",
        chain(&[("firewall", "ipsec"), ("ipsec", "end")])
    );
    wrong(
        &growing,
        &config,
        &["chain.toml:7: function: ipsec: a frame of 2000 bytes can have 2053 behind it, and a slot of 2048 bytes holds 2030; expected larger slots"],
    );
    fixture.write("chain.toml", growing.replace("slot_bytes = 2048\n", ""));
    assert_eq!(fixture.place(&config).unwrap().slot_bytes_log2, 12);
    // The compiled kernel of ipsec needs more than 256 bytes of stack.
    let text = format!("stack_bytes = 256\n{}", function("ipsec", "end"));
    wrong(
        &text,
        &config,
        &["chain.toml:1: stack_bytes: 256: ipsec needs 512 bytes of stack; expected 512 or more"],
    );
    fixture.manifest("ipsec", "app = \"ipsec\"\ninputs = { keys = \"keys\" }\nstack_bytes = 64");
    wrong(
        &function("ipsec", "end"),
        &config,
        &["ipsec.toml:6: stack_bytes: 64: the kernel needs 3", "expected as many or more"],
    );
    fixture.manifest("ipsec", "app = \"ipsec\"\ninputs = { keys = \"keys\" }\ngrow = 52");
    wrong(
        &function("ipsec", "end"),
        &config,
        &["ipsec.toml:6: grow: 52: the app makes frames up to 53 bytes longer"],
    );
    fixture.manifest("ipsec", "app = \"ipsec\"\ninputs = { keys = \"keys\" }\npacket = \"read\"");
    wrong(
        &function("ipsec", "end"),
        &config,
        &["ipsec.toml:4: app: it makes frames longer; expected packet = \"write\""],
    );
    // Instructions that the array lacks
    fixture.write("k.S", ".globl kernel\nkernel: ret\n");
    for (option, lacks) in [("aes", "zknd, zkne"), ("atomics", "a")] {
        fixture.manifest("own", &format!("source = \"k.S\"\n{option} = true"));
        wrong(
            &function("own", "end"),
            &config,
            &["own.toml:4: source: the kernel of own is built for rv32i", &format!("it lacks {lacks}")],
        );
    }
    fixture.place(&Config { aes: true, atomics: true, ..default_array() }).unwrap();
    let no_window = Config { local_window: false, ..default_array() };
    wrong(
        &function("firewall", "end"),
        &no_window,
        &["the array has no local window", "expected --local-window"],
    );
}
