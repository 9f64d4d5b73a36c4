//! Runs of packets through a device against those of the simulation, which sees every event of the
//! array.

use std::sync::OnceLock;
use std::time::Duration;

use hermes_rtl::config::Config;
use verilator_sys::{Model, ModelLibrary};

use super::{run, SessionOptions, SessionResult};
use crate::apps::{App, AppEntry, Inputs};
use crate::cosim::{
    self, ArraySetup, CosimError, Device, Host, KernelImage, MemoryOptions, Packet, Simulation,
};
use crate::kernel::{build_source, Kernel, RegisterClass};
use crate::model;
use crate::slot::SlotPacket;
use crate::test_seed;
use crate::traffic::{Generator, Traffic};

/// A core with four warps of four lanes.
fn simulation() -> Simulation {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let config = Config { cores: 1, lanes: 4, warps: 4, ..Config::preset("default").unwrap() };
        let design = hermes_rtl::top::emit_top(&config).unwrap();
        Model::build(&design.verilog(), &model::options(&design)).unwrap()
    });
    Simulation::new(library.instantiate().unwrap(), 4 << 20, MemoryOptions::default()).unwrap()
}

/// What is run.
struct Load {
    kernel: KernelImage,
    app: Option<Box<dyn App>>,
    setup: ArraySetup,
    packets: Vec<Packet>,
}

impl Load {
    /// An app with `count` packets, and a ring of so many slots.
    fn app(name: &str, inputs: &Inputs, count: usize, ring_slots_log2: u32) -> Self {
        let entry = AppEntry::find(name).unwrap();
        let traffic =
            Traffic { kind: "imix".parse().unwrap(), seed: test_seed(), bad_share: 30.0, rate: 100.0 };
        let packet = |frame| {
            let packet = SlotPacket::new(&frame, 11);
            let [_, port, flags, _] = packet.descriptor(0);
            Packet { frame: packet.frame, port, flags, arrival: 0 }
        };
        Self {
            kernel: KernelImage::from(&entry.kernel(false).unwrap()),
            app: Some(entry.load(inputs).unwrap()),
            setup: ArraySetup { ring_slots_log2, ..ArraySetup::default() },
            packets: Generator::new(traffic).take(count).map(packet).collect(),
        }
    }

    /// A kernel of its own with `count` packets, in a ring of 16 slots of 128 bytes.
    fn kernel(text: &str, count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernel.elf");
        build_source("kernel.S", text, RegisterClass::Rv32i, &path).unwrap();
        let frame = |number: usize| vec![number as u8; 40 + number % 60];
        Self {
            kernel: KernelImage::from(&Kernel::read(&path).unwrap()),
            app: None,
            setup: ArraySetup { ring_slots_log2: 4, slot_bytes_log2: 7, ..ArraySetup::default() },
            packets: (0..count).map(|n| Packet { frame: frame(n), port: 0, flags: 0, arrival: 0 }).collect(),
        }
    }

    fn prepare<D: Device>(&mut self, device: D) -> (Host<D>, cosim::Layout) {
        let mut host = Host::new(device).unwrap();
        host.load_kernel(&self.kernel).unwrap();
        if let Some(app) = &self.app {
            host.load_app(app.as_ref(), &mut self.setup).unwrap();
        }
        let layout = host.configure(&self.setup).unwrap();
        (host, layout)
    }

    /// Through a device, with a stall limit in milliseconds.
    fn run<D: Device>(&mut self, device: D, milliseconds: u64) -> Result<SessionResult, CosimError> {
        let (mut host, layout) = self.prepare(device);
        let options = SessionOptions { stall_limit: Duration::from_millis(milliseconds) };
        let mut done = Vec::new();
        let result =
            run(&mut host, &self.setup, &layout, &self.packets, &options, &mut |count| done.push(count))?;
        assert!(done.into_iter().eq(1..=self.packets.len() as u64));
        Ok(result)
    }

    /// Through the device and through the simulation with its events: the results are the same.
    fn compare(&mut self) -> SessionResult {
        let got = self.run(simulation(), 60_000).unwrap();
        let (mut host, layout) = self.prepare(simulation());
        let options = cosim::RunOptions::default();
        let expected =
            cosim::run(&mut host, &self.setup, &layout, &self.packets, options, &mut |_| {}).unwrap();
        let records: Vec<_> = expected.packets.into_iter().map(|packet| packet.into_parts().0).collect();
        assert_eq!(got.packets.len(), self.packets.len());
        for (got, expected) in got.packets.iter().zip(&records) {
            assert_eq!(got, expected);
        }
        assert_eq!(got.read_out.fault_count, expected.fault_count);
        assert_eq!(got.read_out.bus_errors, 0);
        let lanes =
            |counters: &[cosim::CoreCounters]| counters.iter().map(|c| c.core.lane_instructions).sum::<u32>();
        assert_eq!(lanes(&got.read_out.counters), lanes(&expected.counters));
        got
    }
}

