//! Small designs, built and run. Every test has its own cache, but shares Verilator's run-time
//! library through a copy of the entries of the user's cache that begin with `runtime-`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

use verilator_sys::{BuildStep, Direction, Error, Model, ModelOptions, Port, SharedModule};

const COUNTER: &str = "
module counter(input wire clk, input wire rst, input wire enable, output reg [11:0] q, output wire at_top);
  assign at_top = enable & (q == 12'd4095);
  always @(posedge clk) if (rst) q <= 12'd0; else if (enable) q <= q + 12'd1;
endmodule";

const WIDE: &str = "
module wide(input wire clk, input wire [64:0] a, input wire [511:0] b, input wire [39:0] c, input wire [15:0] d,
            output reg [64:0] a_q, output reg [511:0] b_q, output reg [39:0] c_q, output reg [15:0] d_q,
            output wire a_top, output wire [575:0] all);
  assign a_top = a[64];
  assign all = {b, c[23:0], c};
  always @(posedge clk) begin a_q <= ~a; b_q <= {b[255:0], b[511:256]}; c_q <= c; d_q <= d; end
endmodule";

/// Options with a cache of the test's own, that starts with the run-time libraries only: those of
/// the user's cache, where other tests need them too.
fn options(top: &str, cache: &Path) -> ModelOptions {
    static RUNTIME: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        for trace in [false, true] {
            Model::build(COUNTER, &ModelOptions { trace, ..ModelOptions::new("counter") }).unwrap();
        }
        let (folder, _) = verilator_sys::list(None).unwrap();
        let of_runtime = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("runtime-");
        [".a", ".a.sha256"].iter().flat_map(|suffix| files(&folder, suffix)).filter(of_runtime).collect()
    });
    for file in runtime {
        fs::copy(file, cache.join(file.file_name().unwrap())).unwrap();
    }
    ModelOptions { cache: Some(cache.to_path_buf()), ..ModelOptions::new(top) }
}

fn files(cache: &Path, suffix: &str) -> Vec<PathBuf> {
    let found = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
    found.filter(|p| p.to_string_lossy().ends_with(suffix)).collect()
}

#[test]
fn a_counter_counts_when_enabled() {
    let cache = tempfile::tempdir().unwrap();
    let ports = vec![Port::new("enable", Direction::Input, 1), Port::new("q", Direction::Output, 12)];
    let library = Model::build(COUNTER, &ModelOptions { ports, ..options("counter", cache.path()) }).unwrap();
    assert!(!library.report().cached);
    assert_eq!(library.ports().len(), 5);
    let mut model = library.instantiate().unwrap();
    let (clk, rst) = (model.input("clk", 1).unwrap(), model.input("rst", 1).unwrap());
    let (enable, q) = (model.input("enable", 1).unwrap(), model.output("q", 12).unwrap());
    let at_top = model.output("at_top", 1).unwrap();
    model.set_u64(rst, 1);
    model.tick(clk).unwrap();
    model.set_u64(rst, 0);
    let mut expected = 0;
    for cycle in 0..10_000_u64 {
        let on = cycle % 3 != 0;
        model.set_u64(enable, u64::from(on));
        model.fall(clk).unwrap();
        assert_eq!(model.get_bool(at_top), on && expected == 4095, "cycle {cycle}");
        assert_eq!(model.get_u64(q), expected, "cycle {cycle}");
        model.rise(clk).unwrap();
        expected = (expected + u64::from(on)) % 4096;
    }
    assert_eq!(model.time(), 20_002);
    assert!(expected != 0 && !model.finished());

    // A second instance starts on its own.
    let mut other = library.instantiate().unwrap();
    other.set_u64(rst, 1);
    other.tick(clk).unwrap();
    assert_eq!((other.get_u64(q), model.get_u64(q)), (0, expected));
}

