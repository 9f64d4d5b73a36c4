//! What a hart sees of memory, and protection.

use hermes_rtl::config::{LOCAL_REGION_ADDRESS, LOCAL_WINDOW_ADDRESS};

use super::hart::Cause;
use super::image::MemoryImage;

pub use hermes_rtl::config::SCRATCHPAD_ADDRESS as SCRATCHPAD_BASE;
pub use hermes_rtl::memory::SCRATCHPAD_BYTES;

/// Memory as a hart sees it. Addresses of loads and stores are aligned to their size.
pub trait Memory {
    /// The instruction word at `address`, a multiple of 4.
    ///
    /// # Errors
    /// [`Cause::InstructionAccess`].
    fn fetch(&mut self, address: u32) -> Result<u32, Cause>;

    /// `bytes` (1, 2 or 4) from `address`, in the low bits of the result.
    ///
    /// # Errors
    /// [`Cause::LoadAccess`].
    fn load(&mut self, address: u32, bytes: u32) -> Result<u32, Cause>;

    /// Stores the low `bytes` (1, 2 or 4) of `value` at `address`.
    ///
    /// # Errors
    /// [`Cause::StoreAccess`].
    fn store(&mut self, address: u32, bytes: u32, value: u32) -> Result<(), Cause>;

    /// The word at `address`, for `lr.w`.
    ///
    /// # Errors
    /// [`Cause::LoadAccess`], also where there are no atomic operations.
    fn load_reserved(&mut self, address: u32) -> Result<u32, Cause>;

    /// Puts what `change` makes of the word at `address` in its place, if it makes anything; gives
    /// the word that was there.
    ///
    /// # Errors
    /// [`Cause::StoreAccess`], also where there are no atomic operations, or where loads are not
    /// allowed.
    fn exchange(&mut self, address: u32, change: impl FnOnce(u32) -> Option<u32>) -> Result<u32, Cause>;
}

/// A part of the address space that a kernel may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// First byte; a multiple of 64.
    pub base: u32,
    /// Bytes, a multiple of 64; 0: closed.
    pub size: u32,
}

impl Window {
    /// Whether `address` is inside.
    pub const fn contains(&self, address: u32) -> bool {
        address.wrapping_sub(self.base) < self.size && address >= self.base
    }
}

/// What a kernel's loads and stores may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Everything: arrays without windows.
    Off,
    /// Loads inside one of the read windows, stores inside one of the write windows.
    Windows {
        /// Where loads are allowed.
        read: [Window; 2],
        /// Where stores are allowed.
        write: [Window; 2],
    },
}

impl Protection {
    /// Whether a load from `address` is allowed.
    pub fn allows_load(&self, address: u32) -> bool {
        match self {
            Self::Off => true,
            Self::Windows { read, .. } => read.iter().any(|window| window.contains(address)),
        }
    }

    /// Whether a store to `address` is allowed.
    pub fn allows_store(&self, address: u32) -> bool {
        match self {
            Self::Off => true,
            Self::Windows { write, .. } => write.iter().any(|window| window.contains(address)),
        }
    }
}

/// The stack of a thread in the local window: its words lie between those of the other lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalStack {
    /// Bytes of a stack, as a power of two.
    pub bytes_log2: u32,
    /// Lanes of the core.
    pub lanes: u32,
    /// First byte of the stacks of the warp.
    pub warp_base: u32,
    /// Lane of the thread.
    pub lane: u32,
}

impl LocalStack {
    /// The addresses that belong to stacks: beside its own stack a thread reaches nothing there.
    pub const REGION: Window =
        Window { base: LOCAL_REGION_ADDRESS, size: SCRATCHPAD_BASE - LOCAL_REGION_ADDRESS };

    /// Where `address` is in memory, if it is on the stack.
    pub const fn place(&self, address: u32) -> Option<u32> {
        let offset = address.wrapping_sub(LOCAL_WINDOW_ADDRESS);
        if offset >> self.bytes_log2 != 0 {
            return None;
        }
        let word = offset / 4 * self.lanes + self.lane;
        Some(self.warp_base.wrapping_add(4 * word + offset % 4))
    }
}

