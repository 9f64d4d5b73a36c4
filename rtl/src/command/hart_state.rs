//! What one hart is doing.

use hermes_hdl::prelude::*;

/// The two PCs of one hart, and whether it may fetch.
///
/// `fetch_pc` is the next to fetch, `pc`, the architectural one, the next to retire. The events of
/// a cycle take effect at its end; those of a later stage go before those of an earlier one, and
/// `take_valid` before all but `run`. The owner drops the younger instructions of the hart.
///
/// 1. While `run` is low the hart is held: nothing of it is in the pipeline from the next cycle on.
///    It starts at `entry` in the first cycle with `run` high in which nothing of it is
///    outstanding.
/// 2. A replayed instruction is fetched again when its cause is gone: no store outstanding
///    (`wait_stores`), a place for a store (`wait_place`), no access to a device (`wait_device`) or
///    division (`wait_divide`) of any hart under way, no operation of its own (`loading`).
/// 3. `stop` stops the hart with its PC behind what retires in this cycle, or at the target of a
///    trap that is entered, until it is held, or until `resume`. What is younger is dropped by the
///    owner.
/// 4. `take_valid` is legal while `boundary` is high: between two instructions. `boundary_pc` is
///    the PC of the one that has not been executed.
/// 5. With `execute` a stopped hart may fetch: a word of the host (`executed` when it is in stage
///    W). It stays stopped.
#[clocked("the hart is held")]
#[derive(LogicBlock, Default)]
pub struct HartState {
    /// The hart runs; else it is held.
    pub run: Signal<In, Bit>,
    /// PC after a reset of the hart, bits 31:2.
    pub entry: Signal<In, Bits<30>>,
    /// Nothing of the hart is outstanding.
    pub quiet: Signal<In, Bit>,
    /// Stage F: the instruction at `fetch_pc` is fetched.
    pub issue: Signal<In, Bit>,
    /// Stage D: the hart goes on at `decode_pc`.
    pub decode_redirect: Signal<In, Bit>,
    /// Stage D: the instruction at `decode_pc` is not in the cache.
    pub miss: Signal<In, Bit>,
    /// Stage D: target, or PC of the miss, bits 31:2.
    pub decode_pc: Signal<In, Bits<30>>,
    /// From the cache: harts that wait for a line look up again.
    pub filled: Signal<In, Bit>,
    /// Stage X: the hart goes on at `execute_pc`.
    pub execute_redirect: Signal<In, Bit>,
    /// Stage X: target, bits 31:2.
    pub execute_pc: Signal<In, Bits<30>>,
    /// Stage W holds an instruction of the hart.
    pub write_valid: Signal<In, Bit>,
    /// Stage W: the instruction retires.
    pub retire: Signal<In, Bit>,
    /// Stage W: PC of the instruction after it, bits 31:2.
    pub next_pc: Signal<In, Bits<30>>,
    /// Stage W, with `retire`: the instructions after it are fetched again.
    pub refetch: Signal<In, Bit>,
    /// Stage W: the instruction is replayed when no store of the hart is outstanding.
    pub wait_stores: Signal<In, Bit>,
    /// Stage W: the instruction is replayed when there is a place for another store.
    pub wait_place: Signal<In, Bit>,
    /// Stage W: the instruction is replayed when no access to a device is under way.
    pub wait_device: Signal<In, Bit>,
    /// Stage W: the instruction is replayed when no division is under way.
    pub wait_divide: Signal<In, Bit>,
    /// Stage W: the instruction is replayed when the load, access or division that it starts in
    /// this cycle is answered.
    pub load: Signal<In, Bit>,
    /// The hart stops: by an exception in stage W, or by the host at a boundary or with a trap.
    pub stop: Signal<In, Bit>,
    /// The hart is stopped, and goes on.
    pub resume: Signal<In, Bit>,
    /// The hart is stopped, and is to fetch a word of the host.
    pub execute: Signal<In, Bit>,
    /// The instruction in stage W is that word.
    pub executed: Signal<In, Bit>,
    /// Nothing is taken at the boundary of this cycle: the instruction in stage W changes when the
    /// hart is interrupted.
    pub changes: Signal<In, Bit>,
    /// The hart may not fetch: it sleeps.
    pub asleep: Signal<In, Bit>,
    /// No store of the hart is outstanding.
    pub stores_none: Signal<In, Bit>,
    /// The hart has as many stores outstanding as it may.
    pub stores_full: Signal<In, Bit>,
    /// No access to a device is under way.
    pub device_free: Signal<In, Bit>,
    /// No division is under way.
    pub divide_free: Signal<In, Bit>,
    /// A load, access or division of the hart is outstanding.
    pub loading: Signal<In, Bit>,
    /// An answer waits for the instruction that is replayed.
    pub answer_waits: Signal<In, Bit>,
    /// The hart goes on at `take_pc`; only while `boundary` is high.
    pub take_valid: Signal<In, Bit>,
    /// PC at which the hart goes on, bits 31:2.
    pub take_pc: Signal<In, Bits<30>>,
    /// The hart goes on at `take_pc` by a trap; legal at an exception in stage W as well.
    pub trapped: Signal<In, Bit>,
    /// The hart may fetch in this cycle.
    pub ready: Signal<Out, Bit>,
    /// PC to fetch, bits 31:2.
    pub fetch_pc: Signal<Out, Bits<30>>,
    /// The hart is at an instruction boundary at the end of this cycle.
    pub boundary: Signal<Out, Bit>,
    /// Architectural PC at the end of this cycle, if no exception, bits 31:2.
    pub boundary_pc: Signal<Out, Bits<30>>,
    /// Architectural PC: of the next instruction to retire, bits 31:2.
    pub pc: Signal<Out, Bits<30>>,
    /// The hart is stopped.
    pub stopped: Signal<Out, Bit>,
    /// No instruction retired since `take_valid` without `trapped`.
    pub taken: Signal<Out, Bit>,
    started_q: Register<Bit>,
    stopped_q: Register<Bit>,
    taken_q: Register<Bit>,
    fetch_pc_q: Register<Bits<30>>,
    pc_q: Register<Bits<30>>,
    waits_line: Register<Bit>,
    waits_stores: Register<Bit>,
    waits_place: Register<Bit>,
    waits_device: Register<Bit>,
    waits_divide: Register<Bit>,
}

