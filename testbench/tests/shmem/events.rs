//! Commands that interrupt a hart in user level (scenario 11), which has work of its own.

use hermes_testbench::cluster::{self, QueueMode, QueueProgram};
use hermes_testbench::firmware::{build_firmware, Firmware};
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, one_hart, options, program, puts, source};

/// Warps that put.
const WARPS: usize = 2;

/// One hart serves all queues and finds prime numbers meanwhile.
#[test]
fn a_hart_with_work_of_its_own_serves() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), QueueMode::Queues, &kernel("puts.c"), RegisterClass::Rv32e, WARPS);
    build_firmware(&[source("firmware/examples/net-events.c")], &program.firmware).unwrap();
    let firmware = Firmware::read(&program.firmware).unwrap();
    let addresses =
        ["largest", "primes", "deliveries"].map(|name| firmware.executable.symbol(name).unwrap().address);

    let mut counts = Vec::new();
    let run = |program: &QueueProgram, heaps: [Vec<u8>; 2]| {
        let result = cluster::run(one_hart(), &options(lossy(1.0)), |node| {
            let report = program.run(node, |node, _| heaps[node].clone())?;
            let mut found = [0; 3];
            for (word, address) in found.iter_mut().zip(addresses) {
                *word = u32::from_le_bytes(node.read_clean(address, 4)?.try_into().unwrap());
            }
            Ok((report, found))
        });
        let (reports, found) = result.unwrap().nodes.into_iter().unzip();
        counts = found;
        reports
    };
    let cycles = puts::fill_parts(program, run);
    println!("{cycles:?} cycles a put; largest prime, primes, interrupts: {counts:?}");
    for [largest, primes, deliveries] in counts {
        let is_prime = |number: &u32| (2..*number).all(|divisor| number % divisor != 0);
        assert!(largest > 100);
        assert_eq!((2..=largest).filter(is_prime).count() as u32, primes);
        assert!(deliveries > 50, "{deliveries}");
    }
}
