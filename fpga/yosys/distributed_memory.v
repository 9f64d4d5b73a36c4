// Distributed memories of an ECP5 that use fewer than 16 words.
//
// Address bits that are never used are constants, 0 for reads and writes alike, and each is a sink
// that nextpnr routes to one source of zeros: 7,000 sinks all over the device with 8 lanes. Here
// such a bit becomes a copy of one that is used. Every word keeps a place of its own, and the wire
// is in the tile already.

(* techmap_celltype = "TRELLIS_DPR16X4" *)
module unused_address (...);
parameter WCKMUX = "WCK";
parameter WREMUX = "WRE";
parameter [63:0] INITVAL = 64'bx;
input [3:0] DI;
input [3:0] WAD;
input WRE;
input WCK;
input [3:0] RAD;
output [3:0] DO;

parameter _TECHMAP_CONSTMSK_WAD_ = 4'b0;
parameter _TECHMAP_CONSTVAL_WAD_ = 4'bx;
parameter _TECHMAP_CONSTMSK_RAD_ = 4'b0;
parameter _TECHMAP_CONSTVAL_RAD_ = 4'bx;

localparam [3:0] ZERO_WAD = _TECHMAP_CONSTMSK_WAD_ & ~_TECHMAP_CONSTVAL_WAD_;
localparam [3:0] ZERO_RAD = _TECHMAP_CONSTMSK_RAD_ & ~_TECHMAP_CONSTVAL_RAD_;
localparam [3:0] UNUSED = ZERO_WAD & ZERO_RAD;
// The lowest that is used
localparam USED = !UNUSED[0] ? 0 : !UNUSED[1] ? 1 : !UNUSED[2] ? 2 : 3;

// Words with a value at the start would have to move, too.
wire _TECHMAP_FAIL_ = (UNUSED === 4'b0) || (UNUSED === 4'b1111) || !(INITVAL === 64'bx || INITVAL === 64'b0);

wire [3:0] write_address, read_address;
genvar i;
generate
    for (i = 0; i < 4; i = i + 1) begin : bits
        if (UNUSED[i]) begin
            assign write_address[i] = WAD[USED];
            assign read_address[i] = RAD[USED];
        end else begin
            assign write_address[i] = WAD[i];
            assign read_address[i] = RAD[i];
        end
    end
endgenerate

TRELLIS_DPR16X4 #(
    .WCKMUX(WCKMUX),
    .WREMUX(WREMUX),
    .INITVAL(INITVAL)
) _TECHMAP_REPLACE_ (
    .DI(DI),
    .WAD(write_address),
    .WRE(WRE),
    .WCK(WCK),
    .RAD(read_address),
    .DO(DO)
);
endmodule
