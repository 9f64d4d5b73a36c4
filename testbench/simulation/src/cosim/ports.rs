//! Bundles of ports: one table of standard signal names and widths for each kind of interface,
//! bound to a model by the prefix of the names.

use verilator_sys::{Direction, Input, Model, Output, Port};

/// Ports of the design that are missing or different from what an interface needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the design does not have the interface `{prefix}`: {}", problems.join("; "))]
pub struct PortError {
    /// Prefix of the interface.
    pub prefix: String,
    /// One sentence for each port that does not match.
    pub problems: Vec<String>,
}

/// Declares a bundle. `inputs` and `outputs` are meant as the design has them.
macro_rules! bundle {
    ($(#[$doc:meta])* $name:ident {
        inputs { $($input:ident: $input_width:literal,)* }
        outputs { $($output:ident: $output_width:literal,)* }
    }) => {
        $(#[$doc])*
        ///
        /// The fields are the handles of the signals with the standard names.
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs)]
        pub struct $name {
            $(pub $input: Input,)*
            $(pub $output: Output,)*
        }

        impl $name {
            /// Name without the prefix, direction as the design has it, and width in bits of every
            /// signal.
            pub const SIGNALS: &'static [(&'static str, Direction, usize)] = &[
                $((stringify!($input), Direction::Input, $input_width),)*
                $((stringify!($output), Direction::Output, $output_width),)*
            ];

            /// The ports that the interface has under this prefix.
            #[must_use]
            pub fn ports(prefix: &str) -> Vec<Port> {
                let port = |&(name, direction, width): &(&str, _, _)| {
                    Port::new(format!("{prefix}_{name}"), direction, width)
                };
                Self::SIGNALS.iter().map(port).collect()
            }

            /// Finds the signals `prefix_NAME` of a model.
            ///
            /// # Errors
            /// Names every port that is missing, goes the other way or has another width.
            pub fn bind(model: &Model, prefix: &str) -> Result<Self, PortError> {
                let problems = problems(model, &Self::ports(prefix));
                let error = |problems| PortError { prefix: prefix.to_string(), problems };
                if !problems.is_empty() {
                    return Err(error(problems));
                }
                let find = |name: &str| format!("{prefix}_{name}");
                let late = |e: verilator_sys::Error| error(vec![e.to_string()]);
                Ok(Self {
                    $($input: model.input(&find(stringify!($input)), $input_width).map_err(late)?,)*
                    $($output: model.output(&find(stringify!($output)), $output_width).map_err(late)?,)*
                })
            }
        }
    };
}

fn problems(model: &Model, wanted: &[Port]) -> Vec<String> {
    let problem = |port: &Port| {
        let (name, direction, width) = (&port.name, port.direction, port.width);
        let unit = if width == 1 { "bit" } else { "bits" };
        match model.ports().iter().find(|p| p.name == *name) {
            None => Some(format!("no port `{name}`; expected an {direction} of {width} {unit}")),
            Some(found) if found != port => Some(format!(
                "port `{name}` is an {} of {} bits; expected an {direction} of {width} {unit}",
                found.direction, found.width
            )),
            Some(_) => None,
        }
    };
    wanted.iter().filter_map(problem).collect()
}

bundle! {
    /// An AXI4-Lite slave of the design: 12-bit address, 32-bit data.
    AxiLitePorts {
        inputs {
            awaddr: 12, awprot: 3, awvalid: 1,
            wdata: 32, wstrb: 4, wvalid: 1,
            bready: 1,
            araddr: 12, arprot: 3, arvalid: 1,
            rready: 1,
        }
        outputs {
            awready: 1, wready: 1,
            bresp: 2, bvalid: 1,
            arready: 1,
            rdata: 32, rresp: 2, rvalid: 1,
        }
    }
}

bundle! {
    /// An AXI4 master of the design: 8-bit ID, 32-bit address, 512-bit data.
    Axi4Ports {
        inputs {
            awready: 1, wready: 1,
            bid: 8, bresp: 2, bvalid: 1,
            arready: 1,
            rid: 8, rdata: 512, rresp: 2, rlast: 1, rvalid: 1,
        }
        outputs {
            awid: 8, awaddr: 32, awlen: 8, awsize: 3, awburst: 2, awlock: 1, awcache: 4, awprot: 3, awqos: 4,
            awvalid: 1,
            wdata: 512, wstrb: 64, wlast: 1, wvalid: 1,
            bready: 1,
            arid: 8, araddr: 32, arlen: 8, arsize: 3, arburst: 2, arlock: 1, arcache: 4, arprot: 3, arqos: 4,
            arvalid: 1,
            rready: 1,
        }
    }
}

