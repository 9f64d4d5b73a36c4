//! Panics of kernels in Rust: `hermes run --print` tells file, line, column and message of each.
//! Put this file beside the kernel, and `mod hermes;` into it. It needs Rust 1.81.

use core::arch::asm;
use core::panic::PanicInfo;
use core::ptr;

/// The rings in which prints wait for the host, which sets this before the run; 0: nobody wants
/// them. docs/debugging.md and `hermes_print` of `hermes.h` say what is in them.
#[no_mangle]
#[allow(non_upper_case_globals)]
static mut hermes_print_rings: usize = 0;

/// Words of the head of the rings, and of a record.
const HEAD: usize = 16;
const RECORD: usize = 8;

/// Adds a print with four values to the ring of this thread. `format` ends with a zero.
fn print(format: &'static [u8], values: [usize; 4]) {
    let (core, slot, lane, packet): (usize, usize, usize, usize);
    // SAFETY: these CSRs are read-only. The host has set the pointer before the run, and the ring
    // belongs to this thread alone.
    unsafe {
        let rings = ptr::read_volatile(ptr::addr_of!(hermes_print_rings)) as *mut usize;
        if rings.is_null() {
            return;
        }
        asm!(
            "csrr {lane}, 0xcc1", "csrr {slot}, 0xcc2", "csrr {core}, 0xcc3", "csrr {packet}, 0xcc0",
            lane = out(reg) lane, slot = out(reg) slot, core = out(reg) core, packet = out(reg) packet,
        );
        let (lanes, words_log2, room) = (rings.read(), rings.add(1).read(), rings.add(2).read());
        let ring = rings.add(HEAD + (((core << 5 | slot) * lanes + lane) << words_log2));
        let count = ring.read();
        ring.write(count + 1);
        if count < room {
            let record = ring.add(RECORD * (count + 1));
            record.write(format.as_ptr() as usize);
            record.add(1).write(packet);
            (0..4).for_each(|at| record.add(2 + at).write(values[at]));
        }
    }
}

/// Prints where the panic is, and its message unless that has values, and ends the thread with a
/// fault.
#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    if let Some(place) = info.location() {
        let file = place.file();
        let values = [file.len(), file.as_ptr() as usize, place.line() as usize, place.column() as usize];
        print(b"panicked at %.*s:%u:%u\0", values);
    }
    if let Some(text) = info.message().as_str() {
        print(b"%.*s\0", [text.len(), text.as_ptr() as usize, 0, 0]);
    }
    // SAFETY: it does not come back.
    unsafe { asm!("ebreak", options(noreturn)) }
}
