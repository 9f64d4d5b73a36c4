//! Names of cache entries, and what is asked of the tools.

use std::collections::BTreeSet;

use super::*;
use crate::tools::tests::tools;
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
