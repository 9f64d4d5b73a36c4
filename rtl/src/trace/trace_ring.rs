//! Which entry of a trace buffer is written, and when no more.

use hermes_hdl::prelude::*;

/// Counts the entries that go to the ring of a trace buffer, and ends the recording some entries
/// after the trigger.
///
/// 1. After `arm`, from the next cycle on, every `entry` is written, and so is the cycle in which
///    the trigger fires, entry or not. `write` and `fires` are of the same cycle as `entry` and
///    `hit`.
/// 2. The trigger fires in the first cycle with `hit` since `arm`. After that cycle exactly
///    `after` entries are written, and then none until the next `arm`.
/// 3. `stop` ends the recording; the entry of its cycle is still written. With `arm` in the same
///    cycle the recording begins anew.
/// 4. Counts have 48 bits: at 40 MHz and an entry in every cycle they last for 81 days.
#[clocked("nothing is recorded")]
#[derive(Clone, Default, LogicBlock)]
pub struct TraceRing {
    /// The recording begins with an empty ring (high for one cycle).
    pub arm: Signal<In, Bit>,
    /// The recording ends (high for one cycle).
    pub stop: Signal<In, Bit>,
    /// Something happened that is to be recorded.
    pub entry: Signal<In, Bit>,
    /// An event that the trigger waits for happened.
    pub hit: Signal<In, Bit>,
    /// Entries to write after that of the trigger.
    pub after: Signal<In, Bits<16>>,
    /// An entry is written at this edge.
    pub write: Signal<Out, Bit>,
    /// The trigger fires in this cycle.
    pub fires: Signal<Out, Bit>,
    /// Entries are recorded.
    pub recording: Signal<Out, Bit>,
    /// The trigger has fired since `arm`.
    pub triggered: Signal<Out, Bit>,
    /// Entries that were written since `arm`: the number of the next one, whose place in the ring
    /// is in the lowest bits.
    pub count: Signal<Out, Bits<48>>,
    /// Number of the entry with which the trigger fired.
    pub trigger_entry: Signal<Out, Bits<48>>,

    records: Register<Bit>,
    fired: Register<Bit>,
    /// Entries that are still to be written after the trigger.
    left: Register<Bits<16>>,
    written: Register<Bits<48>>,
    fired_at: Register<Bits<48>>,
}

impl Logic for TraceRing {
    #[hdl_gen]
    fn update(&mut self) {
        let fires_now = self.records.q.val() && self.hit.val() && !self.fired.q.val();
        let writes = self.records.q.val() && (self.entry.val() || fires_now);
        if writes {
            self.written.d.next = self.written.q.val() + bits::<48>(1);
        }
        if writes && self.fired.q.val() {
            self.left.d.next = self.left.q.val() - bits::<16>(1);
            if self.left.q.val() == bits::<16>(1) {
                self.records.d.next = false;
            }
        }
        if fires_now {
            self.fired.d.next = true;
            self.fired_at.d.next = self.written.q.val();
            self.left.d.next = self.after.val();
            if !self.after.val().any() {
                self.records.d.next = false;
            }
        }
        if self.stop.val() {
            self.records.d.next = false;
        }
        if self.arm.val() {
            self.records.d.next = true;
            self.fired.d.next = false;
            self.written.d.next = bits::<48>(0);
        }
        self.write.next = writes;
        self.fires.next = fires_now;
        self.recording.next = self.records.q.val();
        self.triggered.next = self.fired.q.val();
        self.count.next = self.written.q.val();
        self.trigger_entry.next = self.fired_at.q.val();
    }
}
