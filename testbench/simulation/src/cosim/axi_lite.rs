//! The host's side of the AXI4-Lite registers: a queue of accesses, done one after the other, a
//! step each cycle; and a look at a register beside it, which delays no access that begins later.

use std::collections::VecDeque;

use verilator_sys::Model;

use super::ports::AxiLitePorts;

/// A register access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Write a value.
    Write {
        /// Byte offset of the register.
        offset: u32,
        /// The value.
        value: u32,
    },
    /// Read a value.
    Read {
        /// Byte offset of the register.
        offset: u32,
    },
}

impl Access {
    /// Byte offset of the register.
    #[must_use]
    pub fn offset(self) -> u32 {
        match self {
            Self::Write { offset, .. } | Self::Read { offset } => offset,
        }
    }
}

/// An access that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The access.
    pub access: Access,
    /// What was read; 0 for a write.
    pub value: u32,
    /// AXI response: 0 is OKAY.
    pub response: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    /// Which of address and data the slave has not taken yet.
    Write {
        address: bool,
        data: bool,
    },
    /// Whether the slave has not taken the address yet.
    Read {
        address: bool,
    },
}

/// A read beside the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    None,
    /// Of the register at this offset, not offered yet.
    Wanted(u32),
    /// Whether the slave has not taken the address yet.
    Read {
        address: bool,
    },
    /// What was read.
    Done(u32),
}

/// An AXI4-Lite master.
///
/// Address and data of a write are offered together; the next access starts in the cycle after the
/// answer to the last.
///
/// A look is a read that starts only while no access is under way. The slave takes its address in
/// the cycle in which it is offered and reads the register in the next one, when a write that
/// starts behind it is still on its way; so writes take the cycles that they take without looks. A
/// read starts when the look has its answer.
pub struct AxiLiteHost {
    ports: AxiLitePorts,
    queue: VecDeque<Access>,
    state: State,
    look: Look,
    completions: VecDeque<Completion>,
    violation: Option<String>,
}

impl AxiLiteHost {
    /// A master at these ports.
    #[must_use]
    pub fn new(ports: AxiLitePorts) -> Self {
        let (queue, completions) = (VecDeque::new(), VecDeque::new());
        Self { ports, queue, state: State::Idle, look: Look::None, completions, violation: None }
    }

    /// Forgets all accesses, as at a reset of the bus.
    pub fn reset(&mut self, model: &mut Model) {
        *self = Self::new(self.ports);
        let p = &self.ports;
        for input in [p.awvalid, p.wvalid, p.bready, p.arvalid, p.rready] {
            model.set_u64(input, 0);
        }
    }

    /// Queues an access.
    pub fn submit(&mut self, access: Access) {
        self.queue.push_back(access);
    }

    /// Asks for a look at the register at `offset`, if none is under way. It begins as soon as no
    /// access is queued.
    pub fn look(&mut self, offset: u32) {
        if self.look == Look::None {
            self.look = Look::Wanted(offset);
        }
    }

    /// What the last look has read, once.
    pub fn take_look(&mut self) -> Option<u32> {
        let Look::Done(value) = self.look else { return None };
        self.look = Look::None;
        Some(value)
    }

    /// The oldest access that ended and was not taken yet.
    pub fn take_completion(&mut self) -> Option<Completion> {
        self.completions.pop_front()
    }

    /// Whether nothing is queued, in flight or waiting to be taken.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.completions.is_empty()
    }

    /// The first rule of AXI4-Lite that the design broke, as a sentence.
    #[must_use]
    #[inline]
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    /// Sees the outputs of the design before the rising edge.
    #[inline]
    pub fn sample(&mut self, model: &Model) {
        if let Look::Read { address } = self.look {
            self.sample_look(model, address);
        }
        match self.state {
            State::Idle => {}
            State::Write { address, data } => self.sample_write(model, address, data),
            State::Read { address } => self.sample_read(model, address),
        }
    }

    fn sample_write(&mut self, model: &Model, address: bool, data: bool) {
        let p = &self.ports;
        if model.get_bool(p.bvalid) {
            if address || data {
                self.violation.get_or_insert("BVALID came before address and data were taken".to_string());
            }
            let response = model.get_u64(p.bresp) as u8;
            self.complete(0, response);
            return;
        }
        let address = address && !model.get_bool(p.awready);
        let data = data && !model.get_bool(p.wready);
        self.state = State::Write { address, data };
    }

    fn sample_read(&mut self, model: &Model, address: bool) {
        let p = &self.ports;
        if model.get_bool(p.rvalid) {
            if address {
                self.violation.get_or_insert("RVALID came before the address was taken".to_string());
            }
            let (value, response) = (model.get_u64(p.rdata) as u32, model.get_u64(p.rresp) as u8);
            self.complete(value, response);
            return;
        }
        self.state = State::Read { address: address && !model.get_bool(p.arready) };
    }

    fn sample_look(&mut self, model: &Model, address: bool) {
        let p = &self.ports;
        if model.get_bool(p.rvalid) {
            if address {
                self.violation.get_or_insert("RVALID came before the address was taken".to_string());
            }
            self.look = Look::Done(model.get_u64(p.rdata) as u32);
            return;
        }
        self.look = Look::Read { address: address && !model.get_bool(p.arready) };
    }

    fn complete(&mut self, value: u32, response: u8) {
        if let Some(access) = self.queue.pop_front() {
            self.completions.push_back(Completion { access, value, response });
        }
        self.state = State::Idle;
    }

    /// Sets the inputs of the design after the rising edge.
    #[inline]
    pub fn drive(&mut self, model: &mut Model) {
        let looking = matches!(self.look, Look::Read { .. });
        if self.state == State::Idle {
            let p = &self.ports;
            model.set_u64(p.bready, 0);
            model.set_u64(p.rready, u64::from(looking));
            match self.queue.front() {
                None => return self.drive_look(model),
                Some(Access::Read { .. }) if looking => return self.drive_look(model),
                Some(&Access::Write { offset, value }) => {
                    model.set_u64(p.awaddr, u64::from(offset));
                    model.set_u64(p.wdata, u64::from(value));
                    model.set_u64(p.wstrb, 0xf);
                    model.set_u64(p.bready, 1);
                    self.state = State::Write { address: true, data: true };
                }
                Some(&Access::Read { offset }) => {
                    model.set_u64(p.araddr, u64::from(offset));
                    model.set_u64(p.rready, 1);
                    self.state = State::Read { address: true };
                }
            }
        }
        let p = &self.ports;
        let looks = matches!(self.look, Look::Read { address: true });
        let (awvalid, wvalid, arvalid) = match self.state {
            State::Idle => (false, false, false),
            State::Write { address, data } => (address, data, looks),
            State::Read { address } => (false, false, address),
        };
        model.set_u64(p.awvalid, u64::from(awvalid));
        model.set_u64(p.wvalid, u64::from(wvalid));
        model.set_u64(p.arvalid, u64::from(arvalid));
    }

    /// Sets the inputs of the design while no access is under way.
    fn drive_look(&mut self, model: &mut Model) {
        let p = &self.ports;
        if let Look::Wanted(offset) = self.look {
            model.set_u64(p.araddr, u64::from(offset));
            model.set_u64(p.rready, 1);
            self.look = Look::Read { address: true };
        }
        let address = matches!(self.look, Look::Read { address: true });
        model.set_u64(p.arvalid, u64::from(address));
    }
}
