//! The register map: one table, from which the decode logic, the documentation, the C header and the
//! host model take their addresses.

use crate::prelude::{Bits, Constant, Register};

/// How the host may use a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Keeps what the host wrote.
    ReadWrite,
    /// Shows a value of the hardware; writes are ignored.
    ReadOnly,
    /// A write is an event for the hardware; reads give zero.
    WriteOnly,
    /// A write is an event for the hardware; reads show a value of the hardware.
    Command,
}

/// One 32-bit register.
#[derive(Clone, Copy, Debug)]
pub struct RegisterSpec {
    /// Name in upper case, as in the C header.
    pub name: &'static str,
    /// Byte offset from the base of the register file.
    pub offset: u32,
    /// How the host may use it.
    pub access: Access,
    /// Implemented bits, counted from bit 0; the bits above read as zero.
    pub bits: usize,
    /// Value after reset (read/write registers).
    pub reset: u32,
    /// What it is, with units.
    pub description: &'static str,
}

const fn register(
    name: &'static str,
    offset: u32,
    access: Access,
    bits: usize,
    reset: u32,
    description: &'static str,
) -> RegisterSpec {
    RegisterSpec { name, offset, access, bits, reset, description }
}

use Access::{Command as CMD, ReadOnly as RO, ReadWrite as RW, WriteOnly as WO};

/// Value of the ID register: "HERM".
pub const ID: u32 = 0x4845_524d;
/// Value of the VERSION register: major in the upper half, minor in the lower.
pub const VERSION: u32 = 0x0001_0001;

