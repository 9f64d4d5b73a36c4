#!/usr/bin/env python3
"""A golden model for `hermes run --golden`: what the app dec-ttl does, in Python without further packages.

    hermes run --kernel mine.elf --pcap in.pcap --golden 'python3 examples/golden/dec_ttl.py'

It reads a pcap file on standard input, and writes

- a pcap file with a frame for each packet, in the same order, as the kernel must leave it, to standard output;
- a line `packetIdx,verdict` for each packet to the file that the environment variable HERMES_VERDICTS names.
"""

import os
import struct
import sys

FORWARD = 0x00000000  # plus the port
DROP = 0x80000000  # plus the reason
NOT_IPV4, SHORT, VERSION, TTL = 1, 2, 3, 8


def process(frame):
    """The verdict for a frame (a bytearray), which is changed in place."""
    if len(frame) < 14:
        return DROP | SHORT
    if frame[12:14] != b"\x08\x00":
        return DROP | NOT_IPV4
    if len(frame) < 34:
        return DROP | SHORT
    if frame[14] >> 4 != 4:
        return DROP | VERSION
    if frame[22] < 2:
        return DROP | TTL
    # RFC 1624, equation 3: HC' = ~(~HC + ~m + m'), m the 16 bits with the time to live and the protocol
    checksum, before = struct.unpack_from(">H", frame, 24)[0], struct.unpack_from(">H", frame, 22)[0]
    total = (~checksum & 0xFFFF) + (~before & 0xFFFF) + (before - 0x100)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    frame[22] -= 1
    struct.pack_into(">H", frame, 24, ~total & 0xFFFF)
    return FORWARD | 0


def main():
    packets, left = sys.stdin.buffer, sys.stdout.buffer
    # pcap: a header of 24 bytes; before each frame seconds, nanoseconds, bytes that follow, bytes on the wire.
    # hermes writes it little-endian.
    left.write(packets.read(24))
    with open(os.environ["HERMES_VERDICTS"], "w") as verdicts:
        number = 0
        while header := packets.read(16):
            seconds, nanoseconds, length, on_the_wire = struct.unpack("<IIII", header)
            frame = bytearray(packets.read(length))
            verdict = process(frame)
            left.write(struct.pack("<IIII", seconds, nanoseconds, len(frame), on_the_wire))
            left.write(frame)
            verdicts.write(f"{number},{verdict:#010x}\n")
            number += 1


if __name__ == "__main__":
    main()