/// What a run takes of the memory is known before.
#[test]
fn areas_are_what_is_allocated() {
    let inputs = Inputs { mtu: Some(300), ..Inputs::default() };
    let apps = [("dec-ttl", Inputs::default()), ("fragment", inputs)];
    for (name, inputs) in apps {
        let mut load = Load::app(name, &inputs, 1, 6);
        let mut host = Host::new(simulation()).unwrap();
        host.load_kernel(&load.kernel).unwrap();
        let app = load.app.as_deref().unwrap();
        let areas = host.areas(Some(app), &load.setup);
        let names: Vec<_> = areas.iter().map(|area| area.what).collect();
        assert_eq!(names.contains(&"the egress lists"), name == "fragment");
        assert!(host.has_room(&areas));
        let needed: u64 = areas.iter().map(|area| area.bytes).sum();
        let before = host.free_bytes();
        host.load_app(app, &mut load.setup).unwrap();
        host.configure(&load.setup).unwrap();
        // An allocation of no bytes takes one.
        let taken = before - host.free_bytes();
        assert!(taken <= needed && needed - taken < 64, "{name}: {taken} of {needed} bytes");
        let large = ArraySetup { ring_slots_log2: 11, ..load.setup.clone() };
        assert!(!host.has_room(&host.areas(Some(app), &large)));
    }
}

#[test]
fn several_batches_leave_what_they_leave_in_the_simulation() {
    let mut load = Load::app("dec-ttl", &Inputs::default(), 150, 5);
    let got = load.compare();
    let app = load.app.unwrap();
    for (packet, got) in load.packets.iter().zip(&got.packets) {
        let packet = SlotPacket { frame: packet.frame.clone(), cut: packet.flags as u16, port: packet.port };
        let golden =
            crate::golden::Golden { verdict: crate::verdict::Verdict(got.verdict), frame: got.bytes.clone() };
        assert!(app.check(got.index, &packet, golden).is_none());
    }
    assert!(got.packets.iter().any(|packet| packet.verdict == 0) && got.faults.is_empty());
}

#[test]
fn egress_lists_are_read() {
    let inputs = Inputs { mtu: Some(300), ..Inputs::default() };
    let got = Load::app("fragment", &inputs, 40, 3).compare();
    assert!(got.packets.iter().any(|packet| packet.egress.len() > 2));
}

/// Slots are far apart, and the last batch is a small one.
#[test]
fn no_packets_and_one_packet() {
    for count in [0, 1] {
        let got = Load::app("check-ip-header", &Inputs::default(), count, 0).compare();
        assert_eq!(got.packets.len(), count);
    }
}

/// Every fifth packet loads from an odd address; packets 3 and 18 are made longer.
const FAULTS: &str = "
.text
.globl kernel
kernel:
    li t0, 5
    remu t1, a0, t0
    beqz t1, 1f
    addi t1, t1, -3
    bnez t1, 2f
    lw t2, 0(a1)
    addi t2, t2, 9
    sw t2, 0(a1)
2:  mv a0, a1
    srli a0, a0, 7
    andi a0, a0, 3
    ret
1:  lw t0, 1(a1)
    ret
";

#[test]
fn faults_are_recorded_and_longer_frames_are_read_whole() {
    let got = Load::kernel(FAULTS, 70).compare();
    let mut faulted: Vec<_> = got.faults.iter().flat_map(|fault| [(fault.cause, fault.packet)]).collect();
    faulted.sort_unstable_by_key(|fault| fault.1);
    assert!(
        !faulted.is_empty() && faulted.iter().all(|(cause, packet)| *cause == 4 && packet % 5 == 0),
        "{faulted:?}"
    );
    assert_eq!((got.read_out.fault_count, got.lost_faults), (14, 0));
    assert_eq!(got.packets[18].bytes.len(), 40 + 18 + 9);
}

#[test]
fn a_kernel_that_does_not_end_is_given_up() {
    let error =
        Load::kernel(".text\n.globl kernel\nkernel: j kernel\n", 20).run(simulation(), 200).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, CosimError::Stalled { .. }), "{text}");
    let parts = [
        "no packet was committed for 0.",
        "packets: 16 pushed, 0 committed; CONTROL = 1; TASK_LEVEL",
        "L2_MAINTENANCE = 0",
    ];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

/// A device that counts a packet too many, too few, or one twice.
struct Miscounting {
    simulation: Simulation,
    change: fn(u32) -> u32,
}

impl Device for Miscounting {
    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), CosimError> {
        self.simulation.write_register(offset, value)
    }
    fn read_register(&mut self, offset: u32) -> Result<u32, CosimError> {
        let value = self.simulation.read_register(offset)?;
        let counts = offset == hermes_rtl::host::registers::offset("COMMITTED_PACKETS");
        Ok(if counts { (self.change)(value) } else { value })
    }
    fn write_memory(&mut self, address: u32, bytes: &[u8]) -> Result<(), CosimError> {
        self.simulation.write_memory(address, bytes)
    }
    fn read_memory(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), CosimError> {
        self.simulation.read_memory(address, bytes)
    }
    fn memory_size(&self) -> u64 {
        self.simulation.memory_size()
    }
    fn reset(&mut self) -> Result<(), CosimError> {
        self.simulation.reset()
    }
    fn run(&mut self, cycles: u64) -> Result<(), CosimError> {
        self.simulation.run(cycles)
    }
}

#[test]
fn every_packet_is_counted() {
    let error = |change| {
        let device = Miscounting { simulation: simulation(), change };
        Load::kernel(FAULTS, 20).run(device, 300).unwrap_err().to_string()
    };
    let text = error(|count| count + 1);
    assert!(text.contains("COMMITTED_PACKETS is 1; expected 0, before the first packet"), "{text}");
    let text = error(|count| if count == 0 { 0 } else { count + 1 });
    assert!(text.contains("expected at most 16 and no less than before"), "{text}");
    let text = error(|count| count.min(15));
    assert!(text.contains("no packet was committed for 0.") && text.contains("15 committed"), "{text}");
    let text = error(|count| if count == 20 { 12 } else { count });
    assert!(text.contains("COMMITTED_PACKETS is 12"), "{text}");
}
