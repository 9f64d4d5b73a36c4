// The local window keeps stacks private: no two threads name the same byte, and all stay among the
// stacks. Two warps are followed, of any cores and slots; the registers of the set-up hold any
// value, and keep it.
//
// Two lanes.
module local_window_formal (
    input wire        clk,
    input wire        rst,
    input wire        advance,
    input wire [4:0]  slot_a,
    input wire [4:0]  slot_b,
    input wire        access,
    input wire [63:0] address_a,
    input wire [63:0] address_b
);
    (* anyconst *) reg [31:0] stack_base;
    (* anyconst *) reg [4:0]  log2;
    (* anyconst *) reg [4:0]  core_a;
    (* anyconst *) reg [4:0]  core_b;
    wire [1:0]  granted_a, guarded_a, held_a, granted_b, guarded_b, held_b;
    wire [63:0] physical_a, physical_b;
    // The address of an instruction in stage W, and its slot.
    reg [63:0] was_a, was_b;
    reg [4:0]  was_slot_a, was_slot_b;
    reg        was_access;
    local_window dut (
        .clk(clk), .rst(rst), .advance(advance), .core(core_a), .places_stack_base(stack_base), .places_stack_bytes_log2(log2), .slot(slot_a),
        .access(access), .address(address_a), .accessed_granted(granted_a), .accessed_guarded(guarded_a), .held(held_a), .result(was_a),
        .physical(physical_a)
    );
    local_window other (
        .clk(clk), .rst(rst), .advance(advance), .core(core_b), .places_stack_base(stack_base), .places_stack_bytes_log2(log2), .slot(slot_b),
        .access(access), .address(address_b), .accessed_granted(granted_b), .accessed_guarded(guarded_b), .held(held_b), .result(was_b),
        .physical(physical_b)
    );

    `include "start.vh"

    // The registers of the set-up are there a cycle after a reset, and no instruction comes before
    // the second.
    reg ready = 0;
    always @(posedge clk) ready <= started && !rst;
    always @* if (!ready) assume (!access);
    always @(posedge clk) begin
        if (advance) begin
            {was_a, was_b} <= {address_a, address_b};
            {was_slot_a, was_slot_b} <= {slot_a, slot_b};
            was_access <= access;
        end
        if (rst) was_access <= 0;
    end

    (* hierconn *) wire \dut.possible ;
    (* hierconn *) wire [15:0] \dut.beyond ;
    (* hierconn *) wire [31:0] \dut.base_w ;
    (* hierconn *) wire \other.possible ;
    (* hierconn *) wire [15:0] \other.beyond ;
    (* hierconn *) wire [31:0] \other.base_w ;
    wire possible = log2 >= 4 && log2 <= 16;
    wire [32:0] end_of_stack = 33'hfffd0000 + (33'd1 << log2);
    wire on_stack = possible && address_a[31:0] >= 32'hfffd0000 && {1'b0, address_a[31:0]} < end_of_stack;
    wire in_region = address_a[31:0] >= 32'hfffc0000 && address_a[31:0] < 32'hfffe0000;
    function was_on_stack(input [31:0] address);
        was_on_stack = possible && address >= 32'hfffd0000 && {1'b0, address} < end_of_stack;
    endfunction
    wire [15:0] beyond = log2 == 16 ? 16'd0 : ~((16'd1 << log2) - 16'd1);
    // The stacks of a warp of two lanes, and of all warps.
    wire [5:0]  warp_log2 = log2 + 1;
    wire [31:0] base = (stack_base >> warp_log2) << warp_log2;
    wire [31:0] from_base = physical_a[31:0] - base;
    wire [31:0] warp = {22'd0, core_a, was_slot_a};
    wire same_warp = core_a == core_b && was_slot_a == was_slot_b;

    always @(posedge clk) if (started && !rst && ready) begin
        if (access) granted_on_stack: assert (granted_a[0] == on_stack);
        if (access) guard_is_the_rest: assert (guarded_a[0] == (in_region && !on_stack));
        if (!access) nothing_without_access: assert (granted_a == 0 && guarded_a == 0);
        held_is_what_was_granted: assert (held_a[1] == (was_access && was_on_stack(was_a[63:32])));
        if (!held_a[1]) others_stay: assert (physical_a[63:32] == was_a[63:32]);
        if (held_a[0]) of_the_warp: assert ((from_base >> warp_log2) == warp);
        // Lane 0 of one warp and lane 1 of the other, or the same lanes of two warps; also two
        // bytes of one stack.
        if (held_a[0] && held_b[1]) lanes_apart: assert (physical_a[31:2] != physical_b[63:34]);
        if (held_a[0] && held_b[0] && !same_warp) warps_apart: assert (physical_a[31:2] != physical_b[31:2]);
        if (held_a[0] && held_b[0] && same_warp && was_a[31:0] != was_b[31:0])
            bytes_apart: assert (physical_a[31:0] != physical_b[31:0]);
        if (held_a[0]) word_whole: assert (physical_a[1:0] == was_a[1:0]);

        // What the induction needs to know of the state.
        state_registers: assert (\dut.possible == possible && \dut.beyond == beyond && \other.possible == possible && \other.beyond == beyond);
        state_base: assert (!was_access || !possible || (\dut.base_w == base + (warp << warp_log2)
            && \other.base_w == base + ({22'd0, core_b, was_slot_b} << warp_log2)));
        state_held: assert (held_a[0] == (was_access && was_on_stack(was_a[31:0])) && held_b[0] == (was_access && was_on_stack(was_b[31:0]))
            && held_b[1] == (was_access && was_on_stack(was_b[63:32])));

        beside_each_other: cover (held_a == 3 && was_a[31:2] == was_a[63:34] && physical_a[31:2] + 1 == physical_a[63:34] && log2 == 16);
        guarded_once: cover (guarded_a == 2 && held_a == 1 && log2 == 4);
    end
endmodule
