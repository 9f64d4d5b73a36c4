//! A chain on an array with network functions.

use super::placed::Chain;
use crate::cosim::{ArraySetup, CosimError, Device, Function as Context, Host, Layout, STACKS};

/// A chain that was started.
#[derive(Clone, Debug)]
pub struct Started {
    /// Where things are.
    pub layout: Layout,
    /// What the cores know of each function, those that come later among them.
    pub contexts: Vec<Context>,
}

impl Chain {
    /// Loads the chain into the memory of an array that was just reset, sets it up as `setup` says,
    /// which is [`Chain::setup`] with changes, and gives each function its cores. The array does
    /// not run yet.
    ///
    /// # Errors
    /// The array has fewer functions or cores, the memory is too small, or a register does not
    /// answer.
    pub fn start<D: Device>(&self, host: &mut Host<D>, setup: &ArraySetup) -> Result<Started, CosimError> {
        self.load(host)?;
        // What each function allows follows with its context.
        let layout = host.configure(&ArraySetup { mcw: 1, ..setup.clone() })?;
        let packets = self.packet_window(&layout);
        let first = self.functions.first();
        let [read, write] =
            first.map(|function| [function.read_window(), function.write_window()]).unwrap_or_default();
        host.set_windows([packets, read], [packets, write])?;
        let (bytes, alignment) = (setup.stack_bytes(host.info()), setup.stack_alignment(host.info()));
        let mut contexts = Vec::new();
        for (number, function) in (0..).zip(self.all()) {
            // Stacks of its own, so that no function finds the words of another.
            let stack_base = match number {
                0 => layout.stack_base,
                _ => host.rmalloc_aligned(STACKS, bytes, alignment)?,
            };
            let context = Context {
                entry: function.kernel.entry,
                argument: function.region.argument(),
                registers: function.kernel.registers.registers() as u32,
                stack_base,
                read: function.read_window(),
                write: function.write_window(),
                watchdog: function.watchdog,
                mcw: function.mcw,
                guards: function.guards,
            };
            contexts.push(context);
            if (number as usize) < self.functions.len() {
                host.load_function(number, &context)?;
            }
        }
        for (number, function) in (0..).zip(&self.functions) {
            host.set_edges(number, &function.edges)?;
        }
        host.set_chain(self.limit, 0)?;
        // Functions that take turns all have all of them; the first one begins.
        host.move_cores(&self.owners(host.info().cores as usize))?;
        host.wait_for_cores()?;
        Ok(Started { layout, contexts })
    }
}