impl Axi4Ports {
    /// The channels `m_axi_0_*`, `m_axi_1_*`, ... of a model.
    ///
    /// # Errors
    /// As [`Axi4Ports::bind`]; there must be one channel at least.
    pub fn bind_channels(model: &Model) -> Result<Vec<Self>, PortError> {
        let prefix = |channel: usize| format!("m_axi_{channel}");
        let exists = |channel: &usize| {
            let name = format!("{}_arvalid", prefix(*channel));
            model.ports().iter().any(|port| port.name == name)
        };
        let more = (1..).take_while(exists);
        std::iter::once(0).chain(more).map(|channel| Self::bind(model, &prefix(channel))).collect()
    }
}

bundle! {
    /// An AXI4-Stream of 64-byte beats into the design.
    StreamInPorts {
        inputs { tdata: 512, tkeep: 64, tlast: 1, tuser: 32, tvalid: 1, }
        outputs { tready: 1, }
    }
}

bundle! {
    /// An AXI4-Stream of 64-byte beats out of the design.
    StreamOutPorts {
        inputs { tready: 1, }
        outputs { tdata: 512, tkeep: 64, tlast: 1, tuser: 32, tvalid: 1, }
    }
}

bundle! {
    /// The event ports of the array: a warp was issued, finished, committed.
    TracePorts {
        inputs {}
        outputs {
            issue_valid: 1, issue_core: 5, issue_slot: 5, issue_packet: 32, issue_count: 6,
            finish_valid: 1, finish_core: 5, finish_slot: 5,
            commit_valid: 1, commit_core: 5, commit_slot: 5, commit_packet: 32, commit_count: 6,
        }
    }
}

bundle! {
    /// The port of an array with a retire trace for the warp that was formed and not issued.
    FormedTracePorts {
        inputs {}
        outputs { formed_valid: 1, formed_packet: 32, formed_count: 6, }
    }
}

impl FormedTracePorts {
    /// The ports, if the design has them.
    ///
    /// # Errors
    /// As [`FormedTracePorts::bind`].
    pub fn bind_if_present(model: &Model) -> Result<Option<Self>, PortError> {
        let present = model.ports().iter().any(|port| port.name == "trace_formed_valid");
        present.then(|| Self::bind(model, "trace")).transpose()
    }
}

bundle! {
    /// The event port of an array with network functions: a warp starts at a further one.
    HopTracePorts {
        inputs {}
        outputs {
            hop_valid: 1, hop_core: 5, hop_slot: 5, hop_packet: 32, hop_count: 6, hop_lanes: 32,
            hop_function: 3,
        }
    }
}

impl HopTracePorts {
    /// The port, if the design has network functions.
    ///
    /// # Errors
    /// As [`HopTracePorts::bind`].
    pub fn bind_if_present(model: &Model) -> Result<Option<Self>, PortError> {
        let present = model.ports().iter().any(|port| port.name == "trace_hop_valid");
        present.then(|| Self::bind(model, "trace")).transpose()
    }
}

bundle! {
    /// The port of an array whose packet ports can drop frames that find no slot, which tells of
    /// each, in the cycle after its last beat was taken.
    DropTracePorts {
        inputs {}
        outputs { drop: 1, }
    }
}

impl DropTracePorts {
    /// The port, if the design has it.
    ///
    /// # Errors
    /// As [`DropTracePorts::bind`].
    pub fn bind_if_present(model: &Model) -> Result<Option<Self>, PortError> {
        let present = model.ports().iter().any(|port| port.name == "trace_drop");
        present.then(|| Self::bind(model, "trace")).transpose()
    }
}

bundle! {
    /// The event ports of an array with a thread spawner.
    SpawnTracePorts {
        inputs {}
        outputs {
            issue_spawned: 1, issue_job: 4, finish_spawned: 1,
            spawn_trigger_valid: 1, spawn_trigger_slot: 4, spawn_complete_valid: 1, spawn_complete_slot: 4,
        }
    }
}

impl SpawnTracePorts {
    /// The ports, if the design has a thread spawner.
    ///
    /// # Errors
    /// As [`SpawnTracePorts::bind`].
    pub fn bind_if_present(model: &Model) -> Result<Option<Self>, PortError> {
        let present = model.ports().iter().any(|port| port.name == "trace_issue_spawned");
        present.then(|| Self::bind(model, "trace")).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use verilator_sys::ModelOptions;

    #[test]
    fn an_error_names_every_port_that_does_not_match() {
        let text = "module part(input wire s_awvalid, output wire s_awready, input wire [15:0] s_awaddr,
                                output wire [31:0] s_rdata);
                      assign s_awready = s_awvalid; assign s_rdata = {16'd0, s_awaddr};
                    endmodule";
        let model = Model::build(text, &ModelOptions::new("part")).unwrap().instantiate().unwrap();
        let error = AxiLitePorts::bind(&model, "s").unwrap_err();
        assert_eq!(error.problems.len(), AxiLitePorts::SIGNALS.len() - 3);
        assert!(error.problems.contains(&"no port `s_arready`; expected an output of 1 bit".to_string()));
        let wrong = "port `s_awaddr` is an input of 16 bits; expected an input of 12 bits".to_string();
        assert!(error.problems.contains(&wrong));
        assert!(error.to_string().starts_with("the design does not have the interface `s`: "));
    }
}
