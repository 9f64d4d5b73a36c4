//! The CPU/GPU system of the papers, around kernel times of this array.

use hermes_qos::baseline::{process, run, Batch, Outcome, System};

use super::{IMIX, WARPS_IMIX};
use crate::figures::{labels, App, Results};
use crate::parameters::Parameters;
use crate::plan::{Cell, Scale};

/// Packets of a batch.
const SIZES: [usize; 4] = [256, 1_024, 4_096, 16_384];
const QUICK_SIZES: [usize; 2] = [256, 2_048];
/// MCW of the kernel; the fastest one counts.
const WARPS: [u32; 4] = [4, 8, 16, 32];
const QUICK_WARPS: [u32; 2] = [4, 16];
/// Batches of the stream by which the throughput is told.
const BATCHES: usize = 16;
/// Bytes that go to the GPU beside each frame.
const DESCRIPTOR_BYTES: f64 = 16.0;
/// Bytes that come back of a packet of which a verdict is wanted alone.
const VERDICT_BYTES: f64 = 4.0;

/// The kernel of an app alone on batches of every size.
pub fn cells(app: &App, scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (sizes, warps) = match scale {
        Scale::Quick => (&QUICK_SIZES[..], &QUICK_WARPS[..]),
        Scale::Full if app.name == IMIX.name => (&SIZES[..], &WARPS_IMIX[..]),
        Scale::Full => (&SIZES[..], &WARPS[..]),
    };
    let mut cells = Vec::new();
    for packets in sizes {
        for mcw in warps {
            let size = packets.to_string();
            let labels = labels(&[("app", app.name), ("batch", &size), ("mcw", &mcw.to_string())]);
            cells.push(Cell {
                labels,
                parameters: Parameters { mcw: *mcw, packets: *packets, ..app.parameters()? },
            });
        }
    }
    Ok(cells)
}

/// Label of kernels on other batches.
const OTHER: &str = "other batch";
/// Seeds of the packets of other batches.
const OTHER_SEEDS: [u64; 3] = [1, 2, 3];
/// Their packets, and the MCW.
const OTHER_BATCH: (usize, u32) = (4_096, 16);

/// The kernel of an app on batches of other packets, which are taken for alike.
pub fn other_batches(app: &App, scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (packets, mcw) = match scale {
        Scale::Quick => (QUICK_SIZES[0], OTHER_BATCH.1),
        Scale::Full => OTHER_BATCH,
    };
    let of_seed = |packet_seed: u64| -> anyhow::Result<Cell> {
        let labels = labels(&[("app", app.name), (OTHER, &packet_seed.to_string())]);
        Ok(Cell { labels, parameters: Parameters { mcw, packets, packet_seed, ..app.parameters()? } })
    };
    OTHER_SEEDS.into_iter().map(of_seed).collect()
}

/// By what share the kernel times of batches of other packets differ; none without two of them.
pub fn spread(results: &Results, app: &App) -> Option<f64> {
    let of_app = [("app", app.name)];
    let other = results.labelled(&of_app).filter(|(labels, _)| labels.contains_key(OTHER));
    let times: Vec<_> = other.map(|(_, result)| result.measured.busy_cycles).collect();
    let (least, most) = (*times.iter().min()?, *times.iter().max()?);
    (times.len() > 1).then(|| most as f64 / least.max(1) as f64 - 1.0)
}

/// What the system makes of a burst, with batches of one size.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// Packets of a batch.
    pub size: usize,
    /// Million packets a second of a long stream.
    pub mpps: f64,
    /// The burst.
    pub burst: Outcome,
}

/// Bytes of a packet to the GPU and back.
fn bytes(app: &App) -> (f64, f64) {
    let frame = app.frames.mean_bytes();
    let back = match app.runs {
        "dpi" | "classifier" | "route-lookup" => VERDICT_BYTES,
        _ => frame,
    };
    (frame + DESCRIPTOR_BYTES, back)
}

/// The times of the kernel by the size of the batch: from the first start to the last finish, with
/// the better MCW.
fn kernel_times(results: &Results, app: &App) -> Vec<(usize, f64)> {
    let mut times: Vec<(usize, f64)> = Vec::new();
    for (labels, result) in results.labelled(&[("app", app.name)]) {
        if !labels.contains_key("batch") {
            continue;
        }
        let (packets, cycles) = (result.job.parameters.packets, result.measured.busy_cycles as f64);
        match times.iter_mut().find(|(size, _)| *size == packets) {
            Some((_, time)) => *time = time.min(cycles),
            None => times.push((packets, cycles)),
        }
    }
    times
}

