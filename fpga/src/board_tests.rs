//! The tops of all boards have their pins, and what no board can be is refused.

use super::*;

#[test]
fn every_board_is_emitted_with_its_pins() {
    for (board, memory_log2) in BOARDS.into_iter().flat_map(|board| [(board, None), (board, Some(25))]) {
        let settings = board.settings(board.config(), None, None, memory_log2).unwrap();
        let (design, constraints) = (settings.emit().unwrap(), settings.constraints());
        let names = design.ports.iter().flat_map(|port| {
            let bits = 0..port.width;
            bits.map(|bit| if port.width == 1 { port.name.clone() } else { format!("{}[{bit}]", port.name) })
        });
        for name in names {
            for line in [format!("LOCATE COMP \"{name}\" SITE "), format!("IOBUF PORT \"{name}\" ")] {
                assert!(constraints.contains(&line), "{}: no {line:?}", board.name);
            }
        }
        // No pin is constrained that the top does not have.
        let ports = constraints.lines().filter_map(|line| line.strip_prefix("LOCATE COMP \""));
        for port in ports.filter_map(|port| port.split(['"', '[']).next()) {
            assert!(design.ports.iter().any(|found| found.name == port), "{}: {port}", board.name);
        }
        let pins = [board.pins.clock, board.pins.to_board, board.pins.from_board];
        assert!(pins.iter().all(|pin| design.ports.iter().any(|port| port.name == *pin)), "{pins:?}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let board = Board::find("ulx3s").unwrap();
    let config = board.config();
    let error = |result: Result<Settings, BoardError>| result.unwrap_err().to_string();
    assert!(
        error(board.settings(Config { lanes: 3, ..config.clone() }, None, None, None)).contains("lanes: 3")
    );
    let node = Config { fault_output: true, ..Config::preset("node").unwrap() };
    for (part, with) in [
        ("packet_ports", Config { packet_ports: true, ..config.clone() }),
        ("network", node),
        ("channels", Config { channels: 2, l2_banks: 2, ..config.clone() }),
        ("trace", Config { trace: true, ..config.clone() }),
    ] {
        let said = error(board.settings(with, None, None, None));
        let expected = format!("{part}: not possible together with board ulx3s, which has nothing");
        assert!(said.starts_with(&expected), "{said}");
    }
    assert!(error(board.settings(config.clone(), Some(500.0), None, None)).starts_with("clock: 500 MHz"));
    assert!(
        error(board.settings(config.clone(), Some(10.0), Some(2_600_000), None)).starts_with("baud: 2600000")
    );
    // Steps of the phase are too coarse for it.
    assert!(error(board.settings(config.clone(), Some(100.0), Some(9_600), None)).contains("within 0.5 %"));
    for bytes_log2 in [13, 21, 24, 27] {
        let said = error(board.settings(config.clone(), None, None, Some(bytes_log2)));
        assert!(said.starts_with(&format!("memory: 2^{bytes_log2} bytes")), "{said}");
    }
    assert!(Board::find("ulx4s")
        .unwrap_err()
        .to_string()
        .contains("expected one of ulx3s, ulx3s-cp, ulx3s-45f"));
    // The clock is the nearest below what is asked for, and a bit of the serial line about as long
    // as it should be.
    let settings = board.settings(config, Some(41.0), Some(3_000_000), None).unwrap();
    let clock = settings.pll.kilohertz;
    assert!((40_000..=41_000).contains(&clock), "{clock}");
    let baud = (settings.uart_step() * u64::from(clock) * 1000) >> 16;
    assert!(baud.abs_diff(3_000_000) < 1_000, "{baud}");
}

#[test]
fn the_hash_is_of_what_the_array_is_and_not_of_its_name() {
    let config = Board::find("ulx3s").unwrap().config();
    let named = Config { preset: "mine".to_string(), ..config.clone() };
    assert_eq!(configuration_hash(&config), configuration_hash(&named));
    let traced = Config { trace_buffer: 64, ..config.clone() };
    assert_ne!(configuration_hash(&config), configuration_hash(&traced));
    assert_ne!(configuration_hash(&config), configuration_hash(&Config { lanes: 4, ..config }));
}

/// The data pins are driven from both sides; the others by the board alone.
#[test]
fn the_data_pins_of_an_sdram_are_inout() {
    let board = Board::find("ulx3s-45f").unwrap();
    let settings = board.settings(board.config(), None, None, Some(26)).unwrap();
    assert_eq!(settings.packet_memory(), PacketMemory::Sdram(26, SdramTiming::at(40_000)));
    let text = settings.emit().unwrap().verilog();
    assert_eq!(text.matches("inout  wire [15:0] sdram_d").count(), 2, "the pins and the top");
    assert!(!text.contains("\nmodule line_memory"));
    let plain = board.settings(board.config(), None, None, None).unwrap();
    assert_eq!(plain.packet_memory(), PacketMemory::BlockRam(15));
    assert!(!plain.emit().unwrap().verilog().contains("sdram"));
}

#[test]
fn a_trace_buffer_is_there_if_it_is_asked_for() {
    let board = Board::find("ulx3s-45f").unwrap();
    let has_one = |trace_buffer| {
        let config = Config { trace_buffer, ..board.config() };
        let design = board.settings(config, None, None, None).unwrap().emit().unwrap();
        let pins = design.ports.len();
        (design.verilog().contains("\nmodule trace_buffer_"), pins)
    };
    let (without, with) = (has_one(0), has_one(64));
    assert_eq!((without.0, with.0), (false, true));
    // It is read over the serial line.
    assert_eq!(without.1, with.1);
}

/// Command processor and thread spawner come with the array, and bring no pin; a board without them
/// has neither of what they need.
#[test]
fn the_whole_machine_has_the_pins_of_the_array_alone() {
    let board = Board::find("ulx3s-cp").unwrap();
    let config = board.config();
    assert_eq!((config.lanes, config.command_threads, config.command_cache_lines), (2, 1, 0));
    assert_eq!((config.uli_channels, config.spawn_slots, config.network), (2, 8, false));
    let emitted = |config: &Config| {
        let design = board.settings(config.clone(), None, None, Some(17)).unwrap().emit().unwrap();
        (design.ports.len(), design.verilog())
    };
    let (pins, text) = emitted(&config);
    let without = Config { command_threads: 0, uli_channels: 0, spawn_slots: 0, ..config.clone() };
    let (plain_pins, plain) = emitted(&without);
    assert_eq!(pins, plain_pins);
    for part in ["\nmodule command_processor", "\nmodule thread_spawner", "last_value", ".spawned("] {
        assert!(text.contains(part) && !plain.contains(part), "{part}");
    }
    // A spawner alone, which the host commands; the preset that has all of it.
    emitted(&Config { command_threads: 0, uli_channels: 0, ..config });
    let pangaea = Config::preset("pangaea").unwrap();
    assert!(board.settings(pangaea, None, None, None).is_ok());
}
