#!/usr/bin/env python3
"""AXIOneOutstanding in front of LiteX's width converter, its bridge to Wishbone and an SRAM."""

import random
import unittest

from migen import Module

from litex.gen.sim import passive, run_simulation
from litex.soc.interconnect import axi, wishbone

from one_outstanding import AXIOneOutstanding, like

LINE = 64  # bytes of 512 bits
LINES = 8
ORIGIN = 0x1000_0000


class Memory(Module):
    """A master of 512 bits on a Wishbone of `width` bits with an SRAM, with the module between or not."""

    def __init__(self, width, with_module=True):
        self.master = bus = axi.AXIInterface(data_width=8 * LINE, address_width=32, id_width=8)
        if with_module:
            bus = like(self.master)
            self.submodules += AXIOneOutstanding(self.master, bus)
        self.bus = bus
        narrow = axi.AXIInterface(data_width=width, address_width=32, id_width=bus.id_width)
        words = wishbone.Interface(data_width=width, address_width=32, addressing="word")
        self.submodules += axi.AXIConverter(bus, narrow), axi.AXI2Wishbone(narrow, words, base_address=ORIGIN)
        self.submodules += wishbone.SRAM(LINE * LINES, bus=words)


class Host:
    """Fills the memory, writes one half while it reads the other, and reads all of it.

    All five channels run on their own, with random pauses. `wrong` has what was not as expected.
    """

    PROCESSES = 5

    def __init__(self, master, seed):
        self.master, self.rng, self.wrong = master, random.Random(seed), []
        rng, half = self.rng, LINES // 2
        fill = [(line, (1 << LINE) - 1) for line in range(LINES)]
        some = [(half + rng.randrange(half), rng.getrandbits(LINE)) for _ in range(LINES)]
        none = []
        self.writes = [[(self.number(), line, rng.getrandbits(8 * LINE), strobes) for line, strobes in batch]
                       for batch in (fill, some, none)]
        others = [rng.randrange(half) for _ in range(LINES)]
        self.reads = [[(self.number(), line) for line in batch] for batch in (none, others, range(LINES))]
        self.lines = [0] * LINES
        for batch in self.writes:
            for _, line, value, strobes in batch:
                for byte in range(LINE):
                    if strobes >> byte & 1:
                        mask = 0xFF << 8 * byte
                        self.lines[line] = self.lines[line] & ~mask | value & mask
        self.arrived = [0] * len(self.writes)

    def number(self):
        return self.rng.randrange(256)

    def processes(self):
        """The generators for the simulator, one a channel."""
        master = self.master
        return [
            self.batches(self.writes, self.request, master.aw),
            self.batches(self.writes, self.data, master.w),
            self.batches(self.writes, self.written, master.b),
            self.batches(self.reads, self.request, master.ar),
            self.batches(self.reads, self.read, master.r),
        ]

    def batches(self, batches, handle, channel):
        """All processes begin a batch together."""
        for number, batch in enumerate(batches):
            self.arrived[number] += 1
            while self.arrived[number] < self.PROCESSES:
                yield
            for entry in batch:
                for _ in range(self.rng.choice([0, 0, 0, 1, 3, 90])):
                    yield
                yield from handle(channel, *entry)

    def request(self, channel, number, line, *_):
        yield from self.send(channel, id=number, addr=ORIGIN + line * LINE, len=0, size=6, burst=axi.BURST_INCR)

    def data(self, channel, _number, _line, value, strobes):
        yield from self.send(channel, data=value, strb=strobes, last=1)

    def written(self, channel, number, *_):
        yield from self.take(channel)
        self.expect("ID of a write", (yield channel.id), number)
        self.expect("response to a write", (yield channel.resp), axi.RESP_OKAY)

    def read(self, channel, number, line):
        yield from self.take(channel)
        self.expect("ID of a read", (yield channel.id), number)
        self.expect("last beat", (yield channel.last), 1)
        self.expect("response", (yield channel.resp), axi.RESP_OKAY)
        self.expect(f"line {line}", (yield channel.data), self.lines[line])

    def send(self, channel, **fields):
        for name, value in fields.items():
            yield getattr(channel, name).eq(value)
        yield channel.valid.eq(1)
        yield
        while not (yield channel.ready):
            yield
        yield channel.valid.eq(0)

    def take(self, channel):
        yield channel.ready.eq(1)
        yield
        while not (yield channel.valid):
            yield
        yield channel.ready.eq(0)

    @passive
    def watch(self, bus):
        """The bus has one read and one write outstanding at most, and data not before their request."""
        reads = writes = sent = 0
        while True:
            requested = writes or (yield bus.aw.valid)
            early = (yield bus.w.valid) and (sent or not requested)
            sent |= (yield bus.w.valid) & (yield bus.w.ready) & (yield bus.w.last)
            reads += (yield bus.ar.valid) & (yield bus.ar.ready)
            writes += (yield bus.aw.valid) & (yield bus.aw.ready)
            self.expect("more than one read or write, or early data", bool(reads > 1 or writes > 1 or early), False)
            reads -= (yield bus.r.valid) & (yield bus.r.ready) & (yield bus.r.last)
            if (yield bus.b.valid) & (yield bus.b.ready):
                writes, sent = writes - 1, 0
            yield

    def expect(self, what, found, expected):
        if found != expected:
            self.wrong.append(f"{what}: {found:#x}, expected {expected:#x}")


