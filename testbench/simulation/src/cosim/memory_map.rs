//! What lies where in the address space of a kernel, and what of it the kernel may touch.

use hermes_rtl::config::{LOCAL_REGION_ADDRESS, LOCAL_WINDOW_ADDRESS};

use super::device::Device;
use super::error::CosimError;
use super::host::Host;
use super::room::{STACKS, VERDICTS};
use crate::firmware::Firmware;
use crate::iss::LINE;
use crate::iss::{Window, SCRATCHPAD_BASE, SCRATCHPAD_BYTES};
use crate::kernel::Kernel;

/// What a kernel's code and constants are called, and its data.
const CODE: &str = "the kernel's code";
const DATA: &str = "the kernel's data";
/// An address this close to an area is told as one beside it.
const NEAR: u64 = 4096;

/// A named part of the address space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedArea {
    /// What it is.
    pub name: String,
    /// First address.
    pub first: u64,
    /// Its bytes.
    pub bytes: u64,
    /// What kernels may do there.
    pub reach: Reach,
}

/// What kernels may do in an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing through the windows: stacks in the local window.
    Nothing,
    /// Load: code, constants, verdicts.
    Load,
    /// Load and store.
    Store,
}

impl NamedArea {
    fn end(&self) -> u64 {
        self.first + self.bytes
    }
}

/// What lies where in the address space of a kernel: its code and data, and what the host allocated
/// for a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryMap {
    /// The areas of the shared memory, ascending; they do not overlap.
    pub areas: Vec<NamedArea>,
    /// Bytes of a stack in the local window, if there is one.
    pub local_stack: Option<u64>,
}

impl MemoryMap {
    /// What is at `address`, in words for an error: the area and the byte in it, or the nearest
    /// one.
    #[must_use]
    pub fn describe(&self, address: u32) -> String {
        let at = u64::from(address);
        let scratchpad = u64::from(SCRATCHPAD_BASE);
        if let Some(bytes) = self.local_stack {
            let (bottom, top) = (u64::from(LOCAL_WINDOW_ADDRESS), u64::from(LOCAL_WINDOW_ADDRESS) + bytes);
            if (u64::from(LOCAL_REGION_ADDRESS)..bottom).contains(&at) {
                return format!("{} below the stack of {bytes} bytes", of_bytes(bottom - at));
            }
            if (bottom..top).contains(&at) {
                return format!("byte {} of the stack", at - bottom);
            }
            if (top..scratchpad).contains(&at) {
                return format!("{} above the stack of {bytes} bytes", of_bytes(at - top + 1));
            }
        }
        if (scratchpad..scratchpad + SCRATCHPAD_BYTES as u64).contains(&at) {
            return format!("byte {} of the scratchpad", at - scratchpad);
        }
        if at < LINE as u64 {
            return "the null address".to_string();
        }
        if let Some(area) = self.areas.iter().find(|area| (area.first..area.end()).contains(&at)) {
            return format!("byte {} of {}", at - area.first, area.name);
        }
        let before = self.areas.iter().rfind(|area| area.end() <= at).filter(|area| at - area.end() < NEAR);
        let after = self.areas.iter().find(|area| area.first > at).filter(|area| area.first - at <= NEAR);
        match (before, after) {
            (Some(area), _) => format!("{} behind {}", of_bytes(at - area.end() + 1), area.name),
            (None, Some(area)) => format!("{} before {}", of_bytes(area.first - at), area.name),
            (None, None) => "in no area of the run".to_string(),
        }
    }

    /// Adds the parts of `kernel`, told apart by what it may store to.
    pub fn add_kernel(&mut self, kernel: &Kernel) {
        let segments = kernel.segments.iter().filter(|segment| !segment.bytes.is_empty());
        self.areas.extend(segments.map(|segment| NamedArea {
            name: if segment.writable { DATA } else { CODE }.to_string(),
            first: segment.address.into(),
            bytes: segment.bytes.len() as u64,
            reach: if segment.writable { Reach::Store } else { Reach::Load },
        }));
        self.areas.sort_by_key(|area| area.first);
    }

