//! The waveform of a run (`--wave`).

use std::path::{Path, PathBuf};

use anyhow::Context;
use hermes_testbench::staging::StagingFolder;
use verilator_sys::Model;

/// A waveform file, which gets its name when the simulation has ended.
pub struct Wave {
    staged: PathBuf,
    path: PathBuf,
    folder: StagingFolder,
    limit: u64,
}

impl Wave {
    /// A waveform that will be the file `path`, if there is one, and that ends when it has `limit`
    /// bytes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: Option<&Path>, limit: u64) -> anyhow::Result<Option<Self>> {
        let Some(path) = path else { return Ok(None) };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = StagingFolder::create_in(parent).with_context(|| path.display().to_string())?;
        let staged = folder.path().join("wave.fst");
        Ok(Some(Self { staged, path: path.to_path_buf(), folder, limit }))
    }

    /// Lets `model` write it.
    ///
    /// # Errors
    /// The model has no waveforms, or the file cannot be written.
    pub fn start(&self, model: &mut Model) -> anyhow::Result<()> {
        Ok(model.trace_up_to(&self.staged, self.limit)?)
    }

    /// Gives the file its name; the simulation must be gone. Tells if the waveform ended before the
    /// run, at half cycle `ended`, since its file is large enough.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn commit(self, ended: Option<u64>) -> anyhow::Result<()> {
        let Self { staged, path, folder, limit } = self;
        if let Some(time) = ended {
            let cycle = time / 2;
            log::warn!(
                "--wave: the file ends after {cycle} cycles, with {limit} bytes or more (--trace-limit)"
            );
        }
        std::fs::rename(&staged, &path).with_context(|| path.display().to_string())?;
        Ok(folder.close()?)
    }
}
