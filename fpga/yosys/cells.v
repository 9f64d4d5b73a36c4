// What the cells do for which Yosys ships no model, as far as the netlists of this flow use it:
// block RAMs that only port A writes, without resets and output registers; multipliers without
// registers; a PLL whose clock is that of the oscillator, as in the simulation of the Verilog.

// Block RAM: 1,024 words of 18 bits, each two bytes of nine. With 36 bits, port A writes pairs of
// words, and port B reads them.
module DP16KD (...);
parameter DATA_WIDTH_A = 18;
parameter DATA_WIDTH_B = 18;
parameter REGMODE_A = "NOREG";
parameter REGMODE_B = "NOREG";
parameter RESETMODE = "SYNC";
parameter ASYNC_RESET_RELEASE = "SYNC";
parameter CSDECODE_A = "0b000";
parameter CSDECODE_B = "0b000";
parameter WRITEMODE_A = "NORMAL";
parameter WRITEMODE_B = "NORMAL";
parameter CLKAMUX = "CLKA";
parameter CLKBMUX = "CLKB";
parameter GSR = "ENABLED";
parameter [319:0] INITVAL_00 = 320'b0, INITVAL_01 = 320'b0, INITVAL_02 = 320'b0, INITVAL_03 = 320'b0, INITVAL_04 = 320'b0, INITVAL_05 = 320'b0, INITVAL_06 = 320'b0, INITVAL_07 = 320'b0;
parameter [319:0] INITVAL_08 = 320'b0, INITVAL_09 = 320'b0, INITVAL_0A = 320'b0, INITVAL_0B = 320'b0, INITVAL_0C = 320'b0, INITVAL_0D = 320'b0, INITVAL_0E = 320'b0, INITVAL_0F = 320'b0;
parameter [319:0] INITVAL_10 = 320'b0, INITVAL_11 = 320'b0, INITVAL_12 = 320'b0, INITVAL_13 = 320'b0, INITVAL_14 = 320'b0, INITVAL_15 = 320'b0, INITVAL_16 = 320'b0, INITVAL_17 = 320'b0;
parameter [319:0] INITVAL_18 = 320'b0, INITVAL_19 = 320'b0, INITVAL_1A = 320'b0, INITVAL_1B = 320'b0, INITVAL_1C = 320'b0, INITVAL_1D = 320'b0, INITVAL_1E = 320'b0, INITVAL_1F = 320'b0;
parameter [319:0] INITVAL_20 = 320'b0, INITVAL_21 = 320'b0, INITVAL_22 = 320'b0, INITVAL_23 = 320'b0, INITVAL_24 = 320'b0, INITVAL_25 = 320'b0, INITVAL_26 = 320'b0, INITVAL_27 = 320'b0;
parameter [319:0] INITVAL_28 = 320'b0, INITVAL_29 = 320'b0, INITVAL_2A = 320'b0, INITVAL_2B = 320'b0, INITVAL_2C = 320'b0, INITVAL_2D = 320'b0, INITVAL_2E = 320'b0, INITVAL_2F = 320'b0;
parameter [319:0] INITVAL_30 = 320'b0, INITVAL_31 = 320'b0, INITVAL_32 = 320'b0, INITVAL_33 = 320'b0, INITVAL_34 = 320'b0, INITVAL_35 = 320'b0, INITVAL_36 = 320'b0, INITVAL_37 = 320'b0;
parameter [319:0] INITVAL_38 = 320'b0, INITVAL_39 = 320'b0, INITVAL_3A = 320'b0, INITVAL_3B = 320'b0, INITVAL_3C = 320'b0, INITVAL_3D = 320'b0, INITVAL_3E = 320'b0, INITVAL_3F = 320'b0;
input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0;
input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0;
input CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0;
output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0;
input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0;
input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0;
input CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0;
output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0;

localparam [20479:0] INITIAL = {
    INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39, INITVAL_38,
    INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30,
    INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28,
    INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20,
    INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18,
    INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10,
    INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
    INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01, INITVAL_00
};

wire [13:0] write_address = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
wire [13:0] read_address = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
wire [17:0] low = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
wire [17:0] high = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};

// Even and odd words
reg [17:0] even [0:511];
reg [17:0] odd [0:511];
integer i;
initial
    for (i = 0; i < 512; i = i + 1) begin
        even[i] = INITIAL[40 * i +: 18];
        odd[i] = INITIAL[40 * i + 20 +: 18];
    end

// What is written where: widths below nine have no ninth bit of a byte.
wire [4:0] place = {write_address[3] ? 5'd9 : 5'd0} + {DATA_WIDTH_A <= 4 && write_address[2] ? 5'd4 : 5'd0}
    + {DATA_WIDTH_A <= 2 && write_address[1] ? 5'd2 : 5'd0} + {DATA_WIDTH_A == 1 && write_address[0] ? 5'd1 : 5'd0};