    /// At most two windows that hold all areas, or all that are writable, and as little else as
    /// possible: least of all an area that is not to be in them.
    #[must_use]
    pub fn windows(&self, writable: bool) -> [Window; 2] {
        let may = |area: &NamedArea| area.reach == Reach::Store || (area.reach == Reach::Load && !writable);
        let wanted: Vec<&NamedArea> = self.areas.iter().filter(|area| may(area)).collect();
        let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { return Default::default() };
        let window = |first: u64, end: u64| {
            let base = first & !(LINE as u64 - 1);
            Window { base: base as u32, size: (end.next_multiple_of(LINE as u64) - base) as u32 }
        };
        // The code matters most, then what else is not to be in a window, then the size.
        let forbidden = |from: u64, to: u64| {
            let inside = |area: &&NamedArea| area.first >= from && area.end() <= to && !may(area);
            let rank = |area: &NamedArea| if area.name == CODE { 2 } else { 1 };
            self.areas.iter().filter(inside).map(rank).max().unwrap_or(0)
        };
        let gap =
            |pair: &[&NamedArea]| (forbidden(pair[0].end(), pair[1].first), pair[1].first - pair[0].end());
        let split = wanted.windows(2).enumerate().max_by_key(|(index, pair)| (gap(pair), usize::MAX - index));
        match split.filter(|(_, pair)| gap(pair).1 > 0) {
            None => [window(first.first, last.end()), Window::default()],
            Some((_, pair)) => [window(first.first, pair[0].end()), window(pair[1].first, last.end())],
        }
    }
}

/// `1 byte`, `2 bytes`.
fn of_bytes(count: u64) -> String {
    format!("{count} byte{}", if count == 1 { "" } else { "s" })
}

impl<D: Device> Host<D> {
    /// What lies where, after [`Host::configure`]. The parts of `kernel` are told apart by what it
    /// may store to; verdicts are the core's own.
    #[must_use]
    pub fn memory_map(&self, kernel: &Kernel, stack_bytes_log2: u32) -> MemoryMap {
        let mut map = self.named_areas(stack_bytes_log2);
        let own = |first: u64| kernel.segments.iter().any(|segment| u64::from(segment.address) == first);
        map.areas.retain(|area| !own(area.first));
        map.add_kernel(kernel);
        map
    }

    /// What the host allocated of it, without the kernel.
    #[must_use]
    pub fn named_areas(&self, stack_bytes_log2: u32) -> MemoryMap {
        let local = self.info().local_window;
        let area = |(first, (name, bytes)): (&u64, &(String, u64))| NamedArea {
            name: name.clone(),
            first: *first,
            bytes: *bytes,
            reach: match name.as_str() {
                VERDICTS => Reach::Load,
                STACKS if local => Reach::Nothing,
                _ => Reach::Store,
            },
        };
        let areas = self.areas.iter().map(area).collect();
        MemoryMap { areas, local_stack: local.then_some(1 << stack_bytes_log2) }
    }

    /// Sets the windows so that kernels load from what is in `map` and store to what of it is
    /// writable. Two windows cannot always leave out all between the areas: see
    /// [`MemoryMap::windows`].
    ///
    /// # Errors
    /// A register does not answer.
    pub fn close_windows(&mut self, map: &MemoryMap) -> Result<(), CosimError> {
        self.set_windows(map.windows(false), map.windows(true))
    }

