#!/usr/bin/env python3
"""Manifests that cannot be used are told, with file and field; ports come from the manifest."""

import json
import logging
import tempfile
import unittest
from pathlib import Path

from litex.build.generic_platform import GenericPlatform
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCCore

from hermes_litex import Hermes, Manifest, ManifestError, add_hermes


def ports(channels=1, more=()):
    """Ports as `hermes emit` names them: a few of each bus are enough."""
    names = [("clk", "input", 1), ("rst", "input", 1), ("s_axil_araddr", "input", 12), ("s_axil_rdata", "output", 32)]
    for channel in range(channels):
        names += [(f"m_axi_{channel}_arid", "output", 8), (f"m_axi_{channel}_araddr", "output", 32),
                  (f"m_axi_{channel}_rdata", "input", 512), (f"m_axi_{channel}_wlast", "output", 1)]
    return [{"name": name, "direction": direction, "width": width} for name, direction, width in [*names, *more]]


def manifest(**changes):
    fields = {"generator": "hermes", "top": "hermes_top", "files": ["hermes_top.v"], "ports": ports(),
              "registers": [{"name": "VERSION", "reset": 0x1_0002}]}
    return {**fields, **changes}


class Test(unittest.TestCase):
    def setUp(self):
        logging.disable(logging.CRITICAL)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "hermes_top.v").touch()
        self.path = self.folder / "hermes_top.json"

    def write(self, **changes):
        self.path.write_text(json.dumps(manifest(**changes)))
        return self.path

    def hermes(self, **changes):
        return Hermes(GenericPlatform("device", []), Manifest(self.write(**changes)))

    def soc(self):
        soc = SoCCore(GenericPlatform("device", []), 50e6, cpu_type=None, with_uart=False, with_timer=False)
        soc.bus.add_region("main_ram", SoCRegion(origin=0x4000_0000, size=0x10_0000))
        return soc

    def refused(self, expected, **changes):
        with self.assertRaises(ManifestError) as refused:
            self.hermes(**changes)
        self.assertIn(str(self.path), str(refused.exception))
        self.assertRegex(str(refused.exception), expected)

    def test_a_file_that_is_missing_or_not_a_manifest(self):
        with self.assertRaisesRegex(ManifestError, "No such file.*hermes emit"):
            Manifest(self.path)
        self.path.write_text("{")
        with self.assertRaisesRegex(ManifestError, "no JSON"):
            Manifest(self.path)
        self.path.write_bytes(b"\xff{}")
        with self.assertRaisesRegex(ManifestError, "no text"):
            Manifest(self.path)
        for other in ("[]", "{}"):
            self.path.write_text(other)
            with self.assertRaisesRegex(ManifestError, "`generator`"):
                Manifest(self.path)

    def test_fields_that_cannot_be_used(self):
        self.refused("`top`: expected a value of type str", top=1)
        self.refused("`ports`: expected a value of type list", ports=None)
        self.refused("`files`.*other.v is missing", files=["hermes_top.v", "other.v"])
        self.refused("`files`: expected names", files=[1])
        self.refused("VERSION: the register map is 2.0, expected 1.x",
                     registers=[{"name": "VERSION", "reset": 0x2_0000}])
        self.refused("`registers`: expected VERSION with its `reset`", registers=[])
        self.refused("`registers`: expected VERSION", registers=[{"name": "VERSION", "reset": "1"}])
        self.refused("`registers`, entry 0: expected `name`", registers=["VERSION"])
        self.refused("`ports`, entry 0: expected `name` of type str", ports=[{}])
        self.refused("`ports`, entry 0: expected `width`", ports=[{"name": "clk", "direction": "input"}])
        self.refused("`ports`: m_axi_0_arid is missing", ports=[p for p in ports() if p["name"] != "m_axi_0_arid"])
        self.refused("`ports`: wires_in is not", ports=ports(more=[("wires_in", "input", 4)]))

    def test_interfaces_are_those_of_the_manifest(self):
        hermes = self.hermes(ports=ports(channels=2))
        self.assertEqual([(bus.data_width, bus.id_width) for bus in hermes.memories], [(512, 8)] * 2)
        self.assertEqual((hermes.rx, hermes.tx, hasattr(hermes, "ev")), (None, None, False))
        self.assertIsNone(hermes.trace_buffer)
        more = [("trace_buffer_valid", "input", 1), ("trace_buffer_address", "input", 32), ("trace_buffer_read", "output", 8)]
        hermes = self.hermes(ports=ports(more=more))
        self.assertIs(hermes.parameters["i_trace_buffer_address"], hermes.trace_buffer.address)
        self.assertEqual(len(hermes.trace_buffer.read), 8)
        streams = [(f"{bus}_t{name}", direction, width)
                   for bus, direction in [("s_axis_rx", "input"), ("m_axis_tx", "output")]
                   for name, width in [("data", 512), ("keep", 64), ("user", 32)]]
        more = [("irq", "output", 1), ("fault", "output", 1), ("trace_retire_value", "output", 64), *streams]
        hermes = self.hermes(ports=ports(more=more))
        self.assertEqual((len(hermes.rx.data), len(hermes.tx.keep), len(hermes.tx.user)), (512, 64, 32))
        self.assertIs(hermes.parameters["o_irq"], hermes.ev.host.trigger)
        self.assertIs(hermes.parameters["o_fault"], hermes.ev.fault.trigger)
        self.assertNotIn("o_trace_retire_value", hermes.parameters)

    def test_the_array_is_on_the_bus(self):
        soc = self.soc()
        hermes = add_hermes(soc, self.write(ports=ports(channels=2)), origin=0x8000_0000)
        self.assertIs(soc.hermes, hermes)
        self.assertEqual(soc.bus.regions["hermes"].origin, 0x8000_0000)
        self.assertEqual([name for name in soc.bus.masters if "dma" in name], ["hermes_dma0", "hermes_dma1"])

    def test_a_region_that_is_not_there(self):
        with self.assertRaisesRegex(ValueError, "no region 'sdram', only .*main_ram"):
            add_hermes(self.soc(), self.write(), memory="sdram")


if __name__ == "__main__":
    unittest.main()
