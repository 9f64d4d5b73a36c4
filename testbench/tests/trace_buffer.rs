//! The trace buffer of a simulated array against the array's ports for verification, which tell the
//! same of every cycle.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::OnceLock;

use verilator_sys::ModelLibrary;

use hermes_rtl::config::Config;
use hermes_rtl::trace::register;
use hermes_testbench::apps::{AppEntry, Inputs};
use hermes_testbench::board::trace::{
    arm, read, stop, TraceBytes, TraceEntry, TraceRecord, TraceSettings, TraceTrigger,
};
use hermes_testbench::board::{run, SessionOptions};
use hermes_testbench::cosim::{
    ArraySetup, CosimError, Event, Host, KernelImage, MemoryOptions, Packet, PacketRange, RetirePorts,
    Simulation,
};
use hermes_testbench::iss::{Isa, TraceCycle, BOOT_ADDRESS};
use hermes_testbench::kernel::Kernel;
use hermes_testbench::model;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::test_seed;
use hermes_testbench::timeline::{CycleRange, Perfetto, Recorder};
use hermes_testbench::traffic::{Generator, Traffic};

/// Entries of the buffer.
const ENTRIES: usize = 1024;

fn config() -> Config {
    let default = Config::preset("default").unwrap();
    Config { cores: 2, lanes: 4, warps: 4, trace: true, trace_buffer: ENTRIES, ..default }
}

/// An array with both, which notes what its ports tell.
fn simulation() -> (Simulation, Rc<RefCell<Vec<TraceEntry>>>) {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let design = hermes_rtl::top::emit_top(&config()).unwrap();
        model::brief(&design).unwrap()
    });
    let model = library.instantiate().unwrap();
    let ports = RetirePorts::bind(&model, 2, 4).unwrap();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let mut simulation = Simulation::new(model, 4 << 20, MemoryOptions::default()).unwrap();
    let shared = Rc::clone(&seen);
    simulation.set_observer(Box::new(move |cycle, model, events, _| {
        let mut trace = TraceCycle::default();
        ports.sample(model, &mut trace);
        // The buffer has no values; and no words of instructions, which the kernel has.
        for got in &mut trace.retired {
            (got.values, got.store_data) = (Vec::new(), Vec::new());
            if got.pc >= BOOT_ADDRESS {
                (got.instruction, got.rd, got.late) = (0, 0, false);
            }
            if got.faulting == 0 {
                got.cause = 0;
            }
        }
        trace.late_writes.iter_mut().for_each(|late| late.values.clear());
        let events: Vec<_> = events.iter().map(|(_, event)| *event).collect();
        if !events.is_empty() || !trace.retired.is_empty() || !trace.late_writes.is_empty() {
            shared.borrow_mut().push(TraceEntry { cycle, events, trace, triggers: false });
        }
        Ok(())
    }));
    (simulation, seen)
}

/// The byte port of the buffer, a byte a cycle.
struct Buffer<'a>(&'a mut Simulation);

impl TraceBytes for Buffer<'_> {
    fn read_trace(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), CosimError> {
        for (byte, address) in bytes.iter_mut().zip(offset..) {
            access(self.0, address, None)?;
            let model = self.0.model_mut();
            let (answer, read) =
                (model.output("trace_buffer_answer", 1)?, model.output("trace_buffer_read", 8)?);
            assert!(model.get_bool(answer));
            *byte = model.get_u64(read) as u8;
        }
        Ok(())
    }

    fn write_trace(&mut self, offset: u32, bytes: &[u8]) -> Result<(), CosimError> {
        bytes.iter().zip(offset..).try_for_each(|(byte, address)| access(self.0, address, Some(*byte)))
    }
}

fn access(simulation: &mut Simulation, address: u32, data: Option<u8>) -> Result<(), CosimError> {
    let model = simulation.model_mut();
    let inputs = [
        ("valid", 1, 1),
        ("write", 1, u64::from(data.is_some())),
        ("address", 32, u64::from(address)),
        ("data", 8, u64::from(data.unwrap_or(0))),
    ];
    for (name, width, value) in inputs {
        let input = model.input(&format!("trace_buffer_{name}"), width)?;
        model.set_u64(input, value);
    }
    simulation.step()?;
    let valid = simulation.model_mut().input("trace_buffer_valid", 1)?;
    simulation.model_mut().set_u64(valid, 0);
    Ok(())
}

/// Runs packets with `dec-ttl` while it is recorded; gives what was read, and what was seen since
/// the recording began.
fn record(count: usize, settings: &TraceSettings) -> (TraceRecord, Vec<TraceEntry>, Kernel) {
    let entry = AppEntry::find("dec-ttl").unwrap();
    let kernel = entry.kernel(false).unwrap();
    let app = entry.load(&Inputs::default()).unwrap();
    let traffic = Traffic { kind: "imix".parse().unwrap(), seed: test_seed(), bad_share: 30.0, rate: 100.0 };
    let packet = |frame| {
        let packet = SlotPacket::new(&frame, 11);
        let [_, port, flags, _] = packet.descriptor(0);
        Packet { frame: packet.frame, port, flags, arrival: 0 }
    };
    let packets: Vec<_> = Generator::new(traffic).take(count).map(packet).collect();
    let mut setup = ArraySetup { ring_slots_log2: 6, ..ArraySetup::default() };
    let (simulation, seen) = simulation();
    let mut host = Host::new(simulation).unwrap();
    host.load_kernel(&KernelImage::from(&kernel)).unwrap();
    host.load_app(app.as_ref(), &mut setup).unwrap();
    let layout = host.configure(&setup).unwrap();
    arm(&mut Buffer(host.device_mut()), settings).unwrap();
    let before = seen.borrow().len();
    run(&mut host, &setup, &layout, &packets, &SessionOptions::default(), &mut |_| {}).unwrap();
    stop(&mut Buffer(host.device_mut())).unwrap();
    let record = read(&mut Buffer(host.device_mut()), &config(), settings).unwrap();
    let seen = seen.borrow()[before..].to_vec();
    (record.with_instructions(&kernel, &isa()), seen, kernel)
}

