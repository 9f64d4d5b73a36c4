// 2 words of 9 bits, one write port, one combinational read port: distributed RAM.
module ram_sized_async_9_2 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [15:0] write_address,
    input  wire [8:0]  write_data,
    input  wire [15:0] read_address,
    output wire [8:0]  read_data
);

    reg [8:0] words [0:1];
    wire unused = &{1'b0, write_address[15:1], read_address[15:1]};
    always @(posedge clk) begin
        if (write_enable) words[write_address[0]] <= write_data;
    end
    assign read_data = words[read_address[0]];
endmodule

// Keeps a command from being evicted before it is fetched: one lock a set of a bank, and the choice
// of the place that the set gives up (ComP-Net, section 4.2.3).
//
// 1. A write of byte 1 of a line of a command ring by a core locks the line: its place is not chosen
//    as victim. If another line of the set is locked the write stays unlocked, and `refused` is high
//    in the next cycle. A further write to the locked line starts anew.
// 2. The lock ends when the command processor or the network interface reads the line, when the
//    place loses it, and with the 63rd miss in the set, after which `expired` is high in the next
//    cycle. So no line is held for ever, whoever wrote it.
// 3. Everything is about the place or the request that the bank looks at: the lock has one writer.
//    `victim`, `victim_changed` and `locked` answer the ports of the same cycle; what happens in a
//    cycle takes effect at its edge.
// 4. The victim is chosen as in a bank without locks: an empty place, else the one that is next in
//    the round, else any that is neither being fetched nor waiting for a write-back. If the locked
//    line is the only candidate, there is no victim: the request waits until the fetch or the
//    write-back of another place of the set is complete.
module l2_lock (
    input  wire        clk,             // Rising-edge clock
    input  wire        rst,             // Synchronous reset, active high; the bank clears all sets afterwards
    input  wire        enable,          // Writes to the rings lock their lines
    input  wire [25:0] base,            // Line address of the first queue area
    input  wire [25:0] mask,
    input  wire [15:0] set_,            // The set that the bank looks at
    input  wire [1:0]  turn,            // Next way in the round of the set
    input  wire [3:0]  present,         // A line is in the way of the set, or is being fetched
    input  wire [3:0]  fetching,        // It is being fetched
    input  wire [3:0]  changed,         // Bytes of it were written
    input  wire [3:0]  leaving,         // A line that was in the way is being written back
    input  wire [25:0] line,            // Line address of the request
    input  wire [4:0]  requester,       // Its requester
    input  wire        phase,           // It writes byte 1 of the line, which holds the phase of a command
    input  wire [3:0]  way,             // Way, one-hot, that the following happens to
    input  wire        written,         // The request writes the line
    input  wire        read,            // The request reads the line
    input  wire        missed,          // The line of the request takes the way
    input  wire        drop,            // The way becomes empty
    input  wire        clear,           // All ways of the set become empty
    output reg  [3:0]  victim,
    output reg         victim_changed,  // The line there must be written back
    output wire [3:0]  locked,          // Way, one-hot, of the locked line
    output wire        refused,         // In the cycle before, a write was refused the lock
    output wire        expired          // In the cycle before, a lock ended by the 63rd miss
);

    localparam [5:0] CORES = 6'd3;
    localparam [4:0] INDEX_0 = 5'd0;
    localparam [4:0] INDEX_1 = 5'd1;
    localparam [4:0] INDEX_2 = 5'd2;
    localparam [4:0] INDEX_3 = 5'd3;
    localparam [4:0] NETWORK = 5'd4;
    localparam [3:0] ONE_HOT_0 = 4'd1;
    localparam [3:0] ONE_HOT_1 = 4'd2;
    localparam [3:0] ONE_HOT_2 = 4'd4;
    localparam [3:0] ONE_HOT_3 = 4'd8;
    wire valid;
    wire [1:0] locked_way;
    wire [5:0] misses;
    reg  [3:0] locked_set;
    reg  [3:0] candidates;
    reg  [3:0] empty;
    wire by_core;
    wire by_reader;
    wire own;
    wire in_rings;
    wire wants;
    wire locks_line;
    wire unlocks;
    wire expires;
    wire locks_write_enable;
    reg  [8:0] locks_write_data;
    wire [8:0] locks_read_data;
    reg  refused_2;
    reg  expired_2;

    assign valid = locks_read_data[0];
    assign locked_way = locks_read_data[2:1];
    assign misses = locks_read_data[8:3];

    always @* begin
        locked_set = 4'd0;
        if (valid && ({3'd0, locked_way} == INDEX_0)) begin
            locked_set = ONE_HOT_0;
        end
        if (valid && ({3'd0, locked_way} == INDEX_1)) begin
            locked_set = ONE_HOT_1;
        end
        if (valid && ({3'd0, locked_way} == INDEX_2)) begin
            locked_set = ONE_HOT_2;
        end
        if (valid && ({3'd0, locked_way} == INDEX_3)) begin
            locked_set = ONE_HOT_3;
        end
    end

    assign locked = locked_set;

    always @* begin
        candidates = 4'd0;
        if (!(fetching[0] || (changed[0] && leaving[0]))) begin
            candidates = candidates | ONE_HOT_0;
        end
        if (!(fetching[1] || (changed[1] && leaving[1]))) begin
            candidates = candidates | ONE_HOT_1;
        end
        if (!(fetching[2] || (changed[2] && leaving[2]))) begin
            candidates = candidates | ONE_HOT_2;
        end
        if (!(fetching[3] || (changed[3] && leaving[3]))) begin
            candidates = candidates | ONE_HOT_3;
        end
    end

    always @* begin
        empty = 4'd0;
        if (!present[0]) begin
            empty = empty | ONE_HOT_0;
        end
        if (!present[1]) begin
            empty = empty | ONE_HOT_1;
        end
        if (!present[2]) begin
            empty = empty | ONE_HOT_2;
        end
        if (!present[3]) begin
            empty = empty | ONE_HOT_3;
        end
    end

    always @* begin
        victim = 4'd0;
        victim_changed = 1'b0;
        if (candidates[0] && !locked_set[0]) begin
            victim = ONE_HOT_0;
            victim_changed = changed[0];
        end
        if (candidates[1] && !locked_set[1]) begin
            victim = ONE_HOT_1;
            victim_changed = changed[1];
        end
        if (candidates[2] && !locked_set[2]) begin
            victim = ONE_HOT_2;
            victim_changed = changed[2];
        end
        if (candidates[3] && !locked_set[3]) begin
            victim = ONE_HOT_3;
            victim_changed = changed[3];
        end
        if (candidates[0] && !locked_set[0] && ({3'd0, turn} == INDEX_0)) begin
            victim = ONE_HOT_0;
            victim_changed = changed[0];
        end
        if (candidates[1] && !locked_set[1] && ({3'd0, turn} == INDEX_1)) begin
            victim = ONE_HOT_1;
            victim_changed = changed[1];
        end
        if (candidates[2] && !locked_set[2] && ({3'd0, turn} == INDEX_2)) begin
            victim = ONE_HOT_2;
            victim_changed = changed[2];
        end
        if (candidates[3] && !locked_set[3] && ({3'd0, turn} == INDEX_3)) begin
            victim = ONE_HOT_3;
            victim_changed = changed[3];
        end
        if (empty[0] && !locked_set[0]) begin
            victim = ONE_HOT_0;
            victim_changed = 1'b0;
        end
        if (empty[1] && !locked_set[1]) begin
            victim = ONE_HOT_1;
            victim_changed = 1'b0;
        end
        if (empty[2] && !locked_set[2]) begin
            victim = ONE_HOT_2;
            victim_changed = 1'b0;
        end
        if (empty[3] && !locked_set[3]) begin
            victim = ONE_HOT_3;
            victim_changed = 1'b0;
        end
    end

    assign by_core = {1'b0, requester} < CORES;
    assign by_reader = !by_core && (requester <= NETWORK);
    assign own = |(way & locked_set);
    assign in_rings = !(|((line ^ base) & mask));
    assign wants = enable && written && by_core && phase && in_rings;
    assign locks_line = wants && (!valid || own);
    assign unlocks = own && (drop || (read && by_reader));
    assign expires = valid && missed && (misses == 6'h3e);
    assign refused = refused_2;
    assign expired = expired_2;
    assign locks_write_enable = clear || locks_line || unlocks || (valid && missed);

    always @* begin
        locks_write_data = 9'd0;
        if (locks_line) begin
            locks_write_data = 9'd1;
            if (way[0]) begin
                locks_write_data = 9'd1;
            end
            if (way[1]) begin
                locks_write_data = 9'd3;
            end
            if (way[2]) begin
                locks_write_data = 9'd5;
            end
            if (way[3]) begin
                locks_write_data = 9'd7;
            end
        end else if (!unlocks && !expires) begin
            locks_write_data = locks_read_data + 9'd8;
        end
        if (clear) begin
            locks_write_data = 9'd0;
        end
    end

    ram_sized_async_9_2 locks (
        .clk(clk),
        .write_enable(locks_write_enable),
        .write_address(set_),
        .write_data(locks_write_data),
        .read_address(set_),
        .read_data(locks_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            refused_2 <= 1'b0;
            expired_2 <= 1'b0;
        end else begin
            refused_2 <= wants && valid && !own;
            expired_2 <= expires;
        end
    end
endmodule