/// Every register, in the order of the offsets.
pub const REGISTERS: &[RegisterSpec] = &[
    register("ID", 0x000, RO, 32, 0, "Identification: 0x4845524d (HERM)"),
    register("VERSION", 0x004, RO, 32, 0, "Major version in bits 31:16, minor in bits 15:0"),
    register("CONFIG", 0x008, RO, 32, 0, "Lanes in bits 7:0, cores in bits 15:8, warp slots per core in bits 23:16; bit 24: the array has packet ports"),
    register("CONTROL", 0x00c, RW, 2, 0, "Bit 0: run (warps are formed and issued). Bit 1: eager (a partial warp is formed at once when a warp slot is idle)"),
    register("RING_BASE", 0x010, RW, 32, 0, "Address of the packet ring in bytes, 64-byte aligned"),
    register("RING_SLOTS_LOG2", 0x014, RW, 5, 10, "Slots of the packet ring, as a power of two"),
    register("SLOT_BYTES_LOG2", 0x018, RW, 5, 11, "Bytes of a ring slot, as a power of two; at least 7 (128 bytes)"),
    register("VERDICT_BASE", 0x01c, RW, 32, 0, "Address of the verdict array in bytes: one word for each ring slot"),
    register("KERNEL_ENTRY", 0x020, RW, 32, 0, "Address of the kernel's first instruction"),
    register("ARGUMENT", 0x024, RW, 32, 0, "Address of the kernel's argument block: a2 of every thread"),
    register("STACK_BASE", 0x028, RW, 32, 0, "Address of the stack area in bytes"),
    register("STACK_BYTES_LOG2", 0x02c, RW, 5, 8, "Stack bytes of one thread, as a power of two"),
    register("MCW", 0x030, RW, 6, 4, "Maximally allowed concurrent warps per core; it may change between warps"),
    register("TIMEOUT", 0x034, RW, 32, 256, "Cycles that the oldest waiting packet waits for a full warp before a partial warp is formed"),
    register("KERNEL_CLASS", 0x038, RW, 1, 0, "Registers of the kernel: 0 = 32 (at most 16 warps a core), 1 = 16 (RV32E, at most 32 warps a core)"),
    register("INVALIDATE", 0x03c, WO, 2, 0, "Writing 1 to bit 0 drops every line of the instruction caches, to bit 1 every line of the L1 data caches; write 3 after loading a kernel"),
    register("TASK_PUSH", 0x040, WO, 32, 0, "Pushes a number of ready packets to the task FIFO. If the FIFO is full the write answers SLVERR at once and pushes nothing; what is answered with OKAY is never lost"),
    register("TASK_LEVEL", 0x044, RO, 11, 0, "Entries in the task FIFO"),
    register("PENDING", 0x048, RO, 32, 0, "Packets in the warp former that wait for a warp"),
    register("ISSUED_WARPS", 0x04c, RO, 32, 0, "Warps issued since reset, modulo 2^32"),
    register("COMMITTED_WARPS", 0x050, RO, 32, 0, "Warps committed since reset, modulo 2^32"),
    register("COMMITTED_PACKETS", 0x054, RO, 32, 0, "Packets committed since reset, modulo 2^32: all packets with a lower packetIdx have their verdict in memory"),
    register("FAULTS", 0x058, RO, 32, 0, "Threads ended by a fault since reset, modulo 2^32"),
    register("BUS_ERRORS", 0x05c, RO, 32, 0, "AXI4 responses other than OKAY since reset, modulo 2^32"),
    register("FAULT_LEVEL", 0x060, RO, 32, 0, "Records in the fault FIFO in bits 15:0; records that it could not hold, modulo 2^16, in bits 31:16"),
    register("FAULT_INFO", 0x064, RO, 32, 0, "Oldest fault record: cause (RISC-V privileged specification; 24: the watchdog) in bits 7:0, core in bits 12:8, warp slot in bits 20:16, faulting threads of the warp in bits 29:24"),
    register("FAULT_PC", 0x068, RO, 32, 0, "Oldest fault record: address of the instruction"),
    register("FAULT_ADDRESS", 0x06c, RO, 32, 0, "Oldest fault record: the value that RISC-V writes to mtval for this cause, of the lowest faulting lane"),
    register("FAULT_PACKET", 0x070, RO, 32, 0, "Oldest fault record: packetIdx of the lowest faulting lane"),
    register("FAULT_POP", 0x074, WO, 1, 0, "Writing 1 removes the oldest fault record"),
    register("L2_MAINTENANCE", 0x078, CMD, 2, 0, "Writing 1 to bit 0 writes all changed lines of the L2 to memory, to bit 1 also drops all its lines; bit 0 reads as 1 until the last write is acknowledged"),
    register("WATCHDOG", 0x07c, RW, 31, 0, "Cycles that a warp may be on a core; 0: any number. The lanes of a warp that has been there for longer end with fault 24, at the next instruction that each of them would execute. It holds for warps that run already too"),
    register("CYCLE_LOW", 0x080, RO, 32, 0, "Cycles since reset, bits 31:0; reading it latches CYCLE_HIGH"),
    register("CYCLE_HIGH", 0x084, RO, 32, 0, "Cycles since reset, bits 63:32, as of the last read of CYCLE_LOW"),
    register("CORE_SELECT", 0x088, RW, 5, 0, "Core whose counters stand in the CORE_ registers"),
    register("TASK_ROOM", 0x08c, RO, 11, 0, "Writes to TASK_PUSH that the task FIFO has room for: so many are answered with OKAY, if no frames enter through the packet ports meanwhile"),
    register("CORE_INSTRUCTIONS", 0x090, RO, 32, 0, "Warp-instructions retired, modulo 2^32"),
    register("CORE_LANE_INSTRUCTIONS", 0x094, RO, 32, 0, "Lane-instructions retired (active lanes summed over the warp-instructions), modulo 2^32"),
    register("CORE_ACTIVE_CYCLES", 0x098, RO, 32, 0, "Cycles with at least one warp on the core, modulo 2^32"),
    register("CORE_STALL_CYCLES", 0x09c, RO, 32, 0, "Cycles with a warp on the core in which stage X took no instruction, modulo 2^32: the sum of the CORE_LOST registers and of the cycles in which ended warps waited for their finish to be taken"),
    register("CORE_DIVERGENT", 0x0a0, RO, 32, 0, "Warp-instructions retired while some lanes of the warp waited at another PC, modulo 2^32"),
    register("CORE_FETCH_MISSES", 0x0a4, RO, 32, 0, "Instruction cache line fills, modulo 2^32"),
    register("CORE_LINE_READS", 0x0a8, RO, 32, 0, "Data lines read, modulo 2^32"),
    register("CORE_LINE_WRITES", 0x0ac, RO, 32, 0, "Data lines written, modulo 2^32"),
    register("CORE_LOST_MEMORY", 0x0b0, RO, 32, 0, "Cycles with a warp on the core lost because loads, stores or divisions had to complete, modulo 2^32"),
    register("CORE_LOST_FETCH", 0x0b4, RO, 32, 0, "Cycles with a warp on the core lost because instructions were not in the cache, modulo 2^32"),
    register("CORE_LOST_DIVERGENCE", 0x0b8, RO, 32, 0, "Cycles with a warp on the core lost because warps waited for a branch, a jump or path selection, modulo 2^32"),
    register("CORE_LOST_SCOREBOARD", 0x0bc, RO, 32, 0, "Cycles with a warp on the core lost because an instruction was blocked by a hazard and fetched again, modulo 2^32"),
    register("CORE_LOST_CONFLICT", 0x0c0, RO, 32, 0, "Cycles with a warp on the core lost because the pipeline stood still for the register port, the load/store unit, the fault collector or path selection, modulo 2^32"),
    register("CORE_L2_READ_HITS", 0x0c4, RO, 32, 0, "Lines read (data and instructions) that the L2 had, modulo 2^32"),
    register("CORE_L2_READ_MISSES", 0x0c8, RO, 32, 0, "Lines read (data and instructions) that came from memory, modulo 2^32"),
    register("CORE_L2_WRITES", 0x0cc, RO, 32, 0, "Lines written to the L2, wholly or in part, and atomic operations, modulo 2^32"),
    register("MEMORY_LINES_READ", 0x0d0, RO, 32, 0, "Lines read from memory through all AXI4 channels, modulo 2^32"),
    register("MEMORY_LINES_WRITTEN", 0x0d4, RO, 32, 0, "Lines written to memory through all AXI4 channels, wholly or in part, modulo 2^32"),
    register("READ_WINDOW_0_BASE", 0x100, RW, 32, 0, "First byte of a window that kernels may load from, 64-byte aligned"),
    register("READ_WINDOW_0_SIZE", 0x104, RW, 32, 0xffff_ffc0, "Bytes of this window, a multiple of 64; 0 = closed. An access outside all windows is a fault"),
    register("READ_WINDOW_1_BASE", 0x108, RW, 32, 0, "First byte of a window that kernels may load from, 64-byte aligned"),
    register("READ_WINDOW_1_SIZE", 0x10c, RW, 32, 0, "Bytes of this window, a multiple of 64; 0 = closed. An access outside all windows is a fault"),
    register("WRITE_WINDOW_0_BASE", 0x110, RW, 32, 0, "First byte of a window that kernels may store to, 64-byte aligned"),
    register("WRITE_WINDOW_0_SIZE", 0x114, RW, 32, 0xffff_ffc0, "Bytes of this window, a multiple of 64; 0 = closed. An access outside all windows is a fault"),
    register("WRITE_WINDOW_1_BASE", 0x118, RW, 32, 0, "First byte of a window that kernels may store to, 64-byte aligned"),
    register("WRITE_WINDOW_1_SIZE", 0x11c, RW, 32, 0, "Bytes of this window, a multiple of 64; 0 = closed. An access outside all windows is a fault"),
    register("PORTS", 0x200, RW, 1, 0, "Bit 0: the packet ports, if the array has them, take and send frames. Set it when the host's packets are committed, clear it when PORTS_BUSY is 0; while it is set the host pushes no packets. RING_SLOTS_LOG2 must be at least 1 and VERDICT_BASE a multiple of 64"),
    register("PORTS_BUSY", 0x204, RO, 1, 0, "1: packets are in flight, from the first byte of a frame (or the host's push) until the slot is free and the frame has left"),
    register("PORTS_FRAMES_IN", 0x208, RO, 32, 0, "Frames that entered and took a slot, modulo 2^32"),
    register("PORTS_BYTES_IN", 0x20c, RO, 32, 0, "Bytes of these frames in their slots, modulo 2^32"),
    register("PORTS_DROPPED_IN", 0x210, RO, 32, 0, "Frames that were malformed or marked as damaged and took no slot, modulo 2^32"),
    register("PORTS_CUT_IN", 0x214, RO, 32, 0, "Frames that were cut to what a slot holds, modulo 2^32"),
    register("PORTS_FRAMES_OUT", 0x218, RO, 32, 0, "Frames that left, modulo 2^32"),
    register("PORTS_BYTES_OUT", 0x21c, RO, 32, 0, "Bytes of these frames, modulo 2^32"),
    register("PORTS_NOT_SENT", 0x220, RO, 32, 0, "Packets whose verdict was drop or fault, modulo 2^32"),
    register("PORTS_LENGTH_ERRORS", 0x224, RO, 32, 0, "Packets to be sent whose descriptor had a length of 0 (not sent) or above what a slot holds (cut to that), modulo 2^32"),
    register("PORTS_READ_ERRORS", 0x228, RO, 32, 0, "Lines that the packet ports could not read, modulo 2^32"),
];

