//! What harts that have nothing to serve do.

use hermes_rtl::types::counter;
use hermes_testbench::cluster::{self, Node, QueueArea, QueueMode, QueueService};
use hermes_testbench::cosim::CosimError;
use hermes_testbench::firmware::{build_firmware, Firmware};

use super::{library, lossy, options, small_node, source};

const CYCLES: u64 = 5_000;

/// The cycle, and the cycles of harts at work so far.
fn look(node: &mut Node) -> Result<(u64, u64), CosimError> {
    let count = node.host.network_counter(counter::HART_CYCLES)?;
    Ok((node.host.device_mut().cycle(), u64::from(count)))
}

/// Of each hart of each node, per mille, the cycles in which it is at work while nothing is to do.
fn at_work(mode: QueueMode) -> Vec<u64> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("firmware.elf");
    build_firmware(&[source("firmware").join(mode.firmware())], &path).unwrap();
    let harts = small_node::config().command_threads as u64;
    let result = cluster::run(library(), &options(lossy(0.0)), |node| {
        let firmware = Firmware::read(&path).unwrap();
        node.host.reserve_firmware(&firmware)?;
        let area = QueueArea::allocate(&mut node.host, 4096)?;
        node.connect_mesh(area.heap, area.heap_bytes)?;
        QueueService::start(node, mode, &firmware, &area, 4)?;
        node.run(CYCLES)?;
        let before = look(node)?;
        node.run(CYCLES)?;
        let after = look(node)?;
        QueueService::stop(node)?;
        node.meet()?;
        Ok((after.1 - before.1) * 1_000 / (harts * (after.0 - before.0)))
    });
    result.unwrap().nodes
}

/// They wait in NEXT, which is no work.
#[test]
fn harts_wait_in_next() {
    assert_eq!(at_work(QueueMode::Queues), [0, 0]);
}

/// They poll the rings.
#[test]
fn harts_that_poll_are_at_work() {
    assert_eq!(at_work(QueueMode::Paper), [1_000, 1_000]);
}
