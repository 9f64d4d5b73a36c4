//! Loads of the command processor.

use crate::blocks::{QueuePointers, WordSelect};
use crate::memory::LoadValue;
use crate::ports::LineRead;
use hermes_hdl::prelude::*;

/// The loads of all harts, each of which reads its line from the L2, and the answers of all long
/// operations. A hart has one operation outstanding, and one register for its answer.
///
/// 1. `start_valid` in stage W starts a long operation; with `load_valid` it is a load, whose line
///    is on offer from the next cycle on. `loading` of its hart is high from then until the answer
///    is here, and then `answered`, until an instruction of the hart is in stage W (`used`) or the
///    hart is held (`hold`).
/// 2. `lookup_hart` in stage X gives the answer of that hart, and the word of the instruction that
///    asked for it: another one must not take it. The answer stands there from two cycles after
///    `answered` rose.
/// 3. `late_valid` is the answer of an operation that is no load, taken at the edge with
///    `late_ready`; `withdrawn` ends operations without an answer.
/// 4. The answer of a hart that was held after the operation started is dropped.
/// 5. An operation must not start while `loading` of its hart is high.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct CommandData {
    /// Stage W: a long operation starts.
    pub start_valid: Signal<In, Bit>,
    /// Stage W: hart of the operation.
    pub start_hart: Signal<In, Bits<3>>,
    /// Stage W: word of the instruction; that of a load says size and sign.
    pub start_word: Signal<In, Bits<32>>,
    /// Stage W: the operation is a load.
    pub load_valid: Signal<In, Bit>,
    /// Address of the load, a multiple of its size.
    pub load_address: Signal<In, Bits<32>>,
    /// The answer of another operation is here.
    pub late_valid: Signal<In, Bit>,
    /// Hart of the operation that is answered.
    pub late_hart: Signal<In, Bits<3>>,
    /// The value for its register.
    pub late_value: Signal<In, Bits<32>>,
    /// The access failed.
    pub late_error: Signal<In, Bit>,
    /// The answer is taken at this edge.
    pub late_ready: Signal<Out, Bit>,
    /// Harts whose operation ends without an answer.
    pub withdrawn: Signal<In, Bits<8>>,
    /// Stage W holds an instruction of `used_hart`.
    pub used: Signal<In, Bit>,
    /// Hart of the instruction in stage W.
    pub used_hart: Signal<In, Bits<3>>,
    /// Harts that are held.
    pub hold: Signal<In, Bits<8>>,
    /// Harts that have an operation outstanding.
    pub loading: Signal<Out, Bits<8>>,
    /// Harts whose answer waits.
    pub answered: Signal<Out, Bits<8>>,
    /// Stage X: the hart whose answer is looked up.
    pub lookup_hart: Signal<In, Bits<3>>,
    /// The value for its register.
    pub answer: Signal<Out, Bits<32>>,
    /// The access failed.
    pub answer_error: Signal<Out, Bit>,
    /// Word of the instruction that asked.
    pub answer_word: Signal<Out, Bits<32>>,
    /// To memory: lines of loads; the tag is the hart.
    pub read: LineRead,
    /// Requests that were not accepted: hart and line.
    requests: RamAsync<Bits<29>, 3>,
    queue: QueuePointers<3>,
    /// Of the load of each hart: sign and size as in the instruction, address in the line.
    places: RamAsync<Bits<9>, 3>,
    words: RamAsync<Bits<32>, 3>,
    answers: RamAsync<Bits<33>, 3>,
    select: WordSelect,
    value: LoadValue,
    loading_q: Register<Bits<8>>,
    answered_q: Register<Bits<8>>,
    dropped: Register<Bits<8>>,
    // The word that came in the cycle before
    came: Register<Bit>,
    came_hart: Register<Bits<3>>,
    came_place: Register<Bits<9>>,
    came_word: Register<Bits<32>>,
    came_error: Register<Bit>,
}

