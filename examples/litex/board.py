#!/usr/bin/env python3
"""Writes the Verilog of a SoC with the array for a board of litex-boards; nothing is synthesized.

    hermes emit --preset fpga --lanes 2 -o rtl
    python3 board.py radiona_ulx3s --manifest rtl/hermes_top.json --set device=LFE5U-85F --set sys_clk_freq=25e6 -o soc
"""

import argparse
import ast
import importlib
import inspect
import sys
from pathlib import Path

from litex.soc.integration.builder import Builder

from hermes_litex import ManifestError, add_hermes


ROM_BYTES = 0x20000  # as the targets have it, unless `--set integrated_rom_size` says otherwise


def setting(text):
    """NAME=VALUE of `--set`: a number, True, False or None where it is one, else text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("board", help="module of litex_boards.targets, such as radiona_ulx3s")
    parser.add_argument("--manifest", type=Path, required=True, help="the hermes_top.json of `hermes emit`")
    parser.add_argument("--set", type=setting, action="append", default=[], metavar="NAME=VALUE",
                        help="argument of the board's BaseSoC, which may be given several times")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the SoC")
    arguments = parser.parse_args()
    try:
        target = importlib.import_module(f"litex_boards.targets.{arguments.board}")
    except ModuleNotFoundError as error:
        sys.exit(f"error: board {arguments.board}: no module {error.name}: install litex-boards and what it needs, "
                 "or correct the name")
    known = inspect.signature(target.BaseSoC).parameters
    unknown = [name for name, _ in arguments.set if name not in known]
    if unknown and not any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        sys.exit(f"error: --set {unknown[0]}: expected one of {', '.join(known)}")
    try:
        soc = target.BaseSoC(**{"integrated_rom_size": ROM_BYTES, **dict(arguments.set)})
        add_hermes(soc, arguments.manifest)
    except (ManifestError, ValueError) as error:
        sys.exit(f"error: {error}")
    Builder(soc, output_dir=arguments.output, compile_software=False, compile_gateware=False).build()


if __name__ == "__main__":
    main()
