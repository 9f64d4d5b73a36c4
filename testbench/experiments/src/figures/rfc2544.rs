//! The benchmark of RFC 2544 through the packet ports: throughput, latency and frame loss by size.

use super::{figure, labels, Results, QUICK_PACKETS};
use crate::parameters::{Parameters, Through, WhenFull};
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};
use crate::results::ResultFile;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "rfc2544",
    summary: "throughput, latency and frame loss by frame size, through the ports",
    cells,
    section,
};

/// The app: what every router does to a packet.
const APP: &str = "dec-ttl";
/// Sizes of frames in bytes with FCS (RFC 2544, section 9.1), and frames of a trial: many times the
/// slots of the ring, so that a tenth above the throughput fills it.
const SIZES: [(usize, usize); 7] = [
    (64, 32_768),
    (128, 32_768),
    (256, 16_384),
    (512, 8_192),
    (1_024, 4_096),
    (1_280, 4_096),
    (1_518, 4_096),
];
/// Bytes of FCS, which a frame in memory has not.
const FCS_BYTES: usize = 4;
/// Rates of trials, in percent of [`most`].
const LOADS: [u32; 10] = [30, 40, 50, 60, 70, 80, 90, 100, 110, 120];
const QUICK_LOADS: [u32; 2] = [50, 110];
/// MCW of the runs.
const MCW: u32 = 16;
/// Million packets a second of the smallest frames, about.
const SMALLEST: f64 = 420.0;
/// Bytes that a port moves in a cycle.
const BEAT_BYTES: usize = 64;

/// Million frames of a size that the array takes a second, about: what its cores do, or its ports,
/// which move a beat a cycle.
fn most(size: usize) -> f64 {
    SMALLEST.min(line(size))
}

/// Million frames of a size that a port moves a second.
fn line(size: usize) -> f64 {
    1e3 / (size - FCS_BYTES).div_ceil(BEAT_BYTES) as f64
}

/// The rate of a trial; none above that of the line, which nothing can offer.
fn offered(size: usize, load: u32) -> Option<f64> {
    let rate = most(size) * f64::from(load) / 100.0;
    (rate <= line(size)).then_some(rate)
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (sizes, loads) = match scale {
        Scale::Quick => (&SIZES[..1], &QUICK_LOADS[..]),
        Scale::Full => (&SIZES[..], &LOADS[..]),
    };
    let mut cells = Vec::new();
    for (size, frames) in sizes {
        for load in loads {
            let Some(mpps) = offered(*size, *load) else { continue };
            // On the wire a frame has 20 bytes of preamble and gap more.
            let bits = 8.0 * (*size as f64 + 20.0);
            let rate = (mpps * bits / 100.0).round() / 10.0;
            let mut parameters = Parameters {
                mcw: MCW,
                packets: if scale == Scale::Quick { QUICK_PACKETS } else { *frames },
                frames: format!("fixed:{}", size - FCS_BYTES),
                arrivals: format!("constant:{rate}"),
                through: Through::Ports,
                when_full: WhenFull::Drop,
                ..Parameters::of(APP)?
            };
            parameters.array.packet_ports = true;
            parameters.array.drop_when_full = true;
            let labels = labels(&[("size", &size.to_string()), ("load", &load.to_string())]);
            cells.push(Cell { labels, parameters });
        }
    }
    Ok(cells)
}

/// A trial: load in percent, million frames a second offered, and the run.
type Trial<'a> = (u32, f64, &'a ResultFile);

/// The share of the offered rate that leaves at the throughput: what the ports do not take waits in
/// front of them, where a line card has no room.
const KEPT: f64 = 0.98;