#[test]
fn values_of_every_width_pass_through() {
    let cache = tempfile::tempdir().unwrap();
    let library = Model::build(WIDE, &options("wide", cache.path())).unwrap();
    let mut model = library.instantiate().unwrap();
    let clk = model.input("clk", 1).unwrap();
    let (a, a_q, a_top) =
        (model.input("a", 65).unwrap(), model.output("a_q", 65).unwrap(), model.output("a_top", 1).unwrap());
    let (b, b_q) = (model.input("b", 512).unwrap(), model.output("b_q", 512).unwrap());
    let (c, c_q) = (model.input("c", 40).unwrap(), model.output("c_q", 40).unwrap());
    let (d, d_q) = (model.input("d", 16).unwrap(), model.output("d_q", 16).unwrap());
    let line: Vec<u32> = (1..=16).map(|i| i * 0x0101_0101).collect();
    model.set_words(a, &[1, 2, 0xffff_ffff, 9]);
    model.set_words(b, &line);
    model.set_words(c, &[0x89ab_cdef, 0xffff_ff67]);
    model.set_u64(d, 0xf_1234);
    model.tick(clk).unwrap();
    assert_eq!(model.get_words(a), [1, 2, 1], "bits above 64 are dropped");
    assert_eq!(model.get_words(a_q), [!1, !2, 0]);
    assert!(model.get_bool(a_top));
    assert_eq!(model.get_words(b_q), [&line[8..], &line[..8]].concat());
    assert_eq!((model.get_u64(c_q), model.get_u64(d_q)), (0x67_89ab_cdef, 0x1234));
    let mut words = [7; 3];
    model.read_words(c_q, &mut words);
    assert_eq!(words, [0x89ab_cdef, 0x67, 0]);
    let mut words = [7; 18];
    model.read_words(model.output("all", 576).unwrap(), &mut words);
    assert_eq!(words[..2], [0x89ab_cdef, 0xabcd_ef67]);
    assert_eq!(words[2..], line);
    model.set_u64(b, u64::MAX);
    model.tick(clk).unwrap();
    assert_eq!(model.get_words(b_q)[8..11], [u32::MAX, u32::MAX, 0]);
}

#[test]
fn handles_check_name_width_and_direction() {
    let cache = tempfile::tempdir().unwrap();
    let library = Model::build(COUNTER, &options("counter", cache.path())).unwrap();
    let model = library.instantiate().unwrap();
    assert!(matches!(model.input("reset", 1), Err(Error::MissingPort { .. })));
    assert!(matches!(model.output("q", 11), Err(Error::WidthMismatch { found: 12, expected: 11, .. })));
    assert!(matches!(model.input("q", 12), Err(Error::DirectionMismatch { .. })));
    // Also at the build, be it from the cache.
    let ports = vec![Port::new("q", Direction::Output, 8)];
    let error =
        Model::build(COUNTER, &ModelOptions { ports, ..options("counter", cache.path()) }).err().unwrap();
    assert_eq!(error.to_string(), "port `q` of `counter` is 12 bits wide; expected 8");
}

