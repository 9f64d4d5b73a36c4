//! Native tests of [`MemoryChannel`]: what it says of errors, and of instructions.

use super::MemoryChannel;
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use hermes_hdl::prelude::*;
use rand::Rng;

const BANKS: usize = 2;
/// Bits of a number of a bank.
const NUMBERS: usize = 3;

fn unit() -> MemoryChannel {
    let mut uut = MemoryChannel::new(BANKS, NUMBERS);
    reset!(uut);
    uut.m_axi.arready.next = true;
    uut.m_axi.awready.next = true;
    uut.m_axi.wready.next = true;
    uut.m_axi.rlast.next = true;
    for bank in 0..BANKS {
        uut.fill[bank].ready.next = true;
    }
    tick!(uut);
    uut
}

/// Every response other than OKAY on R and on B counts, also those of one cycle, and a beat without
/// RLAST.
#[test]
fn every_error_of_the_bus_counts() {
    let mut rng = random("channel errors");
    let mut uut = unit();
    let (mut before, mut seen) = (None, [0; 3]);
    for cycle in 0..2_000u64 {
        let read = rng.gen_bool(0.5);
        let (read_response, last) = (rng.gen_range(0..4u64), rng.gen_bool(0.8));
        let write = rng.gen_bool(0.5);
        let write_response = rng.gen_range(0..4u64);
        uut.m_axi.rvalid.next = read;
        uut.m_axi.rid.next = bits(cycle % 16);
        uut.m_axi.rdata.next = bits(cycle);
        uut.m_axi.rresp.next = bits(read_response);
        uut.m_axi.rlast.next = last;
        uut.m_axi.bvalid.next = write;
        uut.m_axi.bid.next = bits(cycle / 3 % 16);
        uut.m_axi.bresp.next = bits(write_response);
        settle(&mut uut);
        assert!(uut.m_axi.rready.val() && uut.m_axi.bready.val());
        let got = (uut.bus_errors.val().to_u64(), uut.line_read.val(), uut.line_written.val());
        if let Some((errors, read, write, failed)) = before {
            assert_eq!(got, (errors, read, write), "cycle {cycle}");
            seen[errors as usize] += 1;
            // The line is at its bank with its error.
            let bank = (((cycle - 1) % 16) >> NUMBERS) as usize;
            assert_eq!(uut.fill[bank].valid.val(), read, "cycle {cycle}");
            if read {
                assert_eq!(uut.fill[bank].number.val().to_u64(), (cycle - 1) % 8);
                assert_eq!(
                    (uut.fill[bank].data.val(), uut.fill[bank].error.val()),
                    (bits(cycle - 1), failed)
                );
            }
            let writer = (((cycle - 1) / 3 % 16) >> NUMBERS) as usize;
            assert_eq!(uut.done[writer].valid.val(), write, "cycle {cycle}");
        }
        let failed = read_response != 0 || !last;
        let errors = u64::from(read && failed) + u64::from(write && write_response != 0);
        before = Some((errors, read, write, failed));
        tick!(uut);
    }
    assert!(seen.iter().all(|count| *count > 200), "{seen:?}");
}

/// ARPROT is 4 for a line of instructions, of whichever bank, and 0 for others.
#[test]
fn instructions_are_marked() {
    let mut rng = random("channel arprot");
    let mut uut = unit();
    let mut seen = [0; 2];
    for number in 0..400u64 {
        let (bank, code) = (rng.gen_range(0..BANKS), rng.gen());
        for other in 0..BANKS {
            uut.fetch[other].valid.next = other == bank;
            uut.fetch[other].code.next = if other == bank { code } else { !code };
            uut.fetch[other].line.next = bits(number);
            uut.fetch[other].number.next = bits(number % 8);
        }
        settle(&mut uut);
        assert!(uut.fetch[bank].ready.val());
        tick!(uut);
        for other in 0..BANKS {
            uut.fetch[other].valid.next = false;
            uut.fetch[other].code.next = !code;
        }
        settle(&mut uut);
        assert!(uut.m_axi.arvalid.val());
        assert_eq!(uut.m_axi.araddr.val().to_u64(), number << 6);
        assert_eq!(uut.m_axi.arid.val().to_u64(), (bank << NUMBERS) as u64 + number % 8);
        assert_eq!(uut.m_axi.arprot.val().to_u64(), if code { 4 } else { 0 });
        seen[usize::from(code)] += 1;
        tick!(uut);
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}
