//! A port of the switch that is a socket: frames to and from another program, such as QEMU, one a
//! datagram.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::cosim::NetAddress;

/// Shortest and longest frame that is taken: an Ethernet header, and a jumbo frame.
const FRAME_BYTES: std::ops::RangeInclusive<usize> = 14..=9_216;
/// Largest datagram of UDP.
const DATAGRAM_BYTES: usize = 1 << 16;
/// Datagrams that are taken at the end of a step; the others wait in the socket.
const AT_ONCE: usize = 64;

/// Where the socket is, and who is behind it. The format is that of QEMU's `-netdev dgram` and
/// `-netdev socket,udp=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideOptions {
    /// Its own address.
    pub local: SocketAddr,
    /// Where datagrams go; if not given, to the sender of the first that comes, and none before.
    pub remote: Option<SocketAddr>,
    /// The queue pair outside that one of a node's is connected to.
    pub peer: Option<OutsidePeer>,
}

/// A queue pair of a peer outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutsidePeer {
    /// The node whose peer it is.
    pub node: usize,
    /// MAC and IPv4 address.
    pub address: NetAddress,
    /// Its queue pair, 24 bits.
    pub pair: u32,
    /// Packet sequence number of the first packet that it sends, 24 bits.
    pub sequence: u32,
    /// Key of its region.
    pub key: u32,
    /// Where its region begins.
    pub base: u64,
}

impl FromStr for OutsidePeer {
    type Err = String;

    /// `mac=52:54:00:00:00:09,ip=10.0.0.9,qp=17,psn=0,key=0x1234,address=0x7f0000001000,node=0`:
    /// the first four must be there. Numbers are decimal, or hexadecimal with 0x.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut peer = Self::default();
        let mut given = Vec::new();
        for setting in text.split(',') {
            let (name, value) =
                setting.split_once('=').ok_or_else(|| format!("`{setting}`: expected NAME=VALUE"))?;
            let wrong = |what: &str| format!("{name}={value}: expected {what}");
            let number = |most: u64| {
                let number = match value.strip_prefix("0x") {
                    Some(digits) => u64::from_str_radix(digits, 16),
                    None => value.parse(),
                };
                number.ok().filter(|number| *number <= most).ok_or_else(|| wrong(&format!("0 to {most:#x}")))
            };
            match name {
                "mac" => {
                    peer.address.mac =
                        mac(value).ok_or_else(|| wrong("six bytes such as 52:54:00:00:00:09"))?
                }
                "ip" => {
                    let ip: Result<std::net::Ipv4Addr, _> = value.parse();
                    peer.address.ip = ip.map_err(|_| wrong("an IPv4 address"))?.octets();
                }
                "qp" => peer.pair = number(0xff_ffff)? as u32,
                "psn" => peer.sequence = number(0xff_ffff)? as u32,
                "key" => peer.key = number(u32::MAX.into())? as u32,
                "address" => peer.base = number(u64::MAX)?,
                "node" => peer.node = number(7)? as usize,
                _ => return Err(format!("{name}: expected mac, ip, qp, psn, key, address or node")),
            }
            given.push(name);
        }
        match ["mac", "ip", "qp", "psn"].into_iter().find(|name| !given.contains(name)) {
            Some(missing) => Err(format!("{missing}: expected one")),
            None => Ok(peer),
        }
    }
}

/// The bytes of a MAC.
fn mac(text: &str) -> Option<[u8; 6]> {
    let bytes: Vec<u8> =
        text.split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect::<Option<_>>()?;
    bytes.try_into().ok()
}

/// The socket.
pub(super) struct Outside {
    socket: UdpSocket,
    remote: Option<SocketAddr>,
    last: Instant,
    /// The peer has said that nothing more will come.
    closed: bool,
    buffer: Vec<u8>,
}

impl Outside {
    pub fn open(options: &OutsideOptions) -> io::Result<Self> {
        let socket = UdpSocket::bind(options.local)?;
        socket.set_nonblocking(true)?;
        let buffer = vec![0; DATAGRAM_BYTES];
        Ok(Self { socket, remote: options.remote, last: Instant::now(), closed: false, buffer })
    }

