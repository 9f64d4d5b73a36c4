// The packet index of a commit is the number of packets that committed before.
module commit_sum_formal (
    input wire       clk,
    input wire       rst,
    input wire       allocate_valid,
    input wire [5:0] allocate_count,
    input wire       done_valid,
    input wire [1:0] done_index
);
    wire        commit_valid;
    wire [5:0]  commit_count;
    wire [31:0] commit_packet;
    delay_commit_queue dut (
        .clk(clk), .rst(rst), .allocate_valid(allocate_valid), .allocate_core(5'd0), .allocate_slot(5'd0),
        .allocate_count(allocate_count), .done_valid(done_valid), .done_index(done_index), .commit_valid(commit_valid),
        .commit_packet(commit_packet), .commit_count(commit_count)
    );

    `include "start.vh"

    reg [31:0] committed;
    always @(posedge clk) begin
        if (commit_valid) committed <= committed + commit_count;
        if (rst) committed <= 0;
    end

    always @(posedge clk) if (started && !rst) begin
        packet_is_the_sum: assert (commit_packet == committed);

        some_packets: cover (commit_valid && committed == 33);
    end
endmodule
