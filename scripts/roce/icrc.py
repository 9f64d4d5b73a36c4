"""The ICRC of RoCEv2 (InfiniBand Architecture Specification, annex A17), and the frames of a reliable connection, without any library."""

import struct
import zlib

ETHERNET, IPV4, UDP, BASE = 14, 20, 8, 12
PORT = 4791
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY = 0x06, 0x07, 0x08, 0x0A
READ_REQUEST, READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY = 0x0C, 0x0D, 0x0E, 0x0F, 0x10
ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, FETCH_ADD = 0x11, 0x12, 0x14
# Bytes of the header behind the base transport header.
EXTENSION = {0x06: 16, 0x07: 0, 0x08: 0, 0x0A: 16, 0x0C: 16, 0x0D: 4, 0x0E: 0, 0x0F: 4, 0x10: 4, 0x11: 4, 0x12: 12, 0x13: 28, 0x14: 28}


def icrc(frame):
    """The ICRC of a frame that ends before it, as its four bytes."""
    covered = bytearray(b"\xff" * 8 + frame[ETHERNET:])
    # What routers may change: type of service, time to live, both checksums, byte 4 of the base transport header
    for at in (1, 8, 10, 11, IPV4 + 6, IPV4 + 7, IPV4 + UDP + 4):
        covered[8 + at] = 0xFF
    return struct.pack("<I", zlib.crc32(covered))


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def build(to, us, opcode, pair, psn, extension=b"", payload=b"", ask=False):
    """A frame between (MAC, IP) `us` and `to`."""
    padding = -len(payload) & 3
    length = IPV4 + UDP + BASE + len(extension) + len(payload) + padding + 4
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, length, 0, 0x4000, 64, 17, 0, us[1], to[1])
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    udp = struct.pack(">HHHH", 0xC000, PORT, length - IPV4, 0)
    base = struct.pack(">BBHII", opcode, 0x40 | padding << 4, 0xFFFF, pair, (ask << 31) | (psn & 0xFFFFFF))
    frame = to[0] + us[0] + b"\x08\x00" + ip + udp + base + extension + payload + bytes(padding)
    frame += icrc(frame)
    return frame + bytes(max(0, 60 - len(frame)))


class Packet:
    """What a frame of RoCEv2 says; `ValueError` with the reason if it is none or is wrong."""

    def __init__(self, frame):
        if len(frame) < ETHERNET + IPV4 + UDP + BASE + 4 or frame[12:14] != b"\x08\x00" or frame[14] != 0x45 or frame[23] != 17:
            raise ValueError("no UDP over IPv4")
        if struct.unpack(">H", frame[36:38])[0] != PORT:
            raise ValueError("not port 4791")
        end = ETHERNET + struct.unpack(">H", frame[16:18])[0]
        if checksum(frame[14:34]) != 0:
            raise ValueError("IPv4 checksum")
        if frame[end - 4 : end] != icrc(frame[: end - 4]):
            raise ValueError(f"ICRC {frame[end - 4 : end].hex()}, expected {icrc(frame[: end - 4]).hex()}")
        self.opcode, flags, _, pair, psn = struct.unpack(">BBHII", frame[42:54])
        self.pair, self.psn, self.ask = pair & 0xFFFFFF, psn & 0xFFFFFF, psn >> 31 == 1
        if self.opcode not in EXTENSION:
            raise ValueError(f"opcode {self.opcode:#x}")
        extension = 54 + EXTENSION[self.opcode]
        self.extension = frame[54:extension]
        self.payload = frame[extension : end - 4 - (flags >> 4 & 3)]
