//! The regions of memory that peers and commands may use.

use crate::host::registers::network::TableAccess;
use crate::types::net_table;
use hermes_hdl::prelude::*;

/// Words of a row of the table of regions.
pub mod region_word {
    /// Bit 0: it is valid; bits 7:4: its domain; bits 12:8: its [`right`](super::right)s.
    pub const RIGHTS: u64 = 0;
    /// Address of its first byte, a multiple of 64.
    pub const ADDRESS: u64 = 1;
    /// Its bytes.
    pub const BYTES: u64 = 2;
    /// Its key: its number in bits 3:0, anything above.
    pub const KEY: u64 = 3;
}

const _: () = assert!(region_word::KEY + 1 == net_table::REGION_WORDS);

/// Rights of a region, as [`Region`] and [`RegionCheck`](super::RegionCheck) have them.
pub mod access {
    /// Peers may write it.
    pub const REMOTE_WRITE: u64 = 1 << 0;
    /// Peers may read it.
    pub const REMOTE_READ: u64 = 1 << 1;
    /// Peers may change it by atomic operations.
    pub const REMOTE_ATOMIC: u64 = 1 << 2;
    /// Commands may read it.
    pub const LOCAL_READ: u64 = 1 << 3;
    /// Commands may write it.
    pub const LOCAL_WRITE: u64 = 1 << 4;
}

/// Bits of word 0 of a region.
pub mod right {
    use super::access;

    /// Peers may write it.
    pub const REMOTE_WRITE: u32 = (access::REMOTE_WRITE as u32) << 8;
    /// Peers may read it.
    pub const REMOTE_READ: u32 = (access::REMOTE_READ as u32) << 8;
    /// Peers may change it by atomic operations.
    pub const REMOTE_ATOMIC: u32 = (access::REMOTE_ATOMIC as u32) << 8;
    /// Commands may read it.
    pub const LOCAL_READ: u32 = (access::LOCAL_READ as u32) << 8;
    /// Commands may write it.
    pub const LOCAL_WRITE: u32 = (access::LOCAL_WRITE as u32) << 8;
    /// All of them.
    pub const ALL: u32 = REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | LOCAL_READ | LOCAL_WRITE;
}

/// A region.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Region {
    /// The region is valid.
    pub valid: Bit,
    /// Domain of the region.
    pub domain: Bits<4>,
    /// Rights to the region: those of [`right`], from bit 0 on.
    pub rights: Bits<5>,
    /// Address of its first byte.
    pub address: Bits<32>,
    /// Length of the region in bytes.
    pub bytes: Bits<32>,
    /// Key of the region.
    pub key: Bits<32>,
}

/// Sixteen regions of memory (memory regions and protection domains: InfiniBand Architecture
/// Specification, volume 1, 10.6 and 11.2.3).
///
/// 1. The host writes words of a row at any time (`table.write`); a change holds from the next
///    packet on. It reads them (`table.read`): `answer` is the word from the next cycle on. With
///    `waits` the read is not done in this cycle, since the sender looks.
/// 2. `send` answers `send_index` in the same cycle while `sends` is high, and `receive` answers
///    `receive_index` at any time.
/// 3. No region is valid after a reset; its words are undefined until they are written.
#[clocked("no region is valid")]
#[derive(Clone, LogicBlock)]
pub struct RegionTable {
    /// Words of the table, from the host.
    pub table: TableAccess,
    /// The sender looks.
    pub sends: Signal<In, Bit>,
    /// Region that the sender looks at.
    pub send_index: Signal<In, Bits<4>>,
    /// The region of `send_index`.
    pub send: Signal<Out, Region>,
    /// The receiver looks at this region.
    pub receive_index: Signal<In, Bits<4>>,
    /// The region of `receive_index`.
    pub receive: Signal<Out, Region>,
    valid: Register<Bits<16>>,
    /// Words 0 to 3, for the sender and the host.
    #[count(4)]
    words: Vec<RamAsync<Bits<32>, 4>>,
    /// The same, for the receiver.
    #[count(4)]
    copies: Vec<RamAsync<Bits<32>, 4>>,
    answer: Register<Bits<32>>,
}

