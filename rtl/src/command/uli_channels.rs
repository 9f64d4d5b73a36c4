//! The channels of a hart: what interrupts it in user level, and where (Pangaea, section 4.2).

use crate::blocks::PriorityEncoder;
use crate::ports::WatchedRange;
use crate::types::riscv::csr;
use hermes_hdl::prelude::*;

/// Scenarios of EMONITOR: what makes a channel pending.
pub mod scenario {
    /// A byte of a range is written.
    pub const WRITTEN: u64 = 1;
    /// A slot of the thread spawner becomes free.
    pub const FREED: u64 = 2;
    /// A bit of CP_IRQ_PENDING is set.
    pub const RAISED: u64 = 3;
    /// A command of a warp waits for a hart.
    pub const STAGED: u64 = 11;
}

/// Bits 5:0 of the numbers of the CSRs.
pub(super) mod place {
    use super::csr;
    pub const ULIEPC: u64 = csr::ULIEPC & 0x3f;
    pub const ULICTL: u64 = csr::ULICTL & 0x3f;
    pub const ULIPEND: u64 = csr::ULIPEND & 0x3f;
    pub const ULIARM: u64 = csr::ULIARM & 0x3f;
    pub const ULICAUSE: u64 = csr::ULICAUSE & 0x3f;
    pub const SPAWNBUSY: u64 = csr::SPAWNBUSY & 0x3f;
}

/// Bits 5:4 of the numbers of the CSRs of a channel.
mod group {
    pub const HANDLER: u64 = 1;
    pub const PARAMETER: u64 = 2;
    pub const STATUS: u64 = 3;
}

/// The user-level interrupts of one hart: its channels, and CSRs 0x800 to 0x804 and 0x810 to 0x83f.
///
/// 1. EMONITOR (`arm_valid`, in stage W) arms channel `arm_channel`, or disarms it with scenario 0.
///    Retired in cycle t, the channel is armed from t + 2 on and not pending; events of writes that
///    were accepted before are dropped. It changes nothing if the channel is armed under another
///    context (bit 31 of `ask_status`).
/// 2. `event` makes an armed channel pending from the next cycle on.
/// 3. `deliver` is high while a channel is armed, pending and of the present context, and delivery
///    is not blocked; `handler` is that of the lowest. `take`, legal while `deliver` is high,
///    delivers it at this edge: it is pending no longer, but for an event of this cycle, `pc` is
///    kept, and further delivery is blocked.
/// 4. `leave` (ERETURN, in stage W) unblocks. `trap` (a trap is entered at this edge) keeps in
///    pblock whether delivery was blocked, and blocks; `trap_return` (`mret`, in stage W) takes it
///    back.
/// 5. CSRs are read in stage X: `read_value` answers `read_number` in the same cycle. They are
///    written in stage W. What stage W changes shows in the next cycle.
/// 6. `hold` disarms all channels, unblocks, and sets the context to 0.
///
/// | CSR | name | |
/// | --- | --- | --- |
/// | 0x800 | uliepc | PC at which the interrupted program goes on |
/// | 0x801 | ulictl | bit 0: delivery is blocked; bit 1, pblock: it was before the trap; bits 15:8: context |
/// | 0x802 | ulipend | pending channels; a write sets or clears them |
/// | 0x803 | uliarm | armed channels; read-only |
/// | 0x804 | ulicause | channel in bits 4:0 and scenario in bits 11:8 of what was delivered last |
///
/// | 0x810 + c | | read-only: handler of channel c |
/// | 0x820 + c | | read-only: its parameter |
/// | 0x830 + c | | read-only: what EMONITOR would return of it, but for bit 31 |
///
/// | scenario | | parameter |
/// | --- | --- | --- |
/// | 0 | disarmed | |
/// | 1 | a byte of a range is written | the range |
/// | 2 | a slot of the thread spawner becomes free, its completion is visible | mask of slots |
/// | 3 | a bit of CP_IRQ_PENDING is set, also if it was set already | mask of bits |
/// | 11 | a command of a warp waits for a hart (`staged`; with command queues) | any |
#[clocked("all channels are disarmed")]
#[derive(Clone, LogicBlock)]
#[new(channels: usize, queues: bool)]
pub struct UliChannels {
    /// The hart is held.
    pub hold: Signal<In, Bit>,

