// The lookup table gives back what was written last.
module lookup_table_formal (
    input wire       clk,
    input wire       write,
    input wire [4:0] write_slot,
    input wire [1:0] write_index,
    input wire [4:0] read_slot
);
    wire [1:0] read_index;
    (* anyconst *) reg [4:0] slot;
    lookup_table dut (
        .clk(clk), .write(write), .write_slot(write_slot), .write_index(write_index), .read_slot(read_slot),
        .read_index(read_index)
    );
    reg written = 0;
    reg [1:0] index;
    always @(posedge clk) if (write && write_slot == slot) begin
        written <= 1;
        index <= write_index;
    end
    always @(posedge clk) begin
        if (written && read_slot == slot) last_written: assert (read_index == index);

        rewritten: cover (written && write && write_slot == slot && write_index != index);
    end
endmodule
