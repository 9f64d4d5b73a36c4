//! Differences between the C++ of the versions of Verilator.

/// The reference to the instance with which functions of newer versions begin, without the spaces
/// that differ.
const REFERENCE: &str = "auto&vlSelfRef=std::ref(*vlSelf).get();";

/// `text` as version 5.006 writes it: members of the instance behind `vlSelf->`.
pub(crate) fn older(text: &str) -> String {
    if !text.contains("vlSelfRef") {
        return text.to_string();
    }
    let mut output = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let is_reference =
            line.contains("vlSelfRef") && line.chars().filter(|c| !c.is_whitespace()).eq(REFERENCE.chars());
        if !is_reference {
            output.push_str(line);
        }
    }
    output.replace("vlSelfRef.", "vlSelf->")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_behind_a_pointer() {
        let body = |reference: &str, member: &str| {
            format!("void f(Vmodel_core* vlSelf) {{\n{reference}    {member}x[0U] = ({member}y + 1U);\n}}\n")
        };
        let expected = body("", "vlSelf->");
        for reference in [
            "    auto& vlSelfRef = std::ref(*vlSelf).get();\n",
            "    auto &vlSelfRef = std::ref(*vlSelf).get();\n",
        ] {
            assert_eq!(older(&body(reference, "vlSelfRef.")), expected);
        }
        assert_eq!(older(&expected), expected);
    }

    /// Another kind of reference stays, so that it is noticed.
    #[test]
    fn other_names_of_the_instance_stay() {
        let text = "    auto* vlSelfRef = vlSelf;\n    vlSelfRef->x = 1U;\n";
        assert_eq!(older(text), text);
    }
}