    /// Stage X: channel of an EMONITOR.
    pub ask_channel: Signal<In, Bits<3>>,
    /// Stage X: what EMONITOR returns of the channel: bit 31 refused, 30 was armed, 29 was pending,
    /// 23:16 context, 11:8 scenario.
    pub ask_status: Signal<Out, Bits<32>>,
    /// Stage W: EMONITOR retires.
    pub arm_valid: Signal<In, Bit>,
    /// Stage W: channel of the EMONITOR.
    pub arm_channel: Signal<In, Bits<3>>,
    /// Stage W: scenario of the EMONITOR.
    pub arm_scenario: Signal<In, Bits<4>>,
    /// Stage W: handler of the EMONITOR, bits 31:2.
    pub arm_handler: Signal<In, Bits<30>>,
    /// Stage W: parameter of the EMONITOR. In scenario 1, bits 1:0 are 0: that word; 3: 2^(k + 1)
    /// bytes, k the number of trailing ones.
    pub arm_parameter: Signal<In, Bits<32>>,

    /// To the write monitors: range that each channel watches.
    #[count(channels)]
    pub watched: Vec<Flipped<WatchedRange>>,
    /// From the write monitors: the range that each channel watches was written.
    #[count(channels)]
    pub event: Vec<Signal<In, Bit>>,
    /// Slots of the thread spawner that become free, for one cycle.
    pub freed: Signal<In, Bits<16>>,
    /// Bits of CP_IRQ_PENDING that were set, for one cycle.
    pub raised: Signal<In, Bits<32>>,
    /// A command of a warp is given to the harts, for one cycle (only with command queues).
    #[there(queues)]
    pub staged: Part<Signal<In, Bit>>,

    /// A channel is to be delivered.
    pub deliver: Signal<Out, Bit>,
    /// Handler of the channel, bits 31:2.
    pub handler: Signal<Out, Bits<30>>,
    /// The channel is delivered at this edge.
    pub take: Signal<In, Bit>,
    /// PC of the first instruction that was not executed, bits 31:2.
    pub pc: Signal<In, Bits<30>>,
    /// Stage W: ERETURN retires.
    pub leave: Signal<In, Bit>,
    /// A trap is entered at this edge.
    pub trap: Signal<In, Bit>,
    /// Stage W: `mret` retires.
    pub trap_return: Signal<In, Bit>,
    /// A channel is armed and pending, whether or not it would be delivered.
    pub wake: Signal<Out, Bit>,

    /// Stage X: number of a CSR, bits 5:0.
    pub read_number: Signal<In, Bits<6>>,
    /// Stage X: value of the CSR.
    pub read_value: Signal<Out, Bits<32>>,
    /// Delivery is blocked.
    pub blocked: Signal<Out, Bit>,
    /// PC at which the interrupted program goes on, bits 31:2.
    pub interrupted_pc: Signal<Out, Bits<30>>,
    /// Stage W: a CSR is written.
    pub write_valid: Signal<In, Bit>,
    /// Stage W: number of the CSR, bits 5:0.
    pub write_number: Signal<In, Bits<6>>,
    /// Bits to set.
    pub write_set: Signal<In, Bits<32>>,
    /// Bits to clear; those to set win.
    pub write_clear: Signal<In, Bits<32>>,