#[test]
fn the_second_build_comes_from_the_cache_and_a_damaged_one_is_built_again() {
    let cache = tempfile::tempdir().unwrap();
    let options = options("counter", cache.path());
    let works = |expect_cached: bool| {
        let library = Model::build(COUNTER, &options).unwrap();
        assert_eq!(library.report().cached, expect_cached);
        let mut model = library.instantiate().unwrap();
        let (clk, rst) = (model.input("clk", 1).unwrap(), model.input("rst", 1).unwrap());
        model.set_u64(rst, 1);
        model.tick(clk).unwrap();
        assert_eq!(model.get_u64(model.output("q", 12).unwrap()), 0);
    };
    works(false);
    works(true);
    let stored = files(cache.path(), ".so");
    assert_eq!(stored.len(), 1);
    let mut bytes = fs::read(&stored[0]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    // As a failing disk would: a new file, since the old one may still be mapped.
    fs::remove_file(&stored[0]).unwrap();
    fs::write(&stored[0], &bytes[..bytes.len() - 100]).unwrap();
    works(false);
    works(true);
    // Other text, other flags: other entries.
    let changed = COUNTER.replace("12'd1;", "12'd2;");
    assert!(!Model::build(&changed, &options).unwrap().report().cached);
    assert_eq!(files(cache.path(), ".so").len(), 2);
}

/// Models that are not optimized share a header that was compiled once. One that is damaged is made
/// again; without one that the compiler takes, models are built as before.
#[test]
fn models_that_are_not_optimized_share_a_header() {
    let cache = tempfile::tempdir().unwrap();
    let mut options = ModelOptions { optimize: false, ..options("counter", cache.path()) };
    if !options.compiler.contains("clang") {
        return;
    }
    // Notes what it compiles.
    let folder = tempfile::tempdir().unwrap();
    let (compiler, calls) = (folder.path().join("compiler"), folder.path().join("calls"));
    let script =
        format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec '{}' \"$@\"\n", calls.display(), options.compiler);
    fs::write(&compiler, script).unwrap();
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    options.compiler = compiler.to_string_lossy().into_owned();
    let compiled = || {
        let text = fs::read_to_string(&calls).unwrap();
        fs::remove_file(&calls).unwrap();
        let of = |what: &str| text.lines().filter(|line| line.contains(what)).count();
        (of("-x c++-header"), of(" -c -o hermes_all.o"))
    };
    let build = |step: u32| {
        let library = Model::build(&COUNTER.replace("12'd1;", &format!("12'd{step};")), &options).unwrap();
        assert!(!library.report().cached);
        let mut model = library.instantiate().unwrap();
        let (clk, rst) = (model.input("clk", 1).unwrap(), model.input("rst", 1).unwrap());
        let enable = model.input("enable", 1).unwrap();
        for (reset, enabled) in [(1, 0), (0, 1), (0, 1)] {
            model.set_u64(rst, reset);
            model.set_u64(enable, enabled);
            model.tick(clk).unwrap();
        }
        assert_eq!(model.get_u64(model.output("q", 12).unwrap()), u64::from(2 * step));
        let [header] = files(cache.path(), ".pch").try_into().expect("one header");
        (header.metadata().unwrap().modified().unwrap(), header)
    };
    let (first, header) = build(1);
    assert_eq!(compiled(), (1, 1));
    assert_eq!(build(2), (first, header.clone()));
    assert_eq!(compiled(), (0, 1), "the compiler takes the header");
    fs::write(&header, "damaged").unwrap();
    let (again, _) = build(3);
    assert_eq!(compiled(), (1, 1));
    assert!(again > first && fs::metadata(&header).unwrap().len() > 1_000_000);
    // One with its checksum, which the compiler refuses.
    fs::write(&header, "no header").unwrap();
    let sum = std::process::Command::new("sha256sum").arg(&header).output().unwrap().stdout;
    fs::write(header.with_extension("pch.sha256"), &sum[..64]).unwrap();
    build(4);
    assert_eq!(compiled(), (0, 2), "once more without it");
    assert_eq!(fs::read_to_string(&header).unwrap(), "no header");
}

#[test]
fn concurrent_builds_of_one_design_make_one_entry() {
    let cache = tempfile::tempdir().unwrap();
    let built = AtomicUsize::new(0);
    let waited = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut step = |step| {
                    waited.fetch_add(usize::from(step == BuildStep::Waiting), Ordering::Relaxed);
                };
                let options = options("counter", cache.path());
                let library = Model::build_with_progress(COUNTER, &options, &mut step).unwrap();
                built.fetch_add(usize::from(!library.report().cached), Ordering::Relaxed);
                let mut model = library.instantiate().unwrap();
                let (clk, enable) = (model.input("clk", 1).unwrap(), model.input("enable", 1).unwrap());
                let q = model.output("q", 12).unwrap();
                let start = model.get_u64(q);
                model.set_u64(enable, 1);
                for _ in 0..100 {
                    model.tick(clk).unwrap();
                }
                assert_eq!(model.get_u64(q), (start + 100) % 4096);
            });
        }
    });
    assert_eq!(built.into_inner(), 1);
    assert!(waited.into_inner() >= 1);
    assert_eq!(files(cache.path(), ".so").len(), 1);
}

