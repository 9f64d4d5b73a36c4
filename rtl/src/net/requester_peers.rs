//! What the peers of the sender do, as the specification has it.

use super::*;

impl Peer {
    fn take(&mut self, packet: &Packet) {
        let (offset, length, mut bytes) = match packet.begins {
            Some((offset, length)) => {
                assert!(self.message.is_none() && [6, 10].contains(&packet.opcode));
                (offset, length, vec![])
            }
            None => self.message.take().expect("a message"),
        };
        bytes.extend_from_slice(&packet.bytes);
        let left = length as usize - bytes.len();
        if [8, 10].contains(&packet.opcode) {
            assert!(left == 0 && packet.acknowledge);
            self.taken.push((offset, bytes));
        } else {
            assert!(left > 0 && packet.bytes.len() == 1 << MTU);
            self.message = Some((offset, length, bytes));
        }
    }
}

impl Bench {
    /// The peers take packets whose time has come, and answer.
    pub(super) fn receive(&mut self, wire: Wire) {
        while let Some(index) = self.packets.iter().position(|packet| packet.due <= self.cycle) {
            let packet = self.packets.remove(index);
            let Packet { pair, sequence, .. } = packet;
            let peer = &mut self.peers[pair];
            let distance = sequence.wrapping_sub(peer.expected) & 0xff_ffff;
            let is_old = distance >= 1 << 23;
            if packet.opcode >= 0x0c && (distance == 0 || is_old) {
                self.respond(&packet, wire);
                continue;
            }
            let (number, syndrome) = match distance {
                // It drops this packet and those behind it.
                0 if self.not_ready > 0 && self.rng.gen_range(0..100) < self.not_ready => {
                    peer.told = true;
                    self.rested += 1;
                    (sequence, 0x21)
                }
                0 => {
                    peer.take(&packet);
                    peer.expected = (peer.expected + 1) & 0xff_ffff;
                    peer.told = false;
                    if !packet.acknowledge {
                        continue;
                    }
                    (sequence, 0x1f)
                }
                older if older >= 1 << 23 => (peer.expected.wrapping_sub(1) & 0xff_ffff, 0x1f),
                _ if peer.told => continue,
                _ => {
                    peer.told = true;
                    (peer.expected, 0x60)
                }
            };
            let answer = PeerAnswer {
                pair: (pair as u64).into(),
                sequence: u64::from(number).into(),
                syndrome: syndrome.into(),
                ..PeerAnswer::default()
            };
            if self.rng.gen_range(0..100) >= wire.loss {
                let late =
                    if self.rng.gen_range(0..100) < wire.reorder { self.rng.gen_range(0..100) } else { 0 };
                // Answers leave behind the responses before them.
                self.responds_at = self.responds_at.max(self.cycle) + 5;
                self.answers.push((self.responds_at + wire.delay + late, answer));
            }
        }
    }

    /// A peer answers a READ or an atomic operation, that is expected or came before.
    fn respond(&mut self, packet: &Packet, wire: Wire) {
        let Packet { pair, sequence, .. } = *packet;
        let (offset, length) = packet.begins.expect("it has its address");
        let atomic = packet.opcode > 0x10;
        let packets = if atomic { 1 } else { length.div_ceil(1 << MTU) };
        assert!(packets <= 8, "a quarter of the window");
        // Those that are still to leave are given back.
        self.answers.retain(|(due, answer)| {
            let behind = (answer.sequence.to_u64() as u32).wrapping_sub(sequence) & 0xff_ffff;
            !answer.response
                || answer.pair.index() != pair
                || behind >= 1 << 23
                || *due <= self.cycle + wire.delay
        });
        let peer = &mut self.peers[pair];
        if sequence == peer.expected {
            assert!(peer.message.is_none());
            peer.expected = (sequence + packets) & 0xff_ffff;
            peer.told = false;
            if atomic {
                let result = self.rng.gen();
                peer.results.insert(sequence, result);
                self.results[pair].push_back(result);
            }
        }
        self.responds_at = self.responds_at.max(self.cycle);
        for number in 0..packets {
            let peer = &mut self.peers[pair];
            self.responds_at += 16;
            let bytes = if atomic { 0 } else { (length - (number << MTU)).min(1 << MTU) };
            let mut first = remote(offset + (number << MTU), bytes.min(8));
            first.resize_with(8, || self.rng.gen());
            let (begins, ends) = (number == 0, number + 1 == packets);
            let value = if atomic { peer.results[&sequence] } else { value_of(&first).swap_bytes() };
            let answer = PeerAnswer {
                pair: (pair as u64).into(),
                sequence: u64::from((sequence + number) & 0xff_ffff).into(),
                // Those in the middle have no AETH.
                syndrome: self.rng.gen_range(0..if atomic || begins || ends { 32 } else { 256u64 }).into(),
                response: true,
                atomic,
                bytes: u64::from(bytes).into(),
                value: value.into(),
                begins: begins && !atomic,
                ends: ends && !atomic,
            };
            let mut due = self.responds_at + wire.delay;
            if self.rng.gen_range(0..100) < wire.reorder {
                due += self.rng.gen_range(0..100);
            }
            if self.rng.gen_range(0..100) >= wire.loss {
                self.answers.push((due, answer));
            }
        }
    }
}