    block: Register<Bit>,
    block_before: Register<Bit>,
    context: Register<Bits<8>>,
    resume_pc: Register<Bits<30>>,
    cause: Register<Bits<12>>,
    #[count(channels)]
    scenario: Vec<Register<Bits<4>>>,
    #[count(channels)]
    owner: Vec<Register<Bits<8>>>,
    #[count(channels)]
    handlers: Vec<Register<Bits<30>>>,
    #[count(channels)]
    address: Vec<Register<Bits<30>>>,
    /// Bits 1:0 of the parameter.
    #[count(channels)]
    form: Vec<Register<Bits<2>>>,
    #[count(channels)]
    pending: Vec<Register<Bit>>,
    /// Bits of the address that do not count.
    #[count(channels)]
    open: Vec<Register<Bits<30>>>,
    /// The range that the monitors compare with.
    #[count(channels)]
    watches: Vec<Register<Bit>>,
    #[count(channels)]
    words: Vec<Register<Bits<16>>>,
    /// Armed one cycle ago, and two: events are still those of before.
    #[count(channels)]
    newest: Vec<Register<Bit>>,
    #[count(channels)]
    newer: Vec<Register<Bit>>,
    lowest: PriorityEncoder,
    #[init((0..channels as u64).map(|channel| Constant::new(channel.into())).collect())]
    number: Vec<Constant<Bits<3>>>,
    #[init((0..16u64).map(|word| Constant::new(word.into())).collect())]
    word: Vec<Constant<Bits<4>>>,
    #[init(channels)]
    _channels: usize,
}

impl UliChannels {
    /// The channels of a hart; `queues`: there are command queues.
    ///
    /// # Panics
    /// If `channels` is not 1, 2, 4 or 8.
    pub fn new(channels: usize, queues: bool) -> Self {
        assert!(matches!(channels, 1 | 2 | 4 | 8), "UliChannels: {channels} channels, expected 1, 2, 4 or 8");
        Self::wired(channels, queues)
    }
}

