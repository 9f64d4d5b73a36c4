#!/usr/bin/env python3
"""Runs packets through the array in a SoC of LiteX, in LiteX's simulator: a VexRiscv with host.c brings the array up.

Prints what the host prints, PASS or FAIL among it, and ends with 0 only after PASS.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from migen import Signal

from litex.build.generic_platform import Pins, Subsignal
from litex.build.io import CRG
from litex.build.sim import SimPlatform
from litex.build.sim.config import SimConfig
from litex.soc.cores.cpu import CPU_GCC_TRIPLE_RISCV32
from litex.soc.integration.builder import Builder, soc_directory
from litex.soc.integration.common import get_mem_data
from litex.soc.integration.soc_core import SoCCore

from hermes_litex import Manifest, ManifestError, add_hermes
from workload import write_packets

HERE = Path(__file__).resolve().parent
CLOCK_HZ = int(1e6)  # what the simulator calls a second; nothing depends on it
ROM_BYTES, MAIN_RAM_BYTES = 0x40000, 0x200000
PINS = [
    ("sys_clk", 0, Pins(1)),
    ("serial", 0,
        Subsignal("source_valid", Pins(1)), Subsignal("source_ready", Pins(1)), Subsignal("source_data", Pins(8)),
        Subsignal("sink_valid", Pins(1)), Subsignal("sink_ready", Pins(1)), Subsignal("sink_data", Pins(8))),
]


class SimulatedSoC(SoCCore):
    """A VexRiscv, memory, a UART to the console, and the array. `folder` has registers.h and packets.h."""

    def __init__(self, folder, manifest, variant):
        platform = SimPlatform("SIM", PINS)
        self.folder = folder
        self.crg = CRG(platform.request("sys_clk"))
        super().__init__(platform, CLOCK_HZ, cpu_type="vexriscv", cpu_variant=variant, uart_name="sim",
                         integrated_rom_size=ROM_BYTES, integrated_main_ram_size=MAIN_RAM_BYTES)
        add_hermes(self, manifest)
        platform.add_debug(self)

    def init_mems(self, **_):
        """The builder calls this when it has written the headers of the SoC: host.c goes into the ROM."""
        image = build_host(self.folder, self.builder, self.cpu)
        self.init_rom("rom", get_mem_data(str(image), data_width=self.bus.data_width, endianness="little"))


def build_host(folder, builder, cpu):
    """Compiles host.c, with LiteX's start-up code and linker script; gives the file with the bytes of the ROM."""
    triple = next((triple for triple in CPU_GCC_TRIPLE_RISCV32 if shutil.which(f"{triple}-gcc")), None)
    if triple is None:
        raise FileNotFoundError("no GCC for RISC-V on the search path, such as riscv64-unknown-elf-gcc")
    software = Path(soc_directory) / "software"
    processor = Path(soc_directory) / "cores" / "cpu" / "vexriscv"
    elf, image = folder / "host.elf", folder / "host.bin"
    includes = [folder, software / "include", software, builder.include_dir, processor]
    subprocess.run([
        f"{triple}-gcc", *cpu.gcc_flags.split(), "-Os", "-Wall", "-Werror", "-ffreestanding", "-fno-builtin",
        "-fno-tree-loop-distribute-patterns", "-nostdlib", *(f"-I{include}" for include in includes),
        f"-L{builder.include_dir}", f"-Wl,-T,{software / 'bios' / 'linker.ld'}", "-Wl,--build-id=none",
        processor / "crt0.S", HERE / "host.c", "-o", elf, "-lgcc",
    ], check=True)
    subprocess.run([f"{triple}-objcopy", "-O", "binary", elf, image], check=True)
    return image


def prepare(arguments, build):
    """Emits the array, writes kernel and packets for host.c; gives the manifest."""
    hermes = os.environ.get("HERMES", "hermes")
    if shutil.which(hermes) is None:
        raise FileNotFoundError(f"no command {hermes}: set HERMES to the path of the command `hermes`")
    build.mkdir(parents=True, exist_ok=True)
    subprocess.run([hermes, "emit", *arguments.array.split(), "-o", build / "rtl"], check=True)
    write_packets(hermes, build, arguments.packets, arguments.kind, arguments.seed)
    manifest = build / "rtl" / "hermes_top.json"
    shutil.copyfile(Manifest(manifest).header, build / "registers.h")
    return manifest


def generate(arguments, build):
    """Writes the SoC as Verilog, and what LiteX's simulator needs to be built; gives the folder."""
    manifest = prepare(arguments, build)
    soc = SimulatedSoC(build, manifest, arguments.cpu_variant)
    config = SimConfig()
    config.add_clocker("sys_clk", freq_hz=CLOCK_HZ)
    config.add_module("serial2console", "serial")
    builder = Builder(soc, output_dir=build / "soc", compile_software=False)
    builder.build(run=False, sim_config=config, opt_level="O2", interactive=False, jobs=arguments.jobs)
    return Path(builder.gateware_dir)


def simulate(gateware, seconds):
    """Builds the simulator and runs it; tells whether the host found everything right."""
    log = gateware / "build.log"
    with open(log, "w") as output:
        built = subprocess.run(["bash", "build_sim.sh"], cwd=gateware, stdout=output, stderr=subprocess.STDOUT)
    if built.returncode != 0:
        print("".join(f"{line}\n" for line in log.read_text(errors="replace").splitlines()[-30:]), file=sys.stderr)
        print("error: the simulator was not built; the end of its log is above", file=sys.stderr)
        return False
    try:
        run = subprocess.run(["obj_dir/Vsim"], cwd=gateware, stdin=subprocess.DEVNULL, timeout=seconds,
                             stdout=subprocess.PIPE, text=True, errors="replace")
    except subprocess.TimeoutExpired as expired:
        print((expired.stdout or b"").decode(errors="replace"))
        print(f"error: no end after {seconds} seconds (--timeout)", file=sys.stderr)
        return False
    print(run.stdout)
    lines = run.stdout.splitlines()
    return run.returncode == 0 and "PASS" in lines and "FAIL" not in lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--array", default="--preset fpga --cores 1 --lanes 4 --warps 4",
                        help="options of `hermes emit`")
    parser.add_argument("--packets", type=int, default=32)
    parser.add_argument("--kind", default="imix", help="of packets, as `hermes gen-trace --kind` takes it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cpu-variant", default="standard", help="of the VexRiscv; `lite` has no data cache")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    parser.add_argument("--timeout", type=int, default=600, help="seconds that the simulation may take")
    parser.add_argument("--build", type=Path, help="folder for what is built; by default a temporary one")
    parser.add_argument("--generate-only", action="store_true", help="write the SoC's Verilog to --build, no more")
    arguments = parser.parse_args()
    if arguments.generate_only and arguments.build is None:
        parser.error("--generate-only needs --build")
    with tempfile.TemporaryDirectory(prefix="hermes-litex-") as temporary:
        try:
            gateware = generate(arguments, (arguments.build or Path(temporary)).resolve())
        except (ManifestError, FileNotFoundError, subprocess.CalledProcessError) as error:
            sys.exit(f"error: {error}")
        if not arguments.generate_only and not simulate(gateware, arguments.timeout):
            sys.exit(1)


if __name__ == "__main__":
    main()
