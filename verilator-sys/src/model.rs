//! One instance of a model: its ports, its clock, its waveform.

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::Error;
use crate::header;
use crate::library::{Instance, Shared};
use crate::options::{Direction, Port};

/// Handle of an input port of the model that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input(u32);

/// Handle of a port that is read: an output, or an input read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output(u32);

impl From<Input> for Output {
    fn from(input: Input) -> Self {
        Self(input.0)
    }
}

/// Where the model keeps the value of a port; Verilator's five storage types.
#[derive(Clone, Copy)]
enum Storage {
    Bits8(NonNull<u8>),
    Bits16(NonNull<u16>),
    Bits32(NonNull<u32>),
    Bits64(NonNull<u64>),
    /// So many words, the lowest first.
    Wide(NonNull<u32>, usize),
}

#[derive(Clone, Copy)]
struct Slot {
    storage: Storage,
    /// Ones in the bits of the topmost unit (the whole value up to 64 bits, the last word above)
    /// that exist.
    mask: u64,
}

/// One instance of a Verilated design.
///
/// Handles belong to the model that made them, and to other instances of the same
/// [`crate::ModelLibrary`].
pub struct Model {
    instance: NonNull<Instance>,
    shared: Arc<Shared>,
    slots: Vec<Slot>,
    time: u64,
    tracing: bool,
    /// The file of a waveform that may not grow without end, and the bytes with which it ends.
    trace_limit: Option<(PathBuf, u64)>,
    /// When the waveform ended by its size.
    trace_ended: Option<u64>,
}

/// Half cycles between two looks at the size of a waveform, a power of two.
const TRACE_LOOKS: u64 = 1 << 13;

// SAFETY: an instance has its own context and is touched through `&mut self` or `&self` of one
// `Model` only; Verilator's run-time library keeps no thread-bound state between calls that an
// instance relies on.
unsafe impl Send for Model {}

impl Model {
    pub(crate) fn new(shared: Arc<Shared>) -> Result<Self, Error> {
        // SAFETY: the function takes nothing and answers null on failure.
        let instance = NonNull::new(unsafe { (shared.functions.new)() }).ok_or_else(|| Error::Model {
            top: shared.top.clone(),
            time: 0,
            message: "the constructor of the model failed".to_string(),
        })?;
        let mut model = Self {
            instance,
            shared,
            slots: Vec::new(),
            time: 0,
            tracing: false,
            trace_limit: None,
            trace_ended: None,
        };
        model.slots = (0..model.shared.ports.len()).map(|index| model.slot(index)).collect();
        Ok(model)
    }

    fn slot(&self, index: usize) -> Slot {
        let width = self.shared.ports[index].width;
        let mut bytes = 0;
        // SAFETY: the instance is alive and `index` is a row of the port table.
        let pointer =
            unsafe { (self.shared.functions.port)(self.instance.as_ptr(), index as u32, &mut bytes) };
        let pointer = NonNull::new(pointer).expect("a row of the port table has storage");
        let words = width.div_ceil(32);
        let (storage, expected) = match width {
            0..=8 => (Storage::Bits8(pointer.cast()), 1),
            9..=16 => (Storage::Bits16(pointer.cast()), 2),
            17..=32 => (Storage::Bits32(pointer.cast()), 4),
            33..=64 => (Storage::Bits64(pointer.cast()), 8),
            _ => (Storage::Wide(pointer.cast(), words), 4 * words),
        };
        assert_eq!(bytes as usize, expected, "storage of port `{}`", self.shared.ports[index].name);
        let top_bits = if width > 64 { (width - 1) % 32 + 1 } else { width };
        Slot { storage, mask: u64::MAX >> (64 - top_bits) }
    }

    /// Name of the top module.
    #[must_use]
    pub fn top(&self) -> &str {
        &self.shared.top
    }

    /// Every port of the design.
    #[must_use]
    pub fn ports(&self) -> &[Port] {
        &self.shared.ports
    }

    /// Handle of the input called `name`.
    ///
    /// # Errors
    /// No such port, another width, or an output.
    pub fn input(&self, name: &str, width: usize) -> Result<Input, Error> {
        header::find(self.top(), self.ports(), name, width, Some(Direction::Input)).map(|i| Input(i as u32))
    }

    /// Handle of the output called `name`.
    ///
    /// # Errors
    /// No such port, another width, or an input.
    pub fn output(&self, name: &str, width: usize) -> Result<Output, Error> {
        header::find(self.top(), self.ports(), name, width, Some(Direction::Output)).map(|i| Output(i as u32))
    }