/// The shared memory and the scratchpad of a core, behind a kernel's protection. A load from an
/// address without memory gives 0, a store to one is lost: only the bus tells, and no thread faults
/// by it.
pub struct CoreMemory<'a> {
    /// The shared memory.
    pub shared: &'a mut MemoryImage,
    /// The core's scratchpad, if it has one: [`SCRATCHPAD_BYTES`] bytes.
    pub scratchpad: Option<&'a mut [u8]>,
    /// The windows of the kernel.
    pub protection: &'a Protection,
    /// The stack of the thread that accesses memory, if it is in the local window.
    pub local: Option<LocalStack>,
}

impl CoreMemory<'_> {
    /// Where `address` is in the shared memory, if the thread may access it: on its stack in the
    /// local window, or where the windows allow it.
    fn reach(&self, address: u32, allows: fn(&Protection, u32) -> bool) -> Option<u32> {
        match self.local {
            Some(stack) if LocalStack::REGION.contains(address) => stack.place(address),
            _ => allows(self.protection, address).then_some(address),
        }
    }

    /// The bytes of the scratchpad at `address`, if it is there.
    fn scratchpad(&mut self, address: u32, bytes: u32) -> Option<&mut [u8]> {
        let offset = address.checked_sub(SCRATCHPAD_BASE)? as usize;
        self.scratchpad.as_deref_mut()?.get_mut(offset..offset + bytes as usize)
    }
}