#[test]
fn waveforms_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let library =
        Model::build(COUNTER, &ModelOptions { trace: true, ..options("counter", folder.path()) }).unwrap();
    let mut model = library.instantiate().unwrap();
    let path = folder.path().join("counter.fst");
    assert!(matches!(model.trace(&folder.path().join("none/counter.fst")), Err(Error::Io { .. })));
    model.trace(&path).unwrap();
    assert!(model.trace(&path).is_err(), "one at a time");
    let (clk, enable) = (model.input("clk", 1).unwrap(), model.input("enable", 1).unwrap());
    model.set_u64(enable, 1);
    for _ in 0..1000 {
        model.tick(clk).unwrap();
    }
    model.flush_trace();
    drop(model);
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > 1000, "{} bytes", bytes.len());
    // The header block: type 0, length 329, first and last time (big-endian).
    assert_eq!(bytes[..9], [0, 0, 0, 0, 0, 0, 0, 1, 73]);
    assert_eq!(u64::from_be_bytes(bytes[9..17].try_into().unwrap()), 0);
    assert_eq!(u64::from_be_bytes(bytes[17..25].try_into().unwrap()), 1999);
}

#[test]
fn a_waveform_ends_when_it_is_large_enough() {
    let folder = tempfile::tempdir().unwrap();
    let library =
        Model::build(COUNTER, &ModelOptions { trace: true, ..options("counter", folder.path()) }).unwrap();
    let run = |name: &str, limit: u64, cycles: u64| {
        let path = folder.path().join(name);
        let mut model = library.instantiate().unwrap();
        model.trace_up_to(&path, limit).unwrap();
        let (clk, enable) = (model.input("clk", 1).unwrap(), model.input("enable", 1).unwrap());
        model.set_u64(enable, 1);
        for _ in 0..cycles {
            model.tick(clk).unwrap();
        }
        let (ended, time) = (model.trace_ended(), model.time());
        drop(model);
        assert_eq!(time, 2 * cycles);
        (fs::metadata(path).unwrap().len(), ended)
    };
    let (whole, ended) = run("whole.fst", u64::MAX, 200_000);
    assert_eq!(ended, None);
    let (part, ended) = run("part.fst", whole / 4, 200_000);
    assert!((whole / 4..whole / 2).contains(&part), "{part} bytes of {whole}");
    assert!((50_000..200_000).contains(&ended.unwrap()), "half cycle {ended:?} of 400,000");
    // It does not grow after its end.
    assert_eq!(run("longer.fst", whole / 4, 400_000), (part, ended));
}

