//! Examples at the end of the help of each command.

use std::fmt::Write as _;

/// What an example shows, and the command line.
type Example = (&'static str, &'static str);

/// Examples by command.
const EXAMPLES: [(&str, &[Example]); 54] = [
    (
        "emit",
        &[
            ("The array of the Hermes paper, in a folder", "hermes emit --preset paper -o out"),
            ("Constraints for another clock", "hermes emit --preset fpga --clock 40 -o out"),
            ("Two arrays for one design", "hermes emit --preset fpga --lanes 4 --prefix small_ -o out"),
        ],
    ),
    (
        "run",
        &[
            (
                "An app, with everything that it writes",
                "hermes run --app dec-ttl --pcap in.pcap -o out.pcap --json report.json --verdicts verdicts.csv",
            ),
            (
                "A kernel of your own on another array, at 100 Gbit/s",
                "hermes run --kernel mine.elf --pcap in.pcap.gz --preset paper --mcw 8 --line-rate 100",
            ),
            ("A table, and where the cycles go", "hermes run --app route-lookup --routes routes.txt --pcap in.pcap --perfetto run.json"),
            ("Data and a golden model of your own", "hermes run --kernel nat.elf --pcap in.pcap --table flows=flows.bin --golden ./nat-model"),
            ("Sparse traffic, for which no packet waits long", "hermes run --app dec-ttl --pcap in.pcap --arrivals poisson:1 --timeout adaptive"),
            ("Gbit/s and nanoseconds at the clock of an FPGA", "hermes run --app dec-ttl --pcap in.pcap --clock 50 --line-rate 1"),
            (
                "What a line of 400 Gbit/s loses at the packet ports with a buffer of 768 frames",
                "hermes run --app dec-ttl --pcap in.pcap --through ports --line-rate 400 --ring-slots 1024 --when-full drop",
            ),
            ("The report for another program", "hermes run --app dec-ttl --pcap - --json -"),
            ("How busy warp slots, queues and L1 are", "hermes run --app dec-ttl --pcap in.pcap --load-counters"),
            ("Firmware alone", "hermes run --firmware fw.elf --command-threads 4"),
            (
                "Firmware with data, and what it must make of them",
                "hermes run --firmware linear.elf --preset pangaea --table input=input.bin --table output=blank.bin --expect-dump output=want.bin",
            ),
        ],
    ),
    (
        "profile",
        &[
            ("A kernel of your own, with a page to look at", "hermes profile --kernel mine.elf --pcap in.pcap -o mine.html"),
            ("Every line of an app", "hermes profile --app dec-ttl --pcap in.pcap --top 0"),
        ],
    ),
    (
        "cluster",
        &[
            ("A kernel that needs more stack", "hermes cluster --nodes 2 --kernel mine.elf --stack-bytes 1024"),
            (
                "What threads of a host behind PCIe would make of it",
                "hermes cluster --nodes 2 --kernel mine.elf --queues queues --firmware net.elf --service dgpu:low",
            ),
            ("Eight nodes, of whose frames one in a hundred is lost", "hermes cluster --nodes 8 --kernel mine.elf --loss 1"),
            (
                "Command queues, and a capture of each port",
                "hermes cluster --nodes 2 --kernel mine.elf --queues queues --firmware net.elf --net-pcap captures",
            ),
        ],
    ),
    (
        "kernel",
        &[
            ("Build one, and see what it needs", "hermes kernel build mine.c -o mine.elf"),
            ("", "hermes kernel info mine.elf"),
        ],
    ),
    (
        "kernel build",
        &[
            ("C, with 16 registers, for up to 32 warps a core", "hermes kernel build mine.c -o mine.elf --rv32e"),
            ("Assembly", "hermes kernel build mine.S -o mine.elf"),
            ("Two sources, a macro and a folder of include files", "hermes kernel build nat.c sum.S -I include -D PORTS=4 -o nat.elf"),
            ("At an address of its own, beside another kernel", "hermes kernel build mine.c --at 0x20000 -o mine.elf"),
        ],
    ),
    (
        "chain",
        &[
            ("Where the functions of a chain lie, and what is wrong with it", "hermes chain check sd.toml --preset paper --aes"),
            ("Packets through its kernels, without an array", "hermes chain test sd.toml --preset paper --aes --pcap in.pcap"),
        ],
    ),
    (
        "chain check",
        &[
            ("Cores and places", "hermes chain check sd.toml --preset paper --aes"),
            ("A picture of the graph", "hermes chain check sd.toml --preset paper --dot"),
        ],
    ),
    (
        "chain plan",
        &[
            ("Cores for the chain, by packets that are made", "hermes chain plan sd.toml --preset paper --aes --json split.json"),
            ("By profiles that were measured elsewhere, for a rate", "hermes chain plan sd.toml --preset paper --aes --profile ipsec.json --rate 5"),
            ("With what a run of the chain has shown", "hermes chain plan sd.toml --preset paper --aes --feedback run.json"),
        ],
    ),
    (
        "nf",
        &[("What a function costs", "hermes nf bench ipsec.toml --preset paper --aes")],
    ),
    (
        "nf bench",
        &[
            ("Frames of three sizes", "hermes nf bench ipsec.toml --preset paper --aes --json ipsec.json"),
            ("What reaches it in its chain", "hermes nf bench nids.toml --chain sd.toml --preset paper --aes --bytes 508"),
        ],
    ),
    (
        "nf test",
        &[
            ("A function by itself, without an array", "hermes nf test firewall.toml --pcap in.pcap"),
            ("One of your own, in C", "hermes nf test router-c.toml --pcap in.pcap"),
        ],
    ),
    (
        "chain run",
        &[
            ("A firewall in front of a router, a core each", "hermes chain run edge.toml --pcap in.pcap"),
            ("Through the ports, with all that is written", "hermes chain run sd.toml --preset paper --aes --pcap in.pcap --through ports -o out.pcap --json report.json"),
            ("With the cores of a plan", "hermes chain run sd.toml --preset paper --aes --pcap in.pcap --through ports --mode gnet --plan split.json"),
            ("Cores that follow the traffic", "hermes chain run sd.toml --preset paper --aes --pcap in.pcap --through ports --mode gnet --plan split.json --adapt"),
            ("Changes while packets flow", "hermes chain run edge.toml --pcap in.pcap --through ports --cores 4 --events events.toml"),
            ("What came to each function", "hermes chain run edge.toml --pcap in.pcap --taps taps"),
        ],
    ),
    ("chain test", &[("Packets through the kernels of a chain", "hermes chain test sd.toml --preset paper --pcap in.pcap -o out.pcap --json report.json")]),
    ("kernel headers", &[("For an editor or another build system", "hermes kernel headers -o include")]),
    ("kernel info", &[("What is in a kernel", "hermes kernel info mine.elf")]),
    (
        "firmware",
        &[
            ("Build it, and see what is in it", "hermes firmware build fw.c -o fw.elf"),
            ("", "hermes firmware info fw.elf"),
        ],
    ),
    ("firmware build", &[("Two sources", "hermes firmware build fw.c more.S -o fw.elf")]),
    ("firmware info", &[("What is in firmware", "hermes firmware info fw.elf")]),
    (
        "fpga",
        &[
            ("A bitstream of a board, and packets through it", "hermes fpga build --board ulx3s -o out"),
            ("", "hermes fpga run --port /dev/ttyUSB0 --app dec-ttl --pcap in.pcap -o out.pcap"),
        ],
    ),
    ("fpga boards", &[("Names, devices, clocks", "hermes fpga boards")]),
    (
        "fpga build",
        &[
            ("A bitstream", "hermes fpga build --board ulx3s -o out"),
            ("Another array, with more attempts", "hermes fpga build --lanes 4 --clock 30 --seeds 1,2,3,4,5,6 --jobs 4 -o out"),
            ("Verilog and pins for tools of your own", "hermes fpga build --sources-only -o out"),
        ],
    ),
    (
        "fpga report",
        &[
            ("What sizes take", "hermes fpga report --sweep lanes=2,4,8 --sweep warps=4,8 -o area.json"),
            ("A picture of the units of one array", "hermes fpga report --svg area.svg"),
            ("What packets cost: of a run on the same array", "hermes fpga report --run report.json"),
            ("What command processor and thread spawner take", "hermes fpga report --preset pangaea"),
        ],
    ),
    (
        "fpga run",
        &[
            (
                "An app on a board, with everything that it writes",
                "hermes fpga run --port /dev/ttyUSB0 --app dec-ttl --pcap in.pcap -o out.pcap --json report.json",
            ),
            (
                "What the cores did around a fault: of a bitstream with a trace buffer",
                "hermes fpga run --port /dev/ttyUSB0 --trace-buffer 1024 --app dec-ttl --pcap in.pcap --perfetto t.json --wave t.vcd --trace-trigger fault",
            ),
            (
                "Firmware on a board with a command processor",
                "hermes fpga run --board ulx3s-cp --port /dev/ttyUSB0 --firmware fw.elf",
            ),
        ],
    ),
    ("fpga simulate", &[("A terminal that behaves like a board", "hermes fpga simulate --stay")]),
    (
        "iss",
        &[
            ("A packet of a capture, instruction by instruction", "hermes iss --kernel mine.elf --pcap in.pcap --packet 5 --step"),
            ("A program for bare metal", "hermes iss program.elf --trace"),
        ],
    ),
    ("debug", &[("Wait for GDB on a free port", "hermes debug --kernel mine.elf --pcap in.pcap --packet 5")]),
    (
        "fuzz",
        &[
            ("A thousand programs", "hermes fuzz --seeds 1000 --coverage coverage.json"),
            ("One of them again, on another array", "hermes fuzz --seeds 1 --first-seed 17 --lanes 4"),
            ("The command processor", "hermes fuzz --firmware --instructions 1000000 --debugger"),
        ],
    ),
    ("apps", &[("Names and inputs", "hermes apps")]),
    ("gen-routes", &[("A table of BGP size", "hermes gen-routes --count 500000 -o routes.txt"), ("The beginning of one", "hermes gen-routes -o -")]),
    ("gen-rules", &[("Filters", "hermes gen-rules --kind acl --count 1000 --deny 10 -o rules.txt"), ("Rules", "hermes gen-rules --kind snort -o snort.rules")]),
    (
        "gen-trace",
        &[
            ("One packet in ten has a bad header", "hermes gen-trace --kind imix --packets 10000 --bad-share 10 -o in.pcap"),
            ("Packets that match rules and have routes", "hermes gen-trace --kind fixed:64 --packets 1000 --rules rules.txt --routes routes.txt -o in.pcap"),
        ],
    ),
    (
        "gen-media",
        &[(
            "An image for the linear filter, zeros for its output, and what it must become",
            "hermes gen-media linear --size quick -o input.bin --blank blank.bin --expect want.bin",
        )],
    ),
    (
        "cache",
        &[
            ("What is there, and what of it was not used for a month", "hermes cache list"),
            ("", "hermes cache clean"),
        ],
    ),
    ("cache list", &[("What is there", "hermes cache list")]),
    ("cache clean", &[("What was not used for a week", "hermes cache clean --older-than 7"), ("Everything", "hermes cache clean --all")]),
    (
        "compare",
        &[
            ("What differs", "hermes compare before.json after.json"),
            ("Whether anything does by more than 1 %", "hermes compare --fail --tolerance 1 before.json after.json"),
        ],
    ),
    (
        "bench",
        &[
            ("Instructions per cycle of a core", "hermes bench core --json core.json"),
            ("Some of the apps", "hermes bench apps --apps dec-ttl,route-lookup --mcw 16"),
        ],
    ),
    (
        "exp",
        &[
            ("A page of all figures, at a glance", "hermes exp plan all --quick -o exp"),
            ("", "hermes exp run exp"),
        ],
    ),
    ("exp list", &[("", "hermes exp list")]),
    ("exp plan", &[("Everything, at a glance", "hermes exp plan all --quick -o exp")]),
    ("exp model", &[("", "hermes exp model exp/models/0123456789abcdef.json")]),
    ("exp job", &[("", "hermes exp job exp/jobs/0123456789abcdef.json -o exp/results/0123456789abcdef.json")]),
    ("exp run", &[("Two simulations at a time; a second call goes on where the first ended", "hermes exp run exp -j 2")]),
    ("exp report", &[("With the results of another machine", "hermes exp report exp --results other/results")]),
    ("sweep", &[("A plan of your own, for `hermes exp run`", "hermes sweep load.toml -o load")]),
    (
        "model",
        &[
            ("What is known of an app on an array", "hermes model calibrate --app dec-ttl --preset default -o known"),
            ("Its delays at a load that was never run", "hermes model predict known --arrivals poisson:40"),
            ("How far predictions are from the hardware", "hermes model check known --seed 7"),
        ],
    ),
    (
        "model calibrate",
        &[("Another array and memory", "hermes model calibrate --app dpi --preset default --set array.cores=4 --set memory=60 -o known")],
    ),
    (
        "model predict",
        &[("Bursts and pauses, with fewer warps", "hermes model predict known --arrivals onoff:30,peak=200,burst=256 --set mcw=4")],
    ),
    ("model check", &[("Sixteen runs that the calibration does not know", "hermes model check known --seed 7 --runs 16")]),
    (
        "model search",
        &[(
            "Which arrays do 20 million packets a second, 99 of 100 within 4,000 cycles",
            "hermes model search known --throughput 20 --delay-p99 4000 --run 3 -o found",
        )],
    ),
    ("completions", &[("For this shell alone", "hermes completions bash")]),
    ("man", &[("Where `man` looks", "hermes man -o ~/.local/share/man/man1")]),
    ("", &[("Traffic, and an app on it", "hermes gen-trace --kind imix --packets 1000 -o in.pcap"), ("", "hermes run --app dec-ttl --pcap in.pcap")]),
];

