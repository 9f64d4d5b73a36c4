//! Counters of the packet ports, and those that the host sees while it feeds the array itself.

use hermes_testbench::cosim::{
    run_through_ports, ArraySetup, Arrivals, Device as _, Latency, MemoryOptions, Packet, RunOptions,
    StreamOptions,
};
use rand::Rng as _;

use super::array::*;

const SLOT_BYTES_LOG2: u32 = 8;
/// Bytes of a frame that a slot holds.
const CAPACITY: usize = (1 << SLOT_BYTES_LOG2) - 18;

fn setup() -> ArraySetup {
    ArraySetup { ring_slots_log2: 4, slot_bytes_log2: SLOT_BYTES_LOG2, timeout: 64, ..ArraySetup::default() }
}

/// The first byte of a frame says what becomes of it.
const FORWARD: u8 = 0;
const DROP: u8 = 1;
const NO_LENGTH: u8 = 2;
const LARGE_LENGTH: u8 = 3;
const SHORTER: u8 = 4;
const FAULT: u8 = 5;
/// The kernel takes its time, and forwards.
const LATE: u8 = 6;

const KERNEL: &str = "
    .include \"packet.inc\"
    .text
    .globl kernel
    .type kernel, @function
kernel:
    lbu     t0, 18(a1)
    li      a0, VERDICT_FORWARD | 3
    beqz    t0, 9f
    addi    t0, t0, -1
    beqz    t0, 1f
    addi    t0, t0, -1
    beqz    t0, 2f
    addi    t0, t0, -1
    beqz    t0, 3f
    addi    t0, t0, -1
    beqz    t0, 4f
    addi    t0, t0, -1
    bnez    t0, 6f
    .word   0xffffffff
6:  li      t1, 300
7:  addi    t1, t1, -1
    bnez    t1, 7b
    ret
1:  drop    DROP_NO_RULE
2:  sw      zero, 0(a1)
    ret
3:  li      t1, 0x10000
    sw      t1, 0(a1)
    ret
4:  li      t1, 30
    sw      t1, 0(a1)
9:  ret
";

/// What goes through the ports.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    frames_in: u32,
    bytes_in: u32,
    dropped: u32,
    cut: u32,
    not_sent: u32,
    lengths: u32,
    out: u32,
    bytes_out: u32,
    faults: u32,
}

