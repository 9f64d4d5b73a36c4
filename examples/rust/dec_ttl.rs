//! dec-ttl in Rust: the same verdicts and the same packets as `kernels-asm/dec-ttl.S`. README.md
//! says how it is built.
//!
//! There is no standard library: a kernel is one function, without heap, threads or files. What
//! panics ends its thread with a fault (cause 3, breakpoint), and `hermes run --print` tells file,
//! line and message.
#![no_std]
#![no_main]

mod hermes;

/// A packet in the ring: `struct packet_slot` of `hermes.h`. The frame is `length` bytes long (no
/// FCS), in network byte order.
#[repr(C)]
pub struct PacketSlot {
    /// Bytes of the frame that are in the slot.
    length: u32,
    /// Input port.
    port: u32,
    /// Bytes cut from the frame's end.
    cut: u16,
    reserved: u16,
    /// Arrival time in cycles.
    arrival: u32,
    padding: [u8; 2],
    ethernet: [u8; ETHERNET],
    /// The smallest header of IPv4: slots have 128 bytes at least, so it is always there.
    ipv4: [u8; IPV4],
}

const ETHERNET: usize = 14;
const IPV4: usize = 20;

const FORWARD: u32 = 0;
const DROP: u32 = 1 << 31;

/// Why a packet is dropped, as `hermes run` names it.
#[repr(u32)]
enum Reason {
    NotIpv4 = 1,
    Short = 2,
    Version = 3,
    Ttl = 8,
}

impl PacketSlot {
    /// What every app asks of a packet first: an IPv4 packet with bytes for an Ethernet and an IPv4
    /// header.
    fn require_ipv4(&self) -> Result<(), Reason> {
        let length = self.length as usize;
        if length < ETHERNET {
            return Err(Reason::Short);
        }
        if self.ethernet[12..] != [0x08, 0x00] {
            return Err(Reason::NotIpv4);
        }
        if length < ETHERNET + IPV4 {
            return Err(Reason::Short);
        }
        if self.ipv4[0] >> 4 != 4 {
            return Err(Reason::Version);
        }
        Ok(())
    }

    /// A half word of the IPv4 header, in host order.
    fn half(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.ipv4[at], self.ipv4[at + 1]])
    }

    /// Takes one from the time to live. RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
    fn dec_ttl(&mut self) -> Result<(), Reason> {
        self.require_ipv4()?;
        if self.ipv4[8] < 2 {
            return Err(Reason::Ttl);
        }
        let before = self.half(8);
        self.ipv4[8] -= 1;
        let sum = u32::from(!self.half(10)) + u32::from(!before) + u32::from(self.half(8));
        let checksum = !fold(sum) as u16;
        self.ipv4[10..12].copy_from_slice(&checksum.to_be_bytes());
        Ok(())
    }
}

/// The one's complement sum in 16 bits.
fn fold(sum: u32) -> u32 {
    let sum = (sum & 0xffff) + (sum >> 16);
    (sum & 0xffff) + (sum >> 16)
}

/// Runs once for each packet, in a thread of its own, and returns the verdict.
///
/// # Safety
/// `slot` is the packet's: the array gives it, and nobody else has it while the thread runs.
#[no_mangle]
pub unsafe extern "C" fn kernel(_packet: u32, slot: *mut PacketSlot, _arguments: *mut u32) -> u32 {
    match (*slot).dec_ttl() {
        Ok(()) => FORWARD,
        Err(reason) => DROP | reason as u32,
    }
}
