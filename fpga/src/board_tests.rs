//! The tops of all boards: they can be emitted, and tools accept them.

use super::*;

fn settings(board: Board) -> Settings {
    board.settings(board.config(), None, None, None).unwrap()
}

#[test]
fn every_board_is_emitted_with_its_pins() {
    for board in BOARDS {
        let design = settings(board).emit().unwrap();
        assert_eq!(design.ports.iter().filter(|port| port.width > 1).count(), usize::from(board.name == "ulx3s"));
        for port in &design.ports {
            let site = format!("LOCATE COMP \"{}", port.name);
            assert!(board.constraints.contains(&site), "{}: no site for {}", board.name, port.name);
        }
        std::fs::write(format!("/tmp/{}.v", design.top), design.verilog()).unwrap();
    }
}
