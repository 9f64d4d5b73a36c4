//! What a hart sees of memory.

use super::hart::Abilities;
use crate::iss::{Cause, Memory, MemoryImage};

/// From here on there is no shared memory.
pub const OUTSIDE: u32 = 0xfff0_0000;
/// The timer: `msip`, `mtimecmp`, `mtime`, placed as in a CLINT.
pub const TIMER_BASE: u32 = OUTSIDE;
/// The local memory.
pub const LOCAL_MEMORY: u32 = 0xfffe_0000;
/// Its bytes.
pub const LOCAL_BYTES: usize = 16 << 10;
/// The register file of the array.
pub const REGISTERS_BASE: u32 = 0xffff_e000;
/// The window of the network interface.
pub const WINDOW_BASE: u32 = 0xffff_c000;
/// `mtime` in the timer's area.
const TIME: u32 = 0xbff8;
/// Bytes of the timer's area, and of that of the registers and of the window.
const TIMER_BYTES: u32 = 0x1_0000;
const REGISTER_BYTES: u32 = 0x1000;

/// The registers of the array as a hart accesses them, and all else that instructions cannot know.
pub trait Registers {
    /// Reads the register at this offset; `None`: access fault.
    fn read(&mut self, hart: u32, offset: u32) -> Option<u32>;

    /// Writes the register at this offset; `false`: access fault.
    fn write(&mut self, hart: u32, offset: u32, value: u32) -> bool;

    /// The time in cycles.
    fn time(&mut self, timer: &Timer) -> u64 {
        timer.time
    }

    /// `mcycle` of a hart.
    fn cycle(&mut self, hart: u32) -> u64;

    /// Whether the external interrupt of a hart is pending.
    fn external(&mut self, hart: u32) -> bool;

    /// Busy slots of the thread spawner.
    fn spawn_busy(&mut self, hart: u32) -> u32;

    /// SIGNAL.RANGE: moves the descriptor page; `false`: refused.
    fn move_page(&mut self, hart: u32, base: u32) -> bool;
}

/// The timer and the software interrupts of all harts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timer {
    /// `msip` of each hart.
    pub software: [bool; 8],
    /// `mtimecmp` of each hart.
    pub compare: [u64; 8],
    /// `mtime`.
    pub time: u64,
}

impl Timer {
    /// Reads the word at `offset`; `None` if there is none.
    fn read(&self, offset: u32, harts: u32, time: u64) -> Option<u32> {
        let half = |value: u64| (value >> (8 * (offset & 4))) as u32;
        match offset {
            0x0000..=0x3fff if offset / 4 < harts => Some(self.software[(offset / 4) as usize].into()),
            0x4000..=0xbff7 if (offset - 0x4000) / 8 < harts => {
                Some(half(self.compare[((offset - 0x4000) / 8) as usize]))
            }
            0xbff8 | 0xbffc => Some(half(time)),
            _ => None,
        }
    }

    /// Writes the word at `offset`; `false` if there is none. `mtime` cannot be written.
    fn write(&mut self, offset: u32, harts: u32, value: u32) -> bool {
        let shift = 8 * (offset & 4);
        match offset {
            0x0000..=0x3fff if offset / 4 < harts => self.software[(offset / 4) as usize] = value & 1 != 0,
            0x4000..=0xbff7 if (offset - 0x4000) / 8 < harts => {
                let compare = &mut self.compare[((offset - 0x4000) / 8) as usize];
                *compare = *compare & !(0xffff_ffff << shift) | u64::from(value) << shift;
            }
            _ => return false,
        }
        true
    }
}

/// What all harts share.
pub struct Shared<R> {
    /// The shared memory.
    pub memory: MemoryImage,
    /// The local memory: [`LOCAL_BYTES`] bytes.
    pub local: Vec<u8>,
    /// The timer.
    pub timer: Timer,
    /// The registers of the array.
    pub registers: R,
    /// Harts that are there.
    pub harts: u32,
}

impl<R: Registers> Shared<R> {
    /// The shared memory with what is empty after reset.
    pub fn new(memory: MemoryImage, harts: u32, registers: R) -> Self {
        Self { memory, local: vec![0; LOCAL_BYTES], timer: Timer::default(), registers, harts }
    }

    /// `mip` of a hart.
    pub fn pending(&mut self, hart: u32) -> u32 {
        let index = hart as usize;
        let time = self.registers.time(&self.timer) >= self.timer.compare[index];
        u32::from(self.registers.external(hart)) << 11
            | u32::from(time) << 7
            | u32::from(self.timer.software[index]) << 3
    }
}

