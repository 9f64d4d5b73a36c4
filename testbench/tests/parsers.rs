//! Every parser of a file that a user gives: whatever is in the file, the parser gives a result or
//! an error. It does not panic, does not hang, and takes no more memory than a file of that size
//! deserves.
//!
//! Good files are changed at random: bytes, numbers, pieces that move or repeat, words that have a
//! meaning. A failure is shrunk to the fewest changes. `HERMES_SEED` repeats a run,
//! `HERMES_FUZZ_CASES` says how many files each parser gets.

use std::fmt::Debug;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use hermes_rtl::config::Config as ArrayConfig;
use hermes_testbench::apps::AppEntry;
use hermes_testbench::cosim::Latency;
use hermes_testbench::golden::read_verdicts;
use hermes_testbench::kernel::{Executable, Kernel, StackNeed};
use hermes_testbench::metrics::Clock;
use hermes_testbench::tables::{
    generate_filters, generate_routes, generate_rules, FilterKind, FilterSet, PatternSet, RouteTable,
    SecurityAssociation,
};
use hermes_testbench::test_seed;
use hermes_testbench::timeline::{CycleRange, PacketNumbers};
use hermes_testbench::traffic::{self, ArrivalProcess, Generator, Kind, Traffic};
use peak_alloc::PeakAlloc;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, Index};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;
/// Memory is counted for the whole process, so one parser is tried at a time.
static TURN: Mutex<()> = Mutex::new(());

/// What a parser may take: this, and `BYTES_PER_BYTE` for each byte of the file.
const BASE_BYTES: usize = 48 << 20;
const BYTES_PER_BYTE: usize = 400;
/// Far more than any of these files takes, even on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// One change of a file.
#[derive(Clone, Debug)]
enum Change {
    Byte(Index, u8),
    Number(Index, u32, bool),
    Cut(Index),
    Remove(Index, usize),
    Repeat(Index, usize, usize),
    Move(Index, Index, usize),
    Insert(Index, Vec<u8>),
    Word(Index, &'static str),
}

/// Numbers at the edges of what fields can hold.
const EDGES: [u32; 12] = [0, 1, 2, 7, 31, 33, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/// Words with a meaning to one of the parsers.
const WORDS: [&str; 24] = [
    " ",
    "\n",
    "\r\n",
    "\t",
    "0x",
    "/",
    "/33",
    ":",
    "@",
    "#",
    "\\",
    "\\\n",
    "\"",
    "|",
    "|00",
    "|0|",
    "!",
    ";",
    "(",
    ")",
    "content:\"\"",
    "65536",
    "-1",
    "\u{e9}",
];

fn change() -> impl Strategy<Value = Change> {
    let at = || any::<Index>();
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(i, byte)| Change::Byte(i, byte)),
        (at(), prop_oneof![select(&EDGES[..]), any::<u32>()], any::<bool>())
            .prop_map(|(i, number, big)| Change::Number(i, number, big)),
        at().prop_map(Change::Cut),
        (at(), 1..64usize).prop_map(|(i, length)| Change::Remove(i, length)),
        (at(), 1..64usize, 1..40usize).prop_map(|(i, length, times)| Change::Repeat(i, length, times)),
        (at(), at(), 1..64usize).prop_map(|(i, j, length)| Change::Move(i, j, length)),
        (at(), vec(any::<u8>(), 1..12)).prop_map(|(i, bytes)| Change::Insert(i, bytes)),
        (at(), select(&WORDS[..])).prop_map(|(i, word)| Change::Word(i, word)),
    ]
}

