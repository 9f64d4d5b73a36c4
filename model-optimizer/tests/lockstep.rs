//! Modules that are rewritten against the same modules as Verilator writes them, cycle by cycle.

use std::fs;
use std::path::PathBuf;

use model_optimizer::Optimizer;
use rand::{RngCore as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::{Model, ModelOptions, SharedModule};

/// The design `top` as Verilator writes it, and with `shared` rewritten; in this cache, or the
/// user's.
fn models(verilog: &str, top: &str, shared: SharedModule, cache: Option<PathBuf>) -> [Model; 2] {
    let plain = ModelOptions { cache, ..ModelOptions::new(top) };
    let rewritten = ModelOptions { shared: vec![shared], rewriter: Some(&Optimizer), ..plain.clone() };
    [plain, rewritten].map(|options| {
        let library = Model::build(verilog, &options).unwrap();
        let because = &library.report().plain_because;
        assert!(because.is_none(), "nothing to compare, use a known Verilator: {because:?}");
        library.instantiate().unwrap()
    })
}

/// A cache with nothing but Verilator's run-time library, from the user's cache: to compile that
/// takes long.
fn cache() -> tempfile::TempDir {
    let text = "module through(input wire a, output wire b); assign b = a; endmodule";
    Model::build(text, &ModelOptions::new("through")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (user, _) = verilator_sys::list(None).unwrap();
    for path in fs::read_dir(user).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy();
        if name.starts_with("runtime-") && (name.ends_with(".a") || name.ends_with(".a.sha256")) {
            fs::copy(&path, folder.path().join(&*name)).unwrap();
        }
    }
    folder
}

/// A model that can write waveforms is rewritten, too.
#[test]
fn a_model_that_is_traced_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let text = "module stage(input wire clk, input wire [65:0] d, output reg [65:0] q);
                  always @(posedge clk) q <= d + 66'd1;
                endmodule
                module pipe(input wire clk, input wire [65:0] d, output wire [65:0] q);
                  wire [65:0] between;
                  stage first(.clk(clk), .d(d), .q(between));
                  stage second(.clk(clk), .d(between), .q(q));
                endmodule";
    let options = ModelOptions {
        shared: vec![SharedModule { name: "stage".into(), inputs: vec!["d".into()] }],
        rewriter: Some(&Optimizer),
        trace: true,
        ..ModelOptions::new("pipe")
    };
    let library = Model::build(text, &options).unwrap();
    assert_eq!(library.report().plain_because, None);
    let mut model = library.instantiate().unwrap();
    let (clk, d, q) =
        (model.input("clk", 1).unwrap(), model.input("d", 66).unwrap(), model.output("q", 66).unwrap());
    let waves = folder.path().join("pipe.fst");
    model.trace(&waves).unwrap();
    model.set_words(d, &[u32::MAX, u32::MAX, 2]);
    model.tick(clk).unwrap();
    model.tick(clk).unwrap();
    model.fall(clk).unwrap();
    assert_eq!(model.get_words(q), [1, 0, 3]);
    model.close_trace();
    assert!(fs::metadata(&waves).unwrap().len() > 0);
}

