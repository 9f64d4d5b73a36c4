//! The network interface.

pub use super::network_ports::{NetControl, NetworkControl, TableAccess};
use super::{Part, RegisterBlock, RegisterSpec};
use crate::config::Config;
use crate::ports::{RegisterAnswer, RegisterRequest};
use crate::types::{code, counter, net_table, LineAddress, MOST_ENTRIES, QUEUE_PAIRS, REGIONS};
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// The registers of [`NetworkControl`].
#[register_block(NetDecoder, part = Network)]
pub struct NetAccess {
    /// Bit 0: frames are taken. While it is 0 frames that come are dropped, and nothing is counted
    /// of them. Bit 1: while bit 0 is 1 too and NET_AREA is one that can be, the L2 keeps lines of
    /// command rings that a kernel wrote until they are read.
    #[register("NET_CONTROL", 0x400)]
    #[fields(enable[0], lock[1])]
    pub mode: ReadWrite<2>,
    /// Bit 0: commands are taken, shortly after a reset. Bit 1: there are queue areas where
    /// NET_BASE and NET_AREA say. Sticky bits, which writing 1 clears: bit 8: NET_POST found no
    /// room; bit 9: a write of NET_DATA was refused, since the queue pair is not in RESET or there
    /// is no such word that is written.
    #[register("NET_STATUS", 0x404)]
    #[fields(clear_post[8], clear_change[9])]
    #[state(ready[0], has_areas[1], no_room[8], change_refused[9])]
    pub status: Command<10>,
    /// Bits 5:0: queue pairs; bits 10:6: regions; bits 12:11: queue areas, as a power of two; bits
    /// 14:13: commands of each queue, of each hart and of the host that may be under way: 0 for 8,
    /// 1 for 4, 2 for 2, 3 for 1; bits 28:17: command rings of an area.
    #[register("NET_CAPS", 0x408, value = capabilities(config))]
    pub caps: Fixed<32>,
    /// Bits 31:0 of our MAC, of which the first byte on the wire is the most significant of 48
    /// bits. It may change while NET_CONTROL is 0 and no frame is being sent, as may the next three
    /// registers.
    #[register("NET_MAC_LOW", 0x40c)]
    pub mac_low: ReadWrite<32>,
    /// Bits 47:32 of our MAC.
    #[register("NET_MAC_HIGH", 0x410)]
    pub mac_high: ReadWrite<16>,
    /// Our IPv4 address, the first byte on the wire in bits 31:24.
    #[register("NET_IP", 0x414)]
    pub ip: ReadWrite<32>,
    /// Type of service of the frames that are sent.
    #[register("NET_TOS", 0x418)]
    pub type_of_service: ReadWrite<8>,
    /// Cycles without an answer after which a queue pair sends again, twice as many after each
    /// time.
    #[register("NET_TIMEOUT", 0x41c, reset = 4096)]
    pub timeout: ReadWrite<24>,
    /// Time-outs in a row after which the oldest command of a queue pair fails.
    #[register("NET_RETRIES", 0x420, reset = 7)]
    pub retries: ReadWrite<3>,
    /// Packets that a queue pair may have sent without an answer, 1 to 32; 0 counts as 1, and more
    /// than 32 as 32. It may change while no queue pair is up.
    #[register("NET_WINDOW", 0x424, reset = 32)]
    pub window: ReadWrite<6>,
    /// Address of the first queue area, a multiple of the bytes of all of them. While a command
    /// queue is on, changes of this register, of NET_AREA and of bit 0 of NET_CONTROL have no
    /// effect on the queues; they have it when all are off.
    #[register("NET_BASE", 0x428)]
    #[fields(base[31:6])]
    pub areas: ReadWrite<32>,
    /// Bytes of a queue area as a power of two, 13 more than the power of its rings (NET_CAPS) at
    /// least; all areas have 2^32 at most. With another value no line is locked.
    #[register("NET_AREA", 0x42c)]
    pub area_log2: ReadWrite<5>,
    /// Epoch of the command queue that is switched on next: not 0, and another one each time.
    #[register("NET_EPOCH", 0x430)]
    pub epoch: ReadWrite<32>,
    /// A write switches the command queue in bits 15:0 on (bit 31 set) or off. Bit 31: that is not
    /// done yet; bit 30: the last one was refused, since there is no such queue, or it was to be
    /// switched on and is on, or has commands under way, or bit 0 of NET_CONTROL is 0, or NET_AREA
    /// one that cannot be. Without a command processor there are no queues.
    #[register("QUEUE_COMMAND", 0x434, access = Command)]
    #[state(queue_refused[30], queue_busy[31])]
    pub queue: Strobe<32>,
    /// A write sets the state of the queue pair in bits 7:0 to that in bits 11:8: from 0, RESET, to
    /// 1, UP; from 1 or 2, CLOSING, to 3, ERROR; from 3 to 0, if it has no command and the network
    /// interface no write to memory left. Bit 30: the last write was refused.
    #[register("QP_COMMAND", 0x438, access = Command)]
    #[state(state_refused[30])]
    pub state: Strobe<32>,
    /// The word that NET_DATA is about: table in bits 31:28 (0: queue pairs, 1: regions, 2: command
    /// queues), row in bits 27:8, word in bits 7:0. A write also reads that word: NET_DATA shows it
    /// as it was then.
    #[register("NET_INDEX", 0x440, access = ReadWrite)]
    #[state(index[31:0])]
    pub select: Strobe<32>,
    /// Writes the word of NET_INDEX; reads show what it was when NET_INDEX was written.
    #[register("NET_DATA", 0x444, access = Command)]
    #[state(data[31:0])]
    pub word: Strobe<32>,
    /// A bit for each queue pair that went to ERROR; writing 1 clears it.
    #[register("QP_DOWN", 0x448)]
    #[fields(clear_down[15:0])]
    #[state(down[15:0])]
    pub down_pairs: Command<16>,
    /// Bits 31:0 of the result of the last command of NET_POST that had one: a GET into itself, or
    /// an atomic operation.
    #[register("NET_VALUE_LOW", 0x44c)]
    pub value_low: ReadOnly<32>,
    /// Bits 63:32 of it.
    #[register("NET_VALUE_HIGH", 0x450)]
    pub value_high: ReadOnly<32>,
    /// Posts the command of NET_STAGE_0 to NET_STAGE_15 for the queue pair in bits 7:0, with the
    /// region of its local bytes in bits 11:8, as of the domain in bits 27:24. Without room bit 8
    /// of NET_STATUS is set, and nothing is posted. While NET_CONTROL is 0 the command fails with
    /// code 0x88.
    #[register("NET_POST", 0x468)]
    pub post: Strobe<32>,
    /// Commands that were posted, modulo 2^32.
    #[register("NET_POSTED", 0x46c)]
    pub posted: ReadOnly<32>,
    /// Commands that are complete, failed ones too, modulo 2^32.
    #[register("NET_COMPLETED", 0x470)]
    pub done: ReadOnly<32>,
    /// Commands that failed, modulo 2^16, in bits 31:16; code of the last of them in bits 7:0.
    #[register("NET_ERROR", 0x474)]
    #[fields(code[7:0], errors[31:16])]
    pub error: ReadOnly<32>,
    /// The counter that NET_COUNTER shows, as docs/network.md lists them.
    #[register("NET_COUNTER_SELECT", 0x478)]
    pub counter_select: ReadWrite<6>,
    /// Value of the selected counter, modulo 2^32.
    #[register("NET_COUNTER", 0x47c)]
    pub counter: ReadOnly<32>,
    /// Word 0 of the command that NET_POST posts.
    #[register("NET_STAGE_0", 0x480)]
    pub stage_0: ReadWrite<32>,
    /// Word 1 of the command that NET_POST posts.
    #[register("NET_STAGE_1", 0x484)]
    pub stage_1: ReadWrite<32>,
    /// Word 2 of the command that NET_POST posts.
    #[register("NET_STAGE_2", 0x488)]
    pub stage_2: ReadWrite<32>,
    /// Word 3 of the command that NET_POST posts.
    #[register("NET_STAGE_3", 0x48c)]
    pub stage_3: ReadWrite<32>,
    /// Word 4 of the command that NET_POST posts.
    #[register("NET_STAGE_4", 0x490)]
    pub stage_4: ReadWrite<32>,
    /// Word 5 of the command that NET_POST posts.
    #[register("NET_STAGE_5", 0x494)]
    pub stage_5: ReadWrite<32>,
    /// Word 6 of the command that NET_POST posts.
    #[register("NET_STAGE_6", 0x498)]
    pub stage_6: ReadWrite<32>,
    /// Word 7 of the command that NET_POST posts.
    #[register("NET_STAGE_7", 0x49c)]
    pub stage_7: ReadWrite<32>,
    /// Word 8 of the command that NET_POST posts.
    #[register("NET_STAGE_8", 0x4a0)]
    pub stage_8: ReadWrite<32>,
    /// Word 9 of the command that NET_POST posts.
    #[register("NET_STAGE_9", 0x4a4)]
    pub stage_9: ReadWrite<32>,
    /// Word 10 of the command that NET_POST posts.
    #[register("NET_STAGE_10", 0x4a8)]
    pub stage_10: ReadWrite<32>,
    /// Word 11 of the command that NET_POST posts.
    #[register("NET_STAGE_11", 0x4ac)]
    pub stage_11: ReadWrite<32>,
    /// Word 12 of the command that NET_POST posts.
    #[register("NET_STAGE_12", 0x4b0)]
    pub stage_12: ReadWrite<32>,
    /// Word 13 of the command that NET_POST posts.
    #[register("NET_STAGE_13", 0x4b4)]
    pub stage_13: ReadWrite<32>,
    /// Word 14 of the command that NET_POST posts.
    #[register("NET_STAGE_14", 0x4b8)]
    pub stage_14: ReadWrite<32>,
    /// Word 15 of the command that NET_POST posts.
    #[register("NET_STAGE_15", 0x4bc)]
    pub stage_15: ReadWrite<32>,
}

