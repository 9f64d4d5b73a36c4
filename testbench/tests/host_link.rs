//! Host and command processor of a Verilated array: mailbox, console, doorbell, events and the
//! output `irq`, as far as the host alone shows them, and with a program that stops.

// Of the grid only the array of these tests.
#[allow(dead_code)]
mod grid;

use std::sync::OnceLock;

use grid::{build_brief, seen_by_host};
use hermes_testbench::cosim::{
    host_interrupt, CosimError, Device, Host, Latency, MemoryOptions, Simulation, MESSAGE_WORDS,
};
use verilator_sys::ModelLibrary;

/// CP_STATUS: MAILBOX_IN is full.
const IN_FULL: u32 = 1 << 28;
/// CP_IRQ_PENDING: the mailbox, a byte for CONSOLE_IN.
const MAIL: u32 = 1 << 4;
const BYTE: u32 = 1 << 7;

fn array() -> &'static ModelLibrary {
    static ARRAY: OnceLock<ModelLibrary> = OnceLock::new();
    ARRAY.get_or_init(|| build_brief(&seen_by_host()))
}

fn host() -> Host<Simulation> {
    let memory = MemoryOptions { latency: Latency::Fixed(20), ..MemoryOptions::default() };
    Host::new(Simulation::new(array().instantiate().unwrap(), 1 << 20, memory).unwrap()).unwrap()
}

#[test]
fn a_message_waits_until_it_is_taken() {
    let mut host = host();
    let message: [u32; MESSAGE_WORDS] = [0x1111_0000, 2, 3, 0x4444_4444];
    assert_eq!(host.take_message().unwrap(), None);
    host.send_message(message).unwrap();
    assert_eq!(host.read("CP_STATUS").unwrap() & IN_FULL, IN_FULL);
    assert_eq!(host.read("CP_IRQ_PENDING").unwrap(), MAIL);
    let error = host.send_message([9; MESSAGE_WORDS]).unwrap_err();
    assert!(matches!(error, CosimError::MailboxFull), "{error}");
    // Nothing else is written while it is full.
    host.write("MAILBOX_IN_2", 7).unwrap();
    for (i, word) in message.into_iter().enumerate() {
        assert_eq!(host.read(&format!("MAILBOX_IN_{i}")).unwrap(), word);
    }
    // The mailbox to the host is the processor's.
    host.write("MAILBOX_OUT_0", 7).unwrap();
    assert_eq!(host.take_message().unwrap(), None);
    host.reset_link().unwrap();
    assert_eq!(host.read("CP_STATUS").unwrap() & IN_FULL, 0);
    assert_eq!(host.read("CP_IRQ_PENDING").unwrap(), 0);
    host.send_message([9; MESSAGE_WORDS]).unwrap();
}

#[test]
fn the_console_takes_what_there_is_room_for() {
    let mut host = host();
    assert!(host.read_console().unwrap().is_empty());
    let text: Vec<u8> = (0..40).collect();
    assert_eq!(host.write_console(&text).unwrap(), 16);
    assert_eq!(host.write_console(&text).unwrap(), 0);
    assert_eq!(host.read("CP_IRQ_PENDING").unwrap(), BYTE);
}

#[test]
fn a_doorbell_sets_events() {
    let mut host = host();
    host.ring(1, 0x8001_0000).unwrap();
    assert_eq!(host.read("CP_IRQ_PENDING").unwrap(), 0x8001_0000);
    host.write("CP_IRQ_PENDING", 0x0001_0000).unwrap();
    assert_eq!(host.read("CP_IRQ_PENDING").unwrap(), 0x8000_0000);
    assert!(matches!(host.ring(0x100, 0), Err(CosimError::Option { .. })));
    assert!(matches!(host.ring(0, 1), Err(CosimError::Option { .. })));
}

/// A hart that stops interrupts the host, which waits at `irq` alone.
#[test]
fn a_hart_that_stops_raises_irq() {
    let mut host = host();
    host.enable_interrupts(host_interrupt::STOPPED).unwrap();
    assert!(!host.wait_for_interrupt(100).unwrap());
    // nop, ebreak, which stops it (CP_CONTROL bit 8)
    let program: Vec<u8> = [0x13u32, 0x0010_0073].iter().flat_map(|word| word.to_le_bytes()).collect();
    host.device_mut().write_memory(0x1_0000, &program).unwrap();
    host.write("CP_CONTROL", 0x101).unwrap();
    assert!(host.wait_for_interrupt(2_000).unwrap());
    assert_eq!(host.read("CP_STATUS").unwrap() & 0xff, 1);
    assert_eq!(host.take_interrupts().unwrap(), host_interrupt::STOPPED);
    assert!(!host.wait_for_interrupt(100).unwrap(), "it is stopped still, and was told once");
}

/// A watermark that COMMITTED_PACKETS has reached counts when it is written; events that are not
/// enabled raise nothing.
#[test]
fn a_watermark_is_an_event_of_both() {
    let mut host = host();
    host.device_mut().run(20).unwrap();
    assert_eq!(host.take_interrupts().unwrap(), 0);
    host.write("COMMIT_WATERMARK", 0).unwrap();
    assert!(!host.wait_for_interrupt(20).unwrap());
    assert_eq!(host.read("CP_IRQ_PENDING").unwrap(), 1 << 5);
    host.enable_interrupts(host_interrupt::WATERMARK).unwrap();
    assert!(host.wait_for_interrupt(1).unwrap());
    host.write("COMMIT_WATERMARK", 1).unwrap();
    assert_eq!(host.take_interrupts().unwrap(), host_interrupt::WATERMARK);
    // Packets that wait, with the cores held.
    host.write("CONTROL", 0).unwrap();
    host.write("TASK_PUSH", 5).unwrap();
    host.write("TASK_PUSH", 3).unwrap();
    assert_eq!(host.read("BACKLOG").unwrap(), 8);
    assert!(!host.wait_for_interrupt(50).unwrap());
}
