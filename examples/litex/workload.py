"""Kernel and packets of the simulation, as a C header for host.c."""

import struct
import subprocess
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

EXAMPLES = Path(__file__).resolve().parent.parent
sys.path.append(str(EXAMPLES / "golden"))
from dec_ttl import process  # noqa: E402

RV32E = 8  # flag of an ELF file: 16 registers


def write_packets(hermes, folder, packets, kind, seed):
    """Builds the kernel dec-ttl, makes packets, writes `packets.h` into the folder.

    `hermes` is the command, `kind` what `hermes gen-trace --kind` takes. Every second packet has a
    bad header; dec-ttl does not look at all that may be bad. What the kernel must leave of each
    packet is from the golden model in Python.
    """
    kernel, capture = folder / "dec-ttl.elf", folder / "in.pcap"
    source = EXAMPLES.parent / "kernels-asm" / "c" / "dec-ttl.c"
    subprocess.run([hermes, "kernel", "build", source, "-o", kernel, "--rv32e"], check=True)
    subprocess.run([hermes, "gen-trace", "--kind", kind, "--packets", str(packets), "--bad-share", "50",
                    "--seed", str(seed), "-o", capture], check=True)
    lines = ["/* Written by workload.py: the kernel, the packets, and what the array must leave of them. */",
             "#include <stdint.h>", ""]
    lines += _kernel(kernel) + _packets(frames(capture))
    (folder / "packets.h").write_text("\n".join(lines) + "\n")


def frames(capture):
    """The frames of a capture that hermes wrote: pcap, little-endian."""
    data = capture.read_bytes()
    found, at = [], 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        found.append(data[at + 16 : at + 16 + length])
        at += 16 + length
    return found


def _bytes(name, data):
    rows = [", ".join(f"{byte:#04x}" for byte in data[at : at + 16]) for at in range(0, len(data), 16)]
    return [f"static const uint8_t {name}[] = {{", *(f"    {row}," for row in rows), "};"]


def _kernel(path):
    lines, entries = [], []
    with open(path, "rb") as file:
        elf = ELFFile(file)
        for number, segment in enumerate(elf.iter_segments("PT_LOAD")):
            data = segment.data().ljust(segment["p_memsz"], b"\0")
            lines += _bytes(f"segment_{number}", data)
            # Where the program runs: nothing moves its parts.
            entries.append(f"    {{{segment['p_vaddr']:#x}u, {len(data)}, segment_{number}}},")
        symbols = elf.get_section_by_name(".symtab").get_symbol_by_name("kernel") or []
        symbols = [symbol for symbol in symbols if symbol["st_info"]["bind"] != "STB_LOCAL"] or symbols
        (entry,) = {symbol["st_value"] for symbol in symbols}
        small = int(elf.header["e_flags"] & RV32E != 0)
    return [*lines, f"#define KERNEL_ENTRY {entry:#x}u", f"#define KERNEL_CLASS {small}",
            "static const struct { uint32_t address, length; const uint8_t *bytes; } segments[] = {",
            *entries, "};"]


def _packets(given):
    lines, entries = [], []
    for number, frame in enumerate(given):
        left = bytearray(frame)
        verdict = process(left)
        lines += _bytes(f"frame_{number}", frame) + _bytes(f"left_{number}", left)
        entries.append(f"    {{{len(frame)}, {verdict:#010x}u, frame_{number}, left_{number}}},")
    return [*lines, f"#define PACKETS {len(given)}u",
            "struct packet { uint32_t length, verdict; const uint8_t *frame, *left; };",
            "static const struct packet packets[] = {", *entries, "};"]
