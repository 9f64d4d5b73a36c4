//! Queues that are switched off and on: what the warp slots remember of them counts no more.

use hermes_testbench::cluster::{self, LinkOptions, QueueArea, QueueService};
use hermes_testbench::firmware::Firmware;
use hermes_testbench::kernel::RegisterClass;

use super::{library, options, program, source, LANES, WARPS};

const ROUNDS: u32 = 5;
const PACKETS: u32 = (WARPS * LANES) as u32;

in_both_modes! {
    fn warps_that_come_later(mode) {
        let folder = tempfile::tempdir().unwrap();
        let mut program = program(folder.path(), mode, &source("c/ping.c"), RegisterClass::Rv32e, WARPS);
        program.own = vec![ROUNDS, LANES as u32];
        let heap = |_, area: &QueueArea| vec![0; area.heap_bytes as usize];
        let result = cluster::run(library(), &options(LinkOptions::default()), |node| {
            let report = program.run(node, heap)?;
            let firmware = Firmware::read(&program.firmware).unwrap();
            QueueService::start(node, mode, &firmware, &report.area, program.rounds)?;
            node.meet()?;
            // Packets whose numbers follow: they play with balls behind those of the others.
            node.host.start(false)?;
            node.host.push_tasks(PACKETS)?;
            while node.host.committed()? != 2 * PACKETS {
                node.run(200)?;
            }
            let again = QueueService::stop(node)?;
            node.meet()?;
            let balls = node.read_clean(report.area.heap, 2 * WARPS * 64)?;
            Ok(([report.service, again], balls))
        });
        let ball = [&ROUNDS.to_le_bytes()[..], &[0; 60]].concat();
        let service = QueueService { taken: WARPS as u32 * ROUNDS, failed: 0 };
        for node in result.unwrap().nodes {
            assert_eq!(node, ([service; 2], ball.repeat(2 * WARPS)));
        }
    }
}
