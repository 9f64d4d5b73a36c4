"""The array as a module of LiteX: `add_hermes` puts what `hermes emit` wrote into a SoC.

    from hermes_litex import add_hermes

    hermes = add_hermes(soc, "rtl/hermes_top.json")
"""

import json
import re
from pathlib import Path

from migen import ClockSignal, Instance, Record, ResetSignal

from litex.gen import LiteXModule
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import axi
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel

from one_outstanding import AXIOneOutstanding, like

REGISTER_BYTES = 0x1000  # what the registers take of the address space
VERSION_MAJOR = 1  # of the register map, which this module knows
EVENTS = {"irq": "host", "fault": "fault"}  # outputs that interrupt the CPU: name of the event source
AXI_CHANNELS = ("aw", "w", "b", "ar", "r")


class ManifestError(Exception):
    """A manifest that cannot be used; the text names the file, the field and what was expected."""


class Manifest:
    """What `hermes emit` says of the array that it wrote, from the file `hermes_top.json`.

    `top` is the name of the module, `verilog` the files of its modules, `ports` has the width in
    bits and the direction of every port by its name, `header` the file with the registers in C. Raises
    ManifestError if the file is missing, is not a manifest, or is of a register map that this module
    does not know.
    """

    def __init__(self, path):
        self.path = Path(path)
        try:
            text = self.path.read_text()
        except OSError as error:
            raise ManifestError(f"{self.path}: {error.strerror}; `hermes emit -o DIR` writes "
                                "DIR/hermes_top.json") from error
        except UnicodeDecodeError as error:
            raise ManifestError(f"{self.path}: no text: {error}") from error
        try:
            fields = json.loads(text)
        except ValueError as error:
            raise ManifestError(f"{self.path}: no JSON: {error}") from error
        if not isinstance(fields, dict) or fields.get("generator") != "hermes":
            raise ManifestError(f"{self.path}: field `generator`: expected \"hermes\": this is no "
                                "manifest of `hermes emit`")
        self.top = self._field(fields, "top", str)
        names = self._field(fields, "files", list)
        if not names or not all(isinstance(name, str) for name in names):
            raise ManifestError(f"{self.path}: field `files`: expected names of files")
        self.verilog = [self.path.parent / name for name in names]
        self.header = self.path.parent / f"{self.top}_registers.h"
        ports = self._entries(fields, "ports", {"name": str, "width": int, "direction": str})
        self.ports = {port["name"]: (port["width"], port["direction"]) for port in ports}
        self._check_version(self._entries(fields, "registers", {"name": str}))
        for file in self.verilog:
            if not file.is_file():
                raise ManifestError(f"{self.path}: field `files`: {file} is missing: "
                                    "emit the array again")

    def _field(self, fields, name, kind):
        if not isinstance(fields.get(name), kind):
            raise ManifestError(f"{self.path}: field `{name}`: expected a value of type "
                                f"{kind.__name__}")
        return fields[name]

    def _entries(self, fields, name, kinds):
        """A list of objects with fields of these types."""
        entries = self._field(fields, name, list)
        for number, entry in enumerate(entries):
            for key, kind in kinds.items():
                if not isinstance(entry, dict) or not isinstance(entry.get(key), kind):
                    raise ManifestError(f"{self.path}: field `{name}`, entry {number}: expected `{key}` of type "
                                        f"{kind.__name__}")
        return entries

    def _check_version(self, registers):
        resets = {register["name"]: register.get("reset") for register in registers}
        version = resets.get("VERSION")
        if not isinstance(version, int):
            raise ManifestError(f"{self.path}: field `registers`: expected VERSION with its `reset`, a number")
        if version >> 16 != VERSION_MAJOR:
            raise ManifestError(f"{self.path}: register VERSION: the register map is {version >> 16}."
                                f"{version & 0xffff}, expected {VERSION_MAJOR}.x: use hermes_litex.py"
                                " of the same version of Hermes")

    def channels(self):
        """How many AXI4 masters the array has."""
        return sum(re.fullmatch(r"m_axi_\d+_araddr", name) is not None for name in self.ports)

    def width(self, port):
        """The width of a port in bits."""
        if port not in self.ports:
            raise ManifestError(f"{self.path}: field `ports`: {port} is missing")
        return self.ports[port][0]


