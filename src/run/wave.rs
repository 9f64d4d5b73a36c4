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
    /// Lets `model` write its waveform to the file `path`, if there is one, until it has `limit`
    /// bytes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn start(path: Option<&Path>, limit: u64, model: &mut Model) -> anyhow::Result<Option<Self>> {
        let Some(path) = path else { return Ok(None) };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder =
            StagingFolder::create_in(parent).with_context(|| format!("cannot write {}", path.display()))?;
        let staged = folder.path().join("wave.fst");
        model.trace_up_to(&staged, limit)?;
        Ok(Some(Self { staged, path: path.to_path_buf(), folder, limit }))
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
        std::fs::rename(&staged, &path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(folder.close()?)
    }
}
