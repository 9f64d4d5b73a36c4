//! Primitives: registers and memories, the only units whose Verilog text is written by hand, and the fold of line addresses.

mod index_hash;
mod lane_ram;
mod lane_registers;
mod line_register;
mod multiply;
mod pack;
mod ram_async;
mod ram_bytes;
mod ram_no_collision;
mod ram_sized;
mod ram_sized_async;
mod ram_sized_bytes;
mod ram_sync;
mod register;
mod sized;

pub use index_hash::IndexHash;
pub use lane_ram::LaneRam;
pub use lane_registers::LaneRegisters;
pub use line_register::LineRegister;
pub use multiply::PartialProducts;
pub use pack::Pack;
pub use ram_async::RamAsync;
pub use ram_bytes::RamBytes;
pub use ram_no_collision::RamNoCollision;
pub use ram_sized::RamSized;
pub use ram_sized_async::RamSizedAsync;
pub use ram_sized_bytes::RamSizedBytes;
pub use ram_sync::RamSync;
pub use register::Register;

/// Sets up [`Register`]s at the top of an `update`: clock and reset come from the unit's own `clock`
/// and `reset` ports, and `d` holds `q` unless a later statement assigns it.
///
/// It takes the place of rust-hdl's macro of the same name (which `#[hdl_gen]` knows by name) and adds
/// the reset. In Verilog a register has no ports: it is a `reg` of its unit.
#[macro_export]
macro_rules! dff_setup {
    ($self:ident, $clock:ident, $($register:ident),+ $(,)?) => {
        $(
            $self.$register.clock.next = $self.$clock.val();
            $self.$register.reset.next = $self.reset.val();
            $self.$register.d.next = $self.$register.q.val();
        )+
    };
}

/// Connects the `clock` and `reset` ports of child units to the unit's own.
///
/// It takes the place of rust-hdl's macro of the same name (which `#[hdl_gen]` knows by name) and adds
/// the reset; the Verilog back end connects the `rst` port of a child that has one in the same way.
/// For a `Vec` of units write both assignments in the loop.
#[macro_export]
macro_rules! clock {
    ($self:ident, $clock:ident, $($child:ident),+ $(,)?) => {
        $(
            $self.$child.clock.next = $self.$clock.val();
            $self.$child.reset.next = $self.reset.val();
        )+
    };
}