/// The highest rate without loss, of rising ones below which none has any (RFC 2544, section 26.1).
fn throughput<'a, 'b>(trials: &'b [Trial<'a>]) -> Option<&'b Trial<'a>> {
    let is_kept = |(_, offered, result): &&Trial| {
        let measured = &result.measured;
        measured.dropped == 0 && measured.whole.mpps() >= KEPT * offered
    };
    trials.iter().take_while(is_kept).last()
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut told) = (Vec::new(), Vec::new());
    let (mut by_size, mut latencies, mut losses) = (Vec::new(), Vec::new(), Vec::new());
    for (size, _) in SIZES {
        let text = size.to_string();
        let trial = |load: &u32| {
            let result = results.with(&[("size", &text), ("load", &load.to_string())])?;
            Some((*load, offered(size, *load)?, result))
        };
        let trials: Vec<Trial> = LOADS.iter().filter_map(trial).collect();
        let mut loss = Vec::new();
        for (load, offered, result) in &trials {
            let measured = &result.measured;
            let share = measured.dropped as f64 / measured.offered.max(1) as f64;
            loss.push((*offered, 100.0 * share));
            let latency = measured.delays.as_ref().and_then(|delays| delays.latency);
            rows.push(vec![
                text.clone(),
                format!("{load} %"),
                figure(*offered),
                figure(offered * 8e-3 * (size as f64 + 20.0)),
                figure(measured.whole.mpps()),
                measured.dropped.to_string(),
                format!("{:.2} %", 100.0 * share),
                latency.map_or("-".to_string(), |latency| figure(latency.mean)),
                latency.map_or("-".to_string(), |latency| latency.p99.to_string()),
            ]);
        }
        if !loss.is_empty() {
            losses.push(Series { name: format!("{size} bytes"), points: loss, published: false });
        }
        if let Some((_, offered, result)) = throughput(&trials) {
            let x = size as f64;
            by_size.push((x, *offered));
            let latency = result.measured.delays.as_ref().and_then(|delays| delays.latency);
            latencies.extend(latency.map(|latency| (x, latency.mean)));
            told.push(format!("{} at {size} bytes", figure(*offered)));
        }
    }
    let plot = |title: &str, x: &str, y: &str, series| Plot {
        title: title.to_string(),
        x: x.to_string(),
        x_scale: report::Scale::Linear,
        y: y.to_string(),
        y_scale: report::Scale::Linear,
        series,
    };
    let one = |points| vec![Series { name: APP.to_string(), points, published: false }];
    let head = [
        "bytes with FCS",
        "of the rate that was expected",
        "offered, million frames/s",
        "Gbit/s on the wire",
        "delivered, million frames/s",
        "frames lost",
        "loss",
        "latency, mean, cycles",
        "p99",
    ];
    Ok(Section {
        title: "RFC 2544".to_string(),
        sentence: match told.is_empty() {
            true => "No trial without loss.".to_string(),
            false => format!("Throughput in million frames a second: {}.", told.join(", ")),
        },
        plots: vec![
            plot("Throughput by frame size", "bytes with FCS", "million frames/s", one(by_size)),
            plot("Latency at the throughput", "bytes with FCS", "cycles, mean", one(latencies)),
            plot("Frame loss", "offered, million frames/s", "loss, %", losses),
        ],
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "{APP}, MCW {MCW}, even arrivals through the packet ports, which drop frames that find no slot; the ring takes half \
             of the L2. Throughput is the highest rate without loss of which 98 % leaves in the time of the \
             trial, in steps of a tenth: what the port does not take waits in front of it. Latency counts from the last bit of a \
             frame to its first beat that leaves."
        ),
        assumed: "Rates are in percent of what the array takes of a size, about: 420 million frames a second, or a beat of 64 bytes a \
                  cycle."
            .to_string(),
        differs: "RFC 2544 wants trials of 60 seconds and searches the rate in finer steps; here a trial has 4,096 to 32,768 frames, \
                  16 times the slots of the ring and more."
            .to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_ports_move() {
        assert_eq!((most(64), most(1_518).round()), (SMALLEST, 42.0));
        // Two beats of 64 bytes.
        assert_eq!(most(128), SMALLEST);
        assert_eq!(most(256), 250.0);
        assert_eq!(
            (offered(256, 100), offered(256, 110), offered(64, 120)),
            (Some(250.0), None, Some(504.0))
        );
    }
}