    /// Bits 63:0 of a port's value.
    ///
    /// # Panics
    /// If the handle is of a design with more ports.
    #[inline]
    pub fn get_u64(&self, port: impl Into<Output>) -> u64 {
        // SAFETY: the storage lives as long as the instance and was checked to be of this type.
        unsafe {
            match self.slots[port.into().0 as usize].storage {
                Storage::Bits8(p) => u64::from(p.read()),
                Storage::Bits16(p) => u64::from(p.read()),
                Storage::Bits32(p) => u64::from(p.read()),
                Storage::Bits64(p) => p.read(),
                Storage::Wide(p, _) => u64::from(p.read()) | u64::from(p.add(1).read()) << 32,
            }
        }
    }

    /// Whether bit 0 of a port is 1.
    ///
    /// # Panics
    /// As [`Model::get_u64`].
    #[inline]
    pub fn get_bool(&self, port: impl Into<Output>) -> bool {
        self.get_u64(port) & 1 != 0
    }

    /// Sets an input to `value`: bits above the port's width are dropped, bits above 63 become
    /// zero.
    ///
    /// # Panics
    /// As [`Model::get_u64`].
    #[inline]
    pub fn set_u64(&mut self, port: Input, value: u64) {
        let &Slot { storage, mask } = &self.slots[port.0 as usize];
        // SAFETY: as in `get_u64`; nothing else accesses the storage meanwhile, since `self` is
        // borrowed mutably.
        unsafe {
            match storage {
                Storage::Bits8(p) => p.write((value & mask) as u8),
                Storage::Bits16(p) => p.write((value & mask) as u16),
                Storage::Bits32(p) => p.write((value & mask) as u32),
                Storage::Bits64(p) => p.write(value & mask),
                Storage::Wide(p, words) => {
                    p.write(value as u32);
                    p.add(1).write((value >> 32) as u32);
                    p.add(2).write_bytes(0, words - 2);
                }
            }
        }
    }

    /// The value of a port wider than 64 bits, in place: 32-bit words, the lowest first.
    ///
    /// # Panics
    /// If the port is narrower ([`Model::read_words`] serves every width), and as
    /// [`Model::get_u64`].
    #[inline]
    pub fn get_words(&self, port: impl Into<Output>) -> &[u32] {
        let index = port.into().0 as usize;
        match self.slots[index].storage {
            // SAFETY: so many words live as long as the instance, and cannot change while `self` is
            // borrowed.
            Storage::Wide(p, words) => unsafe { std::slice::from_raw_parts(p.as_ptr(), words) },
            _ => panic!("port `{}` has at most 64 bits: use get_u64 or read_words", self.ports()[index].name),
        }
    }

    /// Copies the value of a port of any width to `words`, the lowest word first; words that the
    /// port does not have become zero, words that `words` does not have are left out.
    ///
    /// # Panics
    /// As [`Model::get_u64`].
    pub fn read_words(&self, port: impl Into<Output>, words: &mut [u32]) {
        let port = port.into();
        words.fill(0);
        if let Storage::Wide(..) = self.slots[port.0 as usize].storage {
            let value = self.get_words(port);
            let count = value.len().min(words.len());
            words[..count].copy_from_slice(&value[..count]);
        } else {
            let value = self.get_u64(port);
            for (word, part) in words.iter_mut().zip([value as u32, (value >> 32) as u32]) {
                *word = part;
            }
        }
    }

    /// Sets an input of any width, the lowest word first; missing words are zero, bits beyond the
    /// width are dropped.
    ///
    /// # Panics
    /// As [`Model::get_u64`].
    #[inline]
    pub fn set_words(&mut self, port: Input, words: &[u32]) {
        let &Slot { storage, mask } = &self.slots[port.0 as usize];
        if let Storage::Wide(p, count) = storage {
            // SAFETY: as in `set_u64`.
            let value = unsafe { std::slice::from_raw_parts_mut(p.as_ptr(), count) };
            let given = words.len().min(count);
            value[..given].copy_from_slice(&words[..given]);
            value[given..].fill(0);
            value[count - 1] &= mask as u32;
        } else {
            let part = |i: usize| u64::from(words.get(i).copied().unwrap_or(0));
            self.set_u64(port, part(0) | part(1) << 32);
        }
    }

    /// Lets the design settle with the present inputs; a changed clock input is an edge.
    ///
    /// # Errors
    /// [`Error::Model`] if the model stops by itself.
    #[inline]
    pub fn eval(&mut self) -> Result<(), Error> {
        // SAFETY: the instance is alive.
        match unsafe { (self.shared.functions.eval)(self.instance.as_ptr()) } {
            0 => Ok(()),
            _ => Err(self.stopped()),
        }
    }

    #[cold]
    fn stopped(&self) -> Error {
        // SAFETY: the instance is alive and owns the text.
        let message = unsafe { CStr::from_ptr((self.shared.functions.error)(self.instance.as_ptr())) };
        Error::Model {
            top: self.shared.top.clone(),
            time: self.time,
            message: message.to_string_lossy().into_owned(),
        }
    }

