//! A kernel in assembly.

use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, program, run, LANES};

in_both_modes! {
    fn kernels_in_assembly_put(mode) {
        for registers in [RegisterClass::Rv32e, RegisterClass::Rv32i] {
            let folder = tempfile::tempdir().unwrap();
            let program = program(folder.path(), mode, &kernel("put.S"), registers, 1);
            let result = run(&program, lossy(0.0), |_, _| vec![]);
            for (number, node) in result.nodes.iter().enumerate() {
                assert_eq!((node.faults, &node.verdicts), (0, &vec![0; LANES]), "node {number}");
                // The second word is that which the other node got, and 4.
                let words = [0, 4].map(|at| node.word(node.area.heap + at));
                let number = number as u32;
                assert_eq!(words, [2 - number, number + 5]);
                assert_eq!((node.service.taken, node.service.failed), (2, 0));
            }
        }
    }
}
