//! The options of the array: each is declared here, and nowhere else.
//!
//! From a declaration come the field of [`Config`], the option of every command that takes arrays
//! and its negation, the checks and their messages, docs/options.md, the sweeps of `hermes fpga
//! report`, and the configurations whose Verilog is on record. What is marked `(core)` reaches the
//! units of a core in [`CoreOptions`], what is marked `(control)` those of the control path in
//! [`ControlOptions`], `(command)` those of the command processor in [`CommandOptions`], and
//! `(spawn)` the thread spawner in [`SpawnOptions`].

use super::option::{options, ArrayOption, OptionValue, Subsystem, Values};
use super::{MAX_CORES, MAX_WARPS};
use crate::types::MOST_ENTRIES;
use Subsystem::{Array, CommandProcessor, Core, Functions, Network, Observation, PacketPorts, Spawner, L2};
use Values::{Choices, NoneOrPowers, Powers, Range};

options! {
    /// Shader cores.
    (control spawn) cores: usize = ArrayOption::size(Array, Range(1, MAX_CORES))
        .presets(&[("paper", 8), ("default", 2), ("fpga", 1), ("pangaea", 2), ("node", 1)]);
    /// Lanes of a core, which is also the number of threads of a warp.
    (control spawn) lanes: usize = ArrayOption::size(Array, Choices(&[1, 2, 4, 8, 16, 32]))
        .presets(&[("paper", 32), ("default", 8), ("fpga", 8), ("pangaea", 8), ("node", 8)]);
    /// Warp slots of a core.
    (core control) warps: usize = ArrayOption::size(Array, Range(1, MAX_WARPS))
        .presets(&[("paper", 32), ("default", 8), ("fpga", 8), ("pangaea", 5), ("node", 8)]);
    /// The cores have the AES instructions of RISC-V (Zkne and Zknd).
    (core) aes: bool = ArrayOption::switch(Core).golden_first(1);
    /// The cores have the atomic instructions of RISC-V (A), and the L2 performs them.
    (core command) atomics: bool = ArrayOption::switch(Core)
        .presets(&[("pangaea", 1), ("node", 1)])
        .golden_first(1)
        .golden_second(1);
    /// Cores and harts have the compare-and-swap of RISC-V (`amocas.w` of Zacas).
    (core command) compare_and_swap: bool = ArrayOption::switch(Core).needs("atomics").golden_first(1);
    /// Of the warps that can issue, a core takes the one that started first, instead of going
    /// round.
    (core) oldest_first: bool = ArrayOption::switch(Core).golden_first(1);
    /// The cores have a local window: the words of stacks are interleaved by lane, which makes
    /// kernels that use their stack faster, and an access beyond a stack is a fault.
    (core) local_window: bool = ArrayOption::switch(Core)
        .presets(&[("paper", 1), ("default", 1), ("pangaea", 1)])
        .golden_first(1);
    /// AXI4 channels to memory, not more than banks of the L2.
    channels: usize = ArrayOption::number(L2, Choices(&[1, 2, 4]), 1);
    /// Banks of the L2.
    (core) l2_banks: usize = ArrayOption::size(L2, Choices(&[1, 2, 4, 8]))
        .presets(&[("paper", 8), ("default", 2), ("fpga", 1), ("pangaea", 2), ("node", 2)]);
    /// Lines of 64 bytes in a bank of the L2.
    l2_bank_lines: usize = ArrayOption::size(L2, Powers(16, 4096))
        .presets(&[("paper", 1024), ("default", 256), ("fpga", 64), ("pangaea", 2048), ("node", 512)])
        .flag("l2-lines");
    /// Ways of the L2.
    l2_ways: usize = ArrayOption::number(L2, Choices(&[1, 2, 4]), 4);
    /// Reservations of `lr.w` that a bank of the L2 keeps, each of another line. More let more
    /// lanes through at a time whose lines are in one bank.
    l2_reservations: usize =
        ArrayOption::number(L2, Choices(&[1, 2, 4, 8]), 1).of("atomics").golden_second(2);
    /// A bank of the L2 looks a set up in one cycle and decides in the next: two cycles a request
    /// instead of one, for a higher clock.
    l2_look_up_cycle: bool = ArrayOption::switch(L2).golden_second(1);
    /// Lines of 64 bytes in the L1 data cache of a core.
    (core) l1_lines: usize = ArrayOption::size(Core, Powers(16, 1024))
        .presets(&[("paper", 512), ("default", 64), ("fpga", 32), ("pangaea", 64), ("node", 64)]);
    /// Words that a core reads from a line at once, and lanes whose stores to a line it merges in
    /// a cycle. Fewer take fewer LUTs, and more cycles where lanes of a warp use the same line.
    (core) line_words: usize = ArrayOption::number(Core, Choices(&[1, 2, 4]), 4).golden_second(1);
    /// The array has packet ports: frames come and go through AXI4-Stream.
    packet_ports: bool = ArrayOption::switch(PacketPorts).golden_first(1);
    /// Register PORTS has bit 1, with which the packet ports drop frames that find no slot.
    drop_when_full: bool = ArrayOption::switch(PacketPorts).of("packet_ports").golden_first(1);
    /// Hardware threads (harts) of the command processor; 0: the array has none.
    (command) command_threads: usize = ArrayOption::number(CommandProcessor, Choices(&[0, 1, 2, 4, 8]), 0)
        .presets(&[("pangaea", 4), ("node", 4)])
        .golden_first(1)
        .golden_second(2);
    /// Lines of 64 bytes in the data cache of each hart; 0: the command processor has no data
    /// cache.
    (command) command_cache_lines: usize = ArrayOption::number(CommandProcessor, NoneOrPowers(16, 512), 0)
        .presets(&[("pangaea", 64), ("node", 64)])
        .of("command_threads")
        .golden_first(64);
    /// Lines of 64 bytes in the instruction cache that the harts of the command processor share;
    /// 0: as many as in a core's.
    (command) command_instruction_cache_lines: usize =
        ArrayOption::number(CommandProcessor, NoneOrPowers(16, 1024), 0)
            .presets(&[("pangaea", 128)])
            .of("command_threads")
            .golden_second(32);
    /// Ways of the instruction cache of the command processor; 0: as many as in a core's.
    (command) command_instruction_cache_ways: usize =
        ArrayOption::number(CommandProcessor, Choices(&[0, 1, 2, 4]), 0)
            .presets(&[("pangaea", 2)])
            .of("command_threads")
            .golden_second(2);
    /// Lines of 64 bytes in the instruction cache of a core.
    (core command) instruction_cache_lines: usize = ArrayOption::size(Core, Powers(16, 1024))
        .presets(&[("paper", 256), ("default", 64), ("fpga", 64), ("pangaea", 32), ("node", 64)]);
    /// Ways of the instruction cache of a core.
    (core command) instruction_cache_ways: usize =
        ArrayOption::number(Core, Choices(&[1, 2, 4]), 1).presets(&[("pangaea", 4)]);
    /// Channels of user-level interrupts of each hart, at most 16 of all harts; 0: the command
    /// processor has no such interrupts.
    (command spawn) uli_channels: usize = ArrayOption::number(CommandProcessor, Choices(&[0, 1, 2, 4, 8]), 0)
        .presets(&[("pangaea", 2)])
        .of("command_threads")
        .golden_first(2);
    /// Slots of the thread spawner, each for one job; 0: the array has no thread spawner.
    (core control spawn) spawn_slots: usize = ArrayOption::number(Spawner, Choices(&[0, 8, 16]), 0)
        .presets(&[("pangaea", 16)])
        .golden_first(16)
        .golden_second(0);
    /// The array has a network interface (RoCEv2): puts of other nodes and to them.
    (core command) network: bool = ArrayOption::switch(Network)
        .presets(&[("node", 1)])
        .needs("atomics")
        .golden_first(1)
        .golden_second(1);
    /// Queue areas of the network interface, one for each protection domain that kernels use.
    net_domains: usize =
        ArrayOption::number(Network, Choices(&[1, 2, 4, 8]), 1).of("network").golden_second(2);
    /// Commands of each queue, of each hart and of the host that the network interface may have
    /// under way. `paper` has half as many as the others, as its 256 queues would need twice the
    /// block RAM else.
    net_queue_entries: usize = ArrayOption::number(Network, Choices(&[1, 2, 4, 8]), MOST_ENTRIES)
        .presets(&[("paper", 4)])
        .of("network")
        .value_name("ENTRIES");
    /// The time-out of warp forming can follow the traffic: registers TIMEOUT_.. of the host.
    (control) adaptive_timeout: bool = ArrayOption::switch(Array).golden_first(1);
    /// Of the cores that can take a packet warp, one with the fewest busy slots gets it, instead
    /// of the next one with room.
    (control) least_occupied_issue: bool = ArrayOption::switch(Array).golden_first(1);
    /// The top has an output that tells that a thread ended with a fault or memory answered with
    /// an error.
    fault_output: bool = ArrayOption::switch(Observation).golden_second(1);
    /// Entries of the trace buffer, which keeps what happened in the array until the host, also
    /// that of a board, reads it; 0: the array has none.
    (core) trace_buffer: usize = ArrayOption::number(Observation, NoneOrPowers(16, 16384), 0)
        .excludes(&["spawn_slots"])
        .value_name("ENTRIES")
        .golden_second(64);
    /// The array has load counters: why warps are formed, busy warp slots, hits of the L1, and how
    /// full queues and ring became.
    (core control) load_counters: bool = ArrayOption::switch(Observation).golden_first(1);
    /// Network functions (NFs) that share the array, each on cores of its own, and pass packets on
    /// to each other; 0: one kernel runs on all cores.
    (core control) network_functions: usize = ArrayOption::number(Functions, Choices(&[0, 2, 4, 8]), 0)
        .needs("local_window")
        .excludes(&["spawn_slots", "network", "trace_buffer", "adaptive_timeout", "load_counters"]);
    /// Packets branch by their verdicts from one network function to others.
    (core control) function_branches: bool = ArrayOption::switch(Functions).of("network_functions");
    /// The top has the ports of the retire trace, for verification.
    (core control command) trace: bool = ArrayOption::switch(Observation).flag("").golden_first(1);
}
