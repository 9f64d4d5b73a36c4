//! Where the functions of a chain lie.

use super::*;

/// Regions do not overlap, lie on lines, and hold code, data, tables and argument block; windows
/// are those of the region and of what of it may be stored to.
#[test]
fn regions_are_apart() {
    let fixture = Fixture::new();
    fixture.write("table", vec![7; 100]);
    fixture.write(
        "own.S",
        ".globl kernel\nkernel: lw a3, 0(a2)\nlw a4, 4(a2)\nlw a5, 8(a2)\nlw a0, 0(a3)\nlla t0, count\n\
         lw t1, 0(t0)\nadd t1, t1, a0\nsw t1, 0(t0)\nsw t1, 0(a4)\nli a0, 5\nret\n.data\ncount: .word 1\n",
    );
    fixture.write(
        "own.toml",
        "[function]\nname = \"own\"\nsource = \"own.S\"\nargument = [\"numbers\", \"state\", \"numbers.bytes\", 0x77]\n\
         state_bytes = 5000\ntrusted = true\nmcw = 2\n[[table]]\nname = \"numbers\"\nfile = \"table\"\n",
    );
    fixture.chain(
        "limit = 64",
        &[("own", "at = 0x8000\n"), ("firewall", ""), ("nids", ""), ("router", "cores = 2\n")],
    );
    let config = paper();
    let chain = fixture.place(&config).unwrap();
    assert_eq!(chain.limit, 64);
    let cores: Vec<_> =
        chain.functions.iter().map(|function| (function.first_core, function.cores)).collect();
    assert_eq!(cores, [(0, 2), (2, 2), (4, 2), (6, 2)]);
    let mut regions: Vec<_> = chain.functions.iter().map(|function| &function.region).collect();
    regions.sort_by_key(|region| region.first);
    assert!(regions.windows(2).all(|pair| pair[0].last() < u64::from(pair[1].first)));
    for function in &chain.functions {
        let region = &function.region;
        assert_eq!((region.first % 64, region.bytes % 64), (0, 0), "{}", function.name);
        let mut behind = u64::from(region.first);
        for part in &region.parts {
            assert!(u64::from(part.first) >= behind, "{}: {part:?}", function.name);
            behind = u64::from(part.first) + part.bytes;
            let read = function.read_window();
            let write = function.write_window();
            assert!(read.contains(part.first) && read.contains((behind - 1) as u32));
            let stores = [part.first, (behind - 1) as u32].map(|at| write.contains(at));
            assert_eq!(stores, [part.writable; 2], "{}: {part:?}", function.name);
        }
        assert!(behind <= region.last() + 1);
    }
    let own = &chain.functions[0];
    assert_eq!((own.region.first, own.kernel.entry, own.mcw, own.watchdog), (0x8000, 0x8000, 2, 0));
    let names: Vec<_> = own.region.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["code", "data", "state", "table numbers", "argument block"]);
    assert_eq!(chain.model().unwrap_err(), "own");
    let mut simulated = SimulatedChain::new(&chain, &config, MEMORY_BYTES).unwrap();
    let packet = &fixture.packets("fixed:64", 1, &chain)[0];
    for _ in 0..2 {
        let visits = simulated.follow(0, packet).unwrap();
        assert_eq!(visits[0].verdict(), Verdict::forward(5), "{:?}", visits[0].fault);
    }
    // Its image is what the host writes.
    let mut host = Host::new(ReferenceDevice::new(&config, MEMORY_BYTES)).unwrap();
    chain.load(&mut host).unwrap();
    let argument = own.region.argument();
    let word = |number: u32| host.device_mut().image().read_u32(argument + 4 * number).unwrap();
    let words: Vec<_> = [0, 1, 2, 3].map(word).into();
    assert_eq!(words, [own.region.table("numbers"), own.region.state(), 100, 0x77]);
    assert_eq!(own.region.state() % LINE as u32, 0);
    // A second chain in the same memory meets the first one.
    let error = chain.load(&mut host).unwrap_err().to_string();
    assert!(
        error.contains("the region of `own` at 0x00008000") && error.contains("overlaps the region of `own`")
    );
}

/// Addresses that are taken, and a memory that is full.
#[test]
fn places_that_are_taken() {
    let fixture = Fixture::new();
    let config = Config { cores: 3, ..default_array() };
    let elf = |name: &str, address: u32| {
        let options = BuildOptions { address: Some(address), ..BuildOptions::new(RegisterClass::Rv32e) };
        let text = ".globl kernel\nkernel: li a0, 0\nret\n.data\n.zero 300\n";
        build_source_with("k.S", text, &options, &fixture.path(&format!("{name}.elf"))).unwrap();
        fixture.manifest(name, &format!("kernel = \"{name}.elf\""));
    };
    elf("a", 0x4000);
    elf("b", 0x4040);
    fixture.chain("", &[("a", ""), ("b", "")]);
    let error = fixture.wrong(&config);
    assert_eq!(
        error,
        "b.toml:4: kernel: the region of `b` at 0x00004040 to 0x000041ff overlaps the region of `a` at 0x00004000 \
         to 0x000041bf; expected an address that is free"
    );
    // A finished kernel keeps its address, and the others make room for it.
    elf("b", 0x40);
    fixture.chain("", &[("firewall", ""), ("a", ""), ("b", "")]);
    let chain = fixture.place(&config).unwrap();
    let [firewall, a, b] = &chain.functions[..] else { panic!() };
    assert_eq!((a.region.first, b.region.first), (0x4000, 0x40));
    assert!(firewall.region.first > 0x4000 || firewall.region.last() < 0x4000);
    fixture.chain("", &[("a", "at = 0x8000\n")]);
    let error = fixture.wrong(&config);
    assert!(error.starts_with("chain.toml:5: at: 0x8000: the kernel of a is linked to 0x4000"), "{error}");
    fixture.chain("", &[("a", ""), ("firewall", "at = 0x4000\n")]);
    let error = fixture.wrong(&config);
    assert!(error.starts_with("chain.toml:9: at: the region of `firewall` at 0x00004000"), "{error}");
    // A finished kernel whose data shares a line with its code
    build_source("k.S", ".globl kernel\nkernel: ret\n", RegisterClass::Rv32e, &fixture.path("c.elf"))
        .unwrap();
    fixture.manifest("c", "kernel = \"c.elf\"\nstate_bytes = 200_000_000");
    fixture.manifest("d", "source = \"k.S\"\nstate_bytes = 200_000_000");
    fixture.write("k.S", ".globl kernel\nkernel: ret\n");
    fixture.chain("", &[("c", ""), ("d", "")]);
    let error = fixture.wrong(&config);
    assert!(
        error.starts_with("d.toml:4: source: no room for the region of `d`")
            && error.contains("of them side by side"),
        "{error}"
    );
}
