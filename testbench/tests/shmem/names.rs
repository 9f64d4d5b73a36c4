//! The names of OpenSHMEM.

use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, program, run, LANES};

in_both_modes! {
    fn a_kernel_with_other_names(mode) {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path(), mode, &kernel("names.c"), RegisterClass::Rv32e, 1);
        let result = run(&program, lossy(0.0), |_, _| vec![0; 128]);
        let number = 0x1122_3344_5566_7788_u64;
        let expected = [0, number, number, 41, 9, 0, 0, 0, number].map(u64::to_le_bytes).concat();
        for (node, report) in result.nodes.iter().enumerate() {
            assert_eq!((report.faults, &report.verdicts), (0, &vec![0; LANES]), "node {node}");
            assert_eq!(report.heap()[..expected.len()], expected, "node {node}");
        }
    }
}
