use super::*;

/// The lines of `text` with loops, as text, and how many indices they use.
fn rolled(text: &str) -> (String, usize) {
    let lines: Vec<String> = text.lines().map(String::from).collect();
    let (lines, used) = roll(&lines, &["i", "j"].map(String::from));
    (lines.iter().map(|line| line.clone() + "\n").collect(), used)
}

/// A text of `count` pieces.
fn pieces(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

#[test]
fn places_that_count_are_a_loop() {
    let (text, used) = rolled(&pieces(8, |n| {
        format!(
            "    if (takes[{n}]) begin\n        word[{}:{}] = rest[{}];\n    end\n",
            8 * n + 7,
            8 * n,
            9 - n
        )
    }));
    assert_eq!(
        text,
        "    for (i = 0; i < 8; i = i + 1) begin\n        if (takes[i]) begin\n            \
         word[8*i +: 8] = rest[9 - i];\n        end\n    end\n"
    );
    assert_eq!(used, 1);
}

#[test]
fn a_loop_of_one_assignment_is_on_one_line() {
    let text = pieces(4, |n| format!("    y[{}] = known && a[{}] == 3'd{n} && b[3];\n", n + 2, 2 * n));
    let expected = "    for (i = 0; i < 4; i = i + 1) y[i + 2] = known && a[2*i] == i[2:0] && b[3];\n";
    assert_eq!(rolled(&text), (expected.to_string(), 1));
}

#[test]
fn what_does_not_count_is_no_loop() {
    for text in [
        pieces(3, |n| format!("    y[{n}] = a[{n}];\n")),
        pieces(8, |n| format!("    y[{}] = a[{n}];\n", n * n)),
        pieces(8, |n| format!("    lane_{n} = a[{n}];\n")),
        pieces(8, |n| format!("    y[{n}] = a == 4'd{};\n", n + 1)),
        pieces(8, |n| format!("    y[{n}] = {{{}{{a}}}};\n", n + 1)),
        pieces(8, |n| format!("    y[{}:{}] = a;\n", 8 * n + n, 8 * n)),
        pieces(8, |n| format!("    // Of turn {n}\n    y[{n}] = a;\n")),
    ] {
        assert_eq!(rolled(&text), (text.clone(), 0));
    }
}

#[test]
fn what_stands_around_a_loop_stays() {
    let turns = pieces(5, |n| format!("        y[{n}] = a[{n}];\n        z[{n}] = b;\n"));
    let (text, _) = rolled(&format!(
        "    x = 1'b0;\n    if (c) begin\n        // Of the loop\n{turns}    end else if (d) begin\n        x = 1'b1;\n    \
         end else begin\n{turns}        y[7] = a[7];\n    end\n"
    ));
    let body = "        for (i = 0; i < 5; i = i + 1) begin\n            y[i] = a[i];\n            z[i] = b;\n        end\n";
    assert_eq!(
        text,
        format!(
            "    x = 1'b0;\n    if (c) begin\n        // Of the loop\n{body}    end else if (d) begin\n        x = 1'b1;\n    \
             end else begin\n{body}        y[7] = a[7];\n    end\n"
        )
    );
}

#[test]
fn loops_stand_in_loops() {
    let (text, used) = rolled(&pieces(4, |n| {
        let comment = if n == 0 { "    // Of the loops\n" } else { "" };
        let inner = pieces(6, |m| format!("        y[{m}] = y[{m}] ^ a[{m}];\n"));
        format!("{comment}    if (c[{n}]) begin\n{inner}    end\n")
    }));
    assert_eq!(
        text,
        "    // Of the loops\n    for (i = 0; i < 4; i = i + 1) begin\n        if (c[i]) begin\n            \
         for (j = 0; j < 6; j = j + 1) y[j] = y[j] ^ a[j];\n        end\n    end\n"
    );
    assert_eq!(used, 2);
}

#[test]
fn arms_of_a_case_stay() {
    let arms = pieces(6, |n| format!("        3'd{n}: y = a[{n}];\n"));
    let text = format!("    case (x)\n{arms}        default: ;\n    endcase\n");
    assert_eq!(rolled(&text), (text.clone(), 0));
}

#[test]
fn more_turns_than_a_simulator_unrolls_are_two_loops() {
    let (text, _) = rolled(&pieces(70, |n| format!("    y[{n}] = a[{n}];\n")));
    let expected = "    for (i = 0; i < 64; i = i + 1) y[i] = a[i];\n    for (i = 0; i < 6; i = i + 1) y[i + 64] = a[i + 64];\n";
    assert_eq!(text, expected);
}