impl Logic for UliChannels {
    #[hdl_gen]
    fn update(&mut self) {
        // What would be delivered
        let mut wants = bits::<32>(0);
        let mut armed = bits::<32>(0);
        let mut pends = bits::<32>(0);
        for c in 0..self._channels {
            armed = armed.replace_bit(c, self.scenario[c].q.val().any());
            pends = pends.replace_bit(c, self.pending[c].q.val());
            wants = wants.replace_bit(
                c,
                self.scenario[c].q.val().any()
                    & self.pending[c].q.val()
                    & (self.owner[c].q.val() == self.context.q.val()),
            );
        }
        self.lowest.request.next = wants;
        self.wake.next = (armed & pends).any();
        self.deliver.next = wants.any() & !self.block.q.val();
        let mut chosen_handler = bits::<30>(0);
        let mut chosen_scenario = bits::<4>(0);
        for c in 0..self._channels {
            if self.lowest.one_hot.val().get_bit(c) {
                chosen_handler = self.handlers[c].q.val();
                chosen_scenario = self.scenario[c].q.val();
            }
        }
        self.handler.next = chosen_handler;

        // Stage X: CSRs, and what EMONITOR returns
        self.blocked.next = self.block.q.val();
        self.interrupted_pc.next = self.resume_pc.q.val();
        let mut value = bits::<32>(0);
        if self.read_number.val() == bits::<6>(place::ULIEPC) {
            value = bit_cast::<32, 30>(self.resume_pc.q.val()) << bits::<6>(2);
        }
        if self.read_number.val() == bits::<6>(place::ULICTL) {
            value = bit_cast::<32, 8>(self.context.q.val()) << bits::<6>(8);
            value = value.replace_bit(0, self.block.q.val());
            value = value.replace_bit(1, self.block_before.q.val());
        }
        if self.read_number.val() == bits::<6>(place::ULIPEND) {
            value = pends;
        }
        if self.read_number.val() == bits::<6>(place::ULIARM) {
            value = armed;
        }
        if self.read_number.val() == bits::<6>(place::ULICAUSE) {
            value = bit_cast::<32, 12>(self.cause.q.val());
        }
        let mut status = bits::<32>(0);
        let mut is_refused = false;
        let place = self.read_number.val().get_bits::<4>(0);
        let kind = self.read_number.val().get_bits::<2>(4);
        for c in 0..self._channels {
            let of_channel = (bit_cast::<32, 8>(self.owner[c].q.val()) << bits::<6>(16))
                | (bit_cast::<32, 4>(self.scenario[c].q.val()) << bits::<6>(8));
            let state = of_channel
                .replace_bit(29, self.pending[c].q.val())
                .replace_bit(30, self.scenario[c].q.val().any());
            if self.ask_channel.val() == self.number[c].val() {
                status = state;
                is_refused = self.scenario[c].q.val().any() & (self.owner[c].q.val() != self.context.q.val());
            }
            if place == bit_cast::<4, 3>(self.number[c].val()) {
                if kind == bits::<2>(group::HANDLER) {
                    value = bit_cast::<32, 30>(self.handlers[c].q.val()) << bits::<6>(2);
                }
                if kind == bits::<2>(group::PARAMETER) {
                    value = (bit_cast::<32, 30>(self.address[c].q.val()) << bits::<6>(2))
                        | bit_cast::<32, 2>(self.form[c].q.val());
                }
                if kind == bits::<2>(group::STATUS) {
                    value = state;
                }
            }
        }
        self.read_value.next = value;
        self.ask_status.next = status.replace_bit(31, is_refused);

        // Bits of the address that do not count: of a word none, else the trailing ones and the
        // zero above.
        let trailing = self.arm_parameter.val() ^ (self.arm_parameter.val() + bits::<32>(1));
        let mut ignored = bits::<30>(0);
        if self.arm_parameter.val().get_bit(0) {
            ignored = trailing.get_bits::<30>(2);
        }

        // What changes
        let pending_written = self.write_valid.val() & (self.write_number.val() == bits::<6>(place::ULIPEND));
        for c in 0..self._channels {
            let refused = self.scenario[c].q.val().any() & (self.owner[c].q.val() != self.context.q.val());
            let arms = self.arm_valid.val() & (self.arm_channel.val() == self.number[c].val()) & !refused;
            self.newest[c].d.next = arms;
            self.newer[c].d.next = self.newest[c].q.val();
            let of_before = self.newest[c].q.val() | self.newer[c].q.val();
            let parameter = (bit_cast::<32, 30>(self.address[c].q.val()) << bits::<6>(2))
                | bit_cast::<32, 2>(self.form[c].q.val());
            let mut happens = ((self.scenario[c].q.val() == bits::<4>(scenario::WRITTEN))
                & self.event[c].val())
                | ((self.scenario[c].q.val() == bits::<4>(scenario::FREED))
                    & (self.freed.val() & parameter.get_bits::<16>(0)).any())
                | ((self.scenario[c].q.val() == bits::<4>(scenario::RAISED))
                    & (self.raised.val() & parameter).any());
            if self.staged.is_there() {
                happens = happens
                    || ((self.scenario[c].q.val() == bits::<4>(scenario::STAGED)) & self.staged.val());
            }
            let fires = happens & !of_before;
            if self.take.val() & self.lowest.one_hot.val().get_bit(c) {
                self.pending[c].d.next = false;
            }
            if pending_written & self.write_clear.val().get_bit(c) {
                self.pending[c].d.next = false;
            }
            if fires | (pending_written & self.write_set.val().get_bit(c)) {
                self.pending[c].d.next = true;
            }
            if arms {
                self.pending[c].d.next = false;
                self.scenario[c].d.next = self.arm_scenario.val();
                self.owner[c].d.next = self.context.q.val();
                self.handlers[c].d.next = self.arm_handler.val();
                self.address[c].d.next = self.arm_parameter.val().get_bits::<30>(2);
                self.form[c].d.next = self.arm_parameter.val().get_bits::<2>(0);
                self.open[c].d.next = ignored;
            }
            let mut within = bits::<16>(0);
            for w in 0..16 {
                within = within.replace_bit(
                    w,
                    !((self.word[w].val() ^ self.address[c].q.val().get_bits::<4>(0))
                        & !self.open[c].q.val().get_bits::<4>(0))
                    .any(),
                );
            }
            self.words[c].d.next = within;
            self.watches[c].d.next = self.scenario[c].q.val() == bits::<4>(scenario::WRITTEN);
            if self.hold.val() {
                self.scenario[c].d.next = bits::<4>(0);
                self.pending[c].d.next = false;
            }
            self.watched[c].valid.next = self.watches[c].q.val();
            self.watched[c].line.next = self.address[c].q.val().get_bits::<26>(4);
            self.watched[c].lines.next = !self.open[c].q.val().get_bits::<26>(4);
            self.watched[c].words.next = self.words[c].q.val();
        }
        if self.write_valid.val() & (self.write_number.val() == bits::<6>(place::ULIEPC)) {
            self.resume_pc.d.next = (self.resume_pc.q.val() & !self.write_clear.val().get_bits::<30>(2))
                | self.write_set.val().get_bits::<30>(2);
        }
        if self.write_valid.val() & (self.write_number.val() == bits::<6>(place::ULICTL)) {
            self.block.d.next =
                (self.block.q.val() & !self.write_clear.val().get_bit(0)) | self.write_set.val().get_bit(0);
            self.block_before.d.next = (self.block_before.q.val() & !self.write_clear.val().get_bit(1))
                | self.write_set.val().get_bit(1);
            self.context.d.next = (self.context.q.val() & !self.write_clear.val().get_bits::<8>(8))
                | self.write_set.val().get_bits::<8>(8);
        }
        if self.write_valid.val() & (self.write_number.val() == bits::<6>(place::ULICAUSE)) {
            self.cause.d.next = ((self.cause.q.val() & !self.write_clear.val().get_bits::<12>(0))
                | self.write_set.val().get_bits::<12>(0))
                & bits::<12>(0xf1f);
        }
        if self.leave.val() {
            self.block.d.next = false;
        }
        if self.take.val() {
            self.block.d.next = true;
            self.resume_pc.d.next = self.pc.val();
            self.cause.d.next = (bit_cast::<12, 4>(chosen_scenario) << bits::<4>(8))
                | bit_cast::<12, 5>(self.lowest.index.val());
        }
        if self.trap_return.val() {
            self.block.d.next = self.block_before.q.val();
        }
        if self.trap.val() {
            self.block_before.d.next = self.block.q.val();
            self.block.d.next = true;
        }
        if self.hold.val() {
            self.block.d.next = false;
            self.block_before.d.next = false;
            self.context.d.next = bits::<8>(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// A channel as the rules say it.
    #[derive(Clone, Copy, Debug, Default)]
    struct Channel {
        scenario: u64,
        context: u64,
        handler: u64,
        parameter: u64,
        pending: bool,
        /// The cycle from which on events count.
        from: u64,
    }

    /// Events, arming, delivery, CSR writes at random, several in a cycle, against the rules, with
    /// every number of channels.
    #[test]
    fn follows_the_rules() {
        for count in [1, 2, 4, 8] {
            follows_the_rules_with(count);
        }
    }

    fn follows_the_rules_with(count: usize) {
        let mut random = random();
        let mut unit = UliChannels::new(count, true);
        reset!(unit);
        let mut channels = vec![Channel::default(); count];
        let (mut block, mut before, mut context, mut pc, mut cause) = (false, false, 0u64, None, None);
        let (mut deliveries, mut refusals, mut dropped, mut kept) = (0, 0, 0, 0);
        for cycle in 0..15_000u64 {
            let hold = random.gen_bool(0.001);
            let arm = random.gen_bool(0.05);
            let channel = random.gen_range(0..count);
            let scenario = [0, 1, 2, 3, 11][random.gen_range(0..5)];
            let (handler, parameter) = (random.gen_range(0..1u64 << 30), u64::from(random.gen::<u32>()));
            let parameter = if scenario == 1 { parameter & !3 } else { parameter };
            unit.hold.next = hold;
            unit.arm_valid.next = arm;
            unit.arm_channel.next = (channel as u64).into();
            unit.arm_scenario.next = scenario.into();
            unit.arm_handler.next = handler.into();
            unit.arm_parameter.next = parameter.into();
            unit.ask_channel.next = (channel as u64).into();
            let events: Vec<bool> = (0..count).map(|_| random.gen_bool(0.05)).collect();
            for (port, event) in unit.event.iter_mut().zip(&events) {
                port.next = *event;
            }
            let sparse =
                |random: &mut rand_chacha::ChaCha8Rng| (0..5).fold(u32::MAX, |m, _| m & random.gen::<u32>());
            let (freed, raised) = (u64::from(sparse(&mut random) & 0xffff), u64::from(sparse(&mut random)));
            unit.freed.next = freed.into();
            unit.raised.next = raised.into();
            let staged = random.gen_bool(0.05);
            unit.staged.next = staged;
            // Stage W holds one instruction.
            let leave = !arm && random.gen_bool(0.05);
            let write = !arm && !leave && random.gen_bool(0.05);
            let number = random.gen_range(0..5u64);
            let (set, clear) = (random.gen::<u32>(), random.gen::<u32>());
            // Contexts 0 and 1.
            let (set, clear) = if number == 1 { (set & 0x103, clear | 0xfe00) } else { (set, clear) };
            let trap_return = !arm && !leave && !write && random.gen_bool(0.05);
            unit.leave.next = leave;
            unit.trap_return.next = trap_return;
            unit.write_valid.next = write;
            unit.write_number.next = number.into();
            unit.write_set.next = u64::from(set).into();
            unit.write_clear.next = u64::from(clear).into();
            let read = [random.gen_range(0..6u64), random.gen_range(0..64u64)][random.gen_range(0..2)];
            unit.read_number.next = read.into();
            let here = random.gen_range(0..1u64 << 30);
            unit.pc.next = here.into();
            settle(&mut unit);

            // What shows
            let wants = |c: &Channel| c.scenario != 0 && c.pending && c.context == context;
            let lowest = channels.iter().position(wants);
            assert_eq!(unit.deliver.val(), lowest.is_some() && !block, "cycle {cycle}");
            assert_eq!(unit.blocked.val(), block, "cycle {cycle}");
            if let (Some(lowest), true) = (lowest, unit.deliver.val()) {
                assert_eq!(unit.handler.val().to_u64(), channels[lowest].handler, "cycle {cycle}");
            }
            assert_eq!(
                unit.wake.val(),
                channels.iter().any(|c| c.scenario != 0 && c.pending),
                "cycle {cycle}"
            );
            let mask = |f: fn(&Channel) -> bool| {
                channels.iter().enumerate().fold(0, |mask, (i, c)| mask | u64::from(f(c)) << i)
            };
            let of_channel = |c: &Channel| {
                u64::from(c.scenario != 0) << 30
                    | u64::from(c.pending) << 29
                    | c.context << 16
                    | c.scenario << 8
            };
            let named = channels.get((read & 15) as usize).filter(|_| read >= 16);
            let shown = match read {
                0 => pc.map(|pc: u64| pc << 2),
                1 => Some(u64::from(block) | u64::from(before) << 1 | context << 8),
                2 => Some(mask(|c| c.pending)),
                3 => Some(mask(|c| c.scenario != 0)),
                4 => cause,
                _ => Some(named.map_or(0, |c| match read >> 4 {
                    1 => c.handler << 2,
                    2 => c.parameter,
                    _ => of_channel(c),
                })),
            };
            if let Some(value) = shown {
                assert_eq!(unit.read_value.val().to_u64(), value, "cycle {cycle}, CSR {:#x}", 0x800 + read);
            }
            let c = channels[channel];
            let refused = c.scenario != 0 && c.context != context;
            let status = u64::from(refused) << 31 | of_channel(&c);
            assert_eq!(unit.ask_status.val().to_u64(), status, "cycle {cycle}");

            // What changes
            let changes = arm || leave || write || trap_return;
            let take = unit.deliver.val() && !changes && random.gen_bool(0.5);
            unit.take.next = take;
            let trap = !changes && !take && random.gen_bool(0.03);
            unit.trap.next = trap;
            settle(&mut unit);
            for (i, c) in channels.iter_mut().enumerate() {
                let fires = match c.scenario {
                    1 => events[i],
                    2 => freed & c.parameter & 0xffff != 0,
                    3 => raised & c.parameter != 0,
                    11 => staged,
                    _ => false,
                };
                if fires && cycle < c.from {
                    dropped += 1;
                }
                if take && lowest == Some(i) {
                    c.pending = false;
                    kept += usize::from(fires);
                }
                if write && number == 2 && clear >> i & 1 == 1 {
                    c.pending = false;
                }
                if fires && cycle >= c.from || write && number == 2 && set >> i & 1 == 1 {
                    c.pending = true;
                }
            }
            if arm {
                refusals += usize::from(refused);
                if !refused {
                    channels[channel] =
                        Channel { scenario, context, handler, parameter, pending: false, from: cycle + 3 };
                }
            }
            if write {
                match number {
                    0 => pc = pc.map(|pc| (pc & !u64::from(clear >> 2)) | u64::from(set >> 2)),
                    1 => {
                        block = block && clear & 1 == 0 || set & 1 == 1;
                        before = before && clear & 2 == 0 || set & 2 == 2;
                        context = (context & !u64::from(clear >> 8 & 0xff)) | u64::from(set >> 8 & 0xff);
                    }
                    4 => cause = cause.map(|old| ((old & !u64::from(clear)) | u64::from(set)) & 0xf1f),
                    _ => {}
                }
            }
            if leave {
                block = false;
            }
            if trap_return {
                block = before;
            }
            if trap {
                (before, block) = (block, true);
            }
            if take {
                deliveries += 1;
                block = true;
                pc = Some(here);
                cause = lowest.map(|i| i as u64 | channels[i].scenario << 8);
            }
            if hold {
                (block, before, context) = (false, false, 0);
                for c in &mut channels {
                    (c.scenario, c.pending) = (0, false);
                }
            }
            tick!(unit);
        }
        assert!(
            deliveries > 100 && refusals > 20 && dropped > 5 && kept > 1,
            "{count} channels: {deliveries} {refusals} {dropped} {kept}"
        );
    }

    /// The bytes that parameters name, as the monitors see them two cycles after the channel is
    /// armed.
    #[test]
    fn parameters_are_ranges() {
        let mut unit = UliChannels::new(1, false);
        reset!(unit);
        for (parameter, first, bytes) in [
            (0x1234u64, 0x1234u64, 4u64),
            (0x1230 | 3, 0x1230, 8),
            (0x1230 | 7, 0x1230, 16),
            (0x1200 | 0x1f, 0x1200, 64),
            (0x1000 | 0x3f, 0x1000, 128),
            (0x4000 | 0x1fff, 0x4000, 0x4000),
            (0x7fff_ffff, 0, 1 << 32),
        ] {
            unit.arm_valid.next = true;
            unit.arm_scenario.next = 1.into();
            unit.arm_parameter.next = parameter.into();
            tick!(unit);
            unit.arm_valid.next = false;
            tick!(unit);
            settle(&mut unit);
            let watched = &unit.watched[0];
            assert!(watched.valid.val());
            for address in (0..0x9000u64).step_by(4).chain([0xffff_fffc]) {
                let line = (address >> 6 ^ watched.line.val().to_u64()) & watched.lines.val().to_u64() == 0;
                let word = watched.words.val().get_bit((address >> 2 & 15) as usize);
                let inside = (first..first + bytes).contains(&address);
                assert_eq!(line && word, inside, "parameter {parameter:#x}, address {address:#x}");
            }
            // Disarmed.
            unit.arm_valid.next = true;
            unit.arm_scenario.next = 0.into();
            tick!(unit);
            unit.arm_valid.next = false;
            tick!(unit);
            settle(&mut unit);
            assert!(!unit.watched[0].valid.val());
        }
    }
}