impl Change {
    fn apply(&self, file: &mut Vec<u8>) {
        if file.is_empty() {
            return;
        }
        let length = file.len();
        let piece = |i: &Index, size: usize| {
            let start = i.index(length);
            start..(start + size).min(length)
        };
        match self {
            Self::Byte(i, byte) => file[i.index(length)] = *byte,
            Self::Number(i, number, big) => {
                let bytes = if *big { number.to_be_bytes() } else { number.to_le_bytes() };
                let place = piece(i, 4);
                file[place.clone()].copy_from_slice(&bytes[..place.len()]);
            }
            Self::Cut(i) => file.truncate(i.index(length)),
            Self::Remove(i, size) => drop(file.drain(piece(i, *size))),
            Self::Repeat(i, size, times) => {
                let bytes = file[piece(i, *size)].repeat(*times);
                let at = i.index(length);
                file.splice(at..at, bytes);
            }
            Self::Move(i, j, size) => {
                let bytes: Vec<u8> = file.drain(piece(i, *size)).collect();
                let at = j.index(length).min(file.len());
                file.splice(at..at, bytes);
            }
            Self::Insert(i, bytes) => {
                let at = i.index(length);
                file.splice(at..at, bytes.iter().copied());
            }
            Self::Word(i, word) => {
                let at = i.index(length);
                file.splice(at..at, word.bytes());
            }
        }
    }
}

fn cases() -> u32 {
    std::env::var("HERMES_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(250)
}

/// Gives `parser` the `good` files, which it has to take, and changed ones, of which it may make
/// what it likes.
fn fuzz<T, E: Debug>(name: &str, good: &[Vec<u8>], parser: impl Fn(&Path) -> Result<T, E>) {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join(name);
    let attempt = |file: &[u8]| {
        std::fs::write(&path, file).unwrap();
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let start = Instant::now();
        let result = parser(&path);
        let (time, bytes) = (start.elapsed(), MEMORY.peak_usage().saturating_sub(before));
        (result, time, bytes)
    };
    for file in good {
        attempt(file).0.unwrap_or_else(|error| panic!("{name}: a good file: {error:?}"));
    }
    let mut seed_bytes = [0; 32];
    seed_bytes[..8].copy_from_slice(&test_seed().to_le_bytes());
    let config = Config { cases: cases(), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed_bytes));
    let taken = std::cell::Cell::new(0);
    let files = (0..good.len(), vec(change(), 1..5));
    let outcome = runner.run(&files, |(which, changes)| {
        let mut file = good[which].clone();
        changes.iter().for_each(|change| change.apply(&mut file));
        let (result, time, bytes) = attempt(&file);
        taken.set(taken.get() + u32::from(result.is_ok()));
        let most = BASE_BYTES + BYTES_PER_BYTE * file.len();
        if time > PATIENCE {
            return Err(TestCaseError::fail(format!("{time:?} for {} bytes", file.len())));
        }
        if bytes > most {
            return Err(TestCaseError::fail(format!("{bytes} bytes of memory for a file of {}", file.len())));
        }
        Ok(())
    });
    println!("{name}: {} files, {} of them taken", cases(), taken.get());
    outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
}

/// The file as it is, and compressed.
fn with_gzip(text: &str) -> Vec<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    vec![text.as_bytes().to_vec(), text.as_bytes().to_vec(), encoder.finish().unwrap()]
}

fn little(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn captures() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("good");
    let options = Traffic { kind: "imix".parse().unwrap(), seed: 1, bad_share: 0.2, rate: 1.0 };
    let frames: Vec<_> = Generator::new(options).take(12).collect();
    traffic::write(&path, &frames).unwrap();
    let pcap = std::fs::read(&path).unwrap();
    // The same in the other byte order: the headers are 32-bit and 16-bit numbers.
    let mut swapped: Vec<u8> = vec![0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4];
    swapped.extend([0u32, 0, 65535, 1, 1, 2, 60, 60].iter().flat_map(|word| word.to_be_bytes()));
    swapped.extend([0x45; 60]);
    // A section header, two interfaces, an enhanced and a simple packet, and an unknown block.
    let mut pcapng = little(&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, 0xffff_ffff, 0xffff_ffff, 28]);
    pcapng.extend(little(&[1, 20, 1, 65535, 20]));
    pcapng.extend(little(&[1, 32, 1, 96, 0x0001_0009, 9, 0, 32]));
    pcapng.extend(little(&[6, 44, 1, 5, 77, 12, 60, 1, 2, 3, 44]));
    pcapng.extend(little(&[3, 28, 12, 1, 2, 3, 28]));
    pcapng.extend(little(&[0x0bad, 16, 5, 16]));
    // A section of the other byte order, with options.
    let big = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>();
    let mut both = pcapng.clone();
    both.extend(big(&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 0x0001_0000, u32::MAX, u32::MAX, 28]));
    both.extend(big(&[1, 48, 0x0001_0000, 96, 0x0009_0001, 9 << 24, 0x000e_0008, 0, 1, 0, 0, 48]));
    both.extend(big(&[6, 44, 0, 5, 77, 12, 60, 1, 2, 3, 44]));
    fuzz("captures", &[pcap, swapped, pcapng, both], |path| traffic::read(path, None));
}

