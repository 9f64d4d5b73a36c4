//! Payloads from the frame buffer to memory.

use super::ByteRotate;
use crate::ports::LineWrite;
use crate::stream::WriteWindow;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// A payload that is to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct PayloadPlace {
    /// Place of the frame's first beat.
    pub first: Bits<9>,
    /// Bytes of the frame before the payload: 54, 58, 66, 70 or 82.
    pub header: Bits<7>,
    /// Bytes of the payload, 1 to 4,096.
    pub bytes: Bits<13>,
    /// Address of its first byte in memory.
    pub address: Bits<32>,
}

/// Writes the payload of a frame to memory, line by line, each with the bytes that are the
/// payload's.
///
/// 1. `place` is taken with `place_valid` and `place_ready`. The beats are read from the buffer
///    (`read_enable`, `read_ready`, `read_data` in the next cycle), rotated, and each line is
///    written once: at most one a cycle.
/// 2. `place_ready` is high again when the last beat was read: the frame's beats are free then.
/// 3. `performed` is high for one cycle for each payload, in their order, when its writes and all
///    before are performed.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct PayloadWriter {
    /// A payload is to be written.
    pub place_valid: Signal<In, Bit>,
    /// The payload is taken at this edge.
    pub place_ready: Signal<Out, Bit>,
    /// Place of the payload in the buffer and in memory.
    pub place: Signal<In, PayloadPlace>,
    /// A beat is to be read.
    pub read_enable: Signal<Out, Bit>,
    /// The beat is read at this edge.
    pub read_ready: Signal<In, Bit>,
    /// Place of the beat.
    pub read_beat: Signal<Out, Bits<9>>,
    /// The beat that was read in the cycle before.
    pub read_data: Signal<In, Bits<512>>,
    /// To memory.
    pub write: LineWrite,
    /// The writes of a payload are performed, and all before.
    pub performed: Signal<Out, Bit>,

    rotate: ByteRotate,
    /// Tags below 16: bit 5 makes a write an atomic operation, and bit 4 is that of control lines.
    window: WriteWindow<4>,
    busy: Register<Bit>,
    taken_place: Register<PayloadPlace>,
    /// Number of the beat that is to be read next, from the frame's first one on.
    next: Register<Bits<7>>,
    /// Line that the bytes of that beat begin in.
    line: Register<LineAddress>,
    // A beat that was read, in the rotation, rotated
    valid_1: Register<Bit>,
    valid_2: Register<Bit>,
    valid_3: Register<Bit>,
    line_1: Register<LineAddress>,
    line_2: Register<LineAddress>,
    line_3: Register<LineAddress>,
    // What its payload is: constant for all beats of it
    place_1: Register<PayloadPlace>,
    place_2: Register<PayloadPlace>,
    place_3: Register<PayloadPlace>,
    // The last one behind which comes no other beat of its payload
    last_1: Register<Bit>,
    last_2: Register<Bit>,
    last_3: Register<Bit>,
    // A beat that was read while the stages were held
    kept: Register<Bit>,
    kept_data: Register<Bits<512>>,
    /// The bytes of the beat before that belong to the next line.
    before: Register<Bits<512>>,
    /// The last line is still to be written: of the bytes before alone.
    tail: Register<Bit>,
    tail_line: Register<LineAddress>,
    tail_place: Register<PayloadPlace>,
    #[init(Constant::new(u64::MAX.into()))]
    all: Constant<Bits<64>>,
    #[init(Pack::new(64))]
    merged: Pack<Bits<8>, 8, 512>,
}

