// 4 words of 16 bits, one write port, one registered read port: block RAM.
module ram_sync_16_2 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [1:0]  write_address,
    input  wire [15:0] write_data,
    input  wire        read_enable,
    input  wire [1:0]  read_address,
    output wire [15:0] read_data
);

    reg [15:0] words [0:3];
    reg [15:0] data;
    always @(posedge clk) begin
        if (read_enable) data <= words[read_address];
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = data;
endmodule

// 4 words of 1 bits, one write port, one combinational read port: distributed RAM.
module ram_async_1_2 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [1:0] write_address,
    input  wire       write_data,
    input  wire [1:0] read_address,
    output wire       read_data
);

    reg [0:0] words [0:3];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// Queue of `2^A` issued warps (1,024 in the array: `DelayCommitQueue<10>`).
//
// 1. An entry is allocated at the tail; `allocate_index` names it in the same cycle.
//    `allocate_ready` is low while the queue is full. In the first `2^A` allocations after reset
//    it is low too while `done_valid` is high, so that both share the write port of the flags.
// 2. `done_valid` marks the entry `done_index` as finished, at most once for each allocation and
//    not in the cycle of the allocation. It is always accepted.
// 3. The entry at the head leaves in the first cycle in which it is known as finished, which is at
//    the earliest the cycle after `done_valid`; the `commit_` outputs report it in the cycle after
//    that, for one cycle. One entry a cycle leaves while finished ones stand at the head.
// 4. `commit_packet` sums the counts of all warps committed before, from 0 after reset, modulo
//    2^32.
//
// A flag is not a plain "done": it holds the lap (odd or even) in which its entry was last
// finished, and the head compares it with its own lap. Thus allocation need not clear flags, and
// they fit one RAM with one write and one read port; only in the first lap allocation writes them,
// as their contents are undefined.
module delay_commit_queue (
    input  wire        clk,             // Rising-edge clock
    input  wire        rst,             // Synchronous reset, active high: empties the queue
    input  wire        allocate_valid,  // From the warp issue: a warp is issued
    output wire        allocate_ready,  // To the warp issue: an entry is free
    input  wire [4:0]  allocate_core,   // Core of the warp
    input  wire [4:0]  allocate_slot,   // Slot of the warp
    input  wire [5:0]  allocate_count,  // Packets of the warp
    output wire [1:0]  allocate_index,  // To the lookup tables: the entry that an allocation in this cycle gets
    input  wire        done_valid,      // From the finish arbiter: a warp finished
    input  wire [1:0]  done_index,      // Its entry
    output wire        commit_valid,    // A warp commits in this cycle
    output wire [4:0]  commit_core,     // Core of the warp; undefined, as the slot and the count, while commit_valid is low
    output wire [4:0]  commit_slot,     // Slot of the warp
    output wire [31:0] commit_packet,
    output wire [5:0]  commit_count     // Packets of the warp
);

    wire room;
    wire allocate;
    wire done_lap;
    wire leave;
    wire [15:0] warp;
    wire flags_write_enable;
    reg  [1:0] flags_write_address;
    reg  flags_write_data;
    wire flags_read_data;
    reg  [1:0] head;
    reg  head_lap;
    reg  [1:0] tail;
    reg  tail_lap;
    reg  first_lap;
    reg  committing;
    reg  [31:0] packets;

    assign room = ((head != tail) | (head_lap == tail_lap)) & !(first_lap & done_valid);
    assign allocate_ready = room;
    assign allocate_index = tail;
    assign allocate = allocate_valid & room;
    assign done_lap = head_lap ^ (done_index < head);
    assign flags_write_enable = done_valid | (allocate & first_lap);

    always @* begin
        flags_write_address = tail;
        flags_write_data = 1'b1;
        if (done_valid) begin
            flags_write_address = done_index;
            flags_write_data = done_lap;
        end
    end

    assign leave = (flags_read_data == head_lap) & ((head != tail) | (head_lap != tail_lap));
    assign commit_valid = committing;
    assign commit_core = warp[4:0];
    assign commit_slot = warp[9:5];
    assign commit_count = warp[15:10];
    assign commit_packet = packets;

    ram_sync_16_2 warps (
        .clk(clk),
        .write_enable(allocate),
        .write_address(tail),
        .write_data({allocate_count, allocate_slot, allocate_core}),
        .read_enable(leave),
        .read_address(head),
        .read_data(warp)
    );

    ram_async_1_2 flags (
        .clk(clk),
        .write_enable(flags_write_enable),
        .write_address(flags_write_address),
        .write_data(flags_write_data),
        .read_address(head),
        .read_data(flags_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            head <= 2'd0;
            head_lap <= 1'b0;
            tail <= 2'd0;
            tail_lap <= 1'b0;
            first_lap <= 1'b1;
            committing <= 1'b0;
            packets <= 32'd0;
        end else begin
            if (allocate) begin
                tail <= tail + 2'd1;
                if (&tail) begin
                    tail_lap <= !tail_lap;
                    first_lap <= 1'b0;
                end
            end
            if (leave) begin
                head <= head + 2'd1;
                if (&head) begin
                    head_lap <= !head_lap;
                end
            end
            committing <= leave;
            if (committing) begin
                packets <= packets + {26'd0, warp[15:10]};
            end
        end
    end
endmodule

