//! What a host sees of the array cycle by cycle: its events and its retire trace.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use hermes_testbench::cosim::{Event, RetirePorts, Simulation, WarpSlot};
use hermes_testbench::iss::TraceCycle;

/// First address of the boot sequence.
pub const BOOT: u32 = 0xffff_ff00;
/// Where threads end.
pub const EXIT: u32 = 0xffff_fffc;

/// A warp-instruction that retired.
#[derive(Clone, Copy, Debug)]
pub struct Retired {
    pub core: usize,
    pub cycle: u64,
    pub pc: u32,
    /// Lanes that executed it, those that faulted included.
    pub active: u32,
    pub faulting: u32,
    /// packetIdx of lane 0.
    pub first_packet: u32,
    /// Other lanes of the warp were elsewhere.
    pub divergent: bool,
}

/// A warp that was issued and finished.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    pub core: usize,
    pub issued: u64,
    pub finished: u64,
}

/// A delay commit queue as its events fill and empty it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue {
    pub warps: u32,
    /// Most warps that it had.
    pub most: u32,
    /// Cycles at the end of which it had all that it can hold.
    pub full_cycles: u32,
}

/// Warps that a delay commit queue can hold.
pub const QUEUE_ENTRIES: u32 = 1024;

/// All that was seen since [`Observed::attach`].
#[derive(Debug, Default)]
pub struct Observed {
    pub retired: Vec<Retired>,
    pub stays: Vec<Stay>,
    pub issued_warps: u32,
    /// Warps with a packet for each lane.
    pub full_warps: u32,
    pub queue: Queue,
    pub committed_warps: u32,
    pub committed_packets: u32,
    /// Of warps on the cores: cycle of issue, first packet, lanes that did not end.
    running: HashMap<WarpSlot, (u64, u32, u32)>,
    lanes: u32,
}

impl Observed {
    /// Watches an array from now on.
    pub fn attach(simulation: &mut Simulation, cores: usize, lanes: usize) -> Rc<RefCell<Self>> {
        let ports = RetirePorts::bind(simulation.model_mut(), cores, lanes).unwrap();
        let observed = Rc::new(RefCell::new(Self::default()));
        let shared = Rc::clone(&observed);
        let mut trace = TraceCycle::default();
        simulation.set_observer(Box::new(move |cycle, model, events, _| {
            trace.clear();
            ports.sample(model, &mut trace);
            shared.borrow_mut().cycle(cycle, &trace, events);
            Ok(())
        }));
        observed.borrow_mut().lanes = lanes as u32;
        observed
    }

    fn cycle(&mut self, cycle: u64, trace: &TraceCycle, events: &[(u64, Event)]) {
        for retired in &trace.retired {
            let slot = WarpSlot { core: retired.core, slot: retired.slot };
            let (_, first_packet, living) = self.running.get_mut(&slot).expect("a warp in this slot");
            self.retired.push(Retired {
                core: retired.core.into(),
                cycle,
                pc: retired.pc,
                active: retired.active,
                faulting: retired.faulting,
                first_packet: *first_packet,
                divergent: retired.active != *living,
            });
            if retired.pc == EXIT {
                *living &= !retired.active;
            }
        }
        for (_, event) in events {
            match *event {
                Event::Issue(slot, packets) => {
                    self.issued_warps += 1;
                    self.full_warps += u32::from(packets.count == self.lanes);
                    self.queue.warps += 1;
                    self.running.insert(slot, (cycle, packets.first, (1 << packets.count) - 1));
                }
                Event::Finish(slot) => {
                    let (issued, ..) = self.running.remove(&slot).expect("a warp in this slot");
                    self.stays.push(Stay { core: slot.core.into(), issued, finished: cycle });
                }
                Event::Commit(_, packets) => {
                    self.committed_warps += 1;
                    self.queue.warps -= 1;
                    self.committed_packets += packets.count;
                }
                Event::Spawn(_) | Event::Hop { .. } => {
                    panic!("cycle {cycle}: {event:?} in an array without thread spawner and functions")
                }
            }
        }
        self.queue.most = self.queue.most.max(self.queue.warps);
        self.queue.full_cycles += u32::from(self.queue.warps == QUEUE_ENTRIES);
    }

    /// What retired on a core, boot sequence and EXIT included.
    pub fn on(&self, core: usize) -> impl Iterator<Item = &Retired> {
        self.retired.iter().filter(move |retired| retired.core == core)
    }

    /// What of this belongs to the kernel.
    pub fn kernel_on(&self, core: usize) -> impl Iterator<Item = &Retired> {
        self.on(core).filter(|retired| retired.pc < BOOT)
    }

    /// Cycles from an issue to the last finish without a break, over all such stretches of a core,
    /// and how many there are.
    pub fn occupied(&self, core: usize) -> (u64, u64) {
        let mut stays: Vec<_> = self.stays.iter().filter(|stay| stay.core == core).collect();
        stays.sort_by_key(|stay| stay.issued);
        let (mut cycles, mut stretches, mut end) = (0, 0, 0);
        for stay in stays {
            if stay.issued > end || stretches == 0 {
                stretches += 1;
                cycles += stay.finished - stay.issued;
            } else {
                cycles += stay.finished.saturating_sub(end);
            }
            end = end.max(stay.finished);
        }
        (cycles, stretches)
    }
}
