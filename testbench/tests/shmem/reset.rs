//! A queue that firmware resets.

use hermes_testbench::cluster::{self, QueueArea, QueueMode, QueueService};
use hermes_testbench::cosim::CosimError;
use hermes_testbench::firmware::{build_firmware, Firmware};

use super::{library, lossy, options, source};

/// One queue is emptied and gets another epoch; the others stay as they are.
#[test]
fn one_queue_gets_another_epoch() {
    const QUEUE: u32 = 1;
    const EPOCH: u32 = 0x5eed;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("firmware.elf");
    build_firmware(&[source("firmware").join(QueueMode::Queues.firmware())], &path).unwrap();
    let result = cluster::run(library(), &options(lossy(0.0)), |node| {
        let firmware = Firmware::read(&path).unwrap();
        node.host.reserve_firmware(&firmware)?;
        let area = QueueArea::allocate(&mut node.host, 4096)?;
        node.connect_mesh(area.heap, area.heap_bytes)?;
        QueueService::start(node, QueueMode::Queues, &firmware, &area, 4)?;
        let epochs = |memory: &[u8]| -> Vec<u32> {
            let word = |at: u32| {
                let first = (at - area.base) as usize;
                u32::from_le_bytes(memory[first..first + 4].try_into().unwrap())
            };
            (0..area.slots).map(|slot| word(area.control(slot) + 4)).collect()
        };
        let before = epochs(&node.read_clean(area.base, 1 << area.bytes_log2)?);
        for (queue, epoch) in [(area.slots, EPOCH), (QUEUE, 0)] {
            let refused = QueueService::reset(node, queue, epoch);
            assert!(matches!(refused, Err(CosimError::Option { .. })), "{refused:?}");
        }
        QueueService::reset(node, QUEUE, EPOCH)?;
        let after = epochs(&node.read_clean(area.base, 1 << area.bytes_log2)?);
        let service = QueueService::stop(node)?;
        node.meet()?;
        Ok((before, after, service))
    })
    .unwrap();
    for (before, after, service) in result.nodes {
        assert!(before.iter().all(|epoch| *epoch == before[0] && *epoch != 0 && *epoch != EPOCH));
        let expected: Vec<u32> =
            (0..before.len() as u32).map(|queue| if queue == QUEUE { EPOCH } else { before[0] }).collect();
        assert_eq!((after, service), (expected, QueueService::default()));
    }
}