    /// The frames that have come, not more than some.
    pub fn receive(&mut self) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        for _ in 0..AT_ONCE {
            match self.socket.recv_from(&mut self.buffer) {
                Ok((bytes, from)) if from == *self.remote.get_or_insert(from) => {
                    self.last = Instant::now();
                    self.closed = bytes == 0;
                    frames.extend(FRAME_BYTES.contains(&bytes).then(|| self.buffer[..bytes].to_vec()));
                }
                // A stranger
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // Nobody was there for a datagram that was sent before: like a link without a peer.
                Err(_) => {}
            }
        }
        frames
    }

    /// Sends a frame, which is lost if nobody is there.
    pub fn send(&self, frame: &[u8]) {
        if let Some(remote) = self.remote {
            let _ = self.socket.send_to(frame, remote);
        }
    }

    /// How long ago the last datagram came; for ever if it was an empty one: nothing more will
    /// come.
    pub fn quiet(&self) -> Duration {
        if self.closed {
            return Duration::MAX;
        }
        self.last.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(remote: Option<SocketAddr>) -> (Outside, SocketAddr) {
        let local = "127.0.0.1:0".parse().unwrap();
        let outside = Outside::open(&OutsideOptions { local, remote, peer: None }).unwrap();
        let address = outside.socket.local_addr().unwrap();
        (outside, address)
    }

    /// Frames that have come, when there are so many.
    fn wait(outside: &mut Outside, count: usize) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        while frames.len() < count {
            frames.extend(outside.receive());
            std::thread::yield_now();
        }
        frames
    }

    #[test]
    fn a_frame_is_a_datagram_and_the_first_who_sends_is_the_peer() {
        let (mut outside, address) = open(None);
        let [peer, stranger] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        outside.send(&[1; 60]);
        assert!(outside.receive().is_empty());
        for frame in [&[7; 60][..], &[8; 13], &[9; 9_217], &[10; 1_082]] {
            peer.send_to(frame, address).unwrap();
        }
        assert_eq!(wait(&mut outside, 2), [vec![7; 60], vec![10; 1_082]], "what is no frame is left out");
        stranger.send_to(&[5; 60], address).unwrap();
        peer.send_to(&[6; 60], address).unwrap();
        assert_eq!(wait(&mut outside, 1), [[6; 60]]);
        outside.send(&[2; 100]);
        let mut buffer = [0; 200];
        assert_eq!(peer.recv_from(&mut buffer).unwrap(), (100, address));
        assert_eq!(buffer[..100], [2; 100]);
        // An empty datagram closes the port, until there is more.
        peer.send_to(&[], address).unwrap();
        while !outside.closed {
            assert!(outside.receive().is_empty());
        }
        assert_eq!(outside.quiet(), Duration::MAX);
        peer.send_to(&[6; 60], address).unwrap();
        wait(&mut outside, 1);
        assert!(outside.quiet() < Duration::MAX);
        // A peer that has gone is no error.
        let gone = stranger.local_addr().unwrap();
        drop(stranger);
        let (mut lonely, _) = open(Some(gone));
        lonely.send(&[1; 60]);
        assert!(lonely.receive().is_empty());
    }

    #[test]
    fn peers_are_told_by_text() {
        let text =
            "mac=52:54:00:0a:00:09,ip=10.0.0.9,qp=0x11,psn=16777215,key=0x1234,address=0x7f0000001000,node=1";
        let peer: OutsidePeer = text.parse().unwrap();
        let address = NetAddress { mac: [0x52, 0x54, 0, 10, 0, 9], ip: [10, 0, 0, 9] };
        let expected = OutsidePeer {
            node: 1,
            address,
            pair: 17,
            sequence: 0xff_ffff,
            key: 0x1234,
            base: 0x7f00_0000_1000,
        };
        assert_eq!(peer, expected);
        for (text, error) in [
            ("mac=52:54:00:00:00:09,ip=10.0.0.9,qp=1", "psn: expected one"),
            ("mac=52:54:00:00:00", "mac=52:54:00:00:00: expected six bytes such as 52:54:00:00:00:09"),
            ("ip=10.0.0", "ip=10.0.0: expected an IPv4 address"),
            ("qp=16777216", "qp=16777216: expected 0 to 0xffffff"),
            ("psn=-1", "psn=-1: expected 0 to 0xffffff"),
            ("port=1", "port: expected mac, ip, qp, psn, key, address or node"),
            ("mac", "`mac`: expected NAME=VALUE"),
        ] {
            assert_eq!(text.parse::<OutsidePeer>().unwrap_err(), error);
        }
    }
}