/// Address bits of the register file.
pub const ADDRESS_BITS: usize = 12;

/// The register called `name`.
///
/// # Panics
/// If the table has no such register: names in the code are written by us, not by users.
pub fn spec(name: &str) -> &'static RegisterSpec {
    REGISTERS.iter().find(|r| r.name == name).unwrap_or_else(|| panic!("no register is called {name}"))
}

/// Byte offset of the register called `name`.
///
/// # Panics
/// As [`spec`].
pub fn offset(name: &str) -> u32 {
    spec(name).offset
}

/// The register map as a page for users: `docs/registers.md`.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Register map\n\n\
         Generated from the table in `rtl/src/host/registers.rs`; see the test there for how to renew it.\n\n\
         The registers stand behind the AXI4-Lite port `s_axil_*`: 12-bit byte address, 32-bit data. Offsets that are\n\
         not in the table answer SLVERR and read as zero. A write to TASK_PUSH that finds no room answers SLVERR too. No\n\
         access waits for more than a few cycles. Write strobes are honoured: bytes whose strobe is low keep their value,\n\
         and count as zero for registers that are written only. Writes to read-only registers have no effect. Bits above\n\
         those given read as zero.\n\n\
         RW: read and write. RO: read only. WO: a write is an event, reads give zero. CMD: a write is an event, reads show\n\
         a state.\n\n\
         | offset | name | access | bits | reset | description |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for r in REGISTERS {
        let (access, reset) = match r.access {
            Access::ReadWrite => ("RW", format!("{:#x}", r.reset)),
            Access::ReadOnly => ("RO", String::new()),
            Access::WriteOnly => ("WO", String::new()),
            Access::Command => ("CMD", String::new()),
        };
        let bits = match r.bits {
            1 => "0".to_string(),
            bits => format!("{}:0", bits - 1),
        };
        let row = [&format!("{:#05x}", r.offset), r.name, access, &bits, &reset, r.description];
        page += &format!("| {} |\n", row.join(" | "));
    }
    page
}