impl Memory for CoreMemory<'_> {
    fn fetch(&mut self, address: u32) -> Result<u32, Cause> {
        self.shared.read_u32(address).map_err(|_| Cause::InstructionAccess)
    }

    fn load(&mut self, address: u32, bytes: u32) -> Result<u32, Cause> {
        let mut value = [0; 4];
        let target = &mut value[..bytes as usize];
        if let Some(source) = self.scratchpad(address, bytes) {
            target.copy_from_slice(source);
            return Ok(u32::from_le_bytes(value));
        }
        let address = self.reach(address, Protection::allows_load).ok_or(Cause::LoadAccess)?;
        if self.shared.contains(address, bytes as usize) {
            self.shared.read(address, target).map_err(|_| Cause::LoadAccess)?;
        }
        Ok(u32::from_le_bytes(value))
    }

    fn store(&mut self, address: u32, bytes: u32, value: u32) -> Result<(), Cause> {
        let value = &value.to_le_bytes()[..bytes as usize];
        if let Some(target) = self.scratchpad(address, bytes) {
            target.copy_from_slice(value);
            return Ok(());
        }
        let address = self.reach(address, Protection::allows_store).ok_or(Cause::StoreAccess)?;
        if self.shared.contains(address, bytes as usize) {
            self.shared.write(address, value).map_err(|_| Cause::StoreAccess)?;
        }
        Ok(())
    }

    // The scratchpad has no atomic operations.
    fn load_reserved(&mut self, address: u32) -> Result<u32, Cause> {
        match self.scratchpad(address, 4) {
            Some(_) => Err(Cause::LoadAccess),
            None => self.load(address, 4),
        }
    }

    fn exchange(&mut self, address: u32, change: impl FnOnce(u32) -> Option<u32>) -> Result<u32, Cause> {
        if self.scratchpad(address, 4).is_some() || self.reach(address, Protection::allows_store).is_none() {
            return Err(Cause::StoreAccess);
        }
        let old = self.load(address, 4).map_err(|_| Cause::StoreAccess)?;
        if let Some(new) = change(old) {
            self.store(address, 4, new)?;
        }
        Ok(old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_half_open() {
        let window = Window { base: 0x1000, size: 64 };
        assert!(!window.contains(0xfff) && window.contains(0x1000));
        assert!(window.contains(0x103f) && !window.contains(0x1040));
        assert!(!Window::default().contains(0));
        let top = Window { base: 0xffff_ffc0, size: 64 };
        assert!(top.contains(0xffff_ffff) && !top.contains(0));
    }

    #[test]
    fn protection_and_scratchpad() {
        let mut shared = MemoryImage::new(1 << 16);
        let mut pad = vec![0; SCRATCHPAD_BYTES];
        let window = Window { base: 0x400, size: 128 };
        let protection =
            Protection::Windows { read: [window, Window::default()], write: [Window::default(); 2] };
        let mut memory = CoreMemory {
            shared: &mut shared,
            scratchpad: Some(&mut pad),
            protection: &protection,
            local: None,
        };
        assert_eq!(memory.load(0x400, 4), Ok(0));
        assert_eq!(memory.load(0x3fc, 4), Err(Cause::LoadAccess));
        assert_eq!(memory.store(0x400, 4, 1), Err(Cause::StoreAccess));
        memory.store(0xfffe_3ffe, 2, 0xabcd_1234).unwrap();
        assert_eq!(memory.load(0xfffe_3ffc, 4), Ok(0x1234_0000));
        assert_eq!(memory.load(0xfffe_4000, 4), Err(Cause::LoadAccess));
        assert_eq!(memory.fetch(0x8000), Ok(0));
        assert_eq!(memory.fetch(0x1_0000), Err(Cause::InstructionAccess));
        // Atomic operations: neither in the scratchpad nor where only loads are allowed.
        assert_eq!(memory.load_reserved(0x400), Ok(0));
        assert_eq!(memory.load_reserved(0xfffe_0000), Err(Cause::LoadAccess));
        assert_eq!(memory.exchange(0x400, Some), Err(Cause::StoreAccess));
        assert_eq!(memory.exchange(0xfffe_0000, Some), Err(Cause::StoreAccess));
        memory.scratchpad = None;
        assert_eq!(memory.load(0xfffe_0000, 1), Err(Cause::LoadAccess));
    }

    #[test]
    fn a_thread_reaches_its_stack_alone() {
        let mut shared = MemoryImage::new(1 << 16);
        let closed = Protection::Windows { read: [Window::default(); 2], write: [Window::default(); 2] };
        for protection in [Protection::Off, closed] {
            let mut memory =
                CoreMemory { shared: &mut shared, scratchpad: None, protection: &protection, local: None };
            for lane in 0..4 {
                memory.local = Some(LocalStack { bytes_log2: 8, lanes: 4, warp_base: 0x1000, lane });
                memory.store(0xfffd_0004, 4, 0x0101_0101 * (lane + 1)).unwrap();
                memory.store(0xfffd_00ff, 1, lane).unwrap();
                assert_eq!(memory.exchange(0xfffd_0008, |old| Some(old + 1)), Ok(0));
                for beyond in [0xfffc_0000, 0xfffc_fffc, 0xfffd_0100, 0xfffd_fffc] {
                    assert_eq!(memory.load(beyond, 4), Err(Cause::LoadAccess));
                    assert_eq!(memory.store(beyond, 4, 0), Err(Cause::StoreAccess));
                    assert_eq!(memory.exchange(beyond, Some), Err(Cause::StoreAccess));
                }
            }
            assert_eq!(memory.load(0xfffd_0004, 4), Ok(0x0404_0404));
            memory.exchange(0xfffd_0008, |_| Some(0)).unwrap();
            for lane in 0..4 {
                let word = memory.shared.read_u32(0x1010 + 4 * lane).unwrap();
                assert_eq!(word, 0x0101_0101 * (lane + 1));
                let mut byte = [0];
                memory.shared.read(0x1000 + 63 * 16 + 4 * lane + 3, &mut byte).unwrap();
                assert_eq!(u32::from(byte[0]), lane);
                memory.shared.write(0x1020 + 4 * lane, &[0; 4]).unwrap();
            }
        }
    }
}
