//! The debugger's library on the array: stop, step, registers, CSRs, memory, breakpoints, more
//! harts than one.

use std::sync::OnceLock;

use super::grid::build_brief;
use super::{attend, program};
use hermes_rtl::config::Config;
use hermes_testbench::cosim::{DebugError, Debugger, Device as _, Host, MemoryOptions, Simulation};
use hermes_testbench::firmware::{Firmware, FirmwareEnd};
use verilator_sys::ModelLibrary;

/// With a data cache, which must not hide what is written, and eight channels of user-level
/// interrupts.
pub fn array() -> &'static ModelLibrary {
    static ARRAY: OnceLock<ModelLibrary> = OnceLock::new();
    ARRAY.get_or_init(|| {
        build_brief(&Config {
            cores: 1,
            lanes: 1,
            warps: 2,
            command_threads: 2,
            command_cache_lines: 16,
            uli_channels: 8,
            l2_banks: 1,
            l2_bank_lines: 32,
            ..Config::preset("fpga").unwrap()
        })
    })
}

/// Loads `firmware`, with the harts stopped before their first instruction.
fn start(firmware: &Firmware) -> (Host<Simulation>, Debugger) {
    let model = array().instantiate().unwrap();
    let mut host = Host::new(Simulation::new(model, 1 << 24, MemoryOptions::default()).unwrap()).unwrap();
    host.reserve_firmware(firmware).unwrap();
    host.start_firmware_stopped(firmware, &[]).unwrap();
    let debugger = Debugger::new(&mut host).unwrap();
    (host, debugger)
}

fn symbol(firmware: &Firmware, name: &str) -> u32 {
    firmware.executable.symbol(name).unwrap_or_else(|_| panic!("no symbol {name}")).address
}

const TEXT: &str = "volatile int words[40] = {5, 6, 7};\n\
    LOCAL volatile int near = 3;\n\
    __attribute__((noinline)) int work(int n) { words[0] += n; near++; return words[0] + near; }\n\
    int main(void) { int sum = 0; for (int i = 0; i < 20; i++) sum += work(i); return sum; }";

fn words<const N: usize>(debugger: &Debugger, host: &mut Host<Simulation>, address: u32) -> [u32; N] {
    let mut bytes = vec![0; 4 * N];
    debugger.read_memory(host, 0, address, &mut bytes).unwrap();
    std::array::from_fn(|i| u32::from_le_bytes(bytes[4 * i..][..4].try_into().unwrap()))
}

fn until_stopped(debugger: &Debugger, host: &mut Host<Simulation>, hart: u32) {
    for _ in 0..2_000 {
        host.attend_firmware().unwrap();
        if debugger.status(host).unwrap().stopped >> hart & 1 == 1 {
            return;
        }
        host.device_mut().run(20).unwrap();
    }
    panic!("hart {hart} at {:#x} does not stop", debugger.pc(host, hart).unwrap());
}

