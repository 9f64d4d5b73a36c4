use hermes_rtl::config::Config;

use super::{Debugger, Reference, ReferenceDevice};
use crate::apps::{AppEntry, Inputs};
use crate::cosim::{ArraySetup, Device as _, Host, KernelImage, Packet};
use crate::golden::Golden;
use crate::kernel::{build_source, Kernel, RegisterClass};
use crate::slot::SlotPacket;
use crate::traffic::{Generator, Traffic};
use crate::verdict::Verdict;

/// An array of 4 lanes.
pub fn config(local_window: bool) -> Config {
    Config { cores: 1, lanes: 4, warps: 4, local_window, ..Config::preset("default").unwrap() }
}

/// The kernel in an assembly source.
pub fn kernel(text: &str) -> Kernel {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.elf");
    let text = format!(".globl kernel\nkernel:\n{text}\n");
    build_source("k.S", &text, RegisterClass::Rv32i, &path).unwrap();
    Kernel::read(&path).unwrap()
}

/// The host of an array that has `kernel` and whose windows are closed around it, as a run.
pub fn reference(kernel: &Kernel, config: &Config) -> Reference {
    let mut host = Host::new(ReferenceDevice::new(config, 1 << 26)).unwrap();
    let image = KernelImage::from(kernel);
    host.load_kernel(&image).unwrap();
    let setup = ArraySetup::default();
    let layout = host.configure(&setup).unwrap();
    let map = host.memory_map(kernel, setup.stack_bytes_log2);
    host.close_windows(&map).unwrap();
    Reference::new(host, config, &image, &setup, &layout)
}

/// Packets without meaning.
pub fn packets(count: u8) -> Vec<Packet> {
    (0..count).map(|byte| Packet { frame: vec![byte; 60], port: 0, flags: 0, arrival: 0 }).collect()
}

/// A debugger in front of the kernel, with packets 4 to 7.
pub fn debugger(text: &str) -> (Debugger, Kernel) {
    let kernel = kernel(text);
    let mut run = reference(&kernel, &config(true));
    run.form_warp(4, &packets(4)).unwrap();
    (Debugger::new(run), kernel)
}

/// Stores a word to the packet and returns the packet's number.
const STORES: &str =
    "addi sp, sp, -16; sw a0, 12(sp); li t0, 0x1234; sw t0, 32(a1); lw a0, 12(sp); addi sp, sp, 16; ret";

#[test]
fn a_warp_stands_in_front_of_the_kernel_and_gives_verdicts() {
    for local_window in [false, true] {
        let kernel = kernel(STORES);
        let mut run = reference(&kernel, &config(local_window));
        run.form_warp(4, &packets(3)).unwrap();
        assert_eq!(run.threads().len(), 3);
        for (lane, packet) in (0..3).zip(4..) {
            let (hart, csr) = (run.hart(lane), |number| run.csr(lane, number).unwrap());
            assert_eq!((hart.pc, hart.x[10]), (kernel.entry, packet));
            assert_eq!((csr(0xcc0), csr(0xcc1)), (packet, lane as u32));
            assert_eq!((csr(0xcc4), csr(0xcc6)), (hart.x[11], hart.x[2]));
        }
        while run.step().is_some() {}
        assert!(run.faults().is_empty(), "{:?}", run.faults());
        assert_eq!(run.instructions(1), (8, 8));
        for packet in 4..7 {
            let result = run.result(packet).unwrap();
            assert_eq!(u64::from(result.verdict), packet);
            assert_eq!(result.bytes.len(), 60);
            assert_eq!(result.bytes[14..18], [0x34, 0x12, 0, 0]);
            assert_eq!(result.bytes[13], packet as u8 - 4);
        }
    }
}

#[test]
fn a_fault_keeps_the_registers_and_ends_the_lane() {
    // Packet 5 loads from address 0.
    let kernel = kernel("li t0, 5; bne a0, t0, 1f; li a0, 77; lw t1, 0(zero)\n1: ret");
    let mut run = reference(&kernel, &config(true));
    run.form_warp(4, &packets(4)).unwrap();
    while run.step().is_some() {}
    let [fault] = run.faults() else { panic!("{:?}", run.faults()) };
    assert_eq!((fault.cause, fault.threads, fault.packet, fault.address), (5, 1, 5, 0));
    assert_eq!(fault.pc, kernel.entry + 12);
    assert!(run.has_faulted(1) && !run.has_faulted(0));
    assert_eq!((run.hart(1).pc, run.hart(1).x[10]), (fault.pc, 77));
    assert!(Verdict(run.result(5).unwrap().verdict).is_fault());
    assert_eq!(run.result(6).unwrap().verdict, 6);
}

