//! Reads the ports of a design from the C++ header that Verilator writes.

use crate::error::Error;
use crate::options::{Direction, Port};

/// A port and how the C++ class calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderPort {
    /// The port.
    pub port: Port,
    /// The member of the C++ class.
    pub member: String,
}

/// The ports declared in `header`, in its order: lines such as `VL_IN8(&enable,0,0);` or
/// `VL_OUTW(&q,511,0,16);`, the numbers being the most and the least significant bit.
pub(crate) fn ports(header: &str) -> Vec<HeaderPort> {
    header.lines().filter_map(port).collect()
}

fn port(line: &str) -> Option<HeaderPort> {
    let line = line.trim();
    let (direction, rest) = if let Some(rest) = line.strip_prefix("VL_IN") {
        (Direction::Input, rest)
    } else {
        (Direction::Output, line.strip_prefix("VL_OUT")?)
    };
    let (kind, rest) = rest.split_once('(')?;
    if !matches!(kind, "" | "8" | "16" | "64" | "W") {
        return None;
    }
    let mut fields = rest.strip_suffix(");")?.split(',');
    let member = fields.next()?.trim_start_matches('&').to_string();
    let most: usize = fields.next()?.parse().ok()?;
    let least: usize = fields.next()?.parse().ok()?;
    let port = Port { name: plain_name(&member), direction, width: most.checked_sub(least)? + 1 };
    Some(HeaderPort { port, member })
}

/// Undoes what Verilator does to names that C++ would not take: `__SYM__class` and `a___05Fb`
/// (a__b).
fn plain_name(member: &str) -> String {
    member.trim_start_matches("__SYM__").replace("___05F", "__")
}

/// Checks that every port of `wanted` is among `found` with the same direction and width.
pub(crate) fn check(top: &str, found: &[Port], wanted: &[Port]) -> Result<(), Error> {
    for port in wanted {
        find(top, found, &port.name, port.width, Some(port.direction))?;
    }
    Ok(())
}

/// Index of the port called `name`, if it has this width and, if given, direction.
pub(crate) fn find(
    top: &str,
    found: &[Port],
    name: &str,
    width: usize,
    direction: Option<Direction>,
) -> Result<usize, Error> {
    let top = || top.to_string();
    let Some(index) = found.iter().position(|p| p.name == name) else {
        let names: Vec<&str> = found.iter().map(|p| p.name.as_str()).collect();
        return Err(Error::MissingPort { top: top(), port: name.to_string(), ports: names.join(", ") });
    };
    let port = &found[index];
    if let Some(expected) = direction.filter(|&d| d != port.direction) {
        return Err(Error::DirectionMismatch {
            top: top(),
            port: name.to_string(),
            found: port.direction,
            expected,
        });
    }
    if port.width != width {
        let port_name = name.to_string();
        return Err(Error::WidthMismatch { top: top(), port: port_name, found: port.width, expected: width });
    }
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "
        class Vmodel VL_NOT_FINAL : public VerilatedModel {
            VL_IN8(&clk,0,0);
            VL_IN16(&s___05Fx,15,0);
            VL_INW(&a,64,0,3);
            VL_OUT(&__SYM__class,31,0);
            VL_OUT64(&y,40,1);
            VL_UNCOPYABLE(Vmodel);
        }";

    #[test]
    fn every_kind_of_port_is_read() {
        let ports: Vec<Port> = ports(HEADER).into_iter().map(|p| p.port).collect();
        let expected = [
            Port::new("clk", Direction::Input, 1),
            Port::new("s__x", Direction::Input, 16),
            Port::new("a", Direction::Input, 65),
            Port::new("class", Direction::Output, 32),
            Port::new("y", Direction::Output, 40),
        ];
        assert_eq!(ports, expected);
    }

    #[test]
    fn errors_name_the_port() {
        let ports: Vec<Port> = ports(HEADER).into_iter().map(|p| p.port).collect();
        let message = |port| check("top", &ports, &[port]).unwrap_err().to_string();
        assert_eq!(
            message(Port::new("clock", Direction::Input, 1)),
            "`top` has no port `clock`; it has clk, s__x, a, class, y"
        );
        assert_eq!(
            message(Port::new("a", Direction::Input, 64)),
            "port `a` of `top` is 65 bits wide; expected 64"
        );
        assert_eq!(
            message(Port::new("y", Direction::Input, 40)),
            "port `y` of `top` is an output; expected an input"
        );
    }
}