    /// Sets the windows of kernels so that they neither load from the addresses of `firmware` nor
    /// store there. Threads that the firmware starts on the cores are kept out too, unless it opens
    /// a window.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn keep_kernels_out(&mut self, firmware: &Firmware) -> Result<(), CosimError> {
        let (first, end) = firmware.extent();
        let others = [Window { base: 0, size: first }, Window { base: end, size: 0u32.wrapping_sub(end) }];
        self.set_windows(others, others)
    }

    /// Sets what kernels may load from and store to.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn set_windows(&mut self, read: [Window; 2], write: [Window; 2]) -> Result<(), CosimError> {
        for (kind, windows) in [("READ", read), ("WRITE", write)] {
            for (number, window) in windows.iter().enumerate() {
                self.write(&format!("{kind}_WINDOW_{number}_BASE"), window.base)?;
                self.write(&format!("{kind}_WINDOW_{number}_SIZE"), window.size)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(name: &str, first: u64, bytes: u64, writable: bool) -> NamedArea {
        let reach = if writable { Reach::Store } else { Reach::Load };
        NamedArea { name: name.to_string(), first, bytes, reach }
    }

    fn map() -> MemoryMap {
        MemoryMap {
            areas: vec![
                area("the kernel's code", 0x1000, 0x123, false),
                area("the kernel's data", 0x1140, 8, true),
                area("the packet ring", 0x1180, 0x1000, true),
                area(VERDICTS, 0x2180, 0x40, false),
                area(STACKS, 0x21c0, 0x800, true),
                area("the argument block", 0x29c0, 40, true),
            ],
            local_stack: None,
        }
    }

    #[test]
    fn addresses_are_told_by_the_area_that_is_near() {
        let mut map = map();
        for (address, told) in [
            (0, "the null address"),
            (0xfff, "1 byte before the kernel's code"),
            (0x1000, "byte 0 of the kernel's code"),
            (0x1130, "14 bytes behind the kernel's code"),
            (0x2180, "byte 0 of the verdicts"),
            (0x29e8, "1 byte behind the argument block"),
            (0xfffe_0004, "byte 4 of the scratchpad"),
            (0x8000_0000, "in no area of the run"),
            (0xfffc_fff0, "in no area of the run"),
        ] {
            assert_eq!(map.describe(address), told, "{address:#x}");
        }
        map.local_stack = Some(256);
        for (address, told) in [
            (0xfffc_fff0, "16 bytes below the stack of 256 bytes"),
            (0xfffd_0010, "byte 16 of the stack"),
            (0xfffd_0100, "1 byte above the stack of 256 bytes"),
        ] {
            assert_eq!(map.describe(address), told, "{address:#x}");
        }
    }

    #[test]
    fn windows_leave_out_what_is_not_to_be_touched() {
        let inside =
            |windows: [Window; 2], address: u32| windows.iter().any(|window| window.contains(address));
        let read = map().windows(false);
        assert!([0x1000, 0x1140, 0x2180, 0x29c0].iter().all(|address| inside(read, *address)));
        assert!(!inside(read, 0xfc0) && !inside(read, 0x2a00));
        let write = map().windows(true);
        assert!([0x1140, 0x1180, 0x217f, 0x21c0, 0x29c0].iter().all(|address| inside(write, *address)));
        assert!(!inside(write, 0x1122) && !inside(write, 0x2180), "neither code nor verdicts");
        // Stacks in the local window are in none.
        let mut local = map();
        local.areas[4].reach = Reach::Nothing;
        let (read, write) = (local.windows(false), local.windows(true));
        assert!(
            !inside(read, 0x21c0) && inside(read, 0x2180) && inside(read, 0x29c0) && !inside(write, 0x21c0)
        );
        assert_eq!(MemoryMap::default().windows(true), [Window::default(); 2]);
        // A kernel behind all else, with its code between its data and the ring
        let mut far = map();
        far.areas.remove(0);
        far.areas.push(area("the kernel's code", 0x10_0000, 64, false));
        far.areas.push(area("the kernel's data", 0x10_0040, 64, true));
        let write = far.windows(true);
        assert!(!inside(write, 0x10_0000) && inside(write, 0x10_0040) && inside(write, 0x29c0));
    }
}
