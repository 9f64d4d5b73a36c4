// 512 words of 32 bits, one write port, one registered read port: block RAM; the word read while it is written is undefined.
module ram_sized_32_512 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [15:0] write_address,
    input  wire [31:0] write_data,
    input  wire        read_enable,
    input  wire [15:0] read_address,
    output wire [31:0] read_data
);

    (* no_rw_check, ram_style = "block" *)
    reg [31:0] words [0:511];
    reg [31:0] data;
    wire unused = &{1'b0, write_address[15:9], read_address[15:9]};
    always @(posedge clk) begin
        if (read_enable) data <= words[read_address[8:0]];
    `ifndef SYNTHESIS
        if (read_enable && write_enable && read_address[8:0] == write_address[8:0]) data <= ~words[read_address[8:0]];
    `endif
        if (write_enable) words[write_address[8:0]] <= write_data;
    end
    assign read_data = data;
endmodule

// 32 words of 26 bits, one write port, one registered read port: block RAM; the word read while it is written is undefined.
module ram_sized_26_32 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [15:0] write_address,
    input  wire [25:0] write_data,
    input  wire        read_enable,
    input  wire [15:0] read_address,
    output wire [25:0] read_data
);

    (* no_rw_check, ram_style = "block" *)
    reg [25:0] words [0:31];
    reg [25:0] data;
    wire unused = &{1'b0, write_address[15:5], read_address[15:5]};
    always @(posedge clk) begin
        if (read_enable) data <= words[read_address[4:0]];
    `ifndef SYNTHESIS
        if (read_enable && write_enable && read_address[4:0] == write_address[4:0]) data <= ~words[read_address[4:0]];
    `endif
        if (write_enable) words[write_address[4:0]] <= write_data;
    end
    assign read_data = data;
endmodule

// A word of a 64-byte line.
//
// Combinational: `word` answers the inputs in the same cycle and is 0 while `enable` is low.
module word_select (
    input  wire         enable,  // A word is wanted
    input  wire [511:0] line,    // The line, byte 0 in bits 7:0
    input  wire [3:0]   index,   // Index of the word in the line
    output reg  [31:0]  word     // The word
);

    always @* begin
        word = 32'd0;
        if (enable) begin
            case (index)
                4'd0: begin
                    word = line[31:0];
                end
                4'd1: begin
                    word = line[63:32];
                end
                4'd2: begin
                    word = line[95:64];
                end
                4'd3: begin
                    word = line[127:96];
                end
                4'd4: begin
                    word = line[159:128];
                end
                4'd5: begin
                    word = line[191:160];
                end
                4'd6: begin
                    word = line[223:192];
                end
                4'd7: begin
                    word = line[255:224];
                end
                4'd8: begin
                    word = line[287:256];
                end
                4'd9: begin
                    word = line[319:288];
                end
                4'd10: begin
                    word = line[351:320];
                end
                4'd11: begin
                    word = line[383:352];
                end
                4'd12: begin
                    word = line[415:384];
                end
                4'd13: begin
                    word = line[447:416];
                end
                4'd14: begin
                    word = line[479:448];
                end
                default: begin
                    word = line[511:480];
                end
            endcase
        end
    end
endmodule

// Data cache with a part for each hart, of as many lines of 64 bytes each, direct-mapped. A hart finds only
// what its own fills and stores put into its part, so harts are to each other what cores are (decision
// D10, rules C4 to C6).
//
// 1. `look_enable` in stage X looks an address up. In the next cycle, stage W, `hit` tells whether the part of the
//    hart has its line, and `word` is the word, with the bytes of a store right before it.
// 2. The other inputs of stage W are about that address. `store` writes bytes into the word, if it hits; else nothing is
//    written and no line is fetched. `remove` drops the line.
// 3. `drop` empties the parts of harts at the edge. It goes before all else.
// 4. `fill_valid` brings a line for the part of a hart. It is put into the line buffer, which is one for all harts: if it
//    is in use, or with `fill_error`, nothing is installed. From the next cycle on `filling` of the hart is high
//    until the last of the sixteen words is written; that of a cycle is not if a store hits. The line is valid with the
//    last word. `drop` of the hart ends the fill.
// 5. A lookup of a hart misses while its line is filled: it waits for its load then.
//
// The memory has words as wide as a store: a store writes the whole word with its bytes changed, which the load behind it
// needs in any case, since it reads the memory in the cycle in which the store writes it.
module command_cache (
    input  wire         clk,           // Rising-edge clock
    input  wire         rst,           // Synchronous reset, active high: the cache is empty
    input  wire         look_enable,   // Stage X: an address is looked up
    input  wire [2:0]   look_hart,     // Stage X: the hart
    input  wire [31:0]  look_address,  // Stage X: the address
    output wire         hit,           // Stage W: the part of the hart has the line
    output wire [31:0]  word,          // Stage W: the word at the address; with hit
    input  wire         store,         // Stage W: the instruction is a store that retires
    input  wire [31:0]  store_data,    // Stage W: its bytes, in place
    input  wire [3:0]   store_strobe,  // Stage W: which of them are stored, that of bits 7:0 in bit 0
    input  wire         remove,        // Stage W: the line is dropped from the part of the hart
    input  wire [7:0]   drop,          // A bit for each hart: its part is emptied
    input  wire         fill_valid,    // A line comes
    input  wire [2:0]   fill_hart,     // The hart whose load asked for it
    input  wire [25:0]  fill_line,     // Its line address
    input  wire [511:0] fill_data,     // The line, byte 0 in bits 7:0
    input  wire         fill_error,    // It could not be read
    output wire [7:0]   filling        // A bit for each hart: its line is being written
);

    localparam [7:0] GROUP_0 = 8'd0;
    localparam [7:0] GROUP_1 = 8'd1;
    localparam [2:0] NUMBER_0 = 3'd0;
    localparam [2:0] NUMBER_1 = 3'd1;
    localparam [15:0] PLACE_BITS = 16'd15;
    wire [25:0] look_line;
    wire [15:0] look_place;
    wire [15:0] look_entry;
    wire [15:0] look_word;
    wire fills_it;
    wire [25:0] line;
    wire [15:0] place;
    wire [15:0] entry;
    wire [15:0] word_address;
    reg  is_valid;
    wire hits;
    reg  [31:0] found;
    wire stores;
    reg  [31:0] mask;
    wire [31:0] merged;
    wire drop_filled;
    wire takes;
    wire fills;
    wire ends;
    wire [15:0] buffer_place;
    wire [15:0] buffer_entry;
    wire [15:0] one;
    reg  [7:0] under_way;
    wire words_write_enable;
    reg  [15:0] words_write_address;
    reg  [31:0] words_write_data;
    wire [31:0] words_read_data;
    wire [25:0] tags_read_data;
    reg  [15:0] valid_0;
    reg  [15:0] valid_1;
    reg  looked;
    reg  [2:0] hart;
    reg  [31:0] address;
    reg  same_word;
    reg  [31:0] stored_word;
    reg  buffer_used;
    reg  [2:0] buffer_hart;
    reg  [25:0] buffer_line;
    reg  [511:0] buffer_data;
    reg  [3:0] buffer_word;
    wire [31:0] select_word;
    reg  [15:0] there_0, there_1;

    assign look_line = look_address[31:6];
    assign look_place = look_line[15:0] & PLACE_BITS;
    assign look_entry = {9'd0, look_hart, 4'd0} | look_place;
    assign look_word = {look_entry[11:0], look_address[5:2]};
    assign fills_it = buffer_used & (buffer_hart == look_hart);
    assign line = address[31:6];
    assign place = line[15:0] & PLACE_BITS;
    assign entry = {9'd0, hart, 4'd0} | place;
    assign word_address = {entry[11:0], address[5:2]};

    always @* begin
        is_valid = 1'b0;
        if (entry[11:4] == GROUP_0) begin
            is_valid = valid_0[entry[3:0]];
        end
        if (entry[11:4] == GROUP_1) begin
            is_valid = valid_1[entry[3:0]];
        end
    end

    assign hits = looked & is_valid & (tags_read_data == line);

    always @* begin
        found = words_read_data;
        if (same_word) begin
            found = stored_word;
        end
    end

    assign hit = hits;
    assign word = found;
    assign stores = store & hits;

    always @* begin
        mask = 32'd0;
        if (store_strobe[0]) begin
            mask = mask | 32'hff;
        end
        if (store_strobe[1]) begin
            mask = mask | 32'hff00;
        end
        if (store_strobe[2]) begin
            mask = mask | 32'hff0000;
        end
        if (store_strobe[3]) begin
            mask = mask | 32'hff000000;
        end
    end

    assign merged = (found & ~mask) | (store_data & mask);
    assign drop_filled = drop[buffer_hart];
    assign takes = fill_valid & !fill_error & !buffer_used & !drop[fill_hart];
    assign fills = buffer_used & !stores;
    assign ends = fills & (&buffer_word);
    assign buffer_place = buffer_line[15:0] & PLACE_BITS;
    assign buffer_entry = {9'd0, buffer_hart, 4'd0} | buffer_place;
    assign words_write_enable = stores | fills;

    always @* begin
        words_write_address = {buffer_entry[11:0], buffer_word};
        words_write_data = select_word;
        if (stores) begin
            words_write_address = word_address;
            words_write_data = merged;
        end
    end

    assign one = 16'd1;

    always @* begin
        there_0 = valid_0;
        if (hits & remove & (entry[11:4] == GROUP_0)) begin
            there_0 = there_0 & ~(one << entry[3:0]);
        end
        if (ends & (buffer_entry[11:4] == GROUP_0)) begin
            there_0 = there_0 | (one << buffer_entry[3:0]);
        end
        if (drop[0]) begin
            there_0 = 16'd0;
        end
    end

    always @* begin
        there_1 = valid_1;
        if (hits & remove & (entry[11:4] == GROUP_1)) begin
            there_1 = there_1 & ~(one << entry[3:0]);
        end
        if (ends & (buffer_entry[11:4] == GROUP_1)) begin
            there_1 = there_1 | (one << buffer_entry[3:0]);
        end
        if (drop[1]) begin
            there_1 = 16'd0;
        end
    end

    always @* begin
        under_way = 8'd0;
        if (buffer_hart == NUMBER_0) begin
            under_way = {under_way[7:1], buffer_used};
        end
        if (buffer_hart == NUMBER_1) begin
            under_way = {under_way[7:2], buffer_used, under_way[0]};
        end
    end

    assign filling = under_way;

    ram_sized_32_512 words_unit (
        .clk(clk),
        .write_enable(words_write_enable),
        .write_address(words_write_address),
        .write_data(words_write_data),
        .read_enable(look_enable),
        .read_address(look_word),
        .read_data(words_read_data)
    );

    ram_sized_26_32 tags (
        .clk(clk),
        .write_enable(ends),
        .write_address(buffer_entry),
        .write_data(buffer_line),
        .read_enable(look_enable),
        .read_address(look_entry),
        .read_data(tags_read_data)
    );

    word_select select (
        .enable(1'b1),
        .line(buffer_data),
        .index(buffer_word),
        .word(select_word)
    );

    always @(posedge clk) begin
        if (rst) begin
            valid_0 <= 16'd0;
            valid_1 <= 16'd0;
            looked <= 1'b0;
            hart <= 3'd0;
            address <= 32'd0;
            same_word <= 1'b0;
            stored_word <= 32'd0;
            buffer_used <= 1'b0;
            buffer_hart <= 3'd0;
            buffer_line <= 26'd0;
            buffer_data <= 512'd0;
            buffer_word <= 4'd0;
        end else begin
            looked <= look_enable & !fills_it;
            if (look_enable) begin
                hart <= look_hart;
                address <= look_address;
            end
            stored_word <= merged;
            same_word <= stores & (look_word == word_address);
            buffer_used <= takes | (buffer_used & !ends & !drop_filled);
            if (takes) begin
                buffer_hart <= fill_hart;
                buffer_line <= fill_line;
                buffer_data <= fill_data;
                buffer_word <= 4'd0;
            end else if (fills) begin
                buffer_word <= buffer_word + 4'd1;
            end
            valid_0 <= there_0;
            valid_1 <= there_1;
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, look_line[25:16], entry[15:12], address[1:0]};
endmodule

