//! How many packets are buffered, and what becomes of those that find no room.

use anyhow::ensure;

use super::expect::ExpectArgs;

/// The packet ring.
#[derive(clap::Args)]
#[command(next_help_heading = "Surroundings")]
pub struct RingArgs {
    /// What becomes of a frame that finds no free slot at the packet ports, with --through ports:
    /// it waits, or it is dropped whole and counted
    #[arg(long, value_enum, value_name = "wait|drop", default_value = "wait")]
    when_full: WhenFull,
    /// Slots of the packet ring, a power of two, 2 to 1048576, instead of 4096, or of eight times
    /// the threads of a large array: so many packets are buffered, three quarters of it at the
    /// packet ports
    #[arg(long, value_name = "NUMBER")]
    pub ring_slots: Option<u32>,
}

/// What becomes of a frame that finds no free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum WhenFull {
    /// It waits for one.
    Wait,
    /// It is dropped.
    Drop,
}

impl RingArgs {
    /// Whether frames that find no slot are dropped.
    pub fn drops(&self) -> bool {
        self.when_full == WhenFull::Drop
    }

    /// Checks that packets can come and go as the options say, through the ports or by the host.
    ///
    /// # Errors
    /// Frames are to be dropped where none can be, or what comes out of each is expected.
    pub fn check(&self, ports: bool, expect: &ExpectArgs) -> anyhow::Result<()> {
        ensure!(
            ports || !self.drops(),
            "--when-full drop: expected --through ports; the host never pushes a packet without a slot"
        );
        let file = expect.names_packets().filter(|_| self.drops());
        ensure!(
            file.is_none(),
            "{}: not possible with --when-full drop; which packets come in is known at the end of the run: expected --app or --golden, which are asked of those",
            file.unwrap_or_default()
        );
        Ok(())
    }
}
