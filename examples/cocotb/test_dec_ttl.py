"""Brings the array up over its ports and compares what it does with a golden model in Python."""

import logging
import os
import random
import struct
import sys
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import (
    AxiBus,
    AxiLiteBus,
    AxiLiteMaster,
    AxiRam,
    AxiStreamBus,
    AxiStreamFrame,
    AxiStreamSink,
    AxiStreamSource,
)
from hermes import CONTROL_RUN, Array, Registers, batches, flatten

sys.path.append(str(Path(__file__).resolve().parent.parent / "golden"))
from dec_ttl import process  # noqa: E402

SEED = int(os.environ.get("HERMES_SEED", "1"))
PACKETS = int(os.environ.get("HERMES_PACKETS", "60"))
MEMORY_BYTES = 2 << 20


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(rng):
    """A frame with IPv4; one in four with a TTL that runs out, one in eight without IPv4."""
    payload = rng.randbytes(rng.choice([26, 26, 40, 90]))
    ttl = rng.choice([1, 2, 64, 255])
    header = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(payload), rng.randrange(1 << 16), 0, ttl, 17, 0,
                         rng.randrange(1 << 32), rng.randrange(1 << 32))
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    kind = 0x86DD if rng.randrange(8) == 0 else 0x0800
    return rng.randbytes(12) + struct.pack(">H", kind) + header + payload


def golden(frames):
    results = []
    for given in frames:
        left = bytearray(given)
        results.append((left, process(left)))
    return [(bytes(left), verdict) for left, verdict in results]


def pauses(rng):
    """One cycle in four is a pause."""
    while True:
        yield rng.randrange(4) == 0


async def reset(dut):
    """Clock, reset, and the three buses with random pauses; gives the array and its streams."""
    rng = random.Random(SEED)
    dut._log.info(f"HERMES_SEED={SEED}")
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
    ram = AxiRam(AxiBus.from_prefix(dut, "m_axi_0"), dut.clk, dut.rst, size=MEMORY_BYTES)
    source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis_rx"), dut.clk, dut.rst)
    sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis_tx"), dut.clk, dut.rst)
    channels = [ram.write_if.aw_channel, ram.write_if.w_channel, ram.write_if.b_channel,
                ram.read_if.ar_channel, ram.read_if.r_channel, source, sink]
    for bus in [master.write_if, master.read_if, source, sink]:
        bus.log.setLevel(logging.WARNING)
    for channel in channels:
        channel.set_pause_generator(pauses(random.Random(rng.random())))
    dut.rst.value = 1
    await ClockCycles(dut.clk, 4)
    dut.rst.value = 0
    await RisingEdge(dut.clk)
    with open(os.environ["HERMES_MANIFEST"]) as manifest:
        registers = Registers(master, manifest)
    return rng, Array(registers, ram), source, sink


async def start(dut):
    """The array with a kernel, and its streams."""
    rng, array, source, sink = await reset(dut)
    await array.bring_up(os.environ["HERMES_KERNEL"])
    return rng, array, source, sink


@cocotb.test()
async def registers_after_reset(dut):
    """Every register that has a value after reset has that of the manifest, and no bit of it is unknown."""
    _, array, _, _ = await reset(dut)
    for name, value in array.registers.reset_values.items():
        found = await array.registers.read(name)
        assert found == value, f"{name} is {found:#x} after reset, expected {value:#x}"


@cocotb.test()
async def packets_of_the_host(dut):
    """The host writes packets to the ring and reads them there."""
    rng, array, _, _ = await start(dut)
    await array.registers.write("CONTROL", CONTROL_RUN)
    frames = [frame(rng) for _ in range(PACKETS)]
    results = flatten([await array.process(batch) for batch in batches(frames, 1 << array.SLOTS_LOG2)])
    for number, (got, expected) in enumerate(zip(results, golden(frames), strict=True)):
        assert got == expected, f"packet {number}: {got[0].hex()} {got[1]:#x}, expected {expected[0].hex()} {expected[1]:#x}"
    assert await array.registers.read("FAULTS") == 0
    assert await array.registers.read("BUS_ERRORS") == 0


@cocotb.test()
async def packets_through_the_ports(dut):
    """Packets come and go through AXI4-Stream; those that are dropped do not leave."""
    rng, array, source, sink = await start(dut)
    await array.registers.write("PORTS", 1)
    await array.registers.write("CONTROL", CONTROL_RUN)
    frames = [frame(rng) for _ in range(PACKETS)]
    for given in frames:
        await source.send(AxiStreamFrame(given, tuser=0))
    for number, (left, verdict) in enumerate(golden(frames)):
        if verdict >> 31 == 0:
            sent = await sink.recv()
            assert bytes(sent.tdata) == left, f"packet {number}: {bytes(sent.tdata).hex()}, expected {left.hex()}"
    await array.registers.wait("PORTS_BUSY", lambda busy: busy == 0)
    assert sink.empty()
    assert await array.registers.read("COMMITTED_PACKETS") == PACKETS