impl Logic for RegionTable {
    #[hdl_gen]
    fn update(&mut self) {
        let row = self.table.pair.val();
        let column = self.table.word.val();
        let at_word = bits::<16>(1) << column;
        let writes = self.table.write.val();
        let reads = self.table.read.val() && !self.sends.val();
        self.table.waits.next = self.table.read.val() && !reads;
        self.table.refused.next = false;
        let mut looked_at = row;
        if self.sends.val() {
            looked_at = self.send_index.val();
        }
        let mut found = bits::<32>(0);
        for i in 0..4 {
            self.words[i].write_enable.next = writes && at_word.get_bit(i);
            self.words[i].write_address.next = row;
            self.words[i].write_data.next = self.table.value.val();
            self.words[i].read_address.next = looked_at;
            self.copies[i].write_enable.next = writes && at_word.get_bit(i);
            self.copies[i].write_address.next = row;
            self.copies[i].write_data.next = self.table.value.val();
            self.copies[i].read_address.next = self.receive_index.val();
            if at_word.get_bit(i) {
                found = self.words[i].read_data.val();
            }
        }
        if !column.any() {
            found = found.replace_bit(0, self.valid.q.val().get_bit(row.index()));
        }
        if reads {
            self.answer.d.next = found;
        }
        self.table.answer.next = self.answer.q.val();
        if writes && !column.any() {
            self.valid.d.next =
                self.valid.q.val().replace_bit(row.index(), self.table.value.val().get_bit(0));
        }

        self.send.next.valid = self.valid.q.val().get_bit(looked_at.index());
        self.send.next.domain = self.words[0].read_data.val().get_bits::<4>(4);
        self.send.next.rights = self.words[0].read_data.val().get_bits::<5>(8);
        self.send.next.address = self.words[1].read_data.val();
        self.send.next.bytes = self.words[2].read_data.val();
        self.send.next.key = self.words[3].read_data.val();
        self.receive.next.valid = self.valid.q.val().get_bit(self.receive_index.val().index());
        self.receive.next.domain = self.copies[0].read_data.val().get_bits::<4>(4);
        self.receive.next.rights = self.copies[0].read_data.val().get_bits::<5>(8);
        self.receive.next.address = self.copies[1].read_data.val();
        self.receive.next.bytes = self.copies[2].read_data.val();
        self.receive.next.key = self.copies[3].read_data.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use crate::types::REGIONS;
    use rand::Rng;

    /// Rows as a model, for all three that look.
    #[test]
    fn keeps_rows() {
        let mut rng = random("region_table");
        let mut uut = RegionTable::default();
        reset!(uut);
        let mut rows = [[0u32; 4]; REGIONS];
        for (row, words) in rows.iter().enumerate() {
            settle(&mut uut);
            uut.receive_index.next = (row as u64).into();
            settle(&mut uut);
            assert!(!uut.receive.val().valid);
            for (word, value) in words.iter().enumerate() {
                uut.table.write.next = true;
                uut.table.pair.next = (row as u64).into();
                uut.table.word.next = (word as u64).into();
                uut.table.value.next = u64::from(*value).into();
                tick!(uut);
            }
        }
        let (mut answer, mut waited) = (None, 0);
        for _ in 0..5_000 {
            let (row, word) = (rng.gen_range(0..REGIONS), rng.gen_range(0..4usize));
            let (write, value) = (rng.gen_bool(0.4), rng.gen::<u32>());
            let read = !write && rng.gen_bool(0.7);
            let sends = rng.gen_bool(0.5);
            let looked_at = [rng.gen_range(0..REGIONS), rng.gen_range(0..REGIONS)];
            uut.table.write.next = write;
            uut.table.read.next = read;
            uut.table.pair.next = (row as u64).into();
            uut.table.word.next = (word as u64).into();
            uut.table.value.next = u64::from(value).into();
            uut.sends.next = sends;
            uut.send_index.next = (looked_at[0] as u64).into();
            uut.receive_index.next = (looked_at[1] as u64).into();
            settle(&mut uut);
            for (which, region) in [uut.send.val(), uut.receive.val()].into_iter().enumerate() {
                let [first, address, bytes, key] = rows[looked_at[which]];
                if which == 1 || sends {
                    assert_eq!(region.valid, first & 1 == 1);
                    assert_eq!(region.domain.to_u64() as u32, first >> 4 & 15);
                    assert_eq!(region.rights.to_u64() as u32, first >> 8 & 31);
                    assert_eq!(region.address.to_u64() as u32, address);
                    assert_eq!((region.bytes.to_u64() as u32, region.key.to_u64() as u32), (bytes, key));
                }
            }
            if let Some(answer) = answer {
                assert_eq!(uut.table.answer.val().to_u64() as u32, answer);
            }
            assert_eq!(uut.table.waits.val(), read && sends);
            waited += u32::from(read && sends);
            if read && !sends {
                answer = Some(rows[row][word]);
            }
            if write {
                rows[row][word] = value;
            }
            tick!(uut);
        }
        assert!(waited > 100);
    }
}
