"""Compares a register map in SystemRDL with a manifest: compare_rdl.py MAP.rdl MANIFEST.json. Silent if they agree."""

import json
import sys

from systemrdl import RDLCompiler

ACCESS = {"rw": (True, True), "ro": (True, False), "wo": (False, True), "cmd": (True, True)}

compiler = RDLCompiler()
compiler.compile_file(sys.argv[1])
found = {}
for register in compiler.elaborate().top.registers():
    (field,) = register.fields()
    access = (field.is_sw_readable, field.is_sw_writable)
    found[register.inst_name] = (register.absolute_address, field.width, access, field.get_property("reset"))

expected = {}
with open(sys.argv[2], encoding="utf-8") as manifest:
    for entry in json.load(manifest)["registers"]:
        reset = entry["reset"] if entry["access"] == "rw" else None
        expected[entry["name"]] = (entry["offset"], entry["bits"], ACCESS[entry["access"]], reset)

if found != expected:
    different = sorted(n for n in found.keys() | expected.keys() if found.get(n) != expected.get(n))
    sys.exit(f"{different}: the map has {[found.get(n) for n in different]}, "
             f"the manifest {[expected.get(n) for n in different]}")
