"""A small peer of RoCEv2 over a socket with a frame a datagram: it has memory, serves writes, reads and fetch-and-add in order, and posts one
request at a time. It stands where the array stands, to try the guest without it; no library is needed.
"""

import select
import socket
import struct
import time

import icrc
from icrc import Packet

MTU = 1024


class Peer:
    def __init__(self, local, remote, us, to, bytes=65536):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(local)
        self.remote, self.us, self.to = remote, us, to
        self.memory = bytearray(bytes)
        self.frames, self.wrong, self.lost = 0, 0, lambda: False

    def connect(self, pair, expect, remote_pair, send):
        """Own queue pair and the sequence number expected; the peer's, and the first that is sent."""
        self.pair, self.expect, self.remote_pair, self.next = pair, expect, remote_pair, send
        self.messages, self.write_at, self.answer, self.kept = 0, 0, None, {}

    def send(self, opcode, psn, extension=b"", payload=b"", ask=False):
        if not self.lost():
            self.socket.sendto(icrc.build(self.to, self.us, opcode, self.remote_pair, psn, extension, payload, ask), self.remote)

    def aeth(self, syndrome):
        return struct.pack(">I", syndrome << 24 | self.messages & 0xFFFFFF)

    def step(self, seconds):
        """Takes a frame, if one comes in time."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return
        frame = self.socket.recv(65536)
        if frame[12:14] != b"\x08\x00" or self.lost():
            return
        self.frames += 1
        try:
            packet = Packet(frame)
        except ValueError as error:
            self.wrong += 1
            print(f"peer: {error}")
            return
        if packet.pair != self.pair:
            return
        if packet.opcode in (icrc.ACKNOWLEDGE, icrc.ATOMIC_ACKNOWLEDGE) or icrc.READ_FIRST <= packet.opcode <= icrc.READ_ONLY:
            self.answer = packet
            return
        self.serve(packet)

    def serve(self, packet):
        behind = (packet.psn - self.expect) & 0xFFFFFF
        if behind >= 1 << 23:
            # It came before. Reads and atomic operations are answered again, by what is kept.
            if packet.opcode == icrc.READ_REQUEST:
                self.respond(packet)
            elif packet.opcode == icrc.FETCH_ADD and packet.psn in self.kept:
                self.send(icrc.ATOMIC_ACKNOWLEDGE, packet.psn, self.aeth(0x1F) + self.kept[packet.psn])
            else:
                self.send(icrc.ACKNOWLEDGE, self.expect - 1, self.aeth(0x1F))
            return
        if behind:
            self.send(icrc.ACKNOWLEDGE, self.expect, self.aeth(0x60))
            return
        if packet.opcode in (icrc.WRITE_FIRST, icrc.WRITE_ONLY):
            self.write_at = struct.unpack(">Q", packet.extension[:8])[0]
        if packet.opcode in (icrc.WRITE_FIRST, icrc.WRITE_MIDDLE, icrc.WRITE_LAST, icrc.WRITE_ONLY):
            end = self.write_at + len(packet.payload)
            if end > len(self.memory):
                self.send(icrc.ACKNOWLEDGE, packet.psn, self.aeth(0x62))
                return
            self.memory[self.write_at : end] = packet.payload
            self.write_at = end
            self.messages += packet.opcode in (icrc.WRITE_LAST, icrc.WRITE_ONLY)
            self.expect = packet.psn + 1 & 0xFFFFFF
            if packet.ask:
                self.send(icrc.ACKNOWLEDGE, packet.psn, self.aeth(0x1F))
        elif packet.opcode == icrc.READ_REQUEST:
            self.messages += 1
            self.expect = packet.psn + self.respond(packet) & 0xFFFFFF
        elif packet.opcode == icrc.FETCH_ADD:
            address, _, add, _ = struct.unpack(">QIQQ", packet.extension)
            old = struct.unpack("<Q", self.memory[address : address + 8])[0]
            self.memory[address : address + 8] = struct.pack("<Q", old + add & (1 << 64) - 1)
            self.kept[packet.psn] = struct.pack(">Q", old)
            self.messages += 1
            self.expect = packet.psn + 1 & 0xFFFFFF
            self.send(icrc.ATOMIC_ACKNOWLEDGE, packet.psn, self.aeth(0x1F) + self.kept[packet.psn])

    def respond(self, packet):
        """The packets of a read; how many."""
        address, _, length = struct.unpack(">QII", packet.extension)
        parts = [self.memory[at : min(at + MTU, address + length)] for at in range(address, address + length, MTU)] or [b""]
        for number, part in enumerate(parts):
            only, first, last = len(parts) == 1, number == 0, number == len(parts) - 1
            opcode = icrc.READ_ONLY if only else icrc.READ_FIRST if first else icrc.READ_LAST if last else icrc.READ_MIDDLE
            self.send(opcode, packet.psn + number, b"" if opcode == icrc.READ_MIDDLE else self.aeth(0x1F), bytes(part))
        return len(parts)

    def put(self, address, key, payload):
        """Puts at most MTU bytes; the syndrome of the answer."""
        extension = struct.pack(">QII", address, key, len(payload))
        for _ in range(8):
            self.send(icrc.WRITE_ONLY, self.next, extension, payload, ask=True)
            end = time.monotonic() + 2
            while time.monotonic() < end:
                self.answer = None
                self.step(0.1)
                if self.answer and self.answer.psn == self.next & 0xFFFFFF:
                    self.next = self.next + 1 & 0xFFFFFF
                    return self.answer.extension[0]
        raise TimeoutError("no acknowledge")
