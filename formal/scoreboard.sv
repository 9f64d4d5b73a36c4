// The scoreboard tells of every register that waits for a value, and of no other.
//
// Of all registers of all warps one is followed, whichever; of the RAMs the row of its warp (see
// tracked_ram.sv).
module scoreboard_formal (
    input wire       clk,
    input wire       rst,
    input wire       set_valid,
    input wire [4:0] set_slot,
    input wire [4:0] set_register,
    input wire       clear_valid,
    input wire [4:0] clear_slot,
    input wire [4:0] clear_register,
    input wire [4:0] slot,
    input wire [4:0] rs1,
    input wire [4:0] rs2,
    input wire [4:0] rd
);
    wire pending;
    (* anyconst *) reg [4:0] warp;
    (* anyconst *) reg [4:0] number;
    scoreboard dut (
        .clk(clk), .rst(rst), .set_valid(set_valid), .set_slot(set_slot), .set_register(set_register),
        .clear_valid(clear_valid), .clear_slot(clear_slot), .clear_register(clear_register), .slot(slot), .uses_rs1(rs1),
        .uses_rs2(rs2), .uses_rd(rd), .pending(pending)
    );
    (* hierconn *) wire [4:0] \dut.set_asked.tracked ;
    (* hierconn *) wire [4:0] \dut.set_changed.tracked ;
    (* hierconn *) wire [4:0] \dut.clear_asked.tracked ;
    (* hierconn *) wire [4:0] \dut.clear_changed.tracked ;
    assign \dut.set_asked.tracked = warp;
    assign \dut.set_changed.tracked = warp;
    assign \dut.clear_asked.tracked = warp;
    assign \dut.clear_changed.tracked = warp;
    (* hierconn *) wire [31:0] \dut.set_asked.word ;
    (* hierconn *) wire [31:0] \dut.set_changed.word ;
    (* hierconn *) wire [31:0] \dut.clear_asked.word ;
    (* hierconn *) wire [31:0] \dut.clear_changed.word ;
    (* hierconn *) wire [5:0] \dut.wiped ;
    (* hierconn *) wire \dut.set_valid_q ;
    (* hierconn *) wire [4:0] \dut.set_slot_q ;
    (* hierconn *) wire [4:0] \dut.set_register_q ;

    `include "start.vh"

    // Register 0 is never marked.
    always @* assume (number != 0);
    // Which registers of the warp wait; what sets and clears them keeps the contract.
    reg [31:0] waits;
    reg [5:0] since_reset;
    wire ready = since_reset == 32;
    wire set = set_valid && set_slot == warp;
    wire clear = clear_valid && clear_slot == warp;
    always @* begin
        assume (ready || !(set_valid || clear_valid));
        assume (!set_valid || set_register != 0);
        assume (!clear_valid || clear_register != 0);
        assume (!set || !waits[set_register]);
        assume (!clear || waits[clear_register]);
    end
    always @(posedge clk) begin
        waits <= (waits | (set << set_register)) & ~(clear << clear_register);
        if (!ready) since_reset <= since_reset + 1;
        if (rst) begin
            waits <= 0;
            since_reset <= 0;
        end
    end
    wire asked = slot == warp && (rs1 == number || rs2 == number || rd == number);
    wire wiped = since_reset > warp;
    // What was set a cycle ago and is not in the RAMs yet.
    wire [31:0] coming = (\dut.set_valid_q && \dut.set_slot_q == warp) << \dut.set_register_q ;

    always @(posedge clk) if (started && !rst) begin
        if (ready && asked && waits[number]) every_pending_register_is_told: assert (pending);
        if (ready && slot == warp && pending)
            only_pending_registers_are_told: assert (waits[rs1] || waits[rs2] || waits[rd]);

        // What the induction needs to know of the state.
        state_wiped: assert (\dut.wiped == since_reset && since_reset <= 32 && !waits[0] && (ready || waits == 0));
        if (wiped) state_copies: assert (
            \dut.set_asked.word == \dut.set_changed.word && \dut.clear_asked.word == \dut.clear_changed.word );
        if (wiped) state_marks: assert ((\dut.set_asked.word ^ \dut.clear_asked.word ^ coming) == waits);
        state_coming: assert ((!\dut.set_valid_q || (ready && \dut.set_register_q != 0)) && (coming & ~waits) == 0);

        told: cover (ready && asked && pending && waits == 32'h80000002);
        taken_away: cover (ready && asked && !pending && \dut.set_asked.word != 0);
    end
endmodule