#[test]
fn filters() {
    let text = generate_filters(FilterKind::Firewall, 12, 0, 1).to_text();
    fuzz("filters", &with_gzip(&text), |path| {
        let set = FilterSet::read(path)?;
        // What was taken is understood: its text means the same.
        assert_eq!(FilterSet::parse(&set.to_text()).unwrap().filters, set.filters);
        Ok::<_, hermes_testbench::tables::InputError>(set)
    });
}

#[test]
fn rules() {
    let text = generate_rules(8, 1)
        + "alert tcp any any -> any 80 (msg:\"a; b\"; content:!\"GET\"; content:\"|48 65|l\\\"o\",nocase; sid:7;)\n\
         block http\n(\n  content:\"ab|3 a|\", nocase; # why\n  pcre:\"/a\"b/i\";\n)\n/* no rule */\n";
    fuzz("rules", &with_gzip(&text), |path| PatternSet::read(path, 4));
}

#[test]
fn routes_as_text() {
    let text = generate_routes(40, 8, 1).to_text() + "# end\n172.16.0.0/12 as65000\n";
    fuzz("routes", &with_gzip(&text), |path| {
        let table = RouteTable::read(path)?;
        assert_eq!(RouteTable::parse(&table.to_text()).unwrap().routes, table.routes);
        Ok::<_, hermes_testbench::tables::InputError>(table)
    });
}

#[test]
fn routes_as_dumps() {
    let record = |kind: u8, subtype: u8, body: &[u8]| {
        let mut bytes = vec![0x53, 0x71, 0, 0, 0, kind, 0, subtype];
        bytes.extend((body.len() as u32).to_be_bytes());
        bytes.extend(body);
        bytes
    };
    let attributes = [0x40, 1, 1, 0, 0x40, 2, 6, 2, 1, 0, 0, 0xfd, 0xe8, 0x40, 3, 4, 192, 0, 2, 1];
    let peers = [192, 0, 2, 1, 0, 0, 0, 1, 2, 192, 0, 2, 9, 192, 0, 2, 9, 0, 0, 0xfd, 0xe8];
    let mut rib = vec![0, 0, 0, 0, 17, 10, 1, 128, 0, 1, 0, 0, 0x53, 0x71, 0, 0, 0, attributes.len() as u8];
    rib.extend(attributes);
    let version_2 = [record(13, 1, &peers), record(13, 2, &rib), record(13, 2, &rib)].concat();
    let short = [0x40, 1, 1, 0, 0x40, 2, 4, 2, 1, 0xfd, 0xe8, 0x40, 3, 4, 192, 0, 2, 1];
    let mut entry =
        vec![0, 0, 0, 1, 10, 0, 0, 0, 8, 1, 0x53, 0x71, 0, 0, 192, 0, 2, 9, 0xfd, 0xe8, 0, short.len() as u8];
    entry.extend(short);
    let version_1 = record(12, 1, &entry);
    let mut paths = vec![0, 0, 0, 0, 8, 10, 0, 1, 0, 0, 0x53, 0x71, 0, 0, 0, 0, 0, 7, 0, 23];
    paths.extend([
        0x40,
        1,
        1,
        0,
        0x80,
        14,
        16 + 1,
        16,
        0x20,
        1,
        0xd,
        0xb8,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        1,
    ]);
    paths[19] = (paths.len() - 20) as u8;
    let mut generic = vec![0, 0, 0, 0, 0, 1, 1, 17, 10, 1, 128];
    generic.extend(&rib[8..]);
    let families = [record(13, 8, &paths), record(13, 6, &generic), record(13, 3, &rib)].concat();
    fuzz("dumps", &[version_2, version_1, families], RouteTable::read);
}

