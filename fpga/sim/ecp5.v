// Behaviour of those cells of an ECP5 for which Yosys ships no model, as far as netlists of this project use them: to simulate what synthesis made.
// From the description of the cells in Lattice FPGA-TN-02204 (memory) and FPGA-TN-02205 (multipliers).

// A block RAM of 18 kbit with two ports of 1, 2, 4, 9 or 18 bits, without output registers. The contents begin at zero. A port that writes keeps its output
// (NORMAL), gives the word from before (READBEFOREWRITE), or the new one (WRITETHROUGH).
module DP16KD (
    input  wire ADA0, ADA1, ADA2, ADA3, ADA4, ADA5, ADA6, ADA7, ADA8, ADA9, ADA10, ADA11,
    input  wire ADA12, ADA13, ADB0, ADB1, ADB2, ADB3, ADB4, ADB5, ADB6, ADB7, ADB8, ADB9,
    input  wire ADB10, ADB11, ADB12, ADB13, DIA0, DIA1, DIA2, DIA3, DIA4, DIA5, DIA6, DIA7,
    input  wire DIA8, DIA9, DIA10, DIA11, DIA12, DIA13, DIA14, DIA15, DIA16, DIA17, DIB0, DIB1,
    input  wire DIB2, DIB3, DIB4, DIB5, DIB6, DIB7, DIB8, DIB9, DIB10, DIB11, DIB12, DIB13,
    input  wire DIB14, DIB15, DIB16, DIB17,
    input  wire CLKA, CLKB, CEA, CEB, OCEA, OCEB, WEA, WEB, RSTA, RSTB, CSA0, CSA1,
    input  wire CSA2, CSB0, CSB1, CSB2,
    output wire DOA0, DOA1, DOA2, DOA3, DOA4, DOA5, DOA6, DOA7, DOA8, DOA9, DOA10, DOA11,
    output wire DOA12, DOA13, DOA14, DOA15, DOA16, DOA17, DOB0, DOB1, DOB2, DOB3, DOB4, DOB5,
    output wire DOB6, DOB7, DOB8, DOB9, DOB10, DOB11, DOB12, DOB13, DOB14, DOB15, DOB16, DOB17
);
    parameter DATA_WIDTH_A = 18;
    parameter DATA_WIDTH_B = 18;
    parameter REGMODE_A = "NOREG";
    parameter REGMODE_B = "NOREG";
    parameter RESETMODE = "SYNC";
    parameter ASYNC_RESET_RELEASE = "SYNC";
    parameter CSDECODE_A = "0b000";
    parameter CSDECODE_B = "0b000";
    parameter CLKAMUX = "CLKA";
    parameter CLKBMUX = "CLKB";
    parameter WRITEMODE_A = "NORMAL";
    parameter WRITEMODE_B = "NORMAL";
    parameter GSR = "AUTO";
    parameter INIT_DATA = "STATIC";
    parameter WID = 0;
    parameter [319:0] INITVAL_00 = 320'd0;
    parameter [319:0] INITVAL_01 = 320'd0;
    parameter [319:0] INITVAL_02 = 320'd0;
    parameter [319:0] INITVAL_03 = 320'd0;
    parameter [319:0] INITVAL_04 = 320'd0;
    parameter [319:0] INITVAL_05 = 320'd0;
    parameter [319:0] INITVAL_06 = 320'd0;
    parameter [319:0] INITVAL_07 = 320'd0;
    parameter [319:0] INITVAL_08 = 320'd0;
    parameter [319:0] INITVAL_09 = 320'd0;
    parameter [319:0] INITVAL_0A = 320'd0;
    parameter [319:0] INITVAL_0B = 320'd0;
    parameter [319:0] INITVAL_0C = 320'd0;
    parameter [319:0] INITVAL_0D = 320'd0;
    parameter [319:0] INITVAL_0E = 320'd0;
    parameter [319:0] INITVAL_0F = 320'd0;
    parameter [319:0] INITVAL_10 = 320'd0;
    parameter [319:0] INITVAL_11 = 320'd0;
    parameter [319:0] INITVAL_12 = 320'd0;
    parameter [319:0] INITVAL_13 = 320'd0;
    parameter [319:0] INITVAL_14 = 320'd0;
    parameter [319:0] INITVAL_15 = 320'd0;
    parameter [319:0] INITVAL_16 = 320'd0;
    parameter [319:0] INITVAL_17 = 320'd0;
    parameter [319:0] INITVAL_18 = 320'd0;
    parameter [319:0] INITVAL_19 = 320'd0;
    parameter [319:0] INITVAL_1A = 320'd0;
    parameter [319:0] INITVAL_1B = 320'd0;
    parameter [319:0] INITVAL_1C = 320'd0;
    parameter [319:0] INITVAL_1D = 320'd0;
    parameter [319:0] INITVAL_1E = 320'd0;
    parameter [319:0] INITVAL_1F = 320'd0;
    parameter [319:0] INITVAL_20 = 320'd0;
    parameter [319:0] INITVAL_21 = 320'd0;
    parameter [319:0] INITVAL_22 = 320'd0;
    parameter [319:0] INITVAL_23 = 320'd0;
    parameter [319:0] INITVAL_24 = 320'd0;
    parameter [319:0] INITVAL_25 = 320'd0;
    parameter [319:0] INITVAL_26 = 320'd0;
    parameter [319:0] INITVAL_27 = 320'd0;
    parameter [319:0] INITVAL_28 = 320'd0;
    parameter [319:0] INITVAL_29 = 320'd0;
    parameter [319:0] INITVAL_2A = 320'd0;
    parameter [319:0] INITVAL_2B = 320'd0;
    parameter [319:0] INITVAL_2C = 320'd0;
    parameter [319:0] INITVAL_2D = 320'd0;
    parameter [319:0] INITVAL_2E = 320'd0;
    parameter [319:0] INITVAL_2F = 320'd0;
    parameter [319:0] INITVAL_30 = 320'd0;
    parameter [319:0] INITVAL_31 = 320'd0;
    parameter [319:0] INITVAL_32 = 320'd0;
    parameter [319:0] INITVAL_33 = 320'd0;
    parameter [319:0] INITVAL_34 = 320'd0;
    parameter [319:0] INITVAL_35 = 320'd0;
    parameter [319:0] INITVAL_36 = 320'd0;
    parameter [319:0] INITVAL_37 = 320'd0;
    parameter [319:0] INITVAL_38 = 320'd0;
    parameter [319:0] INITVAL_39 = 320'd0;
    parameter [319:0] INITVAL_3A = 320'd0;
    parameter [319:0] INITVAL_3B = 320'd0;
    parameter [319:0] INITVAL_3C = 320'd0;
    parameter [319:0] INITVAL_3D = 320'd0;
    parameter [319:0] INITVAL_3E = 320'd0;
    parameter [319:0] INITVAL_3F = 320'd0;

    // Words of 18 bits: a byte and its parity bit twice. Narrower words lie in the data bits only, those of 9 bits are its halves.
    reg [17:0] words [0:1023];
    reg [17:0] out_a;
    reg [17:0] out_b;
    integer i;
    initial begin
        for (i = 0; i < 1024; i = i + 1) words[i] = 18'd0;
        out_a = 18'd0;
        out_b = 18'd0;
    end

    wire [13:0] address_a = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
    wire [13:0] address_b = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
    wire [17:0] data_a = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
    wire [17:0] data_b = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};

    // The bits of the word that a port of `width` bits means at `address`; with 18 bits its lowest address bits enable the halves.
    function [17:0] mask;
        input integer width;
        input [13:0] address;
        case (width)
            1: mask = 18'd1 << place(address[3:0]);
            2: mask = 18'd3 << place({address[3:1], 1'b0});
            4: mask = 18'd15 << place({address[3:2], 2'b0});
            9: mask = address[3] ? 18'h3fe00 : 18'h001ff;
            default: mask = {{9{address[1]}}, {9{address[0]}}};
        endcase
    endfunction
    // Where a data bit lies: the ninth bit of each half is the parity bit.
    function [4:0] place;
        input [3:0] bit_number;
        place = bit_number[3] ? 5'd9 + {2'd0, bit_number[2:0]} : {2'd0, bit_number[2:0]};
    endfunction
    function [4:0] offset;
        input integer width;
        input [13:0] address;
        case (width)
            1: offset = place(address[3:0]);
            2: offset = place({address[3:1], 1'b0});
            4: offset = place({address[3:2], 2'b0});
            9: offset = address[3] ? 5'd9 : 5'd0;
            default: offset = 5'd0;
        endcase
    endfunction
    function [17:0] only;
        input integer width;
        input [17:0] word;
        case (width)
            1: only = word & 18'd1;
            2: only = word & 18'd3;
            4: only = word & 18'd15;
            9: only = word & 18'h1ff;
            default: only = word;
        endcase
    endfunction

    wire [17:0] mask_a = mask(DATA_WIDTH_A, address_a);
    wire [17:0] mask_b = mask(DATA_WIDTH_B, address_b);
    wire [17:0] word_a = words[address_a[13:4]];
    wire [17:0] word_b = words[address_b[13:4]];
    wire [17:0] new_a = (word_a & ~mask_a) | ((data_a << offset(DATA_WIDTH_A, address_a)) & mask_a);
    wire [17:0] new_b = (word_b & ~mask_b) | ((data_b << offset(DATA_WIDTH_B, address_b)) & mask_b);

    always @(posedge CLKA) begin
        if (CEA) begin
            if (WEA) words[address_a[13:4]] <= new_a;
            if (RSTA) out_a <= 18'd0;
            else if (!WEA || WRITEMODE_A == "READBEFOREWRITE") out_a <= only(DATA_WIDTH_A, word_a >> offset(DATA_WIDTH_A, address_a));
            else if (WRITEMODE_A == "WRITETHROUGH") out_a <= only(DATA_WIDTH_A, new_a >> offset(DATA_WIDTH_A, address_a));
        end
    end
    always @(posedge CLKB) begin
        if (CEB) begin
            if (WEB) words[address_b[13:4]] <= new_b;
            if (RSTB) out_b <= 18'd0;
            else if (!WEB || WRITEMODE_B == "READBEFOREWRITE") out_b <= only(DATA_WIDTH_B, word_b >> offset(DATA_WIDTH_B, address_b));
            else if (WRITEMODE_B == "WRITETHROUGH") out_b <= only(DATA_WIDTH_B, new_b >> offset(DATA_WIDTH_B, address_b));
        end
    end
    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0} = out_a;
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0} = out_b;
endmodule

// A multiplier of 18 x 18 bits without registers.
module MULT18X18D (
    input  wire A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11,
    input  wire A12, A13, A14, A15, A16, A17, B0, B1, B2, B3, B4, B5,
    input  wire B6, B7, B8, B9, B10, B11, B12, B13, B14, B15, B16, B17,
    input  wire C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11,
    input  wire C12, C13, C14, C15, C16, C17, SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
    output wire P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11,
    output wire P12, P13, P14, P15, P16, P17, P18, P19, P20, P21, P22, P23,
    output wire P24, P25, P26, P27, P28, P29, P30, P31, P32, P33, P34, P35
);
    wire signed [18:0] a = {SIGNEDA & A17, {A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0}};
    wire signed [18:0] b = {SIGNEDB & B17, {B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0}};
    wire signed [37:0] product = a * b;
    assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0} = product[35:0];
endmodule

// The PLL: in simulation the clock is the oscillator's.
module EHXPLLL (
    input  wire CLKI, CLKFB, RST, STDBY, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG, PLLWAKESYNC, ENCLKOP,
    output wire CLKOP, CLKINTFB, LOCK
);
    parameter CLKI_DIV = 1;
    parameter CLKFB_DIV = 1;
    parameter CLKOP_DIV = 1;
    parameter CLKOP_CPHASE = 0;
    parameter CLKOP_FPHASE = 0;
    parameter CLKOP_ENABLE = "ENABLED";
    parameter FEEDBK_PATH = "CLKOP";
    parameter OUTDIVIDER_MUXA = "DIVA";
    parameter PLLRST_ENA = "DISABLED";
    parameter INTFB_WAKE = "DISABLED";
    parameter STDBY_ENABLE = "DISABLED";
    parameter DPHASE_SOURCE = "DISABLED";
    assign CLKOP = CLKI;
    assign CLKINTFB = 1'b0;
    assign LOCK = 1'b1;
endmodule
