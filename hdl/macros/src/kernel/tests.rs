//! What a kernel may not say, and what the error says to write instead.

use syn::parse_quote;

fn error(function: &syn::ItemFn) -> String {
    match super::expand(function) {
        Ok(code) => panic!("it was translated to {code}"),
        Err(error) => error.to_string(),
    }
}

macro_rules! refused {
    ($($name:ident: { $($kernel:tt)* } says $message:literal;)*) => {
        $(
            #[test]
            fn $name() {
                let text = error(&parse_quote! { fn update(&mut self) { $($kernel)* } });
                assert!(text.contains($message), "{text}");
            }
        )*
    };
}

refused! {
    clock_macro: { clock!(self, clock, child); } says "leave `clock!` out";
    register_macro: { dff_setup!(self, clock, count); } says "leave `dff_setup!` out";
    clock_line: { self.child.clock.next = self.clock.val(); } says "the clock reaches every child";
    reset_line: { for i in 0..2 { self.child[i].reset.next = self.reset.val(); } } says "the reset reaches every child";
    hold_line: { self.count.d.next = self.count.q.val(); } says "a register keeps its value";
    other_macro: { println!("{}", 1); } says "the macros of a kernel are `connect!` and `always!`";
    always_in_branch: { if self.a.val() { always!(b_too, self.b.val()); } } says "outside of branches";
    always_without_name: { always!(self.b.val()); } says "write `always!(name, condition);`";
    connection_of_three: { connect!(self.a, self.b, self.c); } says "two ends";
    inclusive_range: { for i in 0..=3 { self.y[i].next = true; } } says "exclusive range";
    open_range: { for i in 0.. { self.y[i].next = true; } } says "both ends";
    loop_over_values: { for x in self.list { self.y.next = x; } } says "`for index in from..to`";
    let_in_branch: { if self.a.val() { let x = self.b.val(); self.y.next = x; } } says "latch";
    let_in_arm: { match self.a.val() { _ => { let x = self.b.val(); self.y.next = x; } } } says "latch";
    let_twice: { let x = self.a.val(); let x = !x; self.y.next = x; } says "gives a name once";
    let_in_two_loops: {
        for i in 0..2 { let x = self.a[i].val(); self.y[i].next = x; }
        for i in 0..2 { let x = self.b[i].val(); self.z[i].next = x; }
    } says "gives a name once";
    let_without_value: { let x; x = self.a.val(); self.y.next = x; } says "one name and its value";
    let_of_a_pair: { let (a, b) = self.pair.val(); self.y.next = a; } says "one name and its value";
    let_with_underscore: { let _x = self.a.val(); } says "are no signals";
    let_in_loop_from_one: { for i in 1..4 { let x = self.a[i].val(); self.y[i].next = x; } } says "begins at 0";
    if_let: { if let Some(x) = self.a.val() { self.y.next = x; } } says "no `if let`";
    guard: { match self.a.val() { 1 if self.b.val() => self.y.next = true, _ => self.y.next = false } }
        says "has no condition";
    pattern: { match self.a.val() { 1..=3 => self.y.next = true, _ => self.y.next = false } } says "a pattern of a kernel";
    choice_without_else: { let x = if self.a.val() { self.b.val() }; } says "needs an `else`";
    choice_with_statements: { let x = if self.a.val() { self.y.next = true; self.b.val() } else { self.c.val() }; }
        says "one value in each branch";
    assignment_to_value: { self.y.val() = true; } says "a kernel assigns `signal.next`";
    assignment_to_name: { y = true; } says "a kernel assigns `signal.next`";
    sum_of_a_signal: { self.y.next += 1; } says "only a `let mut`";
    reading_next: { self.y.next = self.z.next; } says "reads `val()`, not `next`";
    operator: { self.y.next = self.a.val() / 2; } says "this operator";
    method: { self.y.next = self.a.val().count_ones(); } says "this method";
    arguments_of_method: { self.y.next = self.a.val().get_bit(1, 2); } says "takes 1 arguments, not 2";
    part_without_width: { self.y.next = self.a.val().get_bits(3); } says "how many bits";
    function: { self.y.next = parity(self.a.val()); } says "the functions of a kernel";
    cast_of_a_signal: { self.y.next = bits::<9>(self.a.val().index() as u64 + 200); } says "`bit_cast::<TO, FROM>(..)`";
    cast_of_a_let: { let x = self.a.val(); self.y.next = bits::<9>(x as u64); } says "numbers that are known";
    loop_in_a_loop: { for i in 0..4 { for i in 0..4 { self.y[i].next = true; } } } says "stands for something else";
    loop_like_a_let: { let x = self.a.val(); for x in 0..2 { self.y[x].next = true; } } says "stands for something else";
    let_like_its_loop: { for i in 0..2 { let i = self.a.val(); self.y.next = i; } } says "gives a name once";
    field_like_its_loop: { for lane in 0..2 { self.y[lane].next = self.lane.val(); } } says "is a loop variable here";
    binding: { match self.a.val() { 1 => self.y.next = true, other => self.y.next = false } } says "binds no name";
    hold_in_brackets: { self.count.d.next = (self.count.q.val()); } says "a register keeps its value";
    connected_reset: { connect!(self.reset, self.child.reset); } says "the reset reaches every child";
    closure: { self.y.next = (|| true)(); } says "does not translate";
    item: { fn helper() {} } says "no items";
    statement: { self.a.val(); } says "a statement of a kernel";
    part_in_a_loop: { for i in 0..2 { self.part(); } } says "in the circuit once";
    part_in_a_branch: { if self.a.val() { self.part(); } } says "in the circuit once";
    part_with_an_expression: { self.part(self.a.val()); } says "is given `let`s";
}

#[test]
fn a_part_gives_back_nothing_and_changes_the_unit() {
    let text = error(&parse_quote! { fn part(&mut self) -> Bit { self.a.val() } });
    assert!(text.contains("gives back nothing"), "{text}");
    let text = error(&parse_quote! { fn part(&self) {} });
    assert!(text.contains("`fn name(&mut self, value: Type, ..)`"), "{text}");
    let text = error(&parse_quote! { fn part(&mut self, (a, b): (Bit, Bit)) {} });
    assert!(text.contains("`name: Type`"), "{text}");
}

#[test]
fn casts_of_known_numbers_are_translated() {
    let kernel = parse_quote! {
        fn update(&mut self) {
            for i in 0..N {
                self.y[i].next = bits::<5>(i as u64 + LIMIT as u64 + self._first as u64);
            }
        }
    };
    assert!(super::expand(&kernel).is_ok());
}

#[test]
fn a_kernel_takes_the_unit_alone() {
    let text = error(&parse_quote! { fn update(&mut self, more: u32) {} });
    assert!(text.contains("fn update(&mut self)"), "{text}");
}

#[test]
fn a_register_may_take_back_an_assignment() {
    let kernel = parse_quote! {
        fn update(&mut self) {
            self.count.d.next = self.count.q.val() + 1;
            if self.stop.val() {
                self.count.d.next = self.count.q.val();
            }
        }
    };
    assert!(super::expand(&kernel).is_ok());
}