/// Cycles for which queue areas stand before they are used.
const SETTLED: u64 = 3;

/// The unit of these registers. NET_DATA, NET_INDEX, NET_POST and QP_COMMAND reach the hardware in
/// the cycle of the access; an access to the table waits until the hardware has time for it.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(config: &Config)]
pub struct NetRegisters {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus.
    pub answer: RegisterAnswer,
    /// To the network interface.
    pub hardware: Flipped<NetworkControl>,
    #[init(<NetAccess as RegisterBlock>::unit(config))]
    decoder: NetDecoder,
    no_room: Register<Bit>,
    change_refused: Register<Bit>,
    state_refused: Register<Bit>,
    // A queue that is being switched
    switching: Register<Bit>,
    switch_queue: Register<Bits<16>>,
    switch_on: Register<Bit>,
    // A queue that is being looked at, and for how many cycles what was seen may be taken: a write
    // that is delayed comes again within two
    showing: Register<Bit>,
    show_queue: Register<Bits<8>>,
    fresh: Register<Bits<2>>,
    // Where the queue areas are, and for how many cycles they have been there and enabled, 3 at
    // most
    base: Register<LineAddress>,
    area_log2: Register<Bits<5>>,
    settled: Register<Bits<2>>,
    index: Register<Bits<32>>,
    /// The word of NET_INDEX is one of the table.
    there: Register<Bit>,
    downs: Register<Bits<16>>,
    posted: Register<Bits<32>>,
    completed: Register<Bits<32>>,
    errors: Register<Bits<16>>,
    code: Register<Bits<8>>,
    value: Register<Bits<64>>,
    #[init(Constant::new(queues(config).into()))]
    queues: Constant<Bits<20>>,
    #[init(Constant::new((config.net_rings_log2() as u64 + 13).into()))]
    smallest_area: Constant<Bits<5>>,
    #[init(Constant::new((31.min(32 - config.net_areas_log2()) as u64).into()))]
    largest_area: Constant<Bits<5>>,
}

