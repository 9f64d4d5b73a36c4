//! The packets that a host reads from the ring against a golden model.

use anyhow::{bail, ensure};

use crate::apps::App;
use crate::cosim::PacketRecord;
use crate::golden::Golden;
use crate::slot::SlotPacket;
use crate::verdict::Verdict;

/// Compares every packet and verdict, and the frames that leave in its place, with the golden model
/// of `app`.
///
/// # Errors
/// The first difference, or a packet has not ended.
pub fn check_host(app: &dyn App, packets: &[SlotPacket], results: &[PacketRecord]) -> anyhow::Result<()> {
    let (ended, all) = (results.len(), packets.len());
    ensure!(ended == all, "{ended} of {all} packets ended");
    for (packet, got) in packets.iter().zip(results) {
        let golden = Golden { verdict: Verdict(got.verdict), frame: got.bytes.clone() };
        if let Some(difference) = app.check(got.index, packet, golden) {
            bail!("{difference}");
        }
        app.check_egress(got.index, packet, &got.egress)?;
    }
    Ok(())
}
