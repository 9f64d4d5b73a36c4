"""An AXI4 master with many transactions outstanding, on buses that keep no IDs."""

from migen import If, Signal

from litex.gen import LiteXModule
from litex.soc.interconnect import axi, stream


class AXIOneOutstanding(LiteXModule):
    """Lets through one read and one write at a time, and answers with the ID of the request.

    `master` is the AXIInterface of the array, `slave` one of the same data width, towards the bus.
    The bus sees ID 0 and at most one read and one write outstanding; a further request waits. Reads
    and writes do not wait for each other. A request, its data and the answer to a write pass in the
    same cycle; read data pass one cycle later, through a register that is always free for the one
    burst of one beat that the array has outstanding, so that the bus never waits for the array.

    LiteX's remapper and its AXI interconnect drop IDs wider than one bit, and its width converter
    takes ID and response of a read from the cycle before it gives the data, which is wrong when the
    master makes it wait. Behind this module neither matters.
    """

    def __init__(self, master, slave):
        if master.data_width != slave.data_width:
            raise ValueError(f"data of {master.data_width} bits and of {slave.data_width} bits: "
                             "the widths must be equal")
        self._add_reads(master, slave)
        self._add_writes(master, slave)

    def _add_reads(self, master, slave):
        outstanding, number = Signal(), Signal(master.id_width)
        self.comb += [
            master.ar.connect(slave.ar, omit={"valid", "ready", "id"}),
            slave.ar.valid.eq(master.ar.valid & ~outstanding),
            master.ar.ready.eq(slave.ar.ready & ~outstanding),
        ]
        self.sync += [
            If(master.r.valid & master.r.ready & master.r.last, outstanding.eq(0)),
            If(slave.ar.valid & slave.ar.ready, outstanding.eq(1), number.eq(master.ar.id)),
        ]
        self.answer = answer = stream.Buffer([("resp", 2), ("data", master.data_width)])
        self.comb += [
            slave.r.connect(answer.sink, omit={"id", "dest", "user"}),
            answer.source.connect(master.r),
            master.r.id.eq(number),
        ]

    def _add_writes(self, master, slave):
        # The request, and the last beat of its data, have been taken.
        requested, sent, number = Signal(), Signal(), Signal(master.id_width)
        # Data pass with their request or after it, never before.
        data = ~sent & (requested | master.aw.valid)
        self.comb += [
            master.aw.connect(slave.aw, omit={"valid", "ready", "id"}),
            slave.aw.valid.eq(master.aw.valid & ~requested),
            master.aw.ready.eq(slave.aw.ready & ~requested),
            master.w.connect(slave.w, omit={"valid", "ready", "id"}),
            slave.w.valid.eq(master.w.valid & data),
            master.w.ready.eq(slave.w.ready & data),
            slave.b.connect(master.b, omit={"id"}),
            master.b.id.eq(number),
        ]
        self.sync += [
            If(slave.aw.valid & slave.aw.ready, requested.eq(1), number.eq(master.aw.id)),
            If(slave.w.valid & slave.w.ready & slave.w.last, sent.eq(1)),
            If(master.b.valid & master.b.ready, requested.eq(0), sent.eq(0)),
        ]


def like(interface):
    """An AXIInterface of the data and address width of `interface`, with IDs of one bit."""
    return axi.AXIInterface(data_width=interface.data_width, address_width=interface.address_width)
