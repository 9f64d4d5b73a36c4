//! A model as a loaded shared library.

use std::ffi::{c_char, c_void, CStr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use libloading::Library;

use crate::about::About;
use crate::cache::{Cache, Entry};
use crate::compile;
use crate::error::Error;
use crate::header;
use crate::model::Model;
use crate::options::{BuildStep, Direction, ModelOptions, Port};
use crate::rewriter;
use crate::tools::Tools;

/// An instance of the C++ side; only ever handled by pointer.
#[repr(C)]
pub(crate) struct Instance {
    _private: [u8; 0],
}

/// One row of the port table of a model.
#[repr(C)]
struct PortEntry {
    name: *const c_char,
    width: u32,
    output: u32,
}

/// The functions of the generated wrapper.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    ports: unsafe extern "C" fn() -> *const PortEntry,
    pub(crate) new: unsafe extern "C" fn() -> *mut Instance,
    pub(crate) port: unsafe extern "C" fn(*mut Instance, u32, *mut u32) -> *mut c_void,
    pub(crate) eval: unsafe extern "C" fn(*mut Instance) -> i32,
    pub(crate) error: unsafe extern "C" fn(*mut Instance) -> *const c_char,
    pub(crate) finished: unsafe extern "C" fn(*mut Instance) -> i32,
    pub(crate) trace_open: unsafe extern "C" fn(*mut Instance, *const c_char) -> i32,
    pub(crate) trace_dump: unsafe extern "C" fn(*mut Instance, u64),
    pub(crate) trace_flush: unsafe extern "C" fn(*mut Instance),
    pub(crate) trace_close: unsafe extern "C" fn(*mut Instance),
    pub(crate) delete: unsafe extern "C" fn(*mut Instance),
}

/// What [`ModelLibrary`]s and their [`Model`]s share.
pub(crate) struct Shared {
    pub(crate) top: String,
    pub(crate) ports: Vec<Port>,
    pub(crate) functions: Functions,
    /// Keeps the code mapped for as long as `functions` may be called.
    _library: Library,
}

/// Where a model came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildReport {
    /// Whether the model was found in the cache.
    pub cached: bool,
    /// Wall-clock time of finding or building it.
    pub elapsed: Duration,
    /// Why the model is as Verilator wrote it and therefore slow, if that was not asked for.
    pub plain_because: Option<String>,
}

/// A built and loaded model, of which instances can be made.
#[derive(Clone)]
pub struct ModelLibrary {
    shared: Arc<Shared>,
    report: BuildReport,
}

impl Model {
    /// Builds `verilog` (Verilog-2005 text) into a loaded model, or finds it in the cache.
    ///
    /// # Errors
    /// A tool is missing or too old, the design or an option is not accepted, a port of
    /// `options.ports` is missing or different, or the cache folder cannot be used.
    pub fn build(verilog: &str, options: &ModelOptions) -> Result<ModelLibrary, Error> {
        Self::build_with_progress(verilog, options, &mut |_| {})
    }

    /// As [`Model::build`], telling `step` what goes on.
    ///
    /// # Errors
    /// As [`Model::build`].
    pub fn build_with_progress(
        verilog: &str,
        options: &ModelOptions,
        step: &mut dyn FnMut(BuildStep),
    ) -> Result<ModelLibrary, Error> {
        let start = Instant::now();
        options.validate()?;
        let tools = Tools::find(options)?;
        let cache = Cache::open(options.cache.as_deref())?;
        let name = format!("model-{}.so", tools.model_key(verilog, options));
        // Held until the library is loaded: nobody can replace the file between the check and the
        // use.
        let lock = cache.lock(&name, || step(BuildStep::Waiting))?;
        let found = match cache.lookup(&name)? {
            Entry::Good => Shared::load(&cache.path(&name), &options.top).ok(),
            Entry::Damaged | Entry::Missing => None,
        };
        let cached = found.is_some();
        let (shared, plain_because) = match found {
            Some(found) => {
                lock.used();
                found
            }
            None => {
                lock.must_write(&cache)?;
                if cache.exists(&name) {
                    log::warn!(
                        "{}: does not match its checksum, or cannot be loaded; building it again",
                        cache.path(&name).display()
                    );
                    step(BuildStep::Damaged);
                }
                step(BuildStep::Building { estimate: cache.estimate(verilog.len(), options.trace) });
                let work = tempfile::Builder::new()
                    .prefix("verilator-sys-")
                    .tempdir()
                    .map_err(Error::io(std::env::temp_dir()))?;
                let built = compile::build(work.path(), verilog, options, &tools, &cache, step)?;
                let path = cache.publish(&name, &built)?;
                let elapsed = start.elapsed();
                cache.describe(&name, &About::new(options, verilog.len(), elapsed));
                step(BuildStep::Built { elapsed });
                Shared::load(&path, &options.top)?
            }
        };
        // Only a model that was to be rewritten says why it was not.
        if let (Some(because), Some(rewriter)) = (&plain_because, options.rewriter) {
            rewriter::warn(because, rewriter);
        }
        header::check(&options.top, &shared.ports, &options.ports)?;
        let report = BuildReport { cached, elapsed: start.elapsed(), plain_because };
        let from = if cached { "found in the cache" } else { "built" };
        log::info!("model of `{}` {from} in {:.1} s", options.top, report.elapsed.as_secs_f64());
        Ok(ModelLibrary { shared: Arc::new(shared), report })
    }
}