/// The offset of the register called `name` as a constant of the decode logic, which takes it for `bits`
/// bits wide.
///
/// # Panics
/// As [`spec`], or if the register has another width.
pub(crate) fn address_of(name: &str, bits: usize) -> Constant<Bits<ADDRESS_BITS>> {
    let register = spec(name);
    assert_eq!(register.bits, bits, "{name} has {} bits, not {bits}", register.bits);
    Constant::new(u64::from(register.offset).into())
}

/// The storage of the register called `name`, with its reset value.
///
/// # Panics
/// As [`spec`].
pub(crate) fn reset_of<const N: usize>(name: &str) -> Register<Bits<N>> {
    Register::new(u64::from(spec(name).reset).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_rise_and_are_words() {
        for pair in REGISTERS.windows(2) {
            assert!(pair[0].offset < pair[1].offset, "{} and {}", pair[0].name, pair[1].name);
        }
        for r in REGISTERS {
            assert!(r.offset % 4 == 0 && r.offset < 1 << ADDRESS_BITS, "{}", r.name);
            assert!((1..=32).contains(&r.bits), "{}", r.name);
        }
    }

    /// To renew the page after a change of the table: `HERMES_UPDATE=1 cargo test -p hermes-rtl registers`.
    #[test]
    fn the_page_in_docs_follows_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/registers.md");
        if std::env::var_os("HERMES_UPDATE").is_some() {
            std::fs::write(path, markdown()).unwrap();
        }
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert!(page == markdown(), "docs/registers.md is not up to date; renew it with HERMES_UPDATE=1");
    }
}
