//! The network interface as its host sets it up: who we are, queue pairs, commands that the host
//! posts.

use hermes_rtl::net::{region_word, right, state, word};

use super::device::Device;
use super::error::CosimError;
use super::host::{option, Host};
use super::simulation::{Simulation, Wire};

/// QP_COMMAND: the last command was refused.
const STATE_REFUSED: u32 = 1 << 30;
/// NET_STATUS: there are queue areas where NET_BASE and NET_AREA say; a post found no room; a write
/// of NET_DATA was refused.
const HAS_AREAS: u32 = 1 << 1;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Bytes of its packets: 256, 512, 1,024, 2,048 or 4,096.
    pub mtu: u32,
    /// Its protection domain, 0 to 15.
    pub domain: u32,
    /// READs and atomic operations that the peer takes at once, 1 to 16 (`max_dest_rd_atomic` of
    /// verbs).
    pub depth: u32,
}

impl Default for QueuePair {
    /// No peer; packets of 1,024 bytes, domain 0, 16 READs at once.
    fn default() -> Self {
        Self {
            peer: NetAddress::default(),
            remote: 0,
            key: 0,
            window: 0,
            window_bytes: 0,
            remote_base: 0,
            send: 0,
            expect: 0,
            mtu: 1_024,
            domain: 0,
            depth: 16,
        }
    }
}