fn isa() -> Isa {
    Isa::of(&config(), false)
}

/// The timeline of these entries.
fn timeline(entries: &[TraceEntry]) -> String {
    let record = TraceRecord { entries: entries.to_vec(), ..TraceRecord::default() };
    let perfetto = Perfetto::new(Vec::new(), 4, &serde_json::Map::new()).unwrap();
    let mut recorder = Recorder::new(isa(), CycleRange::ALL, None, Some(perfetto)).without_counters();
    recorder.tell(&record).unwrap();
    let (_, text) = recorder.end(entries.last().map_or(0, |entry| entry.cycle)).unwrap();
    String::from_utf8(text.unwrap()).unwrap()
}

#[test]
fn a_run_that_fits_is_recorded_as_it_was() {
    let (record, seen, _) = record(40, &TraceSettings::default());
    assert!(seen.len() > 300 && seen.len() <= ENTRIES, "{} entries", seen.len());
    assert_eq!((record.overwritten, record.triggered), (0, false));
    assert_eq!(record.entries, seen);
    let text = timeline(&record.entries);
    assert_eq!(text, timeline(&seen));
    assert_eq!(text.matches("commit of packets").count(), 10, "{text}");
    assert!(text.contains("wait: load"), "{text}");
}

#[test]
fn a_long_run_leaves_what_happened_last() {
    let (record, seen, _) = record(400, &TraceSettings::default());
    assert!(seen.len() > 2 * ENTRIES, "{} entries", seen.len());
    assert_eq!(record.overwritten as usize, seen.len() - ENTRIES);
    assert_eq!(record.entries, seen[seen.len() - ENTRIES..]);
    assert!(!record.last_instructions().is_empty());
}

#[test]
fn a_trigger_leaves_what_was_before_and_after_it() {
    let kernel = AppEntry::find("dec-ttl").unwrap().kernel(false).unwrap();
    let at = kernel.entry + 8;
    let slot = 2;
    let triggers = [
        TraceTrigger::Instruction { pc: Some(at), slot: None },
        TraceTrigger::Instruction { pc: Some(at), slot: Some(slot) },
        TraceTrigger::Issue(250),
        TraceTrigger::Commit(301),
    ];
    for trigger in triggers {
        let settings = TraceSettings { trigger: Some(trigger), after: 100, ..TraceSettings::default() };
        let (record, mut seen, _) = record(400, &settings);
        let of = |packets: PacketRange, packet: u32| {
            (packets.first..packets.first + packets.count).contains(&packet)
        };
        let fires = |entry: &TraceEntry| match trigger {
            TraceTrigger::Instruction { pc, slot } => entry
                .trace
                .retired
                .iter()
                .any(|got| Some(got.pc) == pc && slot.is_none_or(|slot| got.slot == slot)),
            TraceTrigger::Fault => false,
            TraceTrigger::Issue(packet) => entry
                .events
                .iter()
                .any(|event| matches!(event, Event::Issue(_, packets) if of(*packets, packet))),
            TraceTrigger::Commit(packet) => entry
                .events
                .iter()
                .any(|event| matches!(event, Event::Commit(_, packets) if of(*packets, packet))),
        };
        let fired = seen.iter().position(fires).unwrap();
        seen[fired].triggers = true;
        let end = fired + 101;
        let first = end.saturating_sub(ENTRIES);
        assert_eq!((record.overwritten as usize, record.triggered), (first, true), "{trigger:?}");
        assert_eq!(record.entries, seen[first..end], "{trigger:?}");
    }
}

#[test]
fn groups_are_recorded_alone() {
    let events = TraceSettings { retirement: false, ..TraceSettings::default() };
    let (record, mut seen, _) = record(40, &events);
    seen.iter_mut().for_each(|entry| entry.trace.clear());
    seen.retain(|entry| !entry.events.is_empty());
    assert_eq!(record.entries, seen);
    assert_eq!(record.entries.iter().map(|entry| entry.events.len()).sum::<usize>(), 30);
}

/// Bytes that nobody could have written.
struct Broken;

impl TraceBytes for Broken {
    fn read_trace(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), CosimError> {
        bytes.fill(0);
        if offset == 0 {
            bytes[register::COUNT as usize] = 2;
        }
        Ok(())
    }

    fn write_trace(&mut self, _: u32, _: &[u8]) -> Result<(), CosimError> {
        Ok(())
    }
}

#[test]
fn cycles_that_do_not_rise_are_told() {
    let error = read(&mut Broken, &config(), &TraceSettings::default()).unwrap_err().to_string();
    assert_eq!(
        error,
        "entry 1 of the trace buffer is of cycle 0; expected one after 0, that of the entry before"
    );
}
