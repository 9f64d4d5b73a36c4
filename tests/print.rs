//! `hermes_print`: prints of kernels, on the array and on the reference simulator.

mod common;

use common::Folder;

const ARRAY: &str = "--cores 1 --lanes 4 --warps 4";

const KERNEL: &str = "#include <hermes.h>
uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    hermes_print(\"%u bytes, port %u\", slot->length, slot->port);
    if (packet % 3 == 0)
        hermes_print(\"third: %s, %d, %02x\", packet ? \"later\" : \"first\", -(int)packet, packet + 10);
    hermes_print(\"done\");
    return VERDICT_FORWARD;
}
";

/// A folder with 11 packets and a kernel, built with prints and without.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("k.c", KERNEL);
    folder.succeed("kernel build k.c -o k.elf --rv32e -D HERMES_PRINT");
    folder.succeed("kernel build k.c -o off.elf --rv32e");
    folder.succeed("gen-trace --kind fixed:64 --packets 11 -o in.pcap");
    folder
}

/// What packet `packet` prints.
fn lines(packet: u32) -> Vec<String> {
    let mut texts = vec!["64 bytes, port 0".to_string()];
    if packet % 3 == 0 {
        let text = if packet == 0 { "first" } else { "later" };
        texts.push(format!("third: {text}, {}, {:02x}", -(packet as i32), packet + 10));
    }
    texts.push("done".to_string());
    texts.iter().map(|text| format!("packet {packet} lane {}: {text}", packet % 4)).collect()
}

#[test]
fn prints_come_in_the_order_of_the_packets() {
    let folder = folder();
    let what = format!("--kernel k.elf --pcap in.pcap {ARRAY}");
    folder.succeed(&format!("run {what} --mem-latency 20 --print=lines"));
    let expected: Vec<_> = (0..11).flat_map(lines).collect();
    assert_eq!(folder.text("lines").lines().collect::<Vec<_>>(), expected);
    // To standard output, and a warp alone.
    let text = folder.succeed(&format!("run {what} --mem-latency 20 --print"));
    assert!(text.contains(&expected.join("\n")), "{text}");
    let text = folder.succeed(&format!("iss {what} --packet 5 --print"));
    let expected: Vec<_> = (4..8).flat_map(lines).collect();
    assert!(text.contains(&expected.join("\n")), "{text}");
    // Nobody listens, or nobody prints.
    let text = folder.succeed(&format!("iss {what} --packet 5"));
    assert!(!text.contains("bytes, port"), "{text}");
    folder.fail(
        &format!("iss --kernel off.elf --pcap in.pcap {ARRAY} --print"),
        &["off.elf: --print: expected a kernel built with -D HERMES_PRINT", "no symbol `hermes_print_rings`"],
    );
}

#[test]
fn prints_that_find_no_room_are_counted() {
    let folder = folder();
    let output = folder
        .hermes(&format!("iss --kernel k.elf --pcap in.pcap {ARRAY} --packet 4 --print --print-room 1"));
    let (text, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(text.matches("bytes, port").count(), 4, "{text}");
    assert!(
        error.contains("5 prints found no room: a thread keeps its first 1; --print-room N keeps more"),
        "{error}"
    );
}

/// Without HERMES_PRINT not an instruction is left.
#[test]
fn off_costs_nothing() {
    let folder = folder();
    folder.write(
        "k.c",
        KERNEL
            .lines()
            .filter(|line| !line.contains("hermes_print") && !line.contains("packet %"))
            .collect::<Vec<_>>()
            .join("\n"),
    );
    folder.succeed("kernel build k.c -o none.elf --rv32e");
    let code = |name: &str| {
        let kernel = hermes_testbench::kernel::Kernel::read(&folder.path(name)).expect("a kernel");
        kernel.segments.into_iter().map(|segment| segment.bytes).collect::<Vec<_>>()
    };
    assert_eq!(code("off.elf"), code("none.elf"));
    assert_ne!(code("k.elf"), code("none.elf"));
}
