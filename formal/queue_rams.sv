// What takes the place of RAMs and FIFOs in the proof of the command queues. Of all queues one is
// followed, `tracked`, and of all buffers each; the FIFOs show what is inside in any order, when
// they like: so whatever holds with these holds with the real ones, as long as what is said to be
// inside once is pushed once, which the properties say.

// Queues that are to be looked at.
module sync_fifo_8_8_9 (
    input  wire       clk,
    input  wire       rst,
    input  wire       push_valid,
    output wire       push_ready,
    input  wire [7:0] push_data,
    output wire       pop_valid,
    input  wire       pop_ready,
    output wire [7:0] pop_data,
    output wire [8:0] level
);
    wire [7:0] tracked;
    reg inside;
    (* anyseq *) wire any;
    (* anyseq *) wire [7:0] oldest;
    assign push_ready = 1;
    assign level = 0;
    assign pop_valid = any && (oldest != tracked || inside);
    assign pop_data = oldest;
    always @(posedge clk) begin
        if (pop_valid && pop_ready && oldest == tracked) inside <= 0;
        if (push_valid && push_data == tracked) inside <= 1;
        if (rst) inside <= 0;
    end
endmodule

// Lines that arrived, one for each buffer at most; of the buffer `tracked` with what is in it.
module short_fifo_arrived_line_4 (
    input  wire        clk,
    input  wire        rst,
    input  wire        push_valid,
    output wire        push_ready,
    input  wire [36:0] push_data,
    output wire        pop_valid,
    input  wire        pop_ready,
    output wire [36:0] pop_data
);
    wire [3:0] tracked;
    reg [15:0] inside;
    reg [32:0] word;
    (* anyseq *) wire any;
    (* anyseq *) wire [36:0] oldest;
    assign push_ready = 1;
    assign pop_valid = any && inside[oldest[3:0]];
    assign pop_data = oldest[3:0] == tracked ? {word, tracked} : oldest;
    always @(posedge clk) begin
        if (pop_valid && pop_ready) inside[oldest[3:0]] <= 0;
        if (push_valid) inside[push_data[3:0]] <= 1;
        if (push_valid && push_data[3:0] == tracked) word <= push_data[36:4];
        if (rst) inside <= 0;
    end
endmodule

// Commands that are complete: those of the queue `tracked` are counted.
module short_fifo_completed_command_2 (
    input  wire        clk,
    input  wire        rst,
    input  wire        push_valid,
    output wire        push_ready,
    input  wire [98:0] push_data,
    output wire        pop_valid,
    input  wire        pop_ready,
    output wire [98:0] pop_data
);
    wire [7:0] tracked;
    reg [2:0] count;
    (* anyseq *) wire any, room;
    (* anyseq *) wire [98:0] oldest;
    assign push_ready = room && count != 4;
    assign pop_valid = any && (oldest[7:0] != tracked || count != 0);
    assign pop_data = oldest;
    wire comes = push_valid && push_ready && push_data[7:0] == tracked;
    wire leaves = pop_valid && pop_ready && oldest[7:0] == tracked;
    always @(posedge clk) begin
        count <= count + comes - leaves;
        if (rst) count <= 0;
    end
endmodule

// Commands that wait for harts, one for each buffer at most; that of the buffer `tracked` as it was
// staged.
module short_fifo_staged_command_3 (
    input  wire        clk,
    input  wire        rst,
    input  wire        push_valid,
    output wire        push_ready,
    input  wire [43:0] push_data,
    output wire        pop_valid,
    input  wire        pop_ready,
    output wire [43:0] pop_data
);
    wire [3:0] tracked;
    reg [15:0] inside;
    reg [43:0] word;
    (* anyseq *) wire any;
    (* anyseq *) wire [43:0] oldest;
    assign push_ready = 1;
    assign pop_valid = any && inside[oldest[3:0]];
    assign pop_data = oldest[3:0] == tracked ? word : oldest;
    always @(posedge clk) begin
        if (pop_valid && pop_ready) inside[oldest[3:0]] <= 0;
        if (push_valid) inside[push_data[3:0]] <= 1;
        if (push_valid && push_data[3:0] == tracked) word <= push_data;
        if (rst) inside <= 0;
    end
endmodule

// The queue of each buffer: whether it is the one that is followed.
module ram_async_8_4 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [3:0] write_address,
    input  wire [7:0] write_data,
    input  wire [3:0] read_address,
    output wire [7:0] read_data
);
    wire [7:0] tracked;
    reg [15:0] is_its;
    (* anyseq *) wire [7:0] other;
    assign read_data = is_its[read_address] ? tracked : other == tracked ? ~tracked : other;
    always @(posedge clk) if (write_enable) is_its[write_address] <= write_data == tracked;
endmodule