/// Value of the NET_CAPS register.
fn capabilities(config: &Config) -> u32 {
    let halvings = (MOST_ENTRIES / config.net_queue_entries).ilog2() as usize;
    let of_queues = halvings << 13 | 1 << (config.net_rings_log2() + 17);
    (QUEUE_PAIRS | REGIONS << 6 | config.net_areas_log2() << 11 | of_queues) as u32
}

/// Command queues of the array.
fn queues(config: &Config) -> u64 {
    if config.command_threads > 0 {
        1 << (config.net_rings_log2() + config.net_areas_log2())
    } else {
        0
    }
}

impl NetRegisters {
    /// The registers of an array with this configuration.
    pub fn new(config: &Config) -> Self {
        Self::wired(config)
    }
}

impl RegisterBlock for NetworkControl {
    type Unit = NetRegisters;
    const PART: Part = NetAccess::PART;
    const REGISTERS: &'static [RegisterSpec] = NetAccess::REGISTERS;
    fn unit(config: &Config) -> NetRegisters {
        NetRegisters::new(config)
    }
}

impl NetRegisters {
    /// Counters of the interface, and the line lock.
    #[hdl_gen]
    fn show(&mut self, is_settled: Bit) {
        // Counters of the interface, below 32, and of the L2
        let shown = self.decoder.hardware.counter_select.val();
        self.hardware.interface.counter_select.next = shown.get_bits::<5>(0);
        self.decoder.hardware.counter.next = self.hardware.interface.counter.val();
        if shown.get_bit(5) {
            self.decoder.hardware.counter.next = bits::<32>(0);
        }
        if shown == bits::<6>(counter::LOCKS_REFUSED) {
            self.decoder.hardware.counter.next = self.hardware.lock.refused.val();
        }
        if shown == bits::<6>(counter::LOCKS_EXPIRED) {
            self.decoder.hardware.counter.next = self.hardware.lock.expired.val();
        }
        if shown == bits::<6>(counter::READ_HITS) {
            self.decoder.hardware.counter.next = self.hardware.read_hits.val();
        }
        if shown == bits::<6>(counter::READ_MISSES) {
            self.decoder.hardware.counter.next = self.hardware.read_misses.val();
        }
        if shown == bits::<6>(counter::COMMAND_READ_HITS) {
            self.decoder.hardware.counter.next = self.hardware.command_read_hits.val();
        }
        if shown == bits::<6>(counter::COMMAND_READ_MISSES) {
            self.decoder.hardware.counter.next = self.hardware.command_read_misses.val();
        }

        // The line lock
        self.hardware.lock.enable.next = is_settled && self.decoder.hardware.lock.val();
        self.hardware.lock.base.next = self.base.q.val();
        self.hardware.lock.area_log2.next = self.area_log2.q.val();
    }
}

