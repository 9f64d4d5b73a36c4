//! The network interface as its host sets it up: who we are, queue pairs, commands that the host posts.

use hermes_rtl::net::{state, word};

use super::device::Device;
use super::error::CosimError;
use super::host::{option, Host};

/// QP_COMMAND: the last command was refused.
const STATE_REFUSED: u32 = 1 << 30;
/// NET_STATUS: a post found no room; a write of NET_DATA was refused.
const NO_ROOM: u32 = 1 << 8;
const CHANGE_REFUSED: u32 = 1 << 9;

/// Who a node is on the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetAddress {
    /// Its MAC, in the order of the wire.
    pub mac: [u8; 6],
    /// Its IPv4 address, in the order of the wire.
    pub ip: [u8; 4],
}

impl NetAddress {
    fn mac_words(self) -> [u32; 2] {
        let [a, b, c, d, e, f] = self.mac;
        [u32::from_be_bytes([c, d, e, f]), u32::from_be_bytes([0, 0, a, b])]
    }

    fn ip_word(self) -> u32 {
        u32::from_be_bytes(self.ip)
    }
}

/// A queue pair: its peer, and the symmetric window whose addresses it translates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueuePair {
    /// The peer.
    pub peer: NetAddress,
    /// The peer's queue pair, 24 bits.
    pub remote: u32,
    /// Key of the peer's region.
    pub key: u32,
    /// Where the symmetric window begins here.
    pub window: u32,
    /// Its bytes.
    pub window_bytes: u32,
    /// Where it begins at the peer.
    pub remote_base: u64,
    /// Packet sequence number of the first packet that is sent, 24 bits; the peer expects it.
    pub send: u32,
    /// Packet sequence number of the first packet that the peer sends, 24 bits.
    pub expect: u32,
}

impl QueuePair {
    fn words(&self) -> [(u64, u32); 11] {
        let [mac_low, mac_high] = self.peer.mac_words();
        [
            (word::REMOTE, self.remote),
            (word::MAC_LOW, mac_low),
            (word::MAC_HIGH, mac_high),
            (word::IP, self.peer.ip_word()),
            (word::KEY, self.key),
            (word::WINDOW_BASE, self.window),
            (word::WINDOW_BYTES, self.window_bytes),
            (word::BASE_LOW, self.remote_base as u32),
            (word::BASE_HIGH, (self.remote_base >> 32) as u32),
            (word::SEND, self.send),
            (word::EXPECT, self.expect),
        ]
    }
}

impl<D: Device> Host<D> {
    /// Says who the array is on the network, and lets it take frames.
    ///
    /// # Errors
    /// The array has no network interface, or a register does not answer.
    pub fn enable_network(&mut self, us: NetAddress, type_of_service: u8) -> Result<(), CosimError> {
        if !self.registers().any(|register| register.name == "NET_CONTROL") {
            return Err(CosimError::NoNetwork);
        }
        self.write("NET_CONTROL", 0)?;
        let [mac_low, mac_high] = us.mac_words();
        self.write("NET_MAC_LOW", mac_low)?;
        self.write("NET_MAC_HIGH", mac_high)?;
        self.write("NET_IP", us.ip_word())?;
        self.write("NET_TOS", type_of_service.into())?;
        self.write("NET_CONTROL", 1)
    }

    /// Writes a queue pair, which must be in RESET, and takes it up.
    ///
    /// # Errors
    /// There is no such queue pair, it is not in RESET, or a register does not answer.
    pub fn connect_queue_pair(&mut self, number: u32, pair: &QueuePair) -> Result<(), CosimError> {
        let pairs = self.read("NET_CAPS")? & 0x3f;
        option("queue pair", number, number < pairs, &format!("0 to {}", pairs - 1))?;
        self.write("NET_STATUS", CHANGE_REFUSED)?;
        for (word, value) in pair.words() {
            self.write("NET_INDEX", number << 8 | word as u32)?;
            self.write("NET_DATA", value)?;
        }
        let refused = self.read("NET_STATUS")? & CHANGE_REFUSED != 0;
        option("queue pair", number, !refused, "one in RESET")?;
        self.set_queue_pair_state(number, state::UP)
    }

    /// Changes the state of a queue pair, as [`state`] numbers them.
    ///
    /// # Errors
    /// There is no such queue pair, it may not change to that state (to RESET: it has commands or writes left), or a register does not
    /// answer.
    pub fn set_queue_pair_state(&mut self, number: u32, state: u64) -> Result<(), CosimError> {
        self.write("QP_COMMAND", (state as u32) << 8 | number)?;
        let refused = self.read("QP_COMMAND")? & STATE_REFUSED != 0;
        option("queue pair", number, !refused, "one that may change to this state")
    }

    /// A word of a queue pair, as [`word`] numbers them.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn queue_pair_word(&mut self, number: u32, word: u64) -> Result<u32, CosimError> {
        self.write("NET_INDEX", number << 8 | word as u32)?;
        self.read("NET_DATA")
    }

    /// Posts a command for a queue pair; false if there was no room, and nothing was posted.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn post(&mut self, pair: u32, command: &[u32; 16]) -> Result<bool, CosimError> {
        for (index, word) in command.iter().enumerate() {
            self.write(&format!("NET_STAGE_{index}"), *word)?;
        }
        self.write("NET_POST", pair)?;
        if self.read("NET_STATUS")? & NO_ROOM == 0 {
            return Ok(true);
        }
        self.write("NET_STATUS", NO_ROOM)?;
        Ok(false)
    }

    /// A counter of the network interface, as [`counter`](hermes_rtl::net::counter) numbers them.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn network_counter(&mut self, number: u64) -> Result<u32, CosimError> {
        self.write("NET_COUNTER_SELECT", number as u32)?;
        self.read("NET_COUNTER")
    }
}
