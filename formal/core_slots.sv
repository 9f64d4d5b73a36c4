// A core's slots: a warp gets an idle, allowed slot, and no more warps than the limit are on the
// core.
module core_slots_formal (
    input wire       clk,
    input wire       rst,
    input wire [5:0] limit,
    input wire [5:0] slots,
    input wire       take,
    input wire       free,
    input wire [4:0] free_slot
);
    wire        available;
    wire [4:0]  slot;
    // The slots of a register class are always the lowest ones.
    wire [31:0] allowed = (33'd1 << slots) - 33'd1;
    core_slots dut (
        .clk(clk), .rst(rst), .limit(limit), .allowed(allowed), .take(take), .free(free), .free_slot(free_slot),
        .available(available), .slot(slot)
    );
    (* hierconn *) wire [31:0] \dut.busy ;
    (* hierconn *) wire [5:0] \dut.warps ;

    `include "start.vh"

    reg [31:0] busy;
    integer i;
    reg [5:0] warps;
    always @* begin
        warps = 0;
        for (i = 0; i < 32; i = i + 1) warps = warps + busy[i];
    end
    // The contract of the user.
    always @* begin
        assume (slots <= 32 && limit <= slots);
        assume (!take || available);
        assume (!free || busy[free_slot]);
    end
    always @(posedge clk) begin
        busy <= (busy & ~(free << free_slot)) | (take << slot);
        if (rst) busy <= 0;
    end

    always @(posedge clk) if (started && !rst) begin
        available_is_below_limit: assert (available == (warps < limit));
        if (available) slot_is_idle: assert (!busy[slot]);
        if (available) slot_is_allowed: assert (allowed[slot]);
        if (available) slot_is_lowest: assert ((allowed & ~busy & ((32'd1 << slot) - 1)) == 0);

        // What the induction needs to know of the state.
        state_busy: assert (\dut.busy == busy);
        state_warps: assert (\dut.warps == warps);

        some_then_none: cover (warps == 0 && \dut.busy == 0 && take && slot == 0);
        seven_busy: cover (warps == 7 && free && take && slot == 3);
    end
endmodule