#[test]
fn registers_and_csrs() {
    let firmware = program(TEXT);
    let (mut host, debugger) = start(&firmware);
    assert_eq!((debugger.harts(), debugger.status(&mut host).unwrap().stopped), (2, 3));
    for hart in 0..2 {
        assert_eq!(debugger.pc(&mut host, hart).unwrap(), firmware.executable.entry);
        for number in 0..32 {
            debugger.set_register(&mut host, hart, number, 0x1234_5600 + 100 * hart + number).unwrap();
        }
    }
    for hart in 0..2 {
        for number in 0..32 {
            let expected = if number == 0 { 0 } else { 0x1234_5600 + 100 * hart + number };
            assert_eq!(debugger.register(&mut host, hart, number).unwrap(), expected, "x{number}");
        }
        assert_eq!(debugger.csr(&mut host, hart, 0xf14).unwrap(), hart, "mhartid");
        assert_eq!(debugger.csr(&mut host, hart, 0xb02).unwrap(), 0, "minstret");
        debugger.set_csr(&mut host, hart, 0x340, 0xabcd_ef00 + hart).unwrap();
        debugger.set_pc(&mut host, hart, 0x1_0040).unwrap();
        assert_eq!(debugger.pc(&mut host, hart).unwrap(), 0x1_0040);
    }
    assert_eq!(debugger.csr(&mut host, 1, 0x340).unwrap(), 0xabcd_ef01);
    // Reading and writing changed no register.
    assert_eq!(debugger.register(&mut host, 1, 5).unwrap(), 0x1234_5669);
    let text = |error: DebugError| error.to_string();
    let host = &mut host;
    for (error, expected) in [
        (debugger.register(host, 0, 32).map_err(text), "x32 is no register; expected x0 to x31"),
        (debugger.register(host, 2, 1).map_err(text), "hart 2 is not there; expected 0 to 1"),
        (debugger.csr(host, 0, 0x3a0).map_err(text), "CSR 0x3a0 of hart 0 cannot be read"),
        (
            debugger.set_csr(host, 1, 0xf14, 0).map(|()| 0).map_err(text),
            "CSR 0xf14 of hart 1 cannot be written",
        ),
        (
            debugger.set_pc(host, 0, 0x1_0042).map(|()| 0).map_err(text),
            "0x00010042 is no address of an instruction",
        ),
    ] {
        assert!(error.as_ref().is_err_and(|error| error.contains(expected)), "{expected}: {error:?}");
    }
}

#[test]
fn breakpoints_steps_and_memory() {
    let firmware = program(TEXT);
    let (mut host, mut debugger) = start(&firmware);
    let host = &mut host;
    let (work, array, near) =
        (symbol(&firmware, "work"), symbol(&firmware, "words"), symbol(&firmware, "near"));
    let original = words::<2>(&debugger, host, work);
    debugger.insert_breakpoint(host, 0, work).unwrap();
    assert!(debugger.has_breakpoint(work));
    let (mut sum, mut local) = (5, 3);
    for n in 0..6 {
        debugger.resume(host, 1).unwrap();
        until_stopped(&debugger, host, 0);
        assert_eq!(debugger.pc(host, 0).unwrap(), work);
        assert_eq!(debugger.register(host, 0, 10).unwrap(), n, "a0");
        assert_eq!(words::<3>(&debugger, host, array), [sum, 6, 7]);
        assert_eq!(words::<1>(&debugger, host, near), [local]);
        // Memory shows no breakpoint.
        assert_eq!(words::<2>(&debugger, host, work), original);
        if n == 3 {
            // The hart sees what is written, and the host what the hart sees.
            debugger.write_memory(host, 0, array, &1000u32.to_le_bytes()).unwrap();
            debugger.write_memory(host, 0, near, &50u32.to_le_bytes()).unwrap();
            debugger.write_memory(host, 0, array + 5, &[1, 2, 3, 4, 5, 6]).unwrap();
            assert_eq!(words::<3>(&debugger, host, array), [1000, 0x0302_0106, 0x0006_0504]);
            debugger.write_memory(host, 0, array + 4, &[6, 0, 0, 0, 7, 0, 0, 0]).unwrap();
            (sum, local) = (1000, 50);
        }
        sum += n;
        local += 1;
    }
    // Steps go on from the breakpoint through the function, an instruction at a time.
    let return_address = debugger.register(host, 0, 1).unwrap();
    let counted = debugger.csr(host, 0, 0xb02).unwrap();
    let mut steps = 0;
    while debugger.pc(host, 0).unwrap() != return_address {
        debugger.step(host, 0).unwrap();
        steps += 1;
        assert!(steps < 30);
    }
    assert_eq!(debugger.csr(host, 0, 0xb02).unwrap(), counted + steps);
    assert_eq!(debugger.register(host, 0, 10).unwrap(), sum + local, "what work returns");
    // Code that is written is what is executed: `work` returns at once. Its breakpoint stays.
    debugger.write_memory(host, 0, work, &0x0000_8067u32.to_le_bytes()).unwrap();
    debugger.resume(host, 1).unwrap();
    until_stopped(&debugger, host, 0);
    assert_eq!((debugger.pc(host, 0).unwrap(), words::<1>(&debugger, host, work)), (work, [0x8067]));
    debugger.step(host, 0).unwrap();
    assert_eq!(debugger.pc(host, 0).unwrap(), return_address);
    // Without breakpoint and as it was it runs to its end.
    debugger.write_memory(host, 0, work, &original[0].to_le_bytes()).unwrap();
    assert!(debugger.remove_breakpoint(host, 0, work).unwrap());
    assert!(!debugger.remove_breakpoint(host, 0, work).unwrap());
    debugger.resume(host, 1).unwrap();
    let (end, _) = attend(host, |_| false);
    assert!(matches!(end, Some(FirmwareEnd::Value(_))), "{end:?}");
}

