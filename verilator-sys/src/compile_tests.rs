//! Names of cache entries, and what is asked of the tools.

use std::collections::BTreeSet;

use super::*;
use crate::run::tests::program;
use crate::version::Version;

/// A rewriter that is only a name.
#[derive(Debug)]
struct Named(&'static str);

impl Rewriter for Named {
    fn version(&self) -> &str {
        self.0
    }
    fn verilator_flags(&self) -> &[&str] {
        &[]
    }
    fn knows(&self, _: Version) -> bool {
        true
    }
    fn rewrite(&self, _: &Path, _: &[SharedModule], _: &[HeaderPort]) -> Result<Option<String>, Error> {
        Ok(None)
    }
    fn without(&self) -> String {
        String::new()
    }
}

/// A compiler that answers with its arguments, unless they contain one that it does not know.
fn compiler(folder: &Path, unknown: &str) -> String {
    program(folder, "compiler", &format!("case \"$*\" in *{unknown}*) exit 1;; esac\necho \"$*\""))
}

#[test]
fn a_program_that_changes_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let name = |version: &str| {
        let script = format!("echo 'Verilator {version} 2023'");
        let verilator = program(folder.path(), "verilator", &script);
        let options = ModelOptions { verilator, compiler: "true".to_string(), ..ModelOptions::new("top") };
        Tools::find(&options).unwrap().verilator.name.clone()
    };
    let names = ["5.006", "5.006", "5.030"].map(name);
    assert_eq!(names[0], names[1]);
    assert_ne!(names[1], names[2]);
}

#[test]
fn flags_for_the_machine_are_those_that_the_compiler_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let expected = [("nothing", 0), ("-march", 1)];
    for (unknown, place) in expected {
        let (flags, macros) = machine(&compiler(folder.path(), unknown)).unwrap();
        assert_eq!((flags, macros.trim()), (MACHINE_FLAGS[place], &*format!("{flags} -x c++ -E -dM -")));
    }
    assert_eq!(machine(&compiler(folder.path(), "-m")).unwrap(), ("", String::new()));
}

fn tools(verilator: &str, machine_flags: &'static str, machine: &str) -> Tools {
    let verilator = Verilator { name: verilator.to_string(), version: Version::new(5, 6) };
    Tools {
        verilator,
        compiler: "clang".to_string(),
        machine_flags,
        machine: machine.into(),
        root: OnceLock::new(),
    }
}

#[test]
fn a_model_belongs_to_its_verilator_and_to_how_it_was_built() {
    let options = ModelOptions::new("top");
    let part = SharedModule { name: "part".into(), inputs: Vec::new() };
    let shared = ModelOptions { shared: vec![part], ..options.clone() };
    let rewritten = |by| ModelOptions { rewriter: Some(by), ..shared.clone() };
    let [one, other] = [&Named("one"), &Named("other")].map(|by| rewritten(by));
    let unoptimized = ModelOptions { optimize: false, ..options.clone() };
    let [older, newer] = ["Verilator 5.006", "Verilator 5.030"].map(|name| tools(name, "", ""));
    assert_ne!(older.model_key("", &options), newer.model_key("", &options));
    let keys = [&options, &shared, &one, &other, &unoptimized];
    let keys = keys.map(|options| older.model_key("", options));
    assert_eq!(BTreeSet::from(keys).len(), 5);
    assert_ne!(older.runtime_key(&options, ""), newer.runtime_key(&options, ""));
}

#[test]
fn a_model_belongs_to_the_machine_it_was_built_on() {
    let options = ModelOptions::new("top");
    let key =
        |machine_flags, machine: &str| tools("Verilator 5", machine_flags, machine).model_key("", &options);
    assert_eq!(key("-march=native", "avx2"), key("-march=native", "avx2"));
    assert_ne!(key("-march=native", "avx2"), key("-march=native", "avx512f"));
    assert_ne!(key("-march=native", ""), key("", ""));
}

#[test]
fn run_time_files_are_read_from_the_makefile() {
    let text =
        "# list\nVM_SUPPORT_SLOW += \\\n\tVmodel__Syms \\\n\n# fast\nVM_GLOBAL_FAST += \\\n\tverilated \\\n\
                \tverilated_threads \\\n\n# slow\nVM_GLOBAL_SLOW += \\\n\n# end\n";
    for text in [text.to_string(), text.replace('\t', "  ")] {
        assert_eq!(runtime_sources(&text).collect::<Vec<_>>(), ["verilated", "verilated_threads"]);
    }
}