class Hermes(LiteXModule):
    """The array. `add_hermes` connects it; by hand, these are its interfaces:

    - `registers`: AXILiteInterface, the slave for the registers. The array takes the lower 12 bits
      of the address.
    - `memories`: a list of AXIInterface, the masters to memory, one for each channel (512 bits,
      IDs of 8 bits, many outstanding, bursts of one beat).
    - `rx`, `tx`: AXIStreamInterface, frames in and out, if the array has packet ports, else None.
    - `trace_buffer`: the byte port of a trace buffer, signals `valid`, `write`, `address`, `data`,
      `ready`, `answer` and `read`, if the array has one, else None. Nothing drives it: without a
      reader it stays at 0.
    - `ev`: an EventManager, if the array has one of the outputs `irq` and `fault`. Its sources are
      levels: `host` follows `irq`, which the register HOST_IRQ_PENDING clears, `fault` the output
      of that name, which stays high until reset.

    The array runs on the clock and the reset of the domain `sys`. The trace ports stay open.
    """

    def __init__(self, platform, manifest):
        self.manifest = manifest
        self.parameters = {"i_clk": ClockSignal("sys"), "i_rst": ResetSignal("sys")}
        self.registers = axi.AXILiteInterface(data_width=32, address_width=32)
        self.memories = [self._memory(channel) for channel in range(manifest.channels())]
        self.rx, self.tx = self._stream("s_axis_rx"), self._stream("m_axis_tx")
        self.trace_buffer = self._bytes("trace_buffer_")
        if any(port in manifest.ports for port in EVENTS):
            self._events()
        self._registers()
        unknown = [name for name, (_, direction) in manifest.ports.items()
                   if f"{direction[0]}_{name}" not in self.parameters
                   and not (name.startswith("trace_") and direction == "output")]
        if unknown:
            raise ManifestError(f"{manifest.path}: field `ports`: {unknown[0]} is not a port that "
                                "hermes_litex.py knows: use that of the same version of Hermes")
        self.specials += Instance(manifest.top, **self.parameters)
        for file in manifest.verilog:
            platform.add_source(str(file.resolve()))

    def _connect(self, prefix, channel):
        """Connects the ports `prefix` + name of a channel, whose signals have these names."""
        for port, (width, direction) in self.manifest.ports.items():
            signal = getattr(channel, port.removeprefix(prefix), None)
            if port.startswith(prefix) and signal is not None:
                narrower = len(signal) > width
                self.parameters[f"{direction[0]}_{port}"] = signal[:width] if narrower else signal

    def _events(self):
        self.ev = EventManager()
        for port, name in EVENTS.items():
            if port in self.manifest.ports:
                source = EventSourceLevel(name=name, description=f"The output `{port}` of the array.")
                setattr(self.ev, name, source)
                self.parameters[f"o_{port}"] = source.trigger
        self.ev.finalize()

    def _registers(self):
        for name in AXI_CHANNELS:
            self._connect(f"s_axil_{name}", getattr(self.registers, name))

    def _memory(self, number):
        prefix = f"m_axi_{number}_"
        bus = axi.AXIInterface(
            data_width=self.manifest.width(f"{prefix}rdata"),
            address_width=self.manifest.width(f"{prefix}araddr"),
            id_width=self.manifest.width(f"{prefix}arid"),
        )
        for name in AXI_CHANNELS:
            self._connect(f"{prefix}{name}", getattr(bus, name))
        return bus

    def _bytes(self, prefix):
        if f"{prefix}valid" not in self.manifest.ports:
            return None
        fields = [(name.removeprefix(prefix), width) for name, (width, _) in self.manifest.ports.items()
                  if name.startswith(prefix)]
        record = Record(fields)
        self._connect(prefix, record)
        return record

    def _stream(self, prefix):
        if f"{prefix}_tdata" not in self.manifest.ports:
            return None
        endpoint = axi.AXIStreamInterface(
            data_width=self.manifest.width(f"{prefix}_tdata"),
            user_width=self.manifest.width(f"{prefix}_tuser"),
        )
        self._connect(f"{prefix}_t", endpoint)
        return endpoint


def add_hermes(soc, manifest, name="hermes", origin=None, memory="main_ram"):
    """Adds the array to a SoC and gives the module, which is `soc.<name>` then.

    - `manifest`: path of the `hermes_top.json` that `hermes emit` wrote.
    - `name`: of the module, of the region of its registers, of its interrupt.
    - `origin`: address of the registers, a multiple of 4096; None lets LiteX choose one.
    - `memory`: region of the bus that the array sees, from its address 0 on; addresses beyond the
      region wrap around. None: the array sees the whole address space of the SoC. The region must
      be there already: call this after `add_sdram`.

    The registers are a slave and the channels to memory are masters `<name>_dma<channel>` of
    `soc.bus`, of whatever standard and width that is. The interrupt, if there is one, is that of
    the CPU. Packet ports stay with the caller: they are `rx` and `tx` of the module.

    Raises ManifestError for a manifest that cannot be used, and ValueError if `memory` is no region.
    """
    hermes = Hermes(soc.platform, Manifest(manifest))
    if memory is not None and memory not in soc.bus.regions:
        raise ValueError(f"memory: the bus has no region {memory!r}, only "
                         f"{', '.join(sorted(soc.bus.regions))}: add it before the array")
    soc.add_module(name=name, module=hermes)
    region = SoCRegion(origin=origin, size=REGISTER_BYTES, mode="rw", cached=False)
    soc.bus.add_slave(name, hermes.registers, region=region)
    window = None if memory is None else soc.bus.regions[memory]
    for number, master in enumerate(hermes.memories):
        narrow = like(master)
        hermes.add_module(f"one_outstanding{number}", AXIOneOutstanding(master, narrow))
        soc.bus.add_master(f"{name}_dma{number}", narrow, region=window)
    if hasattr(hermes, "ev") and soc.irq.enabled:
        soc.irq.add(name, use_loc_if_exists=True)
    return hermes