impl QueuePair {
    fn words(&self) -> [(u64, u32); 12] {
        let [mac_low, mac_high] = self.peer.mac_words();
        // As verbs number them
        let mtu = self.mtu.ilog2() - 7;
        [
            (word::STATE, self.domain << 12 | mtu << 16 | self.depth << 24),
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

/// A region of memory that peers and commands may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Address of its first byte, a multiple of 64.
    pub address: u32,
    /// Its bytes.
    pub bytes: u32,
    /// What is allowed: bits of [`right`].
    pub rights: u32,
    /// Its key, which peers must know: the number of the region in bits 3:0, what cannot be guessed
    /// above.
    pub key: u32,
    /// Its protection domain, 0 to 15.
    pub domain: u32,
}

/// The table of regions, in NET_INDEX.
const REGION_TABLE: u32 = 1 << 28;

/// Operations, and that the bytes stand in the command.
const PUT: u32 = 1;
const GET: u32 = 2;
const FETCH_ADD: u32 = 4;
const COMPARE_SWAP: u32 = 5;
const INLINE: u32 = 1 << 10;

/// A command whose words 4 to 15 are zero.
fn command(operation: u32, remote: u32, local: u32, bytes: u32) -> [u32; 16] {
    let mut command = [0; 16];
    command[..4].copy_from_slice(&[operation, remote, local, bytes]);
    command
}

/// A put of `bytes` bytes from `local`, in the region that the post names, to `remote`, an address
/// of the window here.
#[must_use]
pub fn put(remote: u32, local: u32, bytes: u32) -> [u32; 16] {
    command(PUT, remote, local, bytes)
}

/// A put of these bytes, 16 at most, to `remote`.
///
/// # Panics
/// If there are more.
#[must_use]
pub fn put_inline(remote: u32, bytes: &[u8]) -> [u32; 16] {
    let mut command = put(remote, 0, bytes.len() as u32);
    command[0] |= INLINE;
    let mut inline = [0; 16];
    inline[..bytes.len()].copy_from_slice(bytes);
    for (word, bytes) in command[4..8].iter_mut().zip(inline.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    command
}

/// A get of `bytes` bytes from `remote`, an address of the window here, to `local`, in the region
/// that the post names.
#[must_use]
pub fn get(remote: u32, local: u32, bytes: u32) -> [u32; 16] {
    command(GET, remote, local, bytes)
}

/// A get of `bytes` bytes, 8 at most, from `remote`: they are its result ([`Host::network_value`]).
#[must_use]
pub fn get_inline(remote: u32, bytes: u32) -> [u32; 16] {
    let mut command = get(remote, 0, bytes);
    command[0] |= INLINE;
    command
}

/// Adds `value` to the 64 bits at `remote`, a multiple of 8: what was there is its result.
#[must_use]
pub fn fetch_add(remote: u32, value: u64) -> [u32; 16] {
    let mut command = command(FETCH_ADD, remote, 0, 8);
    [command[4], command[5]] = [value as u32, (value >> 32) as u32];
    command
}

/// Puts `value` into the 64 bits at `remote`, a multiple of 8, if they are `compare`: what was
/// there is its result.
#[must_use]
pub fn compare_swap(remote: u32, compare: u64, value: u64) -> [u32; 16] {
    let mut command = fetch_add(remote, value);
    command[0] = COMPARE_SWAP;
    [command[6], command[7]] = [compare as u32, (compare >> 32) as u32];
    command
}

/// A wire that gives back all that the network interface sends, in the cycle after its last beat,
/// as a switch that reflects: the array is its own peer.
#[must_use]
pub fn reflecting_wire() -> Wire {
    let mut frames = Vec::new();
    Box::new(move |_, network| {
        network.sink.take_frames(&mut frames);
        frames.drain(..).for_each(|frame| network.source.submit(0, frame.bytes));
        Ok(())
    })
}

/// How a command is posted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostOptions {
    /// Number of the region of its local bytes.
    pub region: u32,
    /// The domain that it is of.
    pub domain: u32,
}

/// Where the queue areas of the network interface are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueAreas {
    /// Address of the first one: a multiple of the bytes of all of them.
    pub base: u32,
    /// Bytes of one, as a power of two.
    pub area_log2: u32,
    /// Whether the L2 keeps lines of their command rings until they are read.
    pub lock: bool,
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

    /// Says where the queue areas are; behind [`Self::enable_network`], which takes the lock away.
    ///
    /// # Errors
    /// The areas cannot be there, a command queue is on, or a register does not answer.
    pub fn set_queue_areas(&mut self, areas: QueueAreas) -> Result<(), CosimError> {
        let capabilities = self.read("NET_CAPS")?;
        let (areas_log2, rings) = (capabilities >> 11 & 3, capabilities >> 17 & 0xfff);
        let QueueAreas { base, area_log2, lock } = areas;
        let (low, high) = (rings.ilog2() + 13, 31.min(32 - areas_log2));
        let fits = (low..=high).contains(&area_log2);
        option("bytes of a queue area, as a power of two", area_log2, fits, &format!("{low} to {high}"))?;
        let bytes = 1_u64 << (area_log2 + areas_log2);
        let aligned = u64::from(base) % bytes == 0;
        option("address of the queue areas", base, aligned, &format!("a multiple of {bytes}"))?;
        // The address changes while there are none.
        self.write("NET_AREA", 0)?;
        self.write("NET_BASE", base)?;
        self.write("NET_AREA", area_log2)?;
        let enable = self.read("NET_CONTROL")? & 1;
        self.write("NET_CONTROL", u32::from(lock) << 1 | enable)?;
        let is_there = enable == 0 || self.read("NET_STATUS")? & HAS_AREAS != 0;
        option("address of the queue areas", base, is_there, "the same while a command queue is on")
    }

    /// Writes a queue pair, which must be in RESET, and takes it up.
    ///
    /// # Errors
    /// There is no such queue pair, it is not in RESET, or a register does not answer.
    pub fn connect_queue_pair(&mut self, number: u32, pair: &QueuePair) -> Result<(), CosimError> {
        let pairs = self.read("NET_CAPS")? & 0x3f;
        option("queue pair", number, number < pairs, &format!("0 to {}", pairs - 1))?;
        let is_mtu = pair.mtu.is_power_of_two() && (256..=4_096).contains(&pair.mtu);
        option("MTU of the queue pair", pair.mtu, is_mtu, "256, 512, 1024, 2048 or 4096")?;
        option("domain of the queue pair", pair.domain, pair.domain < 16, "0 to 15")?;
        let is_depth = (1..=16).contains(&pair.depth);
        option("READs at once of the queue pair", pair.depth, is_depth, "1 to 16")?;
        self.write("NET_STATUS", CHANGE_REFUSED)?;
        for (word, value) in pair.words() {
            self.write("NET_INDEX", number << 8 | word as u32)?;
            self.write("NET_DATA", value)?;
        }
        let refused = self.read("NET_STATUS")? & CHANGE_REFUSED != 0;
        option("queue pair", number, !refused, "one in RESET")?;
        self.set_queue_pair_state(number, state::UP)
    }

    /// Writes a region and makes it valid. What is under way sees it from its next packet on.
    ///
    /// # Errors
    /// There is no such region, its key, address, length, rights or domain cannot be, or a register
    /// does not answer.
    pub fn set_region(&mut self, number: u32, region: &Region) -> Result<(), CosimError> {
        let regions = self.read("NET_CAPS")? >> 6 & 0x1f;
        option("region", number, number < regions, &format!("0 to {}", regions - 1))?;
        let Region { address, bytes, rights, key, domain } = *region;
        option("address of the region", address, address % 64 == 0, "a multiple of 64")?;
        let end = u64::from(address) + u64::from(bytes);
        option("bytes of the region", bytes, end <= 1 << 32, "a region that ends at 2^32 at most")?;
        option("key of the region", key, key & 15 == number, &format!("one with {number} in bits 3:0"))?;
        option("rights of the region", rights, rights & !right::ALL == 0, "bits 12:8")?;
        option("domain of the region", domain, domain < 16, "0 to 15")?;
        self.remove_region(number)?;
        let words = [
            (region_word::ADDRESS, address),
            (region_word::BYTES, bytes),
            (region_word::KEY, key),
            (region_word::RIGHTS, 1 | domain << 4 | rights),
        ];
        words.into_iter().try_for_each(|(word, value)| self.write_region_word(number, word, value))
    }

    /// Makes a region invalid: peers and commands that still need it fail.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn remove_region(&mut self, number: u32) -> Result<(), CosimError> {
        self.write_region_word(number, region_word::RIGHTS, 0)
    }