impl Logic for PayloadWriter {
    #[hdl_gen]
    fn update(&mut self) {
        // The line: the bytes before below, those of this beat from its place on
        let wants = self.valid_3.q.val() || self.tail.q.val();
        let mut current_place = self.place_3.q.val();
        let mut at_line = self.line_3.q.val();
        if self.tail.q.val() {
            current_place = self.tail_place.q.val();
            at_line = self.tail_line.q.val();
        }
        let first_line = current_place.address.get_bits::<26>(6);
        // The first beat may lie in the line before that of the payload: nothing is written there.
        let outside = at_line + bits::<26>(1) == first_line;
        let offers = wants && !outside;

        // The stages move unless a line waits for memory.
        let waits = offers && !self.window.line.ready.val();
        // A tail takes the place of a beat in the last stage.
        let holds = waits || (self.tail.q.val() && self.valid_3.q.val());

        // Reading
        let job = self.taken_place.q.val();
        let end_byte = bit_cast::<13, 7>(job.header) + job.bytes - bits::<13>(1);
        let last_beat = end_byte.get_bits::<7>(6);
        let reads = self.busy.q.val() && !self.kept.q.val() && !holds;
        let at_last = self.next.q.val() == last_beat;
        self.read_enable.next = reads;
        self.read_beat.next = job.first + bit_cast::<9, 7>(self.next.q.val());
        let read = reads && self.read_ready.val();
        if read {
            self.next.d.next = self.next.q.val() + bits::<7>(1);
            self.line.d.next = self.line.q.val() + bits::<26>(1);
            if at_last {
                self.busy.d.next = false;
            }
        }
        self.place_ready.next = !self.busy.q.val();
        let begin = self.place.val().address - bit_cast::<32, 6>(self.place.val().header.get_bits::<6>(0));
        if self.place_valid.val() && !self.busy.q.val() {
            self.busy.d.next = true;
            self.taken_place.d.next = self.place.val();
            self.next.d.next = bit_cast::<7, 1>(self.place.val().header.get_bits::<1>(6));
            self.line.d.next = begin.get_bits::<26>(6);
        }

        // A beat that comes while the stages are held waits here.
        let mut data = self.read_data.val();
        if self.kept.q.val() {
            data = self.kept_data.q.val();
        }
        if holds {
            if self.valid_1.q.val() && !self.kept.q.val() {
                self.kept.d.next = true;
                self.kept_data.d.next = self.read_data.val();
            }
        } else {
            self.kept.d.next = false;
            self.valid_1.d.next = read;
            self.line_1.d.next = self.line.q.val();
            self.place_1.d.next = job;
            self.last_1.d.next = at_last;
            self.valid_2.d.next = self.valid_1.q.val();
            self.line_2.d.next = self.line_1.q.val();
            self.place_2.d.next = self.place_1.q.val();
            self.last_2.d.next = self.last_1.q.val();
            self.valid_3.d.next = self.valid_2.q.val();
            self.line_3.d.next = self.line_2.q.val();
            self.place_3.d.next = self.place_2.q.val();
            self.last_3.d.next = self.last_2.q.val();
        }
        let in_1 = self.place_1.q.val();
        self.rotate.hold.next = holds;
        self.rotate.data.next = data;
        self.rotate.places.next = in_1.address.get_bits::<6>(0) - in_1.header.get_bits::<6>(0);

        // Its bytes, and which of them are the payload's
        let turn = current_place.address.get_bits::<6>(0) - current_place.header.get_bits::<6>(0);
        let upper = self.all.val() << turn;
        for i in 0..64 {
            self.merged.x[i].next = self.before.q.val().get_bits::<8>(8 * i);
            if upper.get_bit(i) && !self.tail.q.val() {
                self.merged.x[i].next = self.rotate.rotated.val().get_bits::<8>(8 * i);
            }
        }
        let last_byte = current_place.address + bit_cast::<32, 13>(current_place.bytes) - bits::<32>(1);
        let last_line = last_byte.get_bits::<26>(6);
        let mut strobe = self.all.val();
        if at_line == first_line {
            strobe = self.all.val() << current_place.address.get_bits::<6>(0);
        }
        let mut below = self.all.val();
        if at_line == last_line {
            // By 63 less the place of the last byte
            below = self.all.val() >> !last_byte.get_bits::<6>(0);
        }
        let is_end = at_line == last_line;
        self.window.line.valid.next = offers;
        self.window.line.end.next = is_end;
        self.write.line.next = at_line;
        self.write.data.next = self.merged.y.val();
        self.write.strobe.next = strobe & below;
        let goes = wants && (outside || self.window.line.ready.val());
        if goes {
            if self.tail.q.val() {
                self.tail.d.next = false;
            } else {
                self.before.d.next = self.rotate.rotated.val();
                // Bytes of the last beat may belong to one more line.
                self.tail.d.next = self.last_3.q.val() && !is_end;
                self.tail_line.d.next = at_line + bits::<26>(1);
                self.tail_place.d.next = self.place_3.q.val();
            }
        }

        self.write.valid.next = self.window.write.valid.val();
        self.window.write.ready.next = self.write.ready.val();
        self.write.tag.next = self.window.write.tag.val();
        self.window.write.written.valid.next = self.write.written.valid.val();
        self.window.write.written.tag.next = self.write.written.tag.val();
        self.performed.next = self.window.completed.val();
    }
}

#[cfg(test)]
#[path = "payload_writer_tests.rs"]
mod tests;
