//! Addresses that may not be read: the lane that uses one ends, the others get a code, and the
//! queue goes on.

use hermes_testbench::cluster::QueueMode;
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, program, run, LANES, WARPS};

/// Misuses of `kernels/faults.c`, and what those of the lowest lane give the others: waits and puts
/// a code, tests 0.
const MISUSES: usize = 12;
const BY_LAST_LANE: usize = 4;
const GIVEN: [u32; MISUSES - BY_LAST_LANE] = [0x82, 0x82, 0x82, 0x82, 0x82, 0x82, 0, 0];
/// As in the kernel.
const FIRST_LINE: usize = 256;
/// Verdicts of a lane whose load, or atomic operation, is outside the windows.
const FAULTS: [u32; 2] = [0xc000_0005, 0xc000_0007];

/// Warps enough that each warp slot is used again behind its misuses.
fn misuse(mode: QueueMode, registers: RegisterClass) {
    let warps = 2 * MISUSES + 2 * WARPS;
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), mode, &kernel("faults.c"), registers, warps);
    // Warps behind the misuses do none.
    program.own = vec![LANES as u32, 2 * MISUSES as u32];
    let words = |word: usize| if word == FIRST_LINE - 1 { 77_u32 } else { 0 }.to_le_bytes();
    let result = run(&program, lossy(0.0), |_, _| (0..FIRST_LINE).flat_map(words).collect());
    for (number, node) in result.nodes.iter().enumerate() {
        let word = |at: usize| node.word(node.area.heap + 4 * at as u32);
        for (warp, verdicts) in node.verdicts.chunks(LANES).enumerate() {
            let mut expected = [0; LANES];
            let misuse = (warp % 2 == 1).then_some(warp / 2).filter(|misuse| *misuse < MISUSES);
            if let Some(misuse) = misuse {
                let ends = if misuse < BY_LAST_LANE { LANES - 1 } else { 0 };
                let cause = verdicts[ends];
                assert!(FAULTS.contains(&cause), "node {number}, misuse {misuse}: {cause:#x}");
                expected[ends] = cause;
                for lane in (0..LANES).filter(|lane| *lane != ends) {
                    let given = if misuse < BY_LAST_LANE { 0 } else { GIVEN[misuse - BY_LAST_LANE] };
                    assert_eq!(
                        word(FIRST_LINE + 16 * warp + lane),
                        1 + given,
                        "misuse {misuse}, lane {lane}"
                    );
                }
            }
            assert_eq!(verdicts, expected, "node {number}, warp {warp}");
            assert_eq!(word(warp), warp as u32 + 1, "node {number}");
        }
        assert_eq!((node.faults, word(128)), (MISUSES as u32, 0), "node {number}");
        assert_eq!((node.service.taken, node.service.failed), (warps as u32, 0), "node {number}");
    }
}

in_both_modes! {
    fn addresses_that_may_not_be_read(mode) {
        misuse(mode, RegisterClass::Rv32e);
    }
}
