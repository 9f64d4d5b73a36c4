//! The serial device of a board.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serialport::{ClearBuffer, DataBits, ErrorKind, FlowControl, Parity, SerialPort, StopBits};

/// How long a read waits for the first byte.
const READ_TIME: Duration = Duration::from_millis(10);

/// A serial device that was opened: what a [`Link`](super::Link) needs.
pub type Port = Box<dyn SerialPort>;

/// A serial device could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// There is no such file.
    #[error("{}: there is no such device; expected the serial device of a board, such as /dev/ttyUSB0: is the board connected?", path.display())]
    Missing {
        /// The device.
        path: PathBuf,
    },
    /// The file is no terminal.
    #[error("{}: no serial device; expected that of a board, such as /dev/ttyUSB0", path.display())]
    NotATerminal {
        /// The file.
        path: PathBuf,
    },
    /// The user may not open it.
    #[error(
        "{}: permission denied; serial devices are open to the members of a group, mostly dialout: `sudo usermod -aG dialout $USER`, \
         then log in again",
        path.display()
    )]
    Permission {
        /// The device.
        path: PathBuf,
    },
    /// Another program has it.
    #[error("{}: the device is busy; another program, such as a terminal or another hermes, has it open", path.display())]
    Busy {
        /// The device.
        path: PathBuf,
    },
    /// It cannot be operated as the board needs.
    #[error("{}: cannot be opened at {baud} baud, 8 data bits, no parity, 1 stop bit: {reason}", path.display())]
    Settings {
        /// The device.
        path: PathBuf,
        /// Bits per second.
        baud: u32,
        /// What the system says.
        reason: String,
    },
}

/// Opens the serial device at `path` with `baud` bits per second, 8 data bits, no parity and one
/// stop bit, for this program alone. What came before is dropped.
///
/// # Errors
/// There is no such device, or it cannot be opened or set up.
pub fn open(path: &Path, baud: u32) -> Result<Port, PortError> {
    let owned = || path.to_path_buf();
    let settings = |reason: String| PortError::Settings { path: owned(), baud, reason };
    check(path)?;
    let Some(name) = path.to_str() else {
        return Err(settings("its name is no UTF-8".to_string()));
    };
    let opened = serialport::new(name, baud)
        .data_bits(DataBits::Eight)
        .parity(Parity::None)
        .stop_bits(StopBits::One)
        .flow_control(FlowControl::None)
        .timeout(READ_TIME)
        .open();
    let port = opened.map_err(|error| match error.kind() {
        ErrorKind::Io(io::ErrorKind::NotFound) => PortError::Missing { path: owned() },
        ErrorKind::Io(io::ErrorKind::PermissionDenied) => PortError::Permission { path: owned() },
        // A lock that another program has is told so.
        ErrorKind::NoDevice | ErrorKind::Io(io::ErrorKind::WouldBlock) => PortError::Busy { path: owned() },
        _ if error.description.contains("Not a typewriter") => PortError::NotATerminal { path: owned() },
        _ => settings(error.description),
    })?;
    port.clear(ClearBuffer::All).map_err(|error| settings(error.description))?;
    Ok(port)
}

/// Whether there can be a serial device at `path`.
fn check(path: &Path) -> Result<(), PortError> {
    match path.metadata() {
        Ok(metadata) if is_device(&metadata) => Ok(()),
        Ok(_) => Err(PortError::NotATerminal { path: path.to_path_buf() }),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(PortError::Permission { path: path.to_path_buf() })
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            missing(path)
        }
        // What the system does not tell of its devices, opening them does.
        Err(_) => Ok(()),
    }
}

#[cfg(unix)]
fn is_device(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    metadata.file_type().is_char_device()
}

#[cfg(not(unix))]
fn is_device(_: &std::fs::Metadata) -> bool {
    true
}

#[cfg(unix)]
fn missing(path: &Path) -> Result<(), PortError> {
    Err(PortError::Missing { path: path.to_path_buf() })
}

/// Devices need not be files.
#[cfg(not(unix))]
fn missing(_: &Path) -> Result<(), PortError> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{Read as _, Write as _};

    use serialport::TTYPort;

    use super::*;

    fn error(path: &str) -> String {
        open(Path::new(path), 115_200).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_serial_device_is_told_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "text").unwrap();
        let file = file.to_str().unwrap();
        assert!(error("/dev/no-such-device")
            .starts_with("/dev/no-such-device: there is no such device; expected"));
        assert!(error(&format!("{file}/tty")).contains("there is no such device"));
        assert_eq!(
            error(file),
            format!("{file}: no serial device; expected that of a board, such as /dev/ttyUSB0")
        );
        assert!(error("/dev/null").starts_with("/dev/null: no serial device"), "{}", error("/dev/null"));
    }

    #[test]
    fn pseudo_terminals_carry_every_byte_at_any_rate() {
        for baud in [9_600, 115_200, 2_000_000, 12_345] {
            let (mut master, slave) = TTYPort::pair().unwrap();
            let name = slave.name().unwrap();
            drop(slave);
            let mut port = open(Path::new(&name), baud).unwrap();
            let bytes: Vec<u8> = (0..=255).collect();
            port.write_all(&bytes).unwrap();
            let mut got = vec![0; 256];
            master.read_exact(&mut got).unwrap();
            assert_eq!(got, bytes);
            master.write_all(&bytes).unwrap();
            port.read_exact(&mut got).unwrap();
            assert_eq!(got, bytes);
            let late = port.read(&mut got).unwrap_err();
            assert_eq!(late.kind(), io::ErrorKind::TimedOut);
            // Somebody else has it.
            let busy = open(Path::new(&name), baud).unwrap_err().to_string();
            assert!(busy.contains("the device is busy"), "{busy}");
            drop(master);
            // A program that another test has started meanwhile may have our end open until it
            // ends.
            let ended =
                (0..6_000).any(|_| port.read(&mut got).unwrap_err().kind() != io::ErrorKind::TimedOut);
            assert!(ended, "the other end is gone, and reads go on");
        }
    }
}
