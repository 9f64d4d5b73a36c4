//! Frames for the interface, and what must become of them as the golden model has it.

use hermes_rtl::net::cause;
use hermes_testbench::golden::roce::{opcode, seal, Extended, RoceError, RoceFrame};
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

use crate::interface::Outcome;
use crate::{number, LONGEST, OUR_IP, OUR_KEY, OUR_MAC, PAIR, PEER_IP, PEER_MAC, REGION};

/// Changes a frame: a bit, a byte of a header, its end; with or without the checks put right.
pub fn change(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    let seals = rng.gen_bool(0.6);
    for _ in 0..rng.gen_range(0..3) {
        let at = if rng.gen_bool(0.7) { rng.gen_range(0..84) } else { rng.gen_range(0..bytes.len()) };
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= if rng.gen_bool(0.7) { 1 << rng.gen_range(0..8) } else { rng.gen() };
        }
    }
    match rng.gen_range(0..12) {
        0 => bytes.truncate(rng.gen_range(1..=bytes.len())),
        1 => bytes.extend((0..rng.gen_range(1..70)).map(|_| 0)),
        // Another length that both headers agree on
        2 if bytes.len() > 60 => {
            let length = (number(&bytes[16..18]) as u16).wrapping_add(rng.gen_range(0..16)).wrapping_sub(8);
            bytes[16..18].copy_from_slice(&length.to_be_bytes());
            bytes[38..40].copy_from_slice(&length.wrapping_sub(20).to_be_bytes());
        }
        _ => {}
    }
    if seals {
        seal(bytes);
    }
}

/// Our end of the queue pair, as the specification has it.
pub struct Target {
    pub sequence: u32,
    /// A message that has begun: where its next byte goes, what is to come, its key.
    pub message: Option<(u64, u32, u32)>,
}

impl Target {
    /// A frame for us, of which so many of 1,000 are requests that are not served, or no good ones.
    pub fn frame(&self, rng: &mut ChaCha8Rng, wild: u32) -> RoceFrame {
        let is_wild = rng.gen_ratio(wild, 1_000);
        let length = if rng.gen_bool(0.1) { rng.gen_range(1..1_100) } else { rng.gen_range(1..150) };
        let (mut code, mut payload, mut total) = (opcode::WRITE_ONLY, length, length);
        match self.message {
            Some((_, left, _)) if left > LONGEST => (code, payload) = (opcode::WRITE_MIDDLE, LONGEST),
            Some((_, left, _)) => (code, payload) = (opcode::WRITE_LAST, left),
            None if rng.gen_bool(0.02) => {
                total = LONGEST + rng.gen_range(1..2 * LONGEST);
                (code, payload) = (opcode::WRITE_FIRST, LONGEST);
            }
            // Answers, which have no effect
            None if rng.gen_bool(0.1) => code = opcode::ACKNOWLEDGE,
            None => {}
        }
        if is_wild {
            while let 0 = rng.gen_range(0..3u32) {
                code = rng.gen_range(0..0x20);
            }
        }
        let extended = loop {
            match Extended::of(code) {
                Some(extended) => break extended,
                None => code = rng.gen_range(0..0x20),
            }
        };
        let extended = match extended {
            Extended::Rdma { .. } => Extended::Rdma {
                address: if is_wild && rng.gen_bool(0.2) { rng.gen() } else { rng.gen_range(64..0x1_0000) },
                key: if is_wild && rng.gen_bool(0.2) { rng.gen() } else { OUR_KEY },
                length: if is_wild && rng.gen_bool(0.2) { rng.gen() } else { total },
            },
            Extended::Acknowledge { .. } => {
                Extended::Acknowledge { syndrome: rng.gen(), message: rng.gen::<u32>() >> 8 }
            }
            other => other,
        };
        RoceFrame {
            to_mac: OUR_MAC,
            from_mac: PEER_MAC,
            type_of_service: rng.gen(),
            to_ip: OUR_IP,
            from_ip: PEER_IP,
            source_port: rng.gen(),
            opcode: code,
            acknowledge: rng.gen(),
            queue_pair: PAIR,
            sequence: if rng.gen_bool(0.9) { self.sequence } else { rng.gen::<u32>() >> 8 },
            extended,
            payload: (0..payload).map(|_| rng.gen()).collect(),
        }
    }

    /// What must become of a frame; what is written then, and where.
    pub fn take(&mut self, bytes: &[u8]) -> (Outcome, Option<(u32, Vec<u8>)>) {
        let dropped = |cause| (Outcome::Dropped(cause), None);
        let ours = bytes.get(..6) == Some(&OUR_MAC[..]) && bytes.get(30..34) == Some(&OUR_IP[..]);
        match RoceFrame::parse(bytes) {
            Err(RoceError::Short) => dropped(cause::SHORT),
            Err(RoceError::Ip) => dropped(cause::IP),
            Err(RoceError::Udp) => dropped(cause::UDP),
            _ if !ours => dropped(cause::NOT_OURS),
            Err(RoceError::Version) => dropped(cause::VERSION),
            Err(RoceError::Icrc) => dropped(cause::ICRC),
            Err(RoceError::Opcode) => dropped(cause::OPCODE),
            Ok(frame) if frame.queue_pair != PAIR || frame.from_ip != PEER_IP => (Outcome::Unknown, None),
            // ACKs and responses, which nobody waits for
            Ok(frame) if (0x0d..=0x12).contains(&frame.opcode) => (Outcome::Stray, None),
            Ok(frame) => self.request(frame),
        }
    }

    fn request(&mut self, frame: RoceFrame) -> (Outcome, Option<(u32, Vec<u8>)>) {
        use opcode::{COMPARE_SWAP, FETCH_ADD, READ_REQUEST};
        use opcode::{WRITE_FIRST, WRITE_LAST, WRITE_MIDDLE, WRITE_ONLY};
        let is_write = [WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY].contains(&frame.opcode);
        let is_served = is_write || [READ_REQUEST, COMPARE_SWAP, FETCH_ADD].contains(&frame.opcode);
        match frame.sequence.wrapping_sub(self.sequence) & 0xff_ffff {
            0 if is_write => {}
            // The region may be written alone.
            0 => return (Outcome::Refused, None),
            distance if distance >> 23 == 1 && !is_served => return (Outcome::Refused, None),
            distance if distance >> 23 == 1 => return (Outcome::Repeated, None),
            _ => return (Outcome::Newer, None),
        }
        let size = frame.payload.len() as u32;
        let (address, left, key, needed) = match (frame.extended, self.message) {
            (Extended::Rdma { address, key, length }, None) => (address, length, key, length),
            (Extended::None, Some((address, left, key))) => (address, left, key, size),
            _ => return (Outcome::Refused, None),
        };
        let is_whole = match frame.opcode {
            WRITE_FIRST | WRITE_MIDDLE => size == LONGEST && left > LONGEST,
            WRITE_LAST => size == left && (1..=LONGEST).contains(&size),
            _ => size == left && size <= LONGEST,
        };
        let inside = address >= u64::from(REGION) && address <= (1 << 32) - u64::from(needed);
        if !is_whole || !inside || key != OUR_KEY {
            return (Outcome::Refused, None);
        }
        let ends = [WRITE_LAST, WRITE_ONLY].contains(&frame.opcode);
        self.message = (!ends).then(|| (address + u64::from(size), left - size, key));
        self.sequence = (self.sequence + 1) & 0xff_ffff;
        (Outcome::Written, Some((address as u32, frame.payload)))
    }
}
