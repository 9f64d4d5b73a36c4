// Takes packet counts from the task FIFO and forms warps of packets with consecutive packetIdx.
//
// 1. A warp has `lanes` packets; it is formed as soon as that many wait.
// 2. A partial warp is formed when the oldest waiting packet has waited `timeout` cycles for
//    companions, or at once when `eager` and `idle_slot` are high and no formed warp waits for
//    issue. The wait is counted from the first cycle in which the packet is the oldest one of
//    `pending`; a count taken in cycle t by an idle former thus gives its partial warp at the
//    output in cycle t + 2 + `timeout`. The count stops at `timeout`.
// 3. Counts are taken while fewer than `2 * lanes` packets wait, whatever their value: no packet
//    is ever lost. A count of 0 has no effect.
// 4. No warp is formed while `run` is low; one that stands at the output stays there.
// 5. One warp a cycle at most. packetIdx starts at 0 after reset and wraps at 2^32.
module warp_former (
    input  wire        clk,          // Rising-edge clock
    input  wire        rst,          // Synchronous reset, active high
    input  wire        task_valid,   // From the task FIFO: a count is offered
    output wire        task_ready,   // To the task FIFO: the count is taken; depends on no input
    input  wire [31:0] task_count,   // From the task FIFO: packets that became ready
    input  wire        run,          // Register CONTROL, bit 0: warps are formed
    input  wire        eager,        // Register CONTROL, bit 1: partial warps are formed at once for idle slots
    input  wire [31:0] timeout,      // Register TIMEOUT, in cycles
    input  wire        idle_slot,    // From the warp issue: some core could take a warp now
    output wire        warp_valid,   // To the warp issue: a warp is formed
    input  wire        warp_ready,   // From the warp issue: it is taken
    output wire [31:0] warp_packet,  // packetIdx of the warp's first packet
    output wire [5:0]  warp_count,   // Packets of the warp, 1 to lanes
    output reg  [31:0] pending       // Packets that wait for a warp, at most 2^32 - 1 shown
);

    localparam [32:0] ENOUGH = 33'd4;
    localparam [5:0] LANES = 6'd4;
    localparam [32:0] PLENTY = 33'd8;
    wire take;
    wire full;
    wire some;
    wire expired;
    wire at_once;
    wire form;
    reg  [5:0] packets;
    reg  [32:0] left;
    reg  [32:0] waiting;
    reg  [31:0] age;
    reg  [31:0] next_packet;
    reg  formed;
    reg  [31:0] formed_packet;
    reg  [5:0] formed_count;

    assign task_ready = waiting < PLENTY;
    assign take = task_valid & (waiting < PLENTY);
    assign full = waiting >= ENOUGH;
    assign some = |waiting;
    assign expired = age >= timeout;
    assign at_once = eager & idle_slot & !formed;
    assign form = run & (!formed | warp_ready) & (full | (some & (expired | at_once)));

    always @* begin
        packets = waiting[5:0];
        if (full) begin
            packets = LANES;
        end
    end

    always @* begin
        left = waiting;
        if (form) begin
            left = waiting - {27'd0, packets};
        end
    end

    assign warp_valid = formed;
    assign warp_packet = formed_packet;
    assign warp_count = formed_count;

    always @* begin
        pending = waiting[31:0];
        if (waiting[32]) begin
            pending = 32'hffffffff;
        end
    end

    always @(posedge clk) begin
        if (rst) begin
            waiting <= 33'd0;
            age <= 32'd0;
            next_packet <= 32'd0;
            formed <= 1'b0;
            formed_packet <= 32'd0;
            formed_count <= 6'd0;
        end else begin
            waiting <= left;
            if (take) begin
                waiting <= left + {1'b0, task_count};
            end
            if (form | !some) begin
                age <= 32'd0;
            end else if (!expired) begin
                age <= age + 32'd1;
            end
            if (warp_ready) begin
                formed <= 1'b0;
            end
            if (form) begin
                formed <= 1'b1;
                formed_packet <= next_packet;
                formed_count <= packets;
                next_packet <= next_packet + {26'd0, packets};
            end
        end
    end
endmodule

