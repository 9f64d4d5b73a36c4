// Watches the source of an AXI4-Stream (AMBA AXI4-Stream protocol specification): what it has to
// keep is asserted.
//
// 1. `tvalid` and what goes with it stay until `tready`; no `tvalid` in the cycle after a reset.
// 2. A packet has at most `max_beats` beats.
// 3. Bytes of a beat are kept from the lowest on; all beats of a packet but the last are full, and
//    no beat is empty.
//
// `ASSUMED` turns the same rules into assumptions, for the source at the other side.
module axi4_stream_checker #(
    parameter DATA = 512,
    parameter USER = 1,
    parameter ASSUMED = 0
) (
    input wire              clk,
    input wire              rst,
    input wire              started,
    input wire [15:0]       max_beats,
    input wire [DATA-1:0]   tdata,
    input wire [DATA/8-1:0] tkeep,
    input wire [USER-1:0]   tuser,
    input wire              tlast,
    input wire              tvalid,
    input wire              tready
);
    reg held, was_rst;
    reg [DATA+DATA/8+USER:0] was_beat;
    reg [15:0] beats;
    wire [DATA+DATA/8+USER:0] beat = {tdata, tkeep, tuser, tlast};
    always @(posedge clk) begin
        held <= !rst && tvalid && !tready;
        was_beat <= beat;
        was_rst <= rst;
        if (tvalid && tready) beats <= tlast ? 0 : beats + 1;
        if (rst) beats <= 0;
    end
    wire stable = !held || (tvalid && beat == was_beat);
    wire quiet = !was_rst || !tvalid;
    wire short = !tvalid || beats + 1 < max_beats || (beats + 1 == max_beats && tlast);
    wire kept = !tvalid || (tkeep[0] && (tkeep & (tkeep + 1'b1)) == 0 && (tlast || &tkeep));
    generate
        if (ASSUMED) begin : assumed
            always @* if (started && !rst) assume (stable && quiet && short && kept);
        end else begin : asserted
            always @(posedge clk) if (started && !rst) begin
                stream_is_stable: assert (stable);
                stream_is_quiet_after_reset: assert (quiet);
                packet_is_short_enough: assert (short);
                bytes_are_kept_from_the_lowest: assert (kept);
            end
        end
    endgenerate
endmodule