impl ModelLibrary {
    /// A new instance, settled with all inputs 0 and its registers at their initial values.
    ///
    /// # Errors
    /// [`Error::Model`] if the constructor of the model fails.
    pub fn instantiate(&self) -> Result<Model, Error> {
        Model::new(Arc::clone(&self.shared))
    }

    /// Every port of the design, in Verilator's order.
    #[must_use]
    pub fn ports(&self) -> &[Port] {
        &self.shared.ports
    }

    /// Whether the model came from the cache, and how long that or the build took.
    #[must_use]
    pub fn report(&self) -> &BuildReport {
        &self.report
    }
}

impl Shared {
    /// The library at `path`, and why it was not rewritten, if that is said there.
    fn load(path: &Path, top: &str) -> Result<(Self, Option<String>), Error> {
        let error = |reason| Error::Load { path: path.to_path_buf(), reason };
        // SAFETY: the file was made by this crate (its checksum matches), and loading it runs no
        // more than the constructors of Verilator's run-time library.
        let library = unsafe { Library::new(path) }.map_err(error)?;
        // SAFETY: names and types are those of the generated wrapper, whose version is part of the
        // file's name.
        let functions = unsafe {
            macro_rules! function {
                ($name:literal) => {
                    *library.get($name).map_err(error)?
                };
            }
            Functions {
                ports: function!(b"hermes_model_ports\0"),
                new: function!(b"hermes_model_new\0"),
                port: function!(b"hermes_model_port\0"),
                eval: function!(b"hermes_model_eval\0"),
                error: function!(b"hermes_model_error\0"),
                finished: function!(b"hermes_model_finished\0"),
                trace_open: function!(b"hermes_model_trace_open\0"),
                trace_dump: function!(b"hermes_model_trace_dump\0"),
                trace_flush: function!(b"hermes_model_trace_flush\0"),
                trace_close: function!(b"hermes_model_trace_close\0"),
                delete: function!(b"hermes_model_delete\0"),
            }
        };
        // SAFETY: the table is a constant of the library, ended by an entry without a name.
        let ports = unsafe { port_table((functions.ports)()) };
        // SAFETY: as above; the function returns a constant string of the library.
        let because = unsafe {
            let because: unsafe extern "C" fn() -> *const c_char =
                *library.get(b"hermes_model_plain_because\0").map_err(error)?;
            CStr::from_ptr(because()).to_string_lossy().into_owned()
        };
        let because = Some(because).filter(|because| !because.is_empty());
        Ok((Self { top: top.to_string(), ports, functions, _library: library }, because))
    }
}

unsafe fn port_table(mut entry: *const PortEntry) -> Vec<Port> {
    let mut ports = Vec::new();
    while !(*entry).name.is_null() {
        let direction = if (*entry).output == 0 { Direction::Input } else { Direction::Output };
        let name = CStr::from_ptr((*entry).name).to_string_lossy().into_owned();
        ports.push(Port { name, direction, width: (*entry).width as usize });
        entry = entry.add(1);
    }
    ports
}