/// The time for so many packets, between two sizes on the line through them: the last batch of a
/// burst may be smaller than the others.
fn kernel_time(times: &[(usize, f64)], packets: usize) -> f64 {
    let below = times.iter().filter(|(size, _)| *size <= packets).max_by_key(|(size, _)| *size);
    let above = times.iter().filter(|(size, _)| *size >= packets).min_by_key(|(size, _)| *size);
    match (below, above) {
        (Some(low), Some(high)) if high.0 > low.0 => {
            low.1 + (high.1 - low.1) * (packets - low.0) as f64 / (high.0 - low.0) as f64
        }
        (Some(one), _) | (None, Some(one)) => one.1,
        (None, None) => 0.0,
    }
}

/// A system with batches of every size, on a burst of `packets` that arrive evenly, `offered`
/// million a second.
pub fn all(results: &Results, app: &App, system: &System, offered: f64, packets: usize) -> Vec<Baseline> {
    let arrivals = |packets: usize| (1..=packets).map(|n| n as f64 * 1e3 / offered).collect::<Vec<_>>();
    let times = kernel_times(results, app);
    let of_size = |&(size, _): &(usize, f64)| {
        let kernel = |packets: usize| kernel_time(&times, packets);
        let burst = process(system, &arrivals(packets), size, bytes(app), kernel);
        Baseline { size, mpps: stream(system, size, bytes(app), kernel(size), offered), burst }
    };
    times.iter().map(of_size).collect()
}

/// Million packets a second of a stream of [`BATCHES`] full batches that arrive as in [`all`]: as
/// [`process`] has it, without a delay for each packet.
fn stream(system: &System, size: usize, bytes: (f64, f64), kernel: f64, offered: f64) -> f64 {
    let of_all = |bytes: f64| bytes * size as f64;
    let batch = |number: usize| Batch {
        ready: (number * size) as f64 * 1e3 / offered,
        bytes_in: of_all(bytes.0),
        bytes_out: of_all(bytes.1),
        kernel,
    };
    let times = run(system, &(1..=BATCHES).map(batch).collect::<Vec<_>>());
    let took = times[BATCHES - 1].done - times[0].done;
    1e3 * (((BATCHES - 1) * size) as f64 / took)
}

/// How many times its kernel DPI takes with transfers, in the measurement that motivates the paper:
/// 30 times a CPU falls to 5 times (Hermes, section 2.4).
const TRANSFERS_OF_DPI: f64 = 6.0;

/// `system` with the efficiency of PCIe with which DPI in batches of the best size takes
/// [`TRANSFERS_OF_DPI`] times its kernel; none without its results, or where none does it.
pub fn calibrated(results: &Results, dpi: &App, system: &System) -> Option<System> {
    let times = kernel_times(results, dpi);
    // The batch with the best throughput, and what it takes over its kernel.
    let ratio = |efficiency: f64| {
        let system = System { efficiency, ..*system };
        let all = all(results, dpi, &system, 1e3, BATCHES);
        let best = all.iter().max_by(|a, b| a.mpps.total_cmp(&b.mpps))?;
        Some(1e3 * best.size as f64 / best.mpps / kernel_time(&times, best.size))
    };
    let (mut low, mut high) = (0.001, 1.0);
    if ratio(low)? < TRANSFERS_OF_DPI || ratio(high)? > TRANSFERS_OF_DPI {
        return None;
    }
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if ratio(middle)? > TRANSFERS_OF_DPI {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(System { efficiency: high, ..*system })
}

/// Gbit/s of an app's frames.
pub fn gbps(mpps: f64, app: &App) -> f64 {
    // A frame on the wire has 20 bytes of preamble and gap, which are no part of it.
    mpps * (app.frames.mean_wire_bits() - 160.0) / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_batches_take_less() {
        let times = [(256, 100.0), (1024, 400.0)];
        let of = |packets| kernel_time(&times, packets);
        assert_eq!((of(10), of(256), of(640), of(1024), of(5000)), (100.0, 100.0, 250.0, 400.0, 400.0));
        assert_eq!(gbps(1000.0, &crate::figures::APPS[0]), 512.0);
    }

    /// The throughput of a stream is that of its packets, one by one.
    #[test]
    fn a_stream_has_the_throughput_of_its_packets() {
        let (bytes, kernel) = ((80.0, 4.0), 1_700.0);
        for (size, offered) in [(256, 20.0), (1_024, 1e3), (4_096, 333.0)] {
            let arrivals: Vec<_> = (1..=BATCHES * size).map(|n| n as f64 * 1e3 / offered).collect();
            let expected = 1e3 * process(&System::JOURNAL, &arrivals, size, bytes, |_| kernel).throughput;
            assert_eq!(stream(&System::JOURNAL, size, bytes, kernel, offered), expected, "{size} {offered}");
        }
    }
}
