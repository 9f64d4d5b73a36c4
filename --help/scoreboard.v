// 32 words of 32 bits, one write port, one combinational read port: distributed RAM.
module ram_async_32_5 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [4:0]  write_address,
    input  wire [31:0] write_data,
    input  wire [4:0]  read_address,
    output wire [31:0] read_data
);

    reg [31:0] words [0:31];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// The scoreboard: which registers of each warp have a load or division outstanding.
//
// 1. `set_valid` marks register `set_register` of warp `set_slot`; `clear_valid` takes a mark
//    away. Both show from the next cycle on. A marked register is not marked again, an unmarked
//    one not cleared.
// 2. `pending` says combinationally whether warp `slot` has a mark on any of `rs1`, `rs2` and
//    `rd`; register 0 is never marked.
// 3. After reset the marks are wiped, one warp a cycle for 32 cycles, in which nothing is marked.
//    The core keeps this rule since its instruction cache answers no lookup before.
//
// A mark is the difference of two bits in two memories, of which one changes when it is set and
// the other when it is cleared: so both can happen in the same cycle with one write port each.
module scoreboard (
    input  wire       clk,             // Rising-edge clock
    input  wire       rst,             // Synchronous reset, active high
    input  wire       set_valid,       // A register is marked
    input  wire [4:0] set_slot,        // Warp slot
    input  wire [4:0] set_register,    // Register, 1 to 31
    input  wire       clear_valid,     // A mark is taken away
    input  wire [4:0] clear_slot,      // Warp slot
    input  wire [4:0] clear_register,  // Register, 1 to 31
    input  wire [4:0] slot,            // Stage D: warp slot
    input  wire [4:0] rs1,             // Stage D: first source register
    input  wire [4:0] rs2,             // Stage D: second source register
    input  wire [4:0] rd,              // Stage D: destination register
    output wire       pending          // One of them is marked
);

    wire wiping;
    reg  set_enable;
    reg  [4:0] set_address;
    reg  [31:0] set_row;
    reg  clear_enable;
    reg  [4:0] clear_address;
    reg  [31:0] clear_row;
    wire [31:0] marks;
    wire [31:0] set_asked_read_data;
    wire [31:0] set_changed_read_data;
    wire [31:0] clear_asked_read_data;
    wire [31:0] clear_changed_read_data;
    reg  [5:0] wiped;
    reg  set_valid_2;
    reg  [4:0] set_slot_2;
    reg  [4:0] set_register_2;

    assign wiping = !wiped[5];

    always @* begin
        set_enable = set_valid_2;
        set_address = set_slot_2;
        set_row = set_changed_read_data ^ (32'd1 << set_register_2);
        clear_enable = clear_valid;
        clear_address = clear_slot;
        clear_row = clear_changed_read_data ^ (32'd1 << clear_register);
        if (wiping) begin
            set_enable = 1'b1;
            set_address = wiped[4:0];
            set_row = 32'd0;
            clear_enable = 1'b1;
            clear_address = wiped[4:0];
            clear_row = 32'd0;
        end
    end

    assign marks = (set_asked_read_data ^ clear_asked_read_data) & 32'hfffffffe;
    assign pending = marks[rs1] | marks[rs2] | marks[rd] | (set_valid_2 & (set_slot_2 == slot) &
        ((set_register_2 == rs1) | (set_register_2 == rs2) | (set_register_2 == rd)));

    ram_async_32_5 set_asked (
        .clk(clk),
        .write_enable(set_enable),
        .write_address(set_address),
        .write_data(set_row),
        .read_address(slot),
        .read_data(set_asked_read_data)
    );

    ram_async_32_5 set_changed (
        .clk(clk),
        .write_enable(set_enable),
        .write_address(set_address),
        .write_data(set_row),
        .read_address(set_slot_2),
        .read_data(set_changed_read_data)
    );

    ram_async_32_5 clear_asked (
        .clk(clk),
        .write_enable(clear_enable),
        .write_address(clear_address),
        .write_data(clear_row),
        .read_address(slot),
        .read_data(clear_asked_read_data)
    );

    ram_async_32_5 clear_changed (
        .clk(clk),
        .write_enable(clear_enable),
        .write_address(clear_address),
        .write_data(clear_row),
        .read_address(clear_slot),
        .read_data(clear_changed_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            wiped <= 6'd0;
            set_valid_2 <= 1'b0;
            set_slot_2 <= 5'd0;
            set_register_2 <= 5'd0;
        end else begin
            set_valid_2 <= set_valid;
            set_slot_2 <= set_slot;
            set_register_2 <= set_register;
            if (wiping) begin
                wiped <= wiped + 6'd1;
            end
        end
    end
endmodule