impl Logic for NetRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.decoder.request);
        self.answer.known.next = self.decoder.answer.known.val();
        self.answer.value.next = self.decoder.answer.value.val();
        let written = self.request.data.val() & self.request.mask.val();

        self.hardware.interface.enable.next = self.decoder.hardware.enable.val();
        self.hardware.interface.identity.next.mac = bit_cast::<48, 32>(self.decoder.hardware.mac_low.val())
            | (bit_cast::<48, 16>(self.decoder.hardware.mac_high.val()) << 32);
        self.hardware.interface.identity.next.ip = self.decoder.hardware.ip.val();
        self.hardware.interface.identity.next.type_of_service = self.decoder.hardware.type_of_service.val();

        let is_area = (self.decoder.hardware.area_log2.val() >= self.smallest_area.val())
            && (self.decoder.hardware.area_log2.val() <= self.largest_area.val());

        // The table: NET_INDEX reads at once the word that it names.
        let names = self.decoder.hardware.select.val();
        let writes = self.decoder.hardware.word.val();
        let mut wanted = self.index.q.val();
        if names {
            wanted = written | (self.index.q.val() & !self.request.mask.val());
        }
        // Words 0 to 15 of a queue pair, of which 0 to 11 are written, words 0 to 3 of a region,
        // and words 0 to 2 of a queue
        let column = wanted.get_bits::<4>(0);
        let is_row = !wanted.get_bits::<16>(12).any() && !wanted.get_bits::<4>(4).any();
        let of_regions = wanted.get_bits::<4>(28) == bits::<4>(net_table::REGIONS);
        let of_pairs = wanted.get_bits::<4>(28) == bits::<4>(net_table::QUEUE_PAIRS);
        let is_region = is_row && of_regions && (column < bits::<4>(net_table::REGION_WORDS));
        let is_pair = is_row && of_pairs;
        let is_written = is_region || (is_pair && (column < bits::<4>(net_table::PAIR_WORDS_WRITTEN)));
        let of_queues = wanted.get_bits::<4>(28) == bits::<4>(net_table::QUEUES);
        let is_queue = of_queues && (wanted.get_bits::<20>(8) < self.queues.val());
        let is_there = is_region
            || is_pair
            || (is_queue && (wanted.get_bits::<8>(0) < bits::<8>(net_table::QUEUE_WORDS)));
        self.hardware.interface.regions.read.next = names && of_regions;
        self.hardware.interface.regions.write.next = writes && is_region;
        self.hardware.interface.regions.pair.next = wanted.get_bits::<4>(8);
        self.hardware.interface.regions.word.next = column;
        self.hardware.interface.regions.value.next =
            written | (self.hardware.interface.regions.answer.val() & !self.request.mask.val());
        self.hardware.interface.table.read.next = names && of_pairs;
        self.hardware.interface.table.write.next =
            writes && is_pair && (column < bits::<4>(net_table::PAIR_WORDS_WRITTEN));
        self.hardware.interface.table.pair.next = wanted.get_bits::<4>(8);
        self.hardware.interface.table.word.next = column;
        self.hardware.interface.table.value.next =
            written | (self.hardware.interface.table.answer.val() & !self.request.mask.val());
        let asks = names && is_queue;
        let wanted_queue = wanted.get_bits::<8>(8);
        let is_shown = self.fresh.q.val().any() && (self.show_queue.q.val() == wanted_queue);
        self.hardware.interface.queues.show_valid.next = self.showing.q.val();
        self.hardware.interface.queues.show_queue.next = self.show_queue.q.val();
        if self.fresh.q.val().any() {
            self.fresh.d.next = self.fresh.q.val() - bits::<2>(1);
        }
        if self.showing.q.val() && self.hardware.interface.queues.show_ready.val() {
            self.showing.d.next = false;
            self.fresh.d.next = bits::<2>(3);
        }
        if asks && !is_shown && !self.showing.q.val() {
            self.showing.d.next = true;
            self.show_queue.d.next = wanted_queue;
        }
        if asks && is_shown {
            self.fresh.d.next = bits::<2>(0);
        }
        let waits = self.hardware.interface.table.waits.val() || self.hardware.interface.regions.waits.val();
        let switches = self.decoder.hardware.queue.val();
        self.answer.delay.next =
            (waits && (names || writes)) || (asks && !is_shown) || (switches && self.switching.q.val());
        if names {
            self.index.d.next = wanted;
            self.there.d.next = is_there;
        }
        self.decoder.hardware.index.next = self.index.q.val();
        self.decoder.hardware.data.next = bits::<32>(0);
        let queue = self.hardware.interface.queues.shown.val();
        let mut shown_word = queue.head;
        if self.index.q.val().get_bit(0) {
            shown_word = bits::<32>(0).replace_bit(0, queue.on).replace_bit(1, queue.staged);
        }
        if self.index.q.val().get_bit(1) {
            shown_word = bit_cast::<32, 4>(queue.under_way);
        }
        if self.there.q.val() {
            self.decoder.hardware.data.next = self.hardware.interface.table.answer.val();
            if self.index.q.val().get_bit(28) {
                self.decoder.hardware.data.next = self.hardware.interface.regions.answer.val();
            }
            if self.index.q.val().get_bit(29) {
                self.decoder.hardware.data.next = shown_word;
            }
        }

        // Queues
        let is_frozen = self.hardware.interface.queues.some_on.val();
        let is_new = (self.decoder.hardware.base.val() != self.base.q.val())
            || (self.decoder.hardware.area_log2.val() != self.area_log2.q.val());
        let is_enabled = self.decoder.hardware.enable.val() && is_area;
        let is_settled = self.settled.q.val() == bits::<2>(SETTLED);
        if !is_frozen {
            self.base.d.next = self.decoder.hardware.base.val();
            self.area_log2.d.next = self.decoder.hardware.area_log2.val();
            if is_new || !is_enabled {
                self.settled.d.next = bits::<2>(0);
            } else if !is_settled {
                self.settled.d.next = self.settled.q.val() + bits::<2>(1);
            }
        }
        self.decoder.hardware.has_areas.next = is_settled && is_enabled && !is_new;
        self.hardware.interface.queues.enable.next = is_settled;
        self.hardware.interface.queues.base.next = self.base.q.val();
        self.hardware.interface.queues.area_log2.next = self.area_log2.q.val();
        self.hardware.interface.queues.epoch.next = self.decoder.hardware.epoch.val();
        let may_switch = is_frozen || (!is_new && (is_settled == is_enabled));
        self.hardware.interface.queues.switch_valid.next = self.switching.q.val() && may_switch;
        self.hardware.interface.queues.switch_queue.next = self.switch_queue.q.val();
        self.hardware.interface.queues.switch_on.next = self.switch_on.q.val();
        if self.switching.q.val() && self.hardware.interface.queues.switch_ready.val() {
            self.switching.d.next = false;
        }
        if switches && !self.switching.q.val() {
            self.switching.d.next = true;
            self.switch_queue.d.next = written.get_bits::<16>(0);
            self.switch_on.d.next = written.get_bit(31);
        }
        self.decoder.hardware.queue_busy.next = self.switching.q.val();
        self.decoder.hardware.queue_refused.next = self.hardware.interface.queues.switch_refused.val();

        // States
        let commands = self.decoder.hardware.state.val();
        let possible = !written.get_bits::<4>(4).any();
        self.hardware.interface.set_state.next = commands && possible;
        self.hardware.interface.state_pair.next = written.get_bits::<4>(0);
        self.hardware.interface.new_state.next = written.get_bits::<4>(8);
        if commands {
            self.state_refused.d.next = !possible || self.hardware.interface.state_refused.val();
        }
        self.decoder.hardware.state_refused.next = self.state_refused.q.val();

        // Posts
        let posts = self.decoder.hardware.post.val();
        // Without such a queue pair, or before frames are taken, it fails at once.
        let nowhere = written.get_bits::<4>(4).any() || !self.decoder.hardware.enable.val();
        self.hardware.interface.post.next = posts && !nowhere;
        self.hardware.interface.post_pair.next = written.get_bits::<4>(0);
        self.hardware.interface.post_region.next = written.get_bits::<4>(8);
        self.hardware.interface.post_domain.next = written.get_bits::<4>(24);
        let mut staged = bit_cast::<512, 32>(self.decoder.hardware.stage_0.val());
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_1.val()) << 32);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_2.val()) << 64);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_3.val()) << 96);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_4.val()) << 128);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_5.val()) << 160);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_6.val()) << 192);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_7.val()) << 224);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_8.val()) << 256);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_9.val()) << 288);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_10.val()) << 320);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_11.val()) << 352);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_12.val()) << 384);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_13.val()) << 416);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_14.val()) << 448);
        staged = staged | (bit_cast::<512, 32>(self.decoder.hardware.stage_15.val()) << 480);
        self.hardware.interface.stage.next = staged;
        let turned_away = posts && !nowhere && self.hardware.interface.post_refused.val();
        if posts && !turned_away {
            self.posted.d.next = self.posted.q.val() + bits::<32>(1);
        }
        // Two may fail in one cycle.
        let ends_here = posts && nowhere;
        let ends_there = self.hardware.interface.completed.val();
        let fails_there = ends_there && (self.hardware.interface.code.val() != bits::<8>(code::DONE));
        let ended =
            bits::<32>(0).replace_bit(0, ends_there != ends_here).replace_bit(1, ends_there && ends_here);
        let failed =
            bits::<16>(0).replace_bit(0, fails_there != ends_here).replace_bit(1, fails_there && ends_here);
        self.completed.d.next = self.completed.q.val() + ended;
        self.errors.d.next = self.errors.q.val() + failed;
        if fails_there {
            self.code.d.next = self.hardware.interface.code.val();
        }
        if ends_here {
            self.code.d.next = bits::<8>(code::DOWN);
        }
        self.decoder.hardware.done.next = self.completed.q.val();
        if self.hardware.interface.has_result.val() {
            self.value.d.next = self.hardware.interface.result.val();
        }
        self.decoder.hardware.value_low.next = self.value.q.val().get_bits::<32>(0);
        self.decoder.hardware.value_high.next = self.value.q.val().get_bits::<32>(32);
        let still = self.downs.q.val() & !self.decoder.hardware.clear_down.val();
        self.downs.d.next = still | self.hardware.interface.downs.val();
        self.decoder.hardware.down.next = self.downs.q.val();
        self.hardware.interface.window.next = self.decoder.hardware.window.val();
        if !self.decoder.hardware.window.val().any() {
            self.hardware.interface.window.next = bits::<6>(1);
        }
        if self.decoder.hardware.window.val().get_bit(5) {
            self.hardware.interface.window.next = bits::<6>(32);
        }
        self.hardware.interface.timeout.next = self.decoder.hardware.timeout.val();
        self.hardware.interface.retries.next = self.decoder.hardware.retries.val();
        self.decoder.hardware.posted.next = self.posted.q.val();
        self.decoder.hardware.errors.next = self.errors.q.val();
        self.decoder.hardware.code.next = self.code.q.val();

        // Sticky bits: an event counts more than its clearing.
        if self.decoder.hardware.clear_post.val() {
            self.no_room.d.next = false;
        }
        if turned_away {
            self.no_room.d.next = true;
        }
        if self.decoder.hardware.clear_change.val() {
            self.change_refused.d.next = false;
        }
        if writes && (!is_written || self.hardware.interface.table.refused.val()) {
            self.change_refused.d.next = true;
        }
        self.decoder.hardware.ready.next = self.hardware.interface.ready.val();
        self.decoder.hardware.no_room.next = self.no_room.q.val();
        self.decoder.hardware.change_refused.next = self.change_refused.q.val();

        self.show(is_settled);
    }
}
