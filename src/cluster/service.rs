//! Who serves the commands of kernels in `hermes cluster`.

use std::path::{Path, PathBuf};

use hermes_testbench::cluster::{NodeReport, ServiceCosts, ServiceOptions};
use hermes_testbench::output::OutputFile;
use serde::Serialize;

use crate::files::Files;

/// Baselines: threads of a host in the place of the array's command processor.
#[derive(clap::Args)]
#[command(next_help_heading = "Baselines")]
pub struct ServiceArgs {
    /// Add the delays of threads that would serve the commands of a node: dgpu or apu, with :low,
    /// :middle or :high and other values of single delays behind it, such as dgpu:low,visible=0; or
    /// a file with the five delays (docs/baselines.md)
    #[arg(long, value_name = "dgpu|apu|FILE")]
    service: Option<String>,
    /// Threads that serve the commands of a node: 1 to 64
    #[arg(long, value_name = "N", default_value_t = 1, requires = "service", value_parser = clap::value_parser!(u32).range(1..=64))]
    service_threads: u32,
}

/// Who serves, as the report tells it.
#[derive(Serialize)]
pub struct ServiceFacts {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    #[serde(flatten)]
    options: ServiceOptions,
}

impl ServiceFacts {
    /// The options.
    pub fn options(&self) -> ServiceOptions {
        self.options
    }

    /// As text.
    pub fn text(&self) -> String {
        let ServiceOptions { delays, threads, queues } = self.options;
        format!(
            "{}: visible {}, poll {}, service {}, doorbell {}, completion {} cycles; {threads} threads, {queues} queues",
            self.name, delays.visible, delays.poll, delays.service, delays.doorbell, delays.completion
        )
    }
}

impl ServiceArgs {
    /// What is read.
    pub fn files(&self) -> Files {
        let name = self.service.as_deref().filter(|name| !ServiceCosts::is_stated(name));
        Files::default().input("--service", name.map(Path::new))
    }

    /// Who serves nodes with so many queues in use.
    pub fn facts(&self, queues: u32) -> anyhow::Result<Option<ServiceFacts>> {
        let Some(name) = &self.service else { return Ok(None) };
        let ServiceCosts { name, about, delays, .. } =
            ServiceCosts::find(name).map_err(|error| anyhow::anyhow!("--service {error}"))?;
        let options = ServiceOptions { delays, threads: self.service_threads, queues };
        Ok(Some(ServiceFacts { name, about, options }))
    }
}

/// The file of the heap of node `node` in `folder`.
pub fn heap_path(folder: &Path, node: usize) -> PathBuf {
    folder.join(format!("heap-{node}.bin"))
}

/// Begins the files of the heaps of so many nodes.
pub fn create_heaps(folder: &Path, nodes: usize) -> anyhow::Result<Vec<OutputFile>> {
    (0..nodes).map(|node| Ok(OutputFile::create(&heap_path(folder, node))?)).collect()
}

/// Writes the heaps of all nodes, all or none.
pub fn write_heaps(mut files: Vec<OutputFile>, nodes: &[NodeReport]) -> anyhow::Result<()> {
    for (file, node) in files.iter_mut().zip(nodes) {
        std::io::Write::write_all(file, &node.heap)?;
    }
    files.into_iter().try_for_each(OutputFile::commit)?;
    Ok(())
}
