//! Other versions of Verilator, and C++ that is not what is expected: the model is built as
//! Verilator wrote it, says why, and is right. The programs of these tests say another version than
//! the Verilator that they call, or change what it writes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use model_optimizer::Optimizer;
use verilator_sys::{Error, Model, ModelLibrary, ModelOptions, SharedModule};

/// What the tests build; each has a text of its own, as they share a cache.
const PIPE: &str = "
module stage(input wire clk, input wire [15:0] d, output reg [15:0] q);
  always @(posedge clk) q <= d + 16'd3;
endmodule
module pipe(input wire clk, input wire [15:0] d, output wire [15:0] q);
  wire [15:0] between;
  stage first(.clk(clk), .d(d), .q(between));
  stage second(.clk(clk), .d(between), .q(q));
endmodule";

/// The cache of these tests, which has no model when they begin, but Verilator's run-time library
/// once for each version: to compile that takes longest.
fn cache() -> &'static Path {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("versions");
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        folder
    })
}

/// Builds with a program that calls itself `version`, and changes what it wrote by `change`, a line
/// of a shell script, if the C++ is to be rewritten.
fn build(folder: &Path, version: &str, change: &str, plain: bool) -> Result<ModelLibrary, Error> {
    let real = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into());
    let program = folder.join("verilator");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo 'Verilator {version} 2030-01-01'; exit; }}\n\
         '{real}' \"$@\" || exit\ncase \"$*\" in *'-Mdir rewritten'*) cd rewritten; {change} ;; esac\n"
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let options = ModelOptions {
        shared: vec![SharedModule { name: "stage".into(), inputs: vec!["d".into()] }],
        rewriter: if plain { None } else { Some(&Optimizer) },
        verilator: program.to_string_lossy().into_owned(),
        cache: Some(cache().into()),
        ..ModelOptions::new("pipe")
    };
    Model::build(&format!("// Of {change}{PIPE}"), &options)
}

/// Two stages add 6.
fn check(library: &ModelLibrary) {
    let mut model = library.instantiate().unwrap();
    let (clk, d, q) =
        (model.input("clk", 1).unwrap(), model.input("d", 16).unwrap(), model.output("q", 16).unwrap());
    model.set_u64(d, 1000);
    model.tick(clk).unwrap();
    model.tick(clk).unwrap();
    model.fall(clk).unwrap();
    assert_eq!(model.get_u64(q), 1006);
}

#[test]
fn what_cannot_be_rewritten_is_built_as_it_is() {
    for (version, change, expected) in [
        ("5.999", ":", "the C++ of Verilator 5.999 is not known"),
        (
            "5.006",
            "sed -i 's/public:/public :/' Vmodel_stage.h",
            "the C++ has no `public:` in the class of `stage`",
        ),
        (
            "5.006",
            "for f in Vmodel_stage*.cpp; do echo '#error' >>$f; done",
            "what was made of the C++ does not compile",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        // The reason is in the model: it is told again when the model comes from the cache.
        for cached in [false, true] {
            let library = build(folder.path(), version, change, false).unwrap();
            assert_eq!(library.report().cached, cached);
            assert_eq!(library.report().plain_because.as_deref(), Some(expected));
            check(&library);
        }
    }
}

#[test]
fn what_can_be_rewritten_and_what_is_asked_for_plain_has_no_reason() {
    let folder = tempfile::tempdir().unwrap();
    for plain in [false, true] {
        let library = build(folder.path(), "5.006", "true", plain).unwrap();
        assert_eq!((library.report().cached, library.report().plain_because.clone()), (false, None));
        check(&library);
    }
    // Another version does not take the model of this one.
    assert!(!build(folder.path(), "5.999", "true", false).unwrap().report().cached);
}