/// A shared module with 32 lanes, whose C++ is loops over arrays, is the same as the module as
/// Verilator writes it.
#[test]
fn lanes_in_loops_are_the_same() {
    let lanes: String = (0..32)
        .map(|i| {
            let (low, high) = (16 * i, 16 * i + 15);
            format!(
                "lane lane_{i} (.clk(clk), .number(5'd{i}), .enable(mask[{i}]), .spread(mask[0]), .address(address), .d(d[{high}:{low}]), \
                 .q(q[{high}:{low}]), .odd(odd[{i}]));\n"
            )
        })
        .collect();
    let text = format!(
        "module lane(input wire clk, input wire [4:0] number, input wire enable, input wire spread, input wire [1:0] address,
                     input wire [15:0] d, output reg [15:0] q, output wire odd);
           reg [15:0] words [0:3];
           reg [15:0] last;
           reg [15:0] mixed;
           reg [15:0] steps;
           always @* begin
             // Fewer statements for some lanes: Verilator has an order of its own for them.
             steps = 16'd0;
             if (number[0]) steps = steps | {{14'd0, address}};
             if (number[3]) steps = steps | {{11'd0, address, 3'd0}};
             if (number[4]) steps = steps ^ last;
             mixed = d + steps + {{11'd0, number}};
             if (last[0]) mixed = mixed ^ 16'h5aa5;
             else if (enable) mixed = {{mixed[7:0], mixed[15:8]}};
             // Long, and for no lane in half of the cycles.
             if (spread & last[1]) begin
               mixed = mixed ^ {{last[3:0], mixed[15:4]}} ^ {{steps[1:0], last[15:2]}};
               if (last[2]) mixed = mixed + {{d[7:0], last[7:0]}} + {{steps[7:0], d[15:8]}};
               mixed = mixed ^ {{last[9:0], steps[5:0]}} ^ {{d[11:0], last[3:0]}};
             end
           end
           // The lanes write to one address, or to several.
           wire [1:0] place = spread ? address ^ number[2:1] : address;
           always @(posedge clk) begin
             last <= mixed;
             q <= words[address];
             if (enable) words[place] <= mixed;
           end
           assign odd = ^last;
         endmodule
         module core(input wire clk, input wire [31:0] mask, input wire [1:0] address, input wire [511:0] d,
                     output wire [511:0] q, output wire [31:0] odd);
           {lanes}
         endmodule
         module cores(input wire clk, input wire [31:0] mask, input wire [1:0] address, input wire [511:0] d,
                      output wire [511:0] q, output wire [31:0] odd);
           wire [511:0] between;
           wire [31:0] flags;
           core first(.clk(clk), .mask(mask), .address(address), .d(d), .q(between), .odd(flags));
           core second(.clk(clk), .mask(flags), .address(address), .d(between), .q(q), .odd(odd));
         endmodule"
    );
    let inputs = ["mask", "address", "d"].map(String::from).to_vec();
    let core = SharedModule { name: "core".into(), inputs };
    let mut models = models(&text, "cores", core, None);
    let seed = std::env::var("HERMES_SEED").map_or(1, |seed| seed.parse().expect("HERMES_SEED is a number"));
    println!("HERMES_SEED={seed}");
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut random = || generator.next_u32();
    let mut seen = std::collections::HashSet::new();
    for cycle in 0..1000 {
        let (mask, address) = (random(), random() & 3);
        let d: [u32; 16] = std::array::from_fn(|_| random());
        let outputs = models.each_mut().map(|model| {
            for (name, width, value) in [("mask", 32, mask), ("address", 2, address)] {
                let port = model.input(name, width).unwrap();
                model.set_u64(port, value.into());
            }
            let port = model.input("d", 512).unwrap();
            model.set_words(port, &d);
            let clk = model.input("clk", 1).unwrap();
            model.tick(clk).unwrap();
            model.fall(clk).unwrap();
            let (q, odd) = (model.output("q", 512).unwrap(), model.output("odd", 32).unwrap());
            (model.get_words(q).to_vec(), model.get_u64(odd))
        });
        assert_eq!(outputs[0], outputs[1], "cycle {cycle}");
        seen.insert(outputs[0].clone());
    }
    assert!(seen.len() > 900, "{} outputs in 1,000 cycles", seen.len());
}

/// A function of a shared module that is so long that it is cut is the same in parts.
#[test]
fn long_functions_in_parts_are_the_same() {
    const REGISTERS: usize = 200;
    let folder = cache();
    let mut generator = ChaCha8Rng::seed_from_u64(1);
    // Of letters: numbers would be lanes.
    let name =
        |i: usize| format!("x{}{}", char::from(b'a' + (i / 26) as u8), char::from(b'a' + (i % 26) as u8));
    let declared: String = (0..REGISTERS).map(|i| format!("reg [31:0] {};\n", name(i))).collect();
    let mut value = |i: usize| {
        let mut pick = |count: usize| generator.next_u32() as usize % count;
        (0..40).fold(format!("({} + d)", name((i + 1) % REGISTERS)), |text, _| {
            format!("({text} {} {})", ["+", "^", "&", "|"][pick(4)], name(pick(REGISTERS)))
        })
    };
    let next: String = (0..REGISTERS).map(|i| format!("{} <= {};\n", name(i), value(i))).collect();
    let text = format!(
        "module mixer(input wire clk, input wire [31:0] d, output wire [31:0] q);
           {declared}
           always @(posedge clk) begin
             {next}
           end
           assign q = {} ^ {};
         endmodule
         module mixers(input wire clk, input wire [31:0] d, output wire [31:0] q);
           wire [31:0] between;
           mixer first(.clk(clk), .d(d), .q(between));
           mixer second(.clk(clk), .d(between), .q(q));
         endmodule",
        name(0),
        name(REGISTERS / 2)
    );
    let mixer = SharedModule { name: "mixer".into(), inputs: vec!["d".into()] };
    let mut models = models(&text, "mixers", mixer, Some(folder.path().into()));
    let built = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let parts = built.filter(|path| {
        path.extension().is_some_and(|extension| extension == "so")
            && fs::read(path).unwrap().windows(8).any(|name| name == b"__part_1")
    });
    assert_eq!(parts.count(), 1, "one of the two models has parts");
    for cycle in 0..100 {
        let value = generator.next_u32();
        let outputs = models.each_mut().map(|model| {
            let (clk, d) = (model.input("clk", 1).unwrap(), model.input("d", 32).unwrap());
            model.set_u64(d, value.into());
            model.tick(clk).unwrap();
            model.fall(clk).unwrap();
            let q = model.output("q", 32).unwrap();
            model.get_u64(q)
        });
        assert_eq!(outputs[0], outputs[1], "cycle {cycle}");
    }
}
