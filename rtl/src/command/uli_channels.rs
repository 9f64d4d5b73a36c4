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
        always!(only_what_is_due_is_taken, !self.take.val() | (wants.any() & !self.block.q.val()));
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
            always!(
                ranges_are_aligned,
                !(self.open[c].q.val() & (self.open[c].q.val() + bits::<30>(1))).any()
            );
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
#[path = "uli_channels_tests.rs"]
mod tests;