impl Logic for CommandData {
    #[hdl_gen]
    fn update(&mut self) {
        // W: the request
        self.queue.push.next = self.load_valid.val();
        self.requests.write_enable.next = self.load_valid.val();
        self.requests.write_address.next = self.queue.write_address.val();
        self.requests.write_data.next = (bit_cast::<29, 3>(self.start_hart.val()) << bits::<5>(26))
            | bit_cast::<29, 26>(self.load_address.val().get_bits::<26>(6));
        self.places.write_enable.next = self.load_valid.val();
        self.places.write_address.next = self.start_hart.val();
        self.places.write_data.next = (bit_cast::<9, 3>(self.start_word.val().get_bits::<3>(12))
            << bits::<4>(6))
            | bit_cast::<9, 6>(self.load_address.val().get_bits::<6>(0));
        self.words.write_enable.next = self.start_valid.val();
        self.words.write_address.next = self.start_hart.val();
        self.words.write_data.next = self.start_word.val();
        self.requests.read_address.next = self.queue.read_address.val();
        self.read.valid.next = !self.queue.empty.val();
        self.read.line.next = self.requests.read_data.val().get_bits::<26>(0);
        self.read.tag.next = bit_cast::<7, 3>(self.requests.read_data.val().get_bits::<3>(26));
        self.queue.pop.next = !self.queue.empty.val() & self.read.ready.val();

        // The line comes: its word is kept, and gets its size a cycle later.
        let response_hart = self.read.response.tag.val().get_bits::<3>(0);
        self.places.read_address.next = response_hart;
        self.came.d.next = self.read.response.valid.val();
        self.came_hart.d.next = response_hart;
        self.came_place.d.next = self.places.read_data.val();
        self.came_error.d.next = self.read.response.error.val();
        self.select.line.next = self.read.response.data.val();
        self.select.enable.next = self.read.response.valid.val();
        self.select.index.next = self.places.read_data.val().get_bits::<4>(2);
        self.came_word.d.next = self.select.word.val();
        self.value.enable.next = self.came.q.val();
        self.value.word.next = self.came_word.q.val();
        self.value.offset.next = self.came_place.q.val().get_bits::<2>(0);
        self.value.size.next = self.came_place.q.val().get_bits::<2>(6);
        self.value.sign_extend.next = !self.came_place.q.val().get_bit(8);
        self.late_ready.next = !self.came.q.val();
        self.answers.write_enable.next = self.came.q.val() | self.late_valid.val();
        self.answers.write_address.next = self.late_hart.val();
        self.answers.write_data.next = (bit_cast::<33, 1>(self.late_error.val().into()) << bits::<6>(32))
            | bit_cast::<33, 32>(self.late_value.val());
        if self.came.q.val() {
            self.answers.write_address.next = self.came_hart.q.val();
            self.answers.write_data.next = (bit_cast::<33, 1>(self.came_error.q.val().into())
                << bits::<6>(32))
                | bit_cast::<33, 32>(self.value.data.val());
        }

        // Who waits for what
        let mut starts = bits::<8>(0);
        if self.start_valid.val() {
            starts = bits::<8>(1) << self.start_hart.val();
        }
        let mut comes = bits::<8>(0);
        if self.read.response.valid.val() {
            comes = bits::<8>(1) << response_hart;
        }
        let mut late_comes = bits::<8>(0);
        if self.late_valid.val() & !self.came.q.val() {
            late_comes = bits::<8>(1) << self.late_hart.val();
        }
        let ends = comes | late_comes | self.withdrawn.val();
        let mut uses = bits::<8>(0);
        if self.used.val() {
            uses = bits::<8>(1) << self.used_hart.val();
        }
        always!(one_operation_of_a_hart_is_outstanding, !(starts & self.loading_q.q.val()).any());
        always!(an_answer_is_awaited, !((comes | late_comes) & !self.loading_q.q.val()).any());
        always!(a_dropped_answer_is_awaited, !(self.dropped.q.val() & !self.loading_q.q.val()).any());
        self.loading_q.d.next = (self.loading_q.q.val() & !ends) | starts;
        self.dropped.d.next = (self.dropped.q.val() | (self.hold.val() & self.loading_q.q.val())) & !ends;
        self.answered_q.d.next = (self.answered_q.q.val() | ((comes | late_comes) & !self.dropped.q.val()))
            & !uses
            & !self.hold.val();
        self.loading.next = self.loading_q.q.val();
        self.answered.next = self.answered_q.q.val();

        // X: the answer
        self.answers.read_address.next = self.lookup_hart.val();
        self.words.read_address.next = self.lookup_hart.val();
        self.answer.next = self.answers.read_data.val().get_bits::<32>(0);
        self.answer_error.next = self.answers.read_data.val().get_bit(32);
        self.answer_word.next = self.words.read_data.val();
    }
}
