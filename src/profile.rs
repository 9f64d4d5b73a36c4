//! `hermes profile`

use std::cell::RefCell;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Context as _;
use hermes_rtl::config::Config;
use hermes_testbench::firmware::Firmware;
use hermes_testbench::input;
use hermes_testbench::kernel::Kernel;
use hermes_testbench::output::OutputFile;
use hermes_testbench::profile::{ProfileFacts, ProfileReport, ProfileText, SourceFinder};
use hermes_testbench::timeline::Profile;

use crate::files::Files;
use crate::origin::Origin;
use crate::print;
use crate::run::outputs::ResultArgs;
use crate::run::program::Program;
use crate::run::{self, Faults, Subject};
use crate::timeline;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    profile: ProfileArgs,
}

/// What is made of the profile.
#[derive(clap::Args)]
#[command(next_help_heading = "Outputs")]
struct ProfileArgs {
    /// Source lines and functions that are printed, those with the most warp-cycles; 0: all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Where to look for source files, before the folders that the kernel's file names; may be
    /// given several times
    #[arg(long = "source", value_name = "DIR")]
    sources: Vec<PathBuf>,
    /// Everything as a page of HTML, which needs no other file
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// The profile as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        let profile = &self.profile;
        Files::default()
            .output("-o", profile.output.as_deref())
            .output("--json", profile.json.as_deref())
            .and(self.subject.files())
    }
}

/// Runs what the options say, and tells where its warp-cycles went.
pub fn execute(args: Args, quiet: bool) -> anyhow::Result<()> {
    let files = args.files();
    let profiler = Profiler::create(args.profile, &files)?;
    run::run(&args.subject, &ResultArgs::default(), Some(profiler), quiet)
}

/// A profile that is being made, and the files for it.
pub struct Profiler {
    top: usize,
    finder: SourceFinder,
    /// The files of the command.
    files: Files,
    html: Option<OutputFile>,
    json: Option<(OutputFile, Origin)>,
    profile: Rc<RefCell<Profile>>,
}

impl Profiler {
    /// Makes sure that the files can be written; all of the command are `files`.
    fn create(args: ProfileArgs, files: &Files) -> anyhow::Result<Self> {
        for folder in &args.sources {
            let data = folder.metadata().with_context(|| format!("--source {}", folder.display()))?;
            anyhow::ensure!(data.is_dir(), "--source {}: expected a folder", folder.display());
        }
        let file = |path: Option<PathBuf>| path.as_deref().map(OutputFile::create).transpose();
        Ok(Self {
            top: args.top,
            finder: SourceFinder::new(args.sources),
            files: files.clone(),
            html: file(args.output)?,
            json: file(args.json)?.map(|file| (file, Origin::of(files))),
            profile: Rc::default(),
        })
    }

    /// Where the run counts.
    pub fn profile(&self) -> Rc<RefCell<Profile>> {
        Rc::clone(&self.profile)
    }

    /// Makes sure that no output of the command is a source of `kernel`, which the profile shows.
    pub fn keep_sources(&self, kernel: &Kernel) -> anyhow::Result<()> {
        let names = kernel.source_map().files();
        let sources = names.iter().filter_map(|name| self.finder.path(name));
        sources.fold(self.files.clone(), |files, path| files.input("the source", Some(&path))).check()
    }

    /// Whether any warp has run.
    pub fn has_counted(&self) -> bool {
        !self.profile.borrow().is_empty()
    }

    /// Writes the files and prints the text. `faults` are those of a run that came to its end.
    pub fn tell(
        self,
        program: &Program,
        capture: &Path,
        config: &Config,
        firmware: Option<&Firmware>,
        faults: Option<Faults>,
    ) -> anyhow::Result<()> {
        let (fault_causes, fault_records) = faults.map(|faults| (faults.causes, faults.records)).unzip();
        let facts = ProfileFacts {
            kernel: program.name.clone(),
            capture: input::name(capture),
            preset: config.preset.clone(),
            cores: config.cores,
            lanes: config.lanes,
            warp_slots: config.warps,
            configuration: Some(config.clone()),
            fault_causes,
            fault_records,
        };
        let kernel = &program.kernel;
        let mut names = timeline::names(Some(kernel), firmware);
        let isa = timeline::isa(config, Some(kernel));
        let report =
            ProfileReport::new(facts, &self.profile.borrow(), kernel, &mut names, &isa, &self.finder);
        if let Some(mut html) = self.html {
            html.write_all(report.html()?.as_bytes())?;
            html.commit()?;
        }
        if let Some((mut json, origin)) = self.json {
            json.write_json(&origin.with(&report))?;
            json.commit()?;
        }
        print::bytes(ProfileText { report: &report, top: self.top }.to_string().as_bytes())
    }
}