#[test]
fn what_a_hart_cannot_access_is_told() {
    let firmware = program(TEXT);
    let (mut host, mut debugger) = start(&firmware);
    let host = &mut host;
    let mut bytes = [0; 8];
    for (address, at) in [(0xffff_e300, 0xffff_e300), (0xfff8_0000, 0xfff8_0000), (0xfffd_fffe, 0xfffd_fffe)]
    {
        let error = debugger.read_memory(host, 0, address, &mut bytes).unwrap_err();
        assert!(matches!(error, DebugError::Memory { address, .. } if address == at), "{error}");
        assert!(error.to_string().contains("cannot read"), "{error}");
        let error = debugger.write_memory(host, 0, address, &bytes).unwrap_err();
        assert!(matches!(error, DebugError::Memory { address, .. } if address == at), "{error}");
    }
    // The end of the local memory.
    let error = debugger.read_memory(host, 0, 0xfffe_3ffc, &mut bytes).unwrap_err();
    assert!(matches!(error, DebugError::Memory { address: 0xfffe_4000, .. }), "{error}");
    for address in [0x1_0002, 0xfffe_0000] {
        debugger.insert_breakpoint(host, 0, address).unwrap_err();
        assert!(!debugger.has_breakpoint(address));
    }
    // A hart that runs.
    debugger.resume(host, 1).unwrap();
    let error = debugger.register(host, 0, 1).unwrap_err();
    assert!(matches!(error, DebugError::NotStopped { hart: 0 }), "{error}");
    debugger.step(host, 0).unwrap_err();
    debugger.stop(host, 3).unwrap();
    debugger.register(host, 0, 1).unwrap();
    // One that is held does not stop.
    host.stop_firmware().unwrap();
    assert!(matches!(debugger.stop(host, 1), Err(DebugError::NoAnswer { hart: 0 })));
}

/// One hart is stopped, stepped and looked at while the other works; then both end.
#[test]
fn one_of_two_harts() {
    let firmware = program(
        "FIRMWARE_HARTS(2);\n\
         volatile uint32_t counts[32];\n\
         static void second(void *p) { for (;;) counts[16]++; }\n\
         int main(void) { hart_start(1, second, 0); while (counts[0] < 300) counts[0]++; return 9; }",
    );
    let (mut host, mut debugger) = start(&firmware);
    let host = &mut host;
    let counts = symbol(&firmware, "counts");
    debugger.resume(host, 3).unwrap();
    host.device_mut().run(4_000).unwrap();
    debugger.stop(host, 1).unwrap();
    let first = words::<17>(&debugger, host, counts);
    assert!(first[0] > 0 && first[16] > 0, "{first:?}");
    assert_eq!(debugger.status(host).unwrap().stopped, 1);
    host.device_mut().run(1_000).unwrap();
    // What hart 1 stores hart 0 sees when it has given up its copy: fence r, rw.
    debugger.stop(host, 2).unwrap();
    let mut bytes = [0; 4];
    debugger.read_memory(host, 1, counts + 64, &mut bytes).unwrap();
    assert!(u32::from_le_bytes(bytes) > first[16] + 20, "hart 1 goes on");
    assert_eq!(words::<1>(&debugger, host, counts), [first[0]], "hart 0 does not");
    // A timer or doorbell that comes meanwhile stays pending: `detach` lets both go on.
    debugger.detach(host).unwrap();
    let (end, _) = attend(host, |_| false);
    assert_eq!(end, Some(FirmwareEnd::Value(9)));
}