    /// First half of a cycle: clock low. Combinational outputs then answer the present inputs. Time
    /// advances by 1.
    ///
    /// # Errors
    /// As [`Model::eval`].
    #[inline]
    pub fn fall(&mut self, clock: Input) -> Result<(), Error> {
        self.half_cycle(clock, 0)
    }

    /// Second half of a cycle: the rising edge, at which registers take their inputs. Time advances
    /// by 1.
    ///
    /// # Errors
    /// As [`Model::eval`].
    #[inline]
    pub fn rise(&mut self, clock: Input) -> Result<(), Error> {
        self.half_cycle(clock, 1)
    }

    #[inline]
    fn half_cycle(&mut self, clock: Input, level: u64) -> Result<(), Error> {
        self.set_u64(clock, level);
        self.eval()?;
        if self.tracing {
            // SAFETY: the instance is alive.
            unsafe { (self.shared.functions.trace_dump)(self.instance.as_ptr(), self.time) };
            if self.time % TRACE_LOOKS == TRACE_LOOKS - 1 {
                self.end_large_trace();
            }
        }
        self.time += 1;
        Ok(())
    }

    /// One cycle: [`Model::fall`], then [`Model::rise`]. Afterwards the outputs are those after the
    /// rising edge.
    ///
    /// # Errors
    /// As [`Model::eval`].
    #[inline]
    pub fn tick(&mut self, clock: Input) -> Result<(), Error> {
        self.fall(clock)?;
        self.rise(clock)
    }

    /// Half cycles since the model was made: twice the cycles.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.time
    }

    /// Whether the design called `$finish`.
    #[must_use]
    pub fn finished(&self) -> bool {
        // SAFETY: the instance is alive.
        unsafe { (self.shared.functions.finished)(self.instance.as_ptr()) != 0 }
    }

    /// Writes a waveform of all signals to `path` (FST; one time unit is half a cycle) from now on.
    ///
    /// # Errors
    /// The model was built without `trace`, already writes one, or the file cannot be written.
    pub fn trace(&mut self, path: &Path) -> Result<(), Error> {
        let io = |message: &str| Error::io(path)(std::io::Error::other(message.to_string()));
        if self.tracing {
            return Err(io("the model already writes a waveform"));
        }
        // SAFETY: the instance is alive; without a name the function only tells whether the model
        // can trace.
        if unsafe { (self.shared.functions.trace_open)(self.instance.as_ptr(), std::ptr::null()) } == 2 {
            return Err(Error::NoTrace { top: self.shared.top.clone() });
        }
        let name =
            path.to_str().and_then(|p| CString::new(p).ok()).ok_or_else(|| io("not a plain file name"))?;
        // Fails with the system's own reason where it can; Verilator would only say that it failed.
        drop(std::fs::File::create(path).map_err(Error::io(path))?);
        // SAFETY: the instance is alive; the name is copied by the callee.
        match unsafe { (self.shared.functions.trace_open)(self.instance.as_ptr(), name.as_ptr()) } {
            0 => {
                self.tracing = true;
                Ok(())
            }
            _ => Err(io("the waveform writer could not open the file")),
        }
    }

    /// As [`Model::trace`], but the waveform ends when its file has `bytes` bytes or more, which is
    /// looked at every 4,096 cycles; it then has what was buffered beside. The model goes on.
    ///
    /// # Errors
    /// As [`Model::trace`].
    pub fn trace_up_to(&mut self, path: &Path, bytes: u64) -> Result<(), Error> {
        self.trace(path)?;
        self.trace_limit = Some((path.to_path_buf(), bytes));
        self.trace_ended = None;
        Ok(())
    }

    /// When the waveform of [`Model::trace_up_to`] ended since it was large enough, in half cycles
    /// as [`Model::time`].
    #[must_use]
    pub fn trace_ended(&self) -> Option<u64> {
        self.trace_ended
    }

    #[cold]
    fn end_large_trace(&mut self) {
        let Some((path, limit)) = &self.trace_limit else { return };
        // A file whose size nobody can tell is not ended.
        if std::fs::metadata(path).is_ok_and(|file| file.len() >= *limit) {
            self.close_trace();
            self.trace_ended = Some(self.time);
        } else {
            self.flush_trace();
        }
    }

    /// Writes what is buffered of the waveform.
    pub fn flush_trace(&mut self) {
        // SAFETY: the instance is alive.
        unsafe { (self.shared.functions.trace_flush)(self.instance.as_ptr()) };
    }

    /// Ends the waveform; dropping the model does so too.
    pub fn close_trace(&mut self) {
        self.tracing = false;
        self.trace_limit = None;
        // SAFETY: the instance is alive.
        unsafe { (self.shared.functions.trace_close)(self.instance.as_ptr()) };
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: the instance is alive, and nobody can use it after this.
        unsafe { (self.shared.functions.delete)(self.instance.as_ptr()) };
    }
}