/// The memory as one hart sees it during one instruction.
pub(super) struct View<'a, R> {
    pub shared: &'a mut Shared<R>,
    pub hart: u32,
    pub abilities: &'a Abilities,
    /// Time, a register of the array or the window was read: instructions cannot know the value.
    pub volatile: bool,
}

impl<R: Registers> View<'_, R> {
    fn local(&mut self, address: u32, bytes: u32) -> Option<&mut [u8]> {
        let offset = address.checked_sub(LOCAL_MEMORY)? as usize;
        let there = self.abilities.devices;
        self.shared.local.get_mut(offset..offset + bytes as usize).filter(|_| there)
    }

    /// A word of a device; the offset in the registers or the timer.
    fn device(&mut self, address: u32, bytes: u32) -> Option<Device> {
        if !self.abilities.devices || bytes != 4 {
            return None;
        }
        let within = |base: u32, size: u32| address.checked_sub(base).filter(|offset| *offset < size);
        let device = within(TIMER_BASE, TIMER_BYTES).map(Device::Timer);
        let device = device.or_else(|| within(REGISTERS_BASE, REGISTER_BYTES).map(Device::Registers));
        let window = within(WINDOW_BASE, REGISTER_BYTES).filter(|_| self.abilities.window);
        device.or_else(|| window.map(Device::Window))
    }
}

enum Device {
    Timer(u32),
    Registers(u32),
    Window(u32),
}

impl<R: Registers> Memory for View<'_, R> {
    fn fetch(&mut self, address: u32) -> Result<u32, Cause> {
        if address >= OUTSIDE {
            return Err(Cause::InstructionAccess);
        }
        self.shared.memory.read_u32(address).map_err(|_| Cause::InstructionAccess)
    }

    fn load(&mut self, address: u32, bytes: u32) -> Result<u32, Cause> {
        let mut value = [0; 4];
        let target = &mut value[..bytes as usize];
        if address < OUTSIDE {
            self.shared.memory.read(address, target).map_err(|_| Cause::LoadAccess)?;
        } else if let Some(source) = self.local(address, bytes) {
            target.copy_from_slice(source);
        } else {
            let device = self.device(address, bytes).ok_or(Cause::LoadAccess)?;
            self.volatile = !matches!(device, Device::Timer(..TIME));
            let Shared { timer, registers, harts, .. } = &mut *self.shared;
            let read = match device {
                Device::Timer(offset) => timer.read(offset, *harts, registers.time(timer)),
                Device::Registers(offset) => registers.read(self.hart, offset),
                Device::Window(offset) => matches!(offset, 0x1c..=0x2c | 0x40..=0x7c).then_some(0),
            };
            return read.ok_or(Cause::LoadAccess);
        }
        Ok(u32::from_le_bytes(value))
    }

    fn store(&mut self, address: u32, bytes: u32, value: u32) -> Result<(), Cause> {
        let source = &value.to_le_bytes()[..bytes as usize];
        if address < OUTSIDE {
            self.shared.memory.write(address, source).map_err(|_| Cause::StoreAccess)?;
        } else if let Some(target) = self.local(address, bytes) {
            target.copy_from_slice(source);
        } else {
            let device = self.device(address, bytes).ok_or(Cause::StoreAccess)?;
            let Shared { timer, registers, harts, .. } = &mut *self.shared;
            let done = match device {
                Device::Timer(offset) => timer.write(offset, *harts, value),
                Device::Registers(offset) => registers.write(self.hart, offset, value),
                Device::Window(offset) => matches!(offset, 0x04 | 0x40..=0x7c),
            };
            return if done { Ok(()) } else { Err(Cause::StoreAccess) };
        }
        Ok(())
    }

    // Devices and local memory have no atomic operations.
    fn load_reserved(&mut self, address: u32) -> Result<u32, Cause> {
        if address >= OUTSIDE {
            return Err(Cause::LoadAccess);
        }
        self.load(address, 4)
    }

    fn exchange(&mut self, address: u32, change: impl FnOnce(u32) -> Option<u32>) -> Result<u32, Cause> {
        if address >= OUTSIDE {
            return Err(Cause::StoreAccess);
        }
        let old = self.load(address, 4).map_err(|_| Cause::StoreAccess)?;
        if let Some(new) = change(old) {
            self.store(address, 4, new)?;
        }
        Ok(old)
    }
}
