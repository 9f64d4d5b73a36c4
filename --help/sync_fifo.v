// 4 words of 4 bits, one write port, one registered read port: block RAM.
module ram_sync_4_2 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [1:0] write_address,
    input  wire [3:0] write_data,
    input  wire       read_enable,
    input  wire [1:0] read_address,
    output wire [3:0] read_data
);

    reg [3:0] words [0:3];
    reg [3:0] data;
    always @(posedge clk) begin
        if (read_enable) data <= words[read_address];
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = data;
endmodule

// Synchronous first-word-fall-through FIFO of `2^A` words in block RAM; `L` is `A + 1`.
//
// 1. Valid/ready on both sides; one push and one pop in every cycle are possible, also when full
//    but for the push: `push_ready` is low while `2^A` words are inside.
// 2. A word pushed into an empty FIFO in cycle t shows at the output in cycle t + 2.
// 3. No output depends on an input of the same cycle.
module sync_fifo (
    input  wire       clk,         // Rising-edge clock
    input  wire       rst,         // Synchronous reset, active high: empties the FIFO
    input  wire       push_valid,  // A word is offered
    output wire       push_ready,  // There is room
    input  wire [3:0] push_data,   // The word
    output wire       pop_valid,   // The oldest word is shown
    input  wire       pop_ready,   // The oldest word is taken
    output wire [3:0] pop_data,    // The oldest word; undefined while pop_valid is low
    output wire [2:0] level        // Words inside, 0 to 2^A
);

    localparam [2:0] CAPACITY = 3'd4;
    wire push;
    wire pop;
    reg  in_ram;
    wire fetch;
    reg  [1:0] write_pointer;
    reg  [1:0] read_pointer;
    reg  [2:0] words;
    reg  shown;

    assign push_ready = words != CAPACITY;
    assign pop_valid = shown;
    assign level = words;
    assign push = push_valid & (words != CAPACITY);
    assign pop = shown & pop_ready;

    always @* begin
        in_ram = words != 3'd0;
        if (shown) begin
            in_ram = words != 3'd1;
        end
    end

    assign fetch = in_ram & (!shown | pop);

    ram_sync_4_2 ram (
        .clk(clk),
        .write_enable(push),
        .write_address(write_pointer),
        .write_data(push_data),
        .read_enable(fetch),
        .read_address(read_pointer),
        .read_data(pop_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            write_pointer <= 2'd0;
            read_pointer <= 2'd0;
            words <= 3'd0;
            shown <= 1'b0;
        end else begin
            if (push) begin
                write_pointer <= write_pointer + 2'd1;
            end
            if (fetch) begin
                read_pointer <= read_pointer + 2'd1;
            end
            shown <= fetch | (shown & !pop);
            if (push & !pop) begin
                words <= words + 3'd1;
            end
            if (pop & !push) begin
                words <= words - 3'd1;
            end
        end
    end
endmodule