    fn write_region_word(&mut self, number: u32, word: u64, value: u32) -> Result<(), CosimError> {
        self.write("NET_INDEX", REGION_TABLE | number << 8 | word as u32)?;
        self.write("NET_DATA", value)
    }

    /// Changes the state of a queue pair, as [`state`] numbers them.
    ///
    /// # Errors
    /// There is no such queue pair, it may not change to that state (to RESET: it has commands or
    /// writes left), or a register does not answer.
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
    pub fn post(&mut self, pair: u32, command: &[u32; 16], options: PostOptions) -> Result<bool, CosimError> {
        for (index, word) in command.iter().enumerate() {
            self.write(&format!("NET_STAGE_{index}"), *word)?;
        }
        self.write("NET_POST", pair | options.region << 8 | options.domain << 24)?;
        if self.read("NET_STATUS")? & NO_ROOM == 0 {
            return Ok(true);
        }
        self.write("NET_STATUS", NO_ROOM)?;
        Ok(false)
    }

    /// The result of the last command of the host that had one.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn network_value(&mut self) -> Result<u64, CosimError> {
        let low = self.read("NET_VALUE_LOW")?;
        Ok(u64::from(self.read("NET_VALUE_HIGH")?) << 32 | u64::from(low))
    }

    /// A counter of the network interface, as [`counter`](hermes_rtl::types::counter) numbers them.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn network_counter(&mut self, number: u64) -> Result<u32, CosimError> {
        self.write("NET_COUNTER_SELECT", number as u32)?;
        self.read("NET_COUNTER")
    }
}

impl Host<Simulation> {
    /// Makes the array its own peer on a [`reflecting_wire`]: queue pairs 0 to `pairs` - 1 are up,
    /// each with itself, and send packets of `mtu` bytes. Their window, which commands may use too,
    /// is region 1: `bytes` bytes from `window` on.
    ///
    /// # Errors
    /// As [`Host::enable_network`], [`Host::set_region`] and [`Host::connect_queue_pair`].
    pub fn connect_to_itself(
        &mut self,
        pairs: u32,
        window: u32,
        bytes: u32,
        mtu: u32,
    ) -> Result<(), CosimError> {
        const KEY: u32 = 0x5e1f_0001;
        let us = NetAddress { mac: [2, 0, 0, 0, 0, 1], ip: [10, 0, 0, 1] };
        self.device_mut().set_wire(reflecting_wire())?;
        self.enable_network(us, 0)?;
        let region = Region { address: window, bytes, rights: right::ALL, key: KEY, domain: 0 };
        self.set_region(1, &region)?;
        for number in 0..pairs {
            let pair = QueuePair {
                peer: us,
                remote: number,
                key: KEY,
                window,
                window_bytes: bytes,
                remote_base: window.into(),
                mtu,
                ..QueuePair::default()
            };
            self.connect_queue_pair(number, &pair)?;
        }
        Ok(())
    }
}