impl Counts {
    /// The registers with what stands in them.
    fn registers(self) -> [(&'static str, u32); 11] {
        [
            ("PORTS_FRAMES_IN", self.frames_in),
            ("PORTS_BYTES_IN", self.bytes_in),
            ("PORTS_DROPPED_IN", self.dropped),
            ("PORTS_CUT_IN", self.cut),
            ("PORTS_FRAMES_OUT", self.out),
            ("PORTS_BYTES_OUT", self.bytes_out),
            ("PORTS_NOT_SENT", self.not_sent),
            ("PORTS_LENGTH_ERRORS", self.lengths),
            ("PORTS_READ_ERRORS", 0),
            ("FAULTS", self.faults),
            ("COMMITTED_PACKETS", self.frames_in),
        ]
    }

    /// Whether no two registers but the first and the last have the same value.
    fn differ(self) -> bool {
        let mut values: Vec<_> = self.registers()[..10].iter().map(|(_, value)| *value).collect();
        values.sort_unstable();
        values.windows(2).all(|pair| pair[0] != pair[1])
    }
}

#[test]
fn frames_and_bytes() {
    let mut random = random();
    let kernel = assemble(KERNEL);
    let memory =
        MemoryOptions { latency: Latency::Random(1, 60), seed: random.gen(), ..MemoryOptions::default() };
    let Array { mut host, .. } = Array::new(&kernel, memory, |_| setup());
    host.write("PORTS", 1).unwrap();
    host.start(false).unwrap();
    let mut count = Counts::default();
    // Until no two counts are the same, so that a swap is seen.
    while count.frames_in < 160 || !count.differ() {
        let number = count.frames_in;
        let what = if number < 6 { number as u8 } else { random.gen_range(FORWARD..=FAULT) };
        let length = random.gen_range(34..400_usize);
        let mut frame: Vec<u8> = (0..length).map(|_| random.gen()).collect();
        frame[0] = what;
        let source = &mut host.device_mut().streams_mut().unwrap().source;
        if random.gen_bool(0.1) {
            source.submit_damaged(1, frame);
            count.dropped += 1;
            continue;
        }
        source.submit(1, frame);
        let held = length.min(CAPACITY) as u32;
        count.frames_in += 1;
        count.bytes_in += held;
        count.cut += u32::from(length > CAPACITY);
        let sent = match what {
            FORWARD => Some(held),
            LARGE_LENGTH => Some(CAPACITY as u32),
            SHORTER => Some(30),
            _ => None,
        };
        count.out += u32::from(sent.is_some());
        count.bytes_out += sent.unwrap_or(0);
        count.not_sent += u32::from(matches!(what, DROP | FAULT));
        count.lengths += u32::from(matches!(what, NO_LENGTH | LARGE_LENGTH));
        count.faults += u32::from(what == FAULT);
    }
    let mut left = 0;
    while host.device_mut().streams_mut().unwrap().source.waiting() > 0
        || host.read("PORTS_BUSY").unwrap() != 0
    {
        host.device_mut().run(100).unwrap();
        left += 1;
        assert!(left < 10_000, "frames do not leave");
    }
    let mut sent = Vec::new();
    host.device_mut().streams_mut().unwrap().sink.take_frames(&mut sent);
    let seen = (sent.len() as u32, sent.iter().map(|frame| frame.bytes.len() as u32).sum::<u32>());
    assert_eq!(seen, (count.out, count.bytes_out), "what the sink took");
    for (register, expected) in count.registers() {
        assert_eq!(host.read(register).unwrap(), expected, "{register}");
    }
}

/// The lines of a slot behind the first, which no kernel reads, cannot be read by the ports.
#[test]
fn lines_that_cannot_be_read() {
    let kernel = assemble(KERNEL);
    // The ring is where it always is, as is seen from an array without a fault.
    let ring = Array::new(&kernel, MemoryOptions::default(), |_| setup()).layout.ring_base;
    let failing = vec![(ring + (5 << SLOT_BYTES_LOG2) + 64, ring + (5 << SLOT_BYTES_LOG2) + 191)];
    let memory = MemoryOptions { failing, ..MemoryOptions::default() };
    let Array { mut host, .. } = Array::new(&kernel, memory, |_| setup());
    host.write("PORTS", 1).unwrap();
    host.start(false).unwrap();
    // Each slot is used twice: the first time slot 5 has two lines that fail, then one; others have
    // none.
    for number in 0..32 {
        let mut frame = vec![0; if number == 21 { 100 } else { 200 }];
        frame[0] = LATE;
        host.device_mut().streams_mut().unwrap().source.submit(1, frame);
        while host.read("ISSUED_WARPS").unwrap() == number {
            assert!(host.device_mut().cycle() < 1_000_000, "frame {number} is not processed");
        }
        // What ingress wrote must come from memory for egress.
        host.write("L2_MAINTENANCE", 2).unwrap();
        while host.read("L2_MAINTENANCE").unwrap() != 0 {}
        assert_eq!(
            host.read("COMMITTED_PACKETS").unwrap(),
            number,
            "the maintenance took too long for this test"
        );
        let warps = (host.read("ISSUED_WARPS").unwrap(), host.read("COMMITTED_WARPS").unwrap());
        assert_eq!(warps, (number + 1, number), "ISSUED_WARPS, COMMITTED_WARPS");
        while host.read("PORTS_BUSY").unwrap() != 0 {
            assert!(host.device_mut().cycle() < 1_000_000, "frame {number} does not leave");
        }
    }
    let mut sent = Vec::new();
    host.device_mut().streams_mut().unwrap().sink.take_frames(&mut sent);
    let damaged: Vec<_> = (0..32).filter(|number| sent[*number].damaged).collect();
    assert_eq!((sent.len(), damaged), (32, vec![5, 21]));
    assert_eq!(host.read("PORTS_READ_ERRORS").unwrap(), 3);
    assert_eq!(host.read("PORTS_FRAMES_OUT").unwrap(), 32);
    // Three lines that could not be written, and as many that could not be read.
    let errors = host.device_mut().memory_statistics().total().errors;
    assert_eq!((u64::from(host.read("BUS_ERRORS").unwrap()), errors), (6, 6), "BUS_ERRORS");
}

#[test]
fn levels_and_cycles() {
    let kernel = assemble(KERNEL);
    let Array { mut host, setup, layout, .. } =
        Array::new(&kernel, MemoryOptions::default(), |_| ArraySetup { ring_slots_log2: 8, ..setup() });
    // Packets that all fault, in warps of four lanes.
    for slot in 0..256 {
        let address = layout.ring_base + (slot << setup.slot_bytes_log2);
        host.device_mut().write_memory(address + 18, &[FAULT]).unwrap();
    }
    // Nothing runs: counts wait in the FIFO, and what left it in the warp former.
    for _ in 0..20 {
        host.push_tasks(3).unwrap();
    }
    host.device_mut().run(100).unwrap();
    let (level, pending) = (host.read("TASK_LEVEL").unwrap(), host.read("PENDING").unwrap());
    println!("TASK_LEVEL {level}, PENDING {pending}");
    assert_eq!(pending + 3 * level, 60, "TASK_LEVEL and PENDING");
    assert_ne!(pending, level);
    host.start(false).unwrap();
    host.device_mut().run(20_000).unwrap();
    assert_eq!((host.read("TASK_LEVEL").unwrap(), host.read("PENDING").unwrap()), (0, 0));
    // Lanes that fault together have one record.
    assert_eq!((host.read("FAULTS").unwrap(), host.read("FAULT_LEVEL").unwrap()), (60, 15));
    host.push_tasks(100).unwrap();
    host.device_mut().run(20_000).unwrap();
    // 40 records, of which 32 have room.
    assert_eq!((host.read("FAULTS").unwrap(), host.read("FAULT_LEVEL").unwrap()), (160, 32 | 8 << 16));
    let (faults, lost) = host.take_faults().unwrap();
    assert_eq!((faults.len(), lost), (32, 8));
    assert!(faults.iter().all(|fault| fault.threads == 4 && fault.cause == 2));
    assert_eq!(host.read("FAULT_LEVEL").unwrap(), 8 << 16);
    // The time of reading lies within the access.
    let before = host.device_mut().cycle();
    let counted = u64::from(host.read("CYCLE_LOW").unwrap());
    assert!((before..=host.device_mut().cycle()).contains(&counted), "CYCLE_LOW: {counted} after {before}");
    assert_eq!(host.read("CYCLE_HIGH").unwrap(), 0);
}

/// What the schedule says is when a frame enters that the array does not make wait: so delays are
/// the same by both measures.
#[test]
fn frames_that_need_not_wait_arrive_by_their_schedule() {
    let run = |arrivals, distance: u64| {
        let kernel = assemble(KERNEL);
        let Array { mut host, setup, .. } = Array::new(&kernel, MemoryOptions::default(), |_| setup());
        let packet = |number: u64| Packet {
            frame: vec![0; 40 + 17 * (number as usize % 10)],
            port: 1,
            flags: 0,
            arrival: 10 + number * distance,
        };
        let packets: Vec<_> = (0..100).map(packet).collect();
        let options = RunOptions { arrivals, ..RunOptions::default() };
        let streams = StreamOptions::default();
        run_through_ports(&mut host, &setup, &packets, streams, options, &mut |_| {}).unwrap()
    };
    let (scheduled, taken) = (run(Arrivals::Scheduled, 300), run(Arrivals::Taken, 300));
    assert_eq!(scheduled.times, taken.times);
    // With four times as many frames as the array can process they wait, and not for less in the
    // end.
    let (scheduled, taken) = (run(Arrivals::Scheduled, 4), run(Arrivals::Taken, 4));
    assert_eq!((scheduled.run.cycles, &scheduled.sent), (taken.run.cycles, &taken.sent));
    let delays = |times: &[hermes_testbench::cosim::PacketTimes]| {
        times.iter().map(|t| t.commit - t.arrival).collect::<Vec<_>>()
    };
    let (scheduled, taken) = (delays(&scheduled.times), delays(&taken.times));
    assert!(scheduled[99] > 10 * taken[99] && scheduled[99] > scheduled[50], "{scheduled:?}\n{taken:?}");
}