#[test]
fn memory_is_what_a_lane_sees() {
    let (mut debugger, kernel) = debugger(STORES);
    let run = debugger.run_mut();
    let mut bytes = [0; 4];
    assert_eq!(run.read_memory(0, kernel.entry, &mut bytes), 4);
    assert_eq!(u32::from_le_bytes(bytes), kernel.word(kernel.entry).unwrap());
    // The stack is the lane's own.
    assert!(run.write_memory(1, 0xfffd_0010, &[1, 2, 3, 4]));
    assert_eq!((run.read_memory(1, 0xfffd_0010, &mut bytes), bytes), (4, [1, 2, 3, 4]));
    assert_eq!((run.read_memory(2, 0xfffd_0010, &mut bytes), bytes), (4, [0; 4]));
    assert!(run.write_memory(1, 0xfffe_0000, &[9]));
    assert_eq!((run.read_memory(2, 0xfffe_0000, &mut bytes), bytes), (4, [9, 0, 0, 0]));
    // Not all of it, or none of it, is there.
    assert_eq!(run.read_memory(1, 0xfffd_00fe, &mut bytes), 2);
    assert!(!run.write_memory(1, 0xfffd_00fe, &bytes));
    assert_eq!(run.read_memory(1, 1 << 26, &mut bytes), 0);
    assert_eq!(run.read_memory(1, 0xffff_ff00, &mut bytes), 0);
}

/// The layout, and so the argument block, is that of the app; its golden model agrees.
#[test]
fn an_app_gives_what_its_golden_model_says() {
    let entry = AppEntry::find("dec-ttl").unwrap();
    let (app, kernel) = (entry.load(&Inputs::default()).unwrap(), entry.kernel(false).unwrap());
    let config = config(true);
    let mut host = Host::new(ReferenceDevice::new(&config, 1 << 26)).unwrap();
    let image = KernelImage::from(&kernel);
    host.load_kernel(&image).unwrap();
    let mut setup = ArraySetup::default();
    host.load_app(app.as_ref(), &mut setup).unwrap();
    let layout = host.configure(&setup).unwrap();
    assert_eq!(host.device_mut().memory_size(), 1 << 26);
    let mut run = Reference::new(host, &config, &image, &setup, &layout);
    let traffic = Traffic { kind: "imix".parse().unwrap(), seed: 1, bad_share: 30.0, rate: 100.0 };
    let frames: Vec<_> = Generator::new(traffic).take(40).collect();
    let slots: Vec<_> = frames.iter().map(|frame| SlotPacket::new(frame, 11)).collect();
    for (first, slots) in (0..).step_by(4).zip(slots.chunks(4)) {
        let packet =
            |slot: &SlotPacket| Packet { frame: slot.frame.clone(), port: slot.port, flags: 0, arrival: 0 };
        run.form_warp(first, &slots.iter().map(packet).collect::<Vec<_>>()).unwrap();
        while run.step().is_some() {}
        for (index, slot) in (first..).zip(slots) {
            let result = run.result(index).unwrap();
            let got = Golden { verdict: Verdict(result.verdict), frame: result.bytes };
            assert!(app.check(index, slot, got).is_none(), "packet {index}");
        }
    }
}

/// A table that would fit below the kernel must not cost the gap between ring and stacks its
/// place outside the windows.
#[test]
fn a_small_table_opens_neither_code_nor_verdicts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.elf");
    let text = ".globl kernel\nkernel: ret\n.data\n.word 1\n";
    build_source("k.S", text, RegisterClass::Rv32i, &path).unwrap();
    let kernel = Kernel::read(&path).unwrap();
    for local_window in [false, true] {
        let config = Config { local_window, ..Config::preset("fpga").unwrap() };
        let mut host = Host::new(ReferenceDevice::new(&config, 16 << 20)).unwrap();
        host.load_kernel(&KernelImage::from(&kernel)).unwrap();
        let table = host.rmalloc("a table", 100).unwrap();
        let setup = ArraySetup::default();
        let layout = host.configure(&setup).unwrap();
        let map = host.memory_map(&kernel, setup.stack_bytes_log2);
        host.close_windows(&map).unwrap();
        let protection = host.device_mut().protection();
        for (address, loads, stores) in [
            (0, false, false),
            (kernel.entry, true, false),
            (table, true, true),
            (layout.ring_base, true, true),
            (layout.verdict_base, true, false),
            (layout.argument, true, true),
            (layout.stack_base, !local_window, !local_window),
        ] {
            assert_eq!(protection.allows_load(address), loads, "{}", map.describe(address));
            assert_eq!(protection.allows_store(address), stores, "{}", map.describe(address));
        }
    }
}