/// Puts the examples at the end of the help of `command` and of those in it.
pub fn add_to(command: clap::Command) -> clap::Command {
    EXAMPLES.iter().fold(command, |command, (path, examples)| {
        let names: Vec<&str> = path.split_whitespace().collect();
        at(command, &names, &text(examples))
    })
}

/// Puts `text` at the end of the help of the command that these names lead to.
fn at(command: clap::Command, names: &[&str], text: &str) -> clap::Command {
    match names {
        [] => command.after_help(text.to_string()),
        [first, rest @ ..] => {
            let (rest, text) = (rest.to_vec(), text.to_string());
            command.mut_subcommand(*first, move |inside| at(inside, &rest, &text))
        }
    }
}

fn text(examples: &[Example]) -> String {
    let mut text = String::from("Examples:");
    for (what, line) in examples {
        if !what.is_empty() {
            let _ = write!(text, "\n  # {what}");
        }
        let _ = write!(text, "\n  {line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of all commands, groups among them.
    fn all_commands(command: &clap::Command, path: &str, into: &mut Vec<String>) {
        for inside in command.get_subcommands().filter(|inside| inside.get_name() != "help") {
            let path = format!("{path} {}", inside.get_name()).trim().to_string();
            // A bench is one of a list; its group has the examples.
            if path != "bench" {
                all_commands(inside, &path, into);
            }
            into.push(path);
        }
    }

    #[test]
    fn every_command_has_examples_and_they_parse() {
        let command = crate::command();
        let mut all = Vec::new();
        all_commands(&command, "", &mut all);
        assert!(all.len() > 20, "{all:?}");
        for path in &all {
            assert!(EXAMPLES.iter().any(|(name, _)| name == path), "hermes {path} has no examples");
        }
        for (path, examples) in EXAMPLES {
            assert!(path.is_empty() || all.iter().any(|name| name == path), "there is no hermes {path}");
            for (_, line) in examples {
                assert!(
                    line.starts_with(format!("hermes {path}").trim_end()),
                    "{line} is no example of {path}"
                );
                if let Err(error) = crate::command().try_get_matches_from(line.split_whitespace()) {
                    panic!("{line}\n{error}");
                }
            }
        }
    }

    #[test]
    fn clap_finds_nothing_wrong() {
        crate::command().debug_assert();
    }

    /// `-o` is the output of every command that has one, whatever its long name; old names stay.
    #[test]
    fn output_is_o_everywhere() {
        let lines = [
            "run --app dec-ttl --pcap in -o out",
            "run --app dec-ttl --pcap in --output out",
            "run --app dec-ttl --pcap in --out out",
            "fpga run --port p --app dec-ttl --pcap in -o out",
            "fpga run --port p --app dec-ttl --pcap in --out out",
            "fpga report -o out",
            "fpga report --json out",
            "cluster --nodes 2 --kernel k -o out",
            "cluster --nodes 2 --kernel k --json out",
            "bench emit -o out",
            "bench emit --json out",
            "fuzz -o out",
            "fuzz --coverage out",
            "emit -o out",
            "emit --output out",
        ];
        for line in lines {
            let words = std::iter::once("hermes").chain(line.split_whitespace());
            if let Err(error) = crate::command().try_get_matches_from(words) {
                panic!("{line}\n{error}");
            }
        }
    }

    /// Options that are described stand in groups: those of an array do not hide the others.
    #[test]
    fn options_stand_in_groups() {
        let mut command = crate::command();
        let run = command.find_subcommand_mut("run").unwrap();
        let help = run.render_long_help().to_string();
        for heading in
            ["What to run:", "Outputs:", "Array:", "Surroundings:", "Limits:", "Traces:", "Firmware:"]
        {
            assert_eq!(help.matches(&format!("\n{heading}\n")).count(), 1, "{heading} in\n{help}");
        }
    }
}
