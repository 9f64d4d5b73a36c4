"""Compares a register map in SystemRDL with a manifest: compare_rdl.py MAP.rdl MANIFEST.json. Silent if they agree."""

import json
import sys

from systemrdl import RDLCompiler

ACCESS = {"rw": (True, True), "ro": (True, False), "wo": (False, True), "cmd": (True, True)}

compiler = RDLCompiler()
compiler.compile_file(sys.argv[1])
found = {}
for register in compiler.elaborate().top.registers():
    fields = {}
    for field in register.fields():
        access = (field.is_sw_readable, field.is_sw_writable)
        fields[field.inst_name] = (field.low, field.width, access, field.get_property("reset"))
    found[register.inst_name] = (register.absolute_address, fields)


def parts(entry):
    """The fields of a register, none of which has a bit of another one before it, or the whole register."""
    taken = 0
    for field in entry["fields"]:
        mask = ((1 << field["width"]) - 1) << field["lsb"]
        if not taken & mask:
            taken |= mask
            yield field["name"].upper(), field["lsb"], field["width"]
    if not taken:
        yield "VALUE", 0, entry["bits"]


expected = {}
with open(sys.argv[2], encoding="utf-8") as manifest:
    for entry in json.load(manifest)["registers"]:
        # What is written only, or has no value after reset, has none in the map either.
        value = entry["reset"]
        fields = {
            name: (lsb, width, ACCESS[entry["access"]], value >> lsb & (1 << width) - 1 if value is not None else None)
            for name, lsb, width in parts(entry)
        }
        expected[entry["name"]] = (entry["offset"], fields)

if found != expected:
    different = sorted(n for n in found.keys() | expected.keys() if found.get(n) != expected.get(n))
    sys.exit(f"{different}: the map has {[found.get(n) for n in different]}, "
             f"the manifest {[expected.get(n) for n in different]}")