#[test]
fn without_tracing_an_existing_file_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Model::build(COUNTER, &options("counter", folder.path())).unwrap().instantiate().unwrap();
    let path = folder.path().join("mine");
    fs::write(&path, "mine").unwrap();
    assert!(matches!(model.trace(&path), Err(Error::NoTrace { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn verilators_message_comes_with_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let text = "module broken(input wire a, output wire b);\n  assign b = a +;\nendmodule";
    let error = Model::build(text, &options("broken", folder.path())).err().unwrap();
    let Error::Verilator { top, stderr } = error else { panic!("{error}") };
    assert_eq!(top, "broken");
    assert!(stderr.contains("design.v:2") && stderr.contains("syntax error"), "{stderr}");
    assert!(files(folder.path(), ".so").is_empty());
}

#[test]
fn missing_and_old_tools_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let with =
        |verilator: &str| ModelOptions { verilator: verilator.into(), ..options("counter", folder.path()) };
    let error = Model::build(COUNTER, &with("verilator-that-is-not-there")).err().unwrap().to_string();
    assert!(error.contains("`verilator-that-is-not-there` was not found: install it"), "{error}");

    let old = folder.path().join("old-verilator");
    fs::write(&old, "#!/bin/sh\necho 'Verilator 4.038 2020-07-11'\n").unwrap();
    #[allow(clippy::permissions_set_readonly_false)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let error = Model::build(COUNTER, &with(old.to_str().unwrap())).err().unwrap();
    assert!(matches!(&error, Error::VersionTooOld { found, .. } if found.contains("4.038")), "{error}");

    let options = ModelOptions { compiler: "no-such-compiler".into(), ..options("counter", folder.path()) };
    assert!(matches!(Model::build(COUNTER, &options), Err(Error::ToolMissing { .. })));
    let options = ModelOptions {
        cxx_flags: vec!["-no-such-flag".into()],
        ..ModelOptions { cache: Some(folder.path().into()), ..ModelOptions::new("counter") }
    };
    let error = Model::build(COUNTER, &options).err().unwrap();
    assert!(matches!(&error, Error::Compiler { stderr, .. } if stderr.contains("no-such-flag")), "{error}");
}

#[test]
fn a_model_that_stops_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let text = "
        module stops(input wire clk, output reg [3:0] q);
          always @(posedge clk) begin q <= q + 4'd1; if (q == 4'd5) $stop; end
        endmodule";
    let mut model = Model::build(text, &options("stops", folder.path())).unwrap().instantiate().unwrap();
    let clk = model.input("clk", 1).unwrap();
    let error = (0..16).find_map(|_| model.tick(clk).err()).unwrap().to_string();
    assert!(error.contains("`stops` stopped at time 11") && error.contains("$stop"), "{error}");
}

#[test]
fn instances_share_their_code() {
    let folder = tempfile::tempdir().unwrap();
    let text = "
`line 3 \"stage.v\" 0
        module stage(input wire clk, input wire [65:0] d, output reg [65:0] q);
          always @(posedge clk) q <= d + 66'd1;
        endmodule
        module pipe(input wire clk, input wire [65:0] d, output wire [65:0] q);
          wire [65:0] between;
          stage first(.clk(clk), .d(d), .q(between));
          stage second(.clk(clk), .d(between), .q(q));
        endmodule";
    let stage = SharedModule { name: "stage".into(), inputs: vec!["d".into()] };
    for trace in [false, true] {
        let options = ModelOptions { shared: vec![stage.clone()], trace, ..options("pipe", folder.path()) };
        let mut model = Model::build(text, &options).unwrap().instantiate().unwrap();
        let (clk, d, q) =
            (model.input("clk", 1).unwrap(), model.input("d", 66).unwrap(), model.output("q", 66).unwrap());
        if trace {
            model.trace(&folder.path().join("pipe.fst")).unwrap();
        }
        model.set_words(d, &[u32::MAX, u32::MAX, 2]);
        model.tick(clk).unwrap();
        model.tick(clk).unwrap();
        model.fall(clk).unwrap();
        assert_eq!(model.get_words(q), [1, 0, 3], "trace: {trace}");
    }
}

/// `$display` with `%m` gives the model a scope, which the run-time library keeps in the context of
/// the thread.
#[test]
fn instances_end_in_any_order() {
    let cache = tempfile::tempdir().unwrap();
    let text = "module part(input wire clk, input wire a, output reg q);
                  always @(posedge clk) begin q <= a; if (q & ~a) $display(\"%m\"); end
                endmodule";
    let library = Model::build(text, &options("part", cache.path())).unwrap();
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let mut models = [0; 3].map(|_| Some(library.instantiate().unwrap()));
        for model in models.iter_mut().flatten() {
            let (clk, a, q) =
                (model.input("clk", 1).unwrap(), model.input("a", 1).unwrap(), model.output("q", 1).unwrap());
            model.set_u64(a, 1);
            model.tick(clk).unwrap();
            assert_eq!(model.get_u64(q), 1);
        }
        for index in order {
            models[index] = None;
        }
    }
}
