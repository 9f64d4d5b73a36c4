//! From the operation of the lanes to the controls of their arithmetic units.

use super::{AluControl, AluOperation};
use hermes_hdl::prelude::*;

/// The controls of an operation, decoded once for all lanes. Combinational.
#[derive(LogicBlock, Default)]
pub struct AluDecoder {
    /// Operation that is decoded.
    pub operation: Signal<In, AluOperation>,
    /// Controls of the operation.
    pub control: Signal<Out, AluControl>,
}

impl Logic for AluDecoder {
    #[hdl_gen]
    fn update(&mut self) {
        self.control.next.invert = true;
        self.control.next.add = false;
        self.control.next.both = false;
        self.control.next.either = false;
        self.control.next.compare = false;
        self.control.next.unsigned = false;
        self.control.next.minimum = false;
        self.control.next.maximum = false;
        self.control.next.left = false;
        self.control.next.shift = false;
        self.control.next.whole = false;
        self.control.next.extend = false;
        self.control.next.reverse = false;
        self.control.next.fill_word = false;
        self.control.next.fill_part = false;
        self.control.next.combine = false;
        match self.operation.val() {
            AluOperation::Add => {
                self.control.next.invert = false;
                self.control.next.add = true;
            }
            AluOperation::Sub => {
                self.control.next.add = true;
            }
            AluOperation::LessThan => {
                self.control.next.compare = true;
            }
            AluOperation::LessThanUnsigned => {
                self.control.next.compare = true;
                self.control.next.unsigned = true;
            }
            AluOperation::Min => {
                self.control.next.minimum = true;
            }
            AluOperation::MinUnsigned => {
                self.control.next.minimum = true;
                self.control.next.unsigned = true;
            }
            AluOperation::Max => {
                self.control.next.maximum = true;
            }
            AluOperation::MaxUnsigned => {
                self.control.next.maximum = true;
                self.control.next.unsigned = true;
            }
            AluOperation::ShiftLeft => {
                self.control.next.shift = true;
                self.control.next.left = true;
            }
            AluOperation::RotateLeft => {
                self.control.next.whole = true;
                self.control.next.left = true;
            }
            AluOperation::ShiftRight => {
                self.control.next.shift = true;
            }
            AluOperation::RotateRight => {
                self.control.next.whole = true;
            }
            AluOperation::ShiftRightSigned => {
                self.control.next.shift = true;
                self.control.next.fill_word = true;
            }
            AluOperation::SignExtend => {
                self.control.next.shift = true;
                self.control.next.extend = true;
                self.control.next.fill_part = true;
            }
            AluOperation::OrCombine => {
                self.control.next.combine = true;
            }
            AluOperation::ReverseBytes => {
                self.control.next.whole = true;
                self.control.next.reverse = true;
            }
            AluOperation::Xor => {
                self.control.next.invert = false;
                self.control.next.either = true;
            }
            AluOperation::XorNot => {
                self.control.next.either = true;
            }
            AluOperation::Or => {
                self.control.next.invert = false;
                self.control.next.both = true;
                self.control.next.either = true;
            }
            AluOperation::OrNot => {
                self.control.next.both = true;
                self.control.next.either = true;
            }
            AluOperation::And => {
                self.control.next.invert = false;
                self.control.next.both = true;
            }
            _ => {
                self.control.next.both = true;
            }
        }
    }
}