wire [17:0] bytes = {{9{write_address[1]}}, {9{write_address[0]}}};
wire [17:0] narrow = (18'd1 << DATA_WIDTH_A) - 18'd1;
wire [17:0] even_mask = DATA_WIDTH_A == 36 ? bytes : write_address[4] ? 18'd0 : DATA_WIDTH_A == 18 ? bytes : narrow << place;
wire [17:0] odd_mask = DATA_WIDTH_A == 36 ? {{9{write_address[3]}}, {9{write_address[2]}}}
    : !write_address[4] ? 18'd0 : DATA_WIDTH_A == 18 ? bytes : narrow << place;
wire [17:0] even_data = DATA_WIDTH_A >= 18 ? low : low << place;
wire [17:0] odd_data = DATA_WIDTH_A == 36 ? high : even_data;

always @(posedge CLKA)
    if (CEA && WEA) begin
        even[write_address[13:5]] <= even[write_address[13:5]] & ~even_mask | even_data & even_mask;
        odd[write_address[13:5]] <= odd[write_address[13:5]] & ~odd_mask | odd_data & odd_mask;
    end

// Port A reads what was there before it wrote, or not while it writes.
reg [17:0] a_even, a_odd, b_even, b_odd;
reg [4:0] a_address, b_address;
always @(posedge CLKA)
    if (CEA && (!WEA || WRITEMODE_A == "READBEFOREWRITE")) begin
        a_even <= even[write_address[13:5]];
        a_odd <= odd[write_address[13:5]];
        a_address <= write_address[4:0];
    end
always @(posedge CLKB)
    if (CEB) begin
        b_even <= even[read_address[13:5]];
        b_odd <= odd[read_address[13:5]];
        b_address <= read_address[4:0];
    end

wire [17:0] a_word = a_address[4] ? a_odd : a_even;
wire [17:0] b_word = b_address[4] ? b_odd : b_even;
wire [8:0] a_byte = DATA_WIDTH_A <= 9 && a_address[3] ? a_word[17:9] : a_word[8:0];
wire [8:0] b_byte = DATA_WIDTH_B <= 9 && b_address[3] ? b_word[17:9] : b_word[8:0];
wire [8:0] a_part = a_byte >> {DATA_WIDTH_A <= 4 && a_address[2], DATA_WIDTH_A <= 2 && a_address[1], DATA_WIDTH_A == 1 && a_address[0]};
wire [8:0] b_part = b_byte >> {DATA_WIDTH_B <= 4 && b_address[2], DATA_WIDTH_B <= 2 && b_address[1], DATA_WIDTH_B == 1 && b_address[0]};
assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0} = DATA_WIDTH_B == 36 ? b_even : DATA_WIDTH_A == 18 ? a_word : {9'd0, a_part};
assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0} = DATA_WIDTH_B == 36 ? b_odd : DATA_WIDTH_B == 18 ? b_word : {9'd0, b_part};
endmodule

// Multiplier of 18 x 18 bits, each factor with or without a sign.
module MULT18X18D (...);
input A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0;
input B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0;
input C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0;
input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB;
output P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0;

wire signed [18:0] a = {SIGNEDA & A17, A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0};
wire signed [18:0] b = {SIGNEDB & B17, B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0};
wire signed [37:0] product = a * b;
assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0} = product[35:0];
endmodule

// A clock on a global net.
module DCCA (input CLKI, CE, output CLKO);
assign CLKO = CLKI & CE;
endmodule

module EHXPLLL (...);
parameter CLKI_DIV = 1;
parameter CLKFB_DIV = 1;
parameter CLKOP_DIV = 8;
parameter CLKOP_CPHASE = 0;
parameter CLKOP_FPHASE = 0;
parameter CLKOP_ENABLE = "ENABLED";
parameter DPHASE_SOURCE = "DISABLED";
parameter FEEDBK_PATH = "CLKOP";
parameter INTFB_WAKE = "DISABLED";
parameter OUTDIVIDER_MUXA = "DIVA";
parameter PLLRST_ENA = "DISABLED";
parameter STDBY_ENABLE = "DISABLED";
input CLKI, CLKFB, RST, STDBY, PHASESEL1, PHASESEL0, PHASEDIR, PHASESTEP, PHASELOADREG, PLLWAKESYNC, ENCLKOP;
output CLKOP, CLKINTFB, LOCK;
assign CLKOP = CLKI;
assign CLKINTFB = CLKI;
assign LOCK = 1'b1;
endmodule