impl Logic for HartState {
    #[hdl_gen]
    fn update(&mut self) {
        let started = self.started_q.q.val() & self.run.val();
        let runs = started & !self.stopped_q.q.val();
        always!(only_a_hart_that_started_is_stopped, !self.stopped_q.q.val() | self.started_q.q.val());
        always!(only_a_hart_that_started_is_taken, !self.taken_q.q.val() | self.started_q.q.val());
        self.pc.next = self.pc_q.q.val();
        self.ready.next = (runs | (started & self.execute.val()))
            & !self.waits_line.q.val()
            & !(self.waits_stores.q.val() & !self.stores_none.val())
            & !(self.waits_place.q.val() & self.stores_full.val())
            & !(self.waits_device.q.val() & !self.device_free.val())
            & !(self.waits_divide.q.val() & !self.divide_free.val())
            & !self.loading.val()
            & !self.asleep.val();
        self.fetch_pc.next = self.fetch_pc_q.q.val();
        self.stopped.next = self.stopped_q.q.val();
        self.taken.next = self.taken_q.q.val();

        let mut between = !self.loading.val() & !self.answer_waits.val();
        if self.write_valid.val() {
            between = (self.retire.val() & !self.changes.val())
                | self.wait_stores.val()
                | self.wait_place.val()
                | self.wait_device.val()
                | self.wait_divide.val();
        }
        self.boundary.next = runs & between;
        let mut next = self.pc_q.q.val();
        if self.retire.val() {
            next = self.next_pc.val();
        }
        self.boundary_pc.next = next;

        // Where it fetches next. One of these conditions is high, so that each PC is ANDed with its
        // own and all are ORed, which takes fewer LUTs than one choice behind the other.
        let again = self.refetch.val()
            | self.wait_stores.val()
            | self.wait_place.val()
            | self.wait_device.val()
            | self.wait_divide.val()
            | self.load.val()
            | (self.write_valid.val() & self.executed.val());
        let leads = self.decode_redirect.val() | self.miss.val();
        let at_entry = !self.started_q.q.val();
        let at_take = !at_entry & self.take_valid.val();
        let before_take = !at_entry & !self.take_valid.val();
        let at_next = before_take & (again | self.stop.val());
        let before_next = before_take & !again & !self.stop.val();
        let at_execute = before_next & self.execute_redirect.val();
        let before_execute = before_next & !self.execute_redirect.val();
        let at_decode = before_execute & leads;
        let mut onward = bits::<30>(0);
        if before_execute & !leads {
            onward = self.fetch_pc_q.q.val() + bit_cast::<30, 1>(self.issue.val().into());
        }
        let mut of_decode = bits::<30>(0);
        if at_decode {
            of_decode = self.decode_pc.val();
        }
        let mut of_execute = bits::<30>(0);
        if at_execute {
            of_execute = self.execute_pc.val();
        }
        let mut of_next = bits::<30>(0);
        if at_next {
            of_next = next;
        }
        let mut of_take = bits::<30>(0);
        if at_take {
            of_take = self.take_pc.val();
        }
        let mut of_entry = bits::<30>(0);
        if at_entry {
            of_entry = self.entry.val();
        }
        self.fetch_pc_q.d.next = onward | of_decode | of_execute | of_next | of_take | of_entry;
        if self.filled.val() {
            self.waits_line.d.next = false;
        }
        if self.stores_none.val() {
            self.waits_stores.d.next = false;
        }
        if !self.stores_full.val() {
            self.waits_place.d.next = false;
        }
        if self.device_free.val() {
            self.waits_device.d.next = false;
        }
        if self.divide_free.val() {
            self.waits_divide.d.next = false;
        }
        if self.miss.val() {
            self.waits_line.d.next = true;
        }
        if self.execute_redirect.val() {
            self.waits_line.d.next = false;
        }
        if self.retire.val() & !self.executed.val() {
            self.taken_q.d.next = false;
        }
        self.pc_q.d.next = next;
        if again {
            self.waits_line.d.next = false;
        }
        if self.wait_stores.val() {
            self.waits_stores.d.next = true;
        }
        if self.wait_place.val() {
            self.waits_place.d.next = true;
        }
        if self.wait_device.val() {
            self.waits_device.d.next = true;
        }
        if self.wait_divide.val() {
            self.waits_divide.d.next = true;
        }
        if self.resume.val() {
            self.stopped_q.d.next = false;
        }
        if self.stop.val() {
            self.stopped_q.d.next = true;
            self.waits_line.d.next = false;
            self.waits_stores.d.next = false;
            self.waits_place.d.next = false;
            self.waits_device.d.next = false;
            self.waits_divide.d.next = false;
        }
        if self.take_valid.val() {
            self.taken_q.d.next = !self.trapped.val();
            self.pc_q.d.next = self.take_pc.val();
            self.waits_line.d.next = false;
            self.waits_stores.d.next = false;
            self.waits_place.d.next = false;
            self.waits_device.d.next = false;
            self.waits_divide.d.next = false;
        }
        if !self.started_q.q.val() {
            self.pc_q.d.next = self.entry.val();
            self.started_q.d.next = self.quiet.val();
        }
        if !self.run.val() {
            self.started_q.d.next = false;
            self.stopped_q.d.next = false;
            self.taken_q.d.next = false;
            self.waits_line.d.next = false;
            self.waits_stores.d.next = false;
            self.waits_place.d.next = false;
            self.waits_device.d.next = false;
            self.waits_divide.d.next = false;
        }
    }
}
