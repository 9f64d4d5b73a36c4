// A lane passes through window 0 exactly in the slots of the packets of its warp, whichever
// instruction is in which stage and however long they stand, and not where its function may not
// load, or store.
//
// The unit is what finds the slots, the window and the region of one lane, connected as in a core
// (rtl/examples/emit-units.rs). The registers of the ring stand, from a cycle before the first
// instruction on, and no warp crosses its end.
module packet_window_formal (
    input wire        clk,
    input wire        rst,
    input wire        advance,
    input wire [31:0] packet,
    input wire [5:0]  count,
    input wire        store,
    input wire [31:0] immediate,
    input wire [31:0] operand
);
    localparam [4:0] RING_SLOTS_LOG2 = 5;
    localparam [4:0] SLOT_BYTES_LOG2 = 11;
    (* anyconst *) reg [31:0] ring_base;
    (* anyconst *) reg        may_load;
    (* anyconst *) reg        may_store;
    wire is_inside;
    packet_check dut (
        .clk(clk), .rst(rst), .advance(advance), .ring_base(ring_base), .ring_slots_log2(RING_SLOTS_LOG2),
        .slot_bytes_log2(SLOT_BYTES_LOG2), .may_load(may_load), .may_store(may_store), .packet(packet), .count(count),
        .store(store), .immediate(immediate), .operand(operand), .is_inside(is_inside)
    );

    (* hierconn *) wire [25:0] \dut.packets.last_place ;
    (* hierconn *) wire [4:0]  \dut.packets.slot_lines_log2 ;
    (* hierconn *) wire        \dut.packets.has_lines ;
    (* hierconn *) wire [25:0] \dut.packets.offset_d ;
    (* hierconn *) wire [25:0] \dut.packets.size_d ;
    (* hierconn *) wire [25:0] \dut.window.read_first ;
    (* hierconn *) wire [26:0] \dut.window.read_end ;
    (* hierconn *) wire [25:0] \dut.window.write_first ;
    (* hierconn *) wire [26:0] \dut.window.write_end ;
    (* hierconn *) wire [26:0] \dut.window.from_base_x ;
    (* hierconn *) wire [26:0] \dut.window.from_end_x ;
    (* hierconn *) wire [31:0] \dut.immediate_x ;

    `include "start.vh"

    // What the registers of the ring may be, and the ring is in the address space.
    wire [63:0] ring_end = {32'd0, ring_base} + (64'd1 << (RING_SLOTS_LOG2 + SLOT_BYTES_LOG2));
    always @* begin
        assume (ring_base[5:0] == 0);
        assume (ring_end <= 64'h1_0000_0000);
    end
    wire [31:0] places = (32'd1 << RING_SLOTS_LOG2) - 1;
    wire [31:0] place = packet & places;
    always @* assume (count >= 1 && count <= 32 && place + count <= places + 1);

    // The bytes of the warp's packets, for the instructions in stages D, R and X.
    reg settled = 0;
    reg known_d = 0, known_r = 0, known_x = 0;
    reg [32:0] first_d, first_r, first_x, end_d, end_r, end_x;
    reg store_x;
    reg [31:0] immediate_x;
    always @(posedge clk) begin
        settled <= 1;
        if (advance) begin
            known_d <= settled;
            first_d <= ring_base + (place << SLOT_BYTES_LOG2);
            end_d <= {1'b0, ring_base} + ((place + count) << SLOT_BYTES_LOG2);
            known_r <= known_d;
            first_r <= first_d;
            end_r <= end_d;
            known_x <= known_r;
            first_x <= first_r;
            end_x <= end_r;
            store_x <= store;
            immediate_x <= immediate;
        end
        if (rst) begin
            settled <= 0;
            known_d <= 0;
            known_r <= 0;
            known_x <= 0;
            {first_d, end_d, first_r, end_r, first_x, end_x} <= 0;
        end
    end
    wire [31:0] address = operand + immediate_x;
    wire is_packet = address >= first_x && address < end_x;
    wire allowed = store_x ? may_store : may_load;

    always @* if (started && !rst) begin
        if (known_x) passes_in_its_packets: assert (!is_inside || is_packet);
        if (known_x) passes_where_allowed: assert (!is_inside || allowed);
        if (known_x && allowed) all_of_its_packets: assert (is_inside == is_packet);

        // What the induction needs to know of the state: what follows from the registers of the
        // ring, and the bounds of the instructions in D, R and X.
        if (settled) state_of_ring: assert (\dut.packets.last_place == places[25:0]
            && \dut.packets.slot_lines_log2 == SLOT_BYTES_LOG2 - 6 && \dut.packets.has_lines );
        if (known_d) state_in_d: assert (first_d[5:0] == 0 && end_d[5:0] == 0 && first_d < end_d && end_d <= 33'h1_0000_0000
            && \dut.packets.offset_d == first_d[31:6] - ring_base[31:6] && \dut.packets.size_d == end_d[32:6] - first_d[32:6]);
        if (known_r) state_in_r: assert (first_r[5:0] == 0 && end_r[5:0] == 0 && first_r < end_r && end_r <= 33'h1_0000_0000
            && \dut.window.read_first == first_r[31:6] && \dut.window.write_first == first_r[31:6]
            && \dut.window.read_end == (may_load ? end_r[32:6] : first_r[32:6])
            && \dut.window.write_end == (may_store ? end_r[32:6] : first_r[32:6]));
        if (known_x) state_in_x: assert (first_x[5:0] == 0 && end_x[5:0] == 0 && first_x < end_x && end_x <= 33'h1_0000_0000
            && \dut.immediate_x == immediate_x
            && \dut.window.from_base_x == {1'b0, immediate_x[31:6]} - first_x[32:6]
            && \dut.window.from_end_x == {1'b0, immediate_x[31:6]} - (allowed ? end_x[32:6] : first_x[32:6]));
    end

    always @* if (started && !rst) begin
        last_word:    cover (known_x && is_inside && address == end_x - 4);
        behind:       cover (known_x && !is_inside && allowed && address == end_x);
        closed_store: cover (known_x && !is_inside && is_packet && store_x && may_load);
    end
endmodule