class Errors(Host):
    """Reads and writes as fast as they are taken, from a slave that takes every request at once, answers later, and with an error
    at every third line. Data that are read are their address."""

    def __init__(self, master, bus, seed):
        self.master, self.bus, self.rng, self.wrong = master, bus, random.Random(seed), []
        self.writes, self.reads = ([(self.number(), self.rng.randrange(LINES)) for _ in range(40)] for _ in range(2))

    def processes(self):
        master, bus = self.master, self.bus
        taken = [[], [], []]
        return [
            self.each(self.writes, self.request, master.aw),
            self.each(self.writes, self.data, master.w),
            self.each(self.writes, self.written, master.b),
            self.each(self.reads, self.request, master.ar),
            self.each(self.reads, self.read, master.r),
            *(self.taken(channel, list_) for channel, list_ in zip((bus.aw, bus.w, bus.ar), taken)),
            self.answers(bus.b, taken[:2]),
            self.answers(bus.r, taken[2:]),
        ]

    def each(self, batch, handle, channel):
        for entry in batch:
            yield from handle(channel, *entry)

    @passive
    def taken(self, channel, requests):
        yield channel.ready.eq(1)
        yield
        while True:
            if (yield channel.valid):
                requests.append((yield channel.addr) if hasattr(channel, "addr") else None)
            yield

    @passive
    def answers(self, channel, lists):
        while True:
            while not all(lists):
                yield
            address = [requests.pop(0) for requests in lists][0]
            for _ in range(self.rng.randrange(6)):
                yield
            data = {"data": address, "last": 1} if hasattr(channel, "data") else {}
            yield from self.send(channel, resp=self.response((address - ORIGIN) // LINE), **data)

    def response(self, line):
        return axi.RESP_SLVERR if line % 3 == 0 else axi.RESP_OKAY

    def data(self, channel, _number, line):
        yield from super().data(channel, _number, line, line, 1)

    def written(self, channel, number, line):
        yield from self.take(channel)
        self.expect("ID of a write", (yield channel.id), number)
        self.expect("response to a write", (yield channel.resp), self.response(line))

    def read(self, channel, number, line):
        yield from self.take(channel)
        self.expect("ID of a read", (yield channel.id), number)
        self.expect("response", (yield channel.resp), self.response(line))
        self.expect("data", (yield channel.data), ORIGIN + line * LINE)


def wrong(width, seed, with_module=True):
    memory = Memory(width, with_module)
    host = Host(memory.master, seed)
    watch = [host.watch(memory.bus)] if with_module else []
    run_simulation(memory, host.processes() + watch)
    return host.wrong


class OneOutstanding(unittest.TestCase):
    def test_data_and_ids_come_back(self):
        for width, seed in [(32, 1), (128, 2)]:
            with self.subTest(width=width, seed=seed):
                self.assertEqual(wrong(width, seed), [])

    def test_one_at_a_time_and_errors_for_a_slave_that_takes_all(self):
        memory = Module()
        master = axi.AXIInterface(data_width=8 * LINE, address_width=32, id_width=8)
        bus = like(master)
        memory.submodules += AXIOneOutstanding(master, bus)
        host = Errors(master, bus, 3)
        run_simulation(memory, [*host.processes(), host.watch(bus)])
        self.assertEqual(host.wrong, [])

    def test_litex_alone_gives_wrong_ids(self):
        """The reason for the module. If this fails, LiteX has changed and may not need it."""
        self.assertTrue(any("ID of a read" in line for line in wrong(32, 1, with_module=False)))

    def test_widths_must_be_equal(self):
        with self.assertRaisesRegex(ValueError, "512 bits and of 32 bits"):
            AXIOneOutstanding(axi.AXIInterface(data_width=512), axi.AXIInterface(data_width=32))


if __name__ == "__main__":
    unittest.main()