#[test]
fn keys() {
    let text = "# tunnel\nspi 0x1234\nsource 192.0.2.1\ndestination 198.51.100.2\n\
                aes-128-ctr 000102030405060708090a0b0c0d0e0f\nnonce 01020304\n\
                hmac-sha1-96 000102030405060708090a0b0c0d0e0f10111213\n";
    fuzz("keys", &with_gzip(text), SecurityAssociation::read);
}

#[test]
fn verdicts() {
    let texts = [
        "packetIdx,verdict,arrival,start,finish,commit\n0,0x80000001,1,2,3,4\n1,0x00000000,,,,\n",
        "0,1\n1,7\n2,0x9\n",
    ];
    fuzz("verdicts", &texts.map(|text| text.as_bytes().to_vec()), read_verdicts);
}

#[test]
fn header_traces() {
    let text = "167772161 167772162 1024 80 6 3\n4294967295 0 65535 0 255\n\n1 2 3 4 5\n";
    fuzz("headers", &with_gzip(text), traffic::read_headers);
}

#[test]
fn programs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.elf");
    AppEntry::find("dec-ttl").unwrap().build(false, &path).unwrap();
    let elf = std::fs::read(&path).unwrap();
    // Changes of the headers and of the tables at the end do more than those of the code between.
    let headers = elf[..elf.len().min(400)].to_vec();
    fuzz("kernels", std::slice::from_ref(&elf), |path| {
        Kernel::read(path).map(|kernel| (StackNeed::of(&kernel), kernel))
    });
    let with_headers = |path: &Path| {
        let mut file = std::fs::read(path).unwrap();
        file.extend(&elf[headers.len().min(elf.len())..]);
        std::fs::write(path, file).unwrap();
        Executable::read(path)
    };
    fuzz("programs", std::slice::from_ref(&headers), with_headers);
}

#[test]
fn configurations() {
    let presets =
        ArrayConfig::PRESETS.map(|name| serde_json::to_vec(&ArrayConfig::preset(name).unwrap()).unwrap());
    fuzz("configurations", &presets, |path| {
        let text = std::fs::read(path).unwrap();
        let config: ArrayConfig = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        config.validate().map_err(|error| error.to_string())
    });
}

/// The texts of options that are more than a number.
#[test]
fn options() {
    let files = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    let text = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let latencies = ["dram:banks=8,row=2048,line=4,refresh-interval=7800,refresh=350", "dram", "1-60", "100"];
    fuzz("latencies", &files(&latencies), |path| {
        let latency: Latency = text(path).parse()?;
        assert_eq!(latency.to_string().parse::<Latency>()?.to_string(), latency.to_string());
        Ok::<_, String>(latency)
    });
    fuzz("kinds", &files(&["imix", "fixed:64", "tcp-mix"]), |path| text(path).parse::<Kind>());
    fuzz("rates", &files(&["trace", "max", "12.5"]), |path| ArrivalProcess::from_line_rate(&text(path)));
    let processes =
        ["poisson:10,port=40", "onoff:7,peak=20,burst=8", "step:5@0,2.5@900", "trace:4", "constant:1"];
    fuzz("arrivals", &files(&processes), |path| {
        let process: ArrivalProcess = text(path).parse()?;
        assert_eq!(process.to_string().parse::<ArrivalProcess>()?, process);
        let arrivals = process.arrivals_of_lengths(&[60, 1514, 60], Clock::GIGAHERTZ, 1);
        assert!(arrivals.is_sorted());
        Ok::<_, String>(process)
    });
    fuzz("packets", &files(&["10-19", "7"]), |path| text(path).parse::<PacketNumbers>());
    fuzz("cycles", &files(&["1000-2000", "0-18446744073709551615"]), |path| text(path).parse::<CycleRange>());
}
