//! What a new block of registers takes: its declaration, and a line in the list of the register
//! file. This one has a register of every kind.

use super::configuration::Configuration;
use super::*;
use crate::config::Config;
use crate::testing::{random, reset, settle, tick};
use hermes_hdl::testing::check_with;
use hermes_rtl_macros::register_block;
use rand::Rng;

/// A block that no array has.
#[register_block(MailboxRegisters, values = MailboxValues)]
pub struct Mailbox {
    /// Version of the mailbox.
    #[register("MAIL_VERSION", 0x300, value = config.cores as u32)]
    pub version: Fixed<8>,
    /// Bits 7:4: where letters go. Bit 0: letters are taken.
    #[register("MAIL_SETUP", 0x304, reset = 0x20)]
    #[fields(open[0], box_number[7:4])]
    pub setup: ReadWrite<8>,
    /// Letters that wait. Reading it takes one.
    #[register("MAIL_LEVEL", 0x308)]
    #[on_read(take)]
    pub level: ReadOnly<16>,
    /// Bit 0: the oldest letter is urgent. Bits 15:8: its sender. Bit 31: it was read.
    #[register("MAIL_STATE", 0x30c)]
    #[fields(urgent[0], sender[15:8], seen[31])]
    pub state: ReadOnly<32>,
    /// Bits 4:1: sends so many letters. Bit 0: drops all.
    #[register("MAIL_SEND", 0x310)]
    #[fields(drop_all[0], send[4:1])]
    pub action: WriteOnly<5>,
    /// Writing 1 starts the post; reads 1 while it is under way, bits 3:2 how far it is.
    #[register("MAIL_POST", 0x314)]
    #[fields(post[0])]
    #[state(under_way[0], stage[3:2])]
    pub post_state: Command<4>,
    /// A letter; the write is seen in the cycle of the access.
    #[register("MAIL_LETTER", 0x318)]
    pub letter: Strobe<32>,
}

/// A register file with the new block.
#[register_file(core_select = configuration.core_select)]
pub struct WithMailbox {
    /// Registers that say how the array is to run a kernel.
    pub configuration: Configuration,
    /// The new block.
    pub mailbox: Mailbox,
}

fn config() -> Config {
    Config { cores: 3, ..Config::preset("default").unwrap() }
}

#[test]
fn a_new_block_is_in_the_table() {
    let [_, mailbox] = WithMailbox::BLOCKS else { panic!("two blocks") };
    let rows: Vec<_> = mailbox.iter().map(|r| (r.name, r.offset, r.access, r.bits, r.reset)).collect();
    assert_eq!(
        rows,
        [
            ("MAIL_VERSION", 0x300, Access::ReadOnly, 8, 0),
            ("MAIL_SETUP", 0x304, Access::ReadWrite, 8, 0x20),
            ("MAIL_LEVEL", 0x308, Access::ReadOnly, 16, 0),
            ("MAIL_STATE", 0x30c, Access::ReadOnly, 32, 0),
            ("MAIL_SEND", 0x310, Access::WriteOnly, 5, 0),
            ("MAIL_POST", 0x314, Access::Command, 4, 0),
            ("MAIL_LETTER", 0x318, Access::WriteOnly, 32, 0),
        ]
    );
    assert_eq!(mailbox[0].description, "Version of the mailbox");
    let values = MailboxValues { level: 3, state: 4 };
    assert_eq!(values.named(), [("level", 3), ("state", 4)]);
}

#[test]
fn a_new_block_does_what_it_says() {
    let mut random = random();
    let mut unit = Mailbox::unit(&config());
    reset!(unit);
    let (mut setup, mut sent, mut posted) = (0x20u64, (false, 0), false);
    for cycle in 0..20_000 {
        let offset = 0x300 + 4 * random.gen_range(0..8u64);
        let (data, mask) = (u64::from(random.gen::<u32>()), u64::from(random.gen::<u32>()));
        let (write, read) = (random.gen::<bool>(), random.gen::<bool>());
        unit.request.address.next = offset.into();
        unit.request.write.next = write;
        unit.request.read.next = read;
        unit.request.data.next = data.into();
        unit.request.mask.next = mask.into();
        let (level, sender, stage) =
            (random.gen_range(0..1u64 << 16), random.gen_range(0..256u64), random.gen_range(0..4u64));
        let [urgent, seen, under_way] = random.gen::<[bool; 3]>();
        unit.hardware.level.next = level.into();
        unit.hardware.sender.next = sender.into();
        unit.hardware.stage.next = stage.into();
        unit.hardware.urgent.next = urgent;
        unit.hardware.seen.next = seen;
        unit.hardware.under_way.next = under_way;
        settle(&mut unit);
        let expected = match offset {
            0x300 => 3,
            0x304 => setup,
            0x308 => level,
            0x30c => u64::from(urgent) | sender << 8 | u64::from(seen) << 31,
            0x314 => u64::from(under_way) | stage << 2,
            _ => 0,
        };
        assert_eq!(unit.answer.known.val(), offset < 0x31c, "cycle {cycle}");
        assert_eq!(unit.answer.value.val().to_u64(), expected, "cycle {cycle}: {offset:#x}");
        let ports = &unit.hardware;
        assert_eq!((ports.open.val(), ports.box_number.val().to_u64()), (setup & 1 == 1, setup >> 4));
        assert_eq!(ports.take.val(), read && offset == 0x308, "cycle {cycle}");
        assert_eq!(ports.letter.val(), write && offset == 0x318, "cycle {cycle}");
        // Events are those of the cycle before.
        assert_eq!((ports.drop_all.val(), ports.send.val().to_u64()), sent, "cycle {cycle}");
        assert_eq!(ports.post.val(), posted, "cycle {cycle}");
        let event = data & mask;
        sent = if write && offset == 0x310 { (event & 1 == 1, event >> 1 & 15) } else { (false, 0) };
        posted = write && offset == 0x314 && event & 1 == 1;
        if write && offset == 0x304 {
            setup = (setup & !mask | event) & 0xff;
        }
        tick!(unit);
    }
}

#[test]
fn a_register_file_with_a_new_block_equals_its_verilog() {
    check_with(WithMailbox::wired(&config()), 10_000, |unit, random, _| {
        let mut offset = || if random() % 4 == 0 { random() % 4096 } else { 0x300 + random() % 8 * 4 };
        unit.axil.awaddr.next = offset().into();
        unit.axil.araddr.next = offset().into();
    });
}
