"""What a host needs to know of the array: registers, memory, kernels."""

import json
import struct
from itertools import chain

from elftools.elf.elffile import ELFFile

FRAME_OFFSET = 18  # bytes of a slot before the Ethernet header (docs/kernels.md)
CONTROL_RUN = 1
L2_CLEAN_AND_INVALIDATE = 2
INVALIDATE_ALL = 3
LINE = 64


class Registers:
    """The registers of the array by name, over an AXI4-Lite master of cocotbext-axi."""

    def __init__(self, master, manifest):
        self.master = master
        entries = json.load(manifest)["registers"]
        self.offsets = {entry["name"]: entry["offset"] for entry in entries}
        self.reset_values = {entry["name"]: entry["reset"] for entry in entries if entry["reset"] is not None}

    async def write(self, name, value):
        await self.master.write_dword(self.offsets[name], value & 0xFFFFFFFF)

    async def read(self, name):
        return await self.master.read_dword(self.offsets[name])

    async def wait(self, name, condition, tries=10_000):
        """Reads a register until `condition` holds of it."""
        for _ in range(tries):
            value = await self.read(name)
            if condition(value):
                return value
        raise TimeoutError(f"{name} is {value:#x} after {tries} reads")


def entry_of(elf):
    """The address of `kernel`: of a global symbol, or of a local one that is alone."""
    symbols = elf.get_section_by_name(".symtab").get_symbol_by_name("kernel") or []
    symbols = [symbol for symbol in symbols if symbol["st_info"]["bind"] != "STB_LOCAL"] or symbols
    addresses = {symbol["st_value"] for symbol in symbols}
    assert len(addresses) == 1, f"expected one symbol `kernel`, found {len(addresses)}"
    return addresses.pop()


class Array:
    """An array with its memory: `ram` has `write(address, bytes)` and `read(address, length)`."""

    RING, VERDICTS, STACKS, ARGUMENT = 0x10_0000, 0x8_0000, 0x9_0000, 0xC_0000
    SLOTS_LOG2, SLOT_BYTES_LOG2 = 4, 8

    def __init__(self, registers, ram):
        self.registers, self.ram = registers, ram
        self.pushed = 0

    async def bring_up(self, kernel):
        """Loads the kernel in the ELF file `kernel` and sets everything up; the array does not run yet."""
        registers = self.registers
        assert await registers.read("ID") == 0x4845524D, "no Hermes array"
        config = await registers.read("CONFIG")
        lanes, cores = config & 0xFF, config >> 8 & 0xFF
        stacks = 32 * lanes * cores << 8
        assert self.STACKS + stacks <= self.ARGUMENT, f"the stacks take {stacks} bytes: place them elsewhere"
        with open(kernel, "rb") as file:
            elf = ELFFile(file)
            for segment in elf.iter_segments("PT_LOAD"):
                bytes_ = segment.data().ljust(segment["p_memsz"], b"\0")
                # Where the program runs: nothing moves its parts.
                self.ram.write(segment["p_vaddr"], bytes_)
            entry = entry_of(elf)
            small = elf.header["e_flags"] & 8 != 0  # RV32E: 16 registers
        await registers.write("INVALIDATE", INVALIDATE_ALL)
        for name, value in [
            ("RING_BASE", self.RING),
            ("RING_SLOTS_LOG2", self.SLOTS_LOG2),
            ("SLOT_BYTES_LOG2", self.SLOT_BYTES_LOG2),
            ("VERDICT_BASE", self.VERDICTS),
            ("KERNEL_ENTRY", entry),
            ("KERNEL_CLASS", int(small)),
            ("ARGUMENT", self.ARGUMENT),
            ("STACK_BASE", self.STACKS),
            ("STACK_BYTES_LOG2", 8),
            ("MCW", 4),
            ("TIMEOUT", 64),
        ]:
            await registers.write(name, value)

    def slot(self, number):
        return self.RING + ((number % (1 << self.SLOTS_LOG2)) << self.SLOT_BYTES_LOG2)

    async def process(self, frames):
        """Runs up to a ring full of frames; gives (frame, verdict) of each."""
        registers = self.registers
        first = self.pushed
        for number, frame in enumerate(frames, first):
            descriptor = struct.pack("<IIHHI2x", len(frame), 0, 0, 0, 0)
            self.ram.write(self.slot(number), descriptor + frame)
        # The slots may stand in the caches from the packets before.
        await registers.write("INVALIDATE", INVALIDATE_ALL)
        await registers.write("TASK_PUSH", len(frames))
        self.pushed += len(frames)
        await registers.wait("COMMITTED_PACKETS", lambda count: count == self.pushed)
        # Packets and verdicts are in the L2 until it is cleaned.
        await registers.write("L2_MAINTENANCE", L2_CLEAN_AND_INVALIDATE)
        await registers.wait("L2_MAINTENANCE", lambda busy: busy & 1 == 0)
        return [self.result(number) for number in range(first, self.pushed)]

    def result(self, number):
        """What the kernel left of a packet."""
        slot, index = self.slot(number), number % (1 << self.SLOTS_LOG2)
        length = struct.unpack("<I", self.ram.read(slot, 4))[0]
        verdict = struct.unpack("<I", self.ram.read(self.VERDICTS + 4 * index, 4))[0]
        return self.ram.read(slot + FRAME_OFFSET, length), verdict


def batches(frames, size):
    """`frames` in lists of `size` at most."""
    return [list(frames[first : first + size]) for first in range(0, len(frames), size)]


def flatten(lists):
    return list(chain.from_iterable(lists))
