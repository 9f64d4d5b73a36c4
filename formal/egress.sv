// Egress is a source of an AXI4-Stream that keeps the protocol; every packet is sent whole, to the
// port of its verdict, or passed over, once and in order; and no tag of a read is in use twice.
//
// The packet at one place of the queue of packets is followed, whichever, and one tag, whichever.
// The memory answers what it was asked, in any order; the lines and verdicts that it gives are any.
module egress_formal (
    input wire         clk,
    input wire         rst,
    input wire         enable,
    input wire [31:0]  ring_base,
    input wire [4:0]   ring_slots_log2,
    input wire [4:0]   slot_bytes_log2,
    input wire [31:0]  verdict_base,
    input wire [31:0]  committed,
    input wire         read_ready,
    input wire         response_valid,
    input wire [6:0]   response_tag,
    input wire [511:0] response_data,
    input wire         response_error,
    input wire         tready
);
    wire         read_valid, tvalid, tlast, idle;
    wire [25:0]  read_line;
    wire [6:0]   read_tag;
    wire [511:0] tdata;
    wire [63:0]  tkeep;
    wire [31:0]  tuser, freed, frames, bytes;
    egress dut (
        .clk(clk), .rst(rst), .enable(enable), .ring_ring_base(ring_base), .ring_ring_slots_log2(ring_slots_log2),
        .ring_slot_bytes_log2(slot_bytes_log2), .ring_verdict_base(verdict_base), .committed(committed), .read_valid(read_valid),
        .read_ready(read_ready), .read_line(read_line), .read_tag(read_tag), .read_response_valid(response_valid),
        .read_response_tag(response_tag), .read_response_data(response_data), .read_response_error(response_error), .tx_tvalid(tvalid),
        .tx_tready(tready), .tx_tdata(tdata), .tx_tkeep(tkeep), .tx_tlast(tlast), .tx_tuser(tuser), .freed(freed),
        .idle(idle), .counters_frames_out(frames), .counters_bytes_out(bytes)
    );

    `include "start.vh"

    axi4_stream_checker #(.DATA(512), .USER(32)) stream (
        .clk(clk), .rst(rst), .started(started), .max_beats(16'd1 << (slot_bytes_log2 - 6)), .tdata(tdata), .tkeep(tkeep),
        .tuser(tuser), .tlast(tlast), .tvalid(tvalid), .tready(tready)
    );
    (* hierconn *) wire [15:0] \stream.beats ;

    // Queues of the unit: packets from their verdict on, those of unknown length, those of known
    // length; lines behind line 0, and lines of verdicts.
    (* hierconn *) wire [3:0] \dut.slots.packets.head ;
    (* hierconn *) wire [3:0] \dut.slots.packets.tail ;
    (* hierconn *) wire \dut.slots.packets.all_used ;
    (* hierconn *) wire [3:0] \dut.slots.to_measure.head ;
    (* hierconn *) wire [3:0] \dut.slots.to_measure.tail ;
    (* hierconn *) wire \dut.slots.to_measure.all_used ;
    (* hierconn *) wire [3:0] \dut.slots.measured.head ;
    (* hierconn *) wire [3:0] \dut.slots.measured.tail ;
    (* hierconn *) wire \dut.slots.measured.all_used ;
    (* hierconn *) wire [4:0] \dut.slots.bodies.head ;
    (* hierconn *) wire [4:0] \dut.slots.bodies.tail ;
    (* hierconn *) wire \dut.slots.bodies.all_used ;
    (* hierconn *) wire [1:0] \dut.verdicts.lines.head ;
    (* hierconn *) wire [1:0] \dut.verdicts.lines.tail ;
    (* hierconn *) wire \dut.verdicts.lines.all_used ;
    wire [3:0] packets_level = \dut.slots.packets.tail - \dut.slots.packets.head ;
    wire [3:0] to_measure_level = \dut.slots.to_measure.tail - \dut.slots.to_measure.head ;
    wire [3:0] measured_level = \dut.slots.measured.tail - \dut.slots.measured.head ;
    wire [4:0] bodies_level = \dut.slots.bodies.tail - \dut.slots.bodies.head ;
    wire [1:0] lines_level = \dut.verdicts.lines.tail - \dut.verdicts.lines.head ;
    wire [4:0] packets = {\dut.slots.packets.all_used , packets_level};
    wire [4:0] to_measure = {\dut.slots.to_measure.all_used , to_measure_level};
    wire [4:0] measured = {\dut.slots.measured.all_used , measured_level};
    wire [5:0] bodies = {\dut.slots.bodies.all_used , bodies_level};
    wire [2:0] lines = {\dut.verdicts.lines.all_used , lines_level};

    (* hierconn *) wire [15:0] \dut.slots.head_arrived ;
    (* hierconn *) wire [31:0] \dut.slots.body_arrived ;
    (* hierconn *) wire [3:0] \dut.verdicts.arrived ;
    (* hierconn *) wire [9:0] \dut.slots.following ;
    (* hierconn *) wire [271:0] \dut.slots.packet_bytes.all ;
    (* hierconn *) wire \dut.slots_verdict_ready ;
    (* hierconn *) wire \dut.verdicts_verdict_valid ;
    (* hierconn *) wire [31:0] \dut.verdicts_verdict_value ;
    (* hierconn *) wire \dut.follow ;
    (* hierconn *) wire \dut.slots_line_valid ;
    (* hierconn *) wire \dut.slots_line_start ;
    (* hierconn *) wire \dut.sender_line_ready ;
    (* hierconn *) wire [16:0] \dut.slots_line_frame_bytes ;
    (* hierconn *) wire [30:0] \dut.slots_line_frame_port ;
    (* hierconn *) wire \dut.slots.pass ;
    (* hierconn *) wire \dut.sender.open ;
    (* hierconn *) wire \dut.sender.flush ;
    (* hierconn *) wire [16:0] \dut.sender.left ;
    (* hierconn *) wire [16:0] \dut.sender.length ;
    (* hierconn *) wire [30:0] \dut.sender.port ;

    // The sizes change only while nothing is inside.
    reg was_resting;
    reg [4:0] was_slot_bytes;
    wire [16:0] capacity = (17'd1 << slot_bytes_log2) - 17'd18;
    always @* begin
        assume (slot_bytes_log2 >= 7 && slot_bytes_log2 <= 16);
        if (started) assume (slot_bytes_log2 == was_slot_bytes || was_resting);
`ifdef MUTANT
        // Three committed packets in small slots.
        assume (enable && committed == 3 && slot_bytes_log2 == 7 && ring_slots_log2 == 4 && ring_base == 0 && verdict_base == 0);
        assume (response_data[511:128] == 0);
`endif
    end

    // The followed tag: read and not answered.
    (* anyconst *) reg [6:0] tag;
    reg asked;
    wire ask = read_valid && read_ready && read_tag == tag;
    wire answer = response_valid && response_tag == tag;
    always @* begin
        if (answer) assume (asked);
        // No other tag was ever read: tag_is_known, below.
        if (response_valid) assume (response_tag < 52);
    end

    // The followed place, and the verdict of the packet in it.
    (* anyconst *) reg [3:0] place;
    (* hierconn *) wire [3:0] \dut.slots.packet_passes.tracked ;
    (* hierconn *) wire [3:0] \dut.slots.packet_port.tracked ;
    assign \dut.slots.packet_passes.tracked = place;
    assign \dut.slots.packet_port.tracked = place;
    (* hierconn *) wire \dut.slots.packet_passes.word ;
    (* hierconn *) wire [30:0] \dut.slots.packet_port.word ;
    reg [31:0] verdict;
    wire accept = \dut.verdicts_verdict_valid && \dut.slots_verdict_ready ;
    wire [3:0] unmeasured_ahead = place - \dut.slots.to_measure.head ;
    wire [3:0] measured_ahead = place - \dut.slots.measured.head ;
    wire unmeasured_here = {1'b0, unmeasured_ahead} < to_measure;
    wire measured_here = {1'b0, measured_ahead} < measured;
    wire hand_out = \dut.slots_line_valid && \dut.slots_line_start && \dut.sender_line_ready ;

    // The next packet; the frame that is handed to the stream: its bytes, and those of the frame
    // that the beat on offer is of.
    reg [31:0] next;
    reg [31:0] frames_begun, frames_passed, beats_last;
    reg [16:0] length, out_length;
    reg [30:0] port, out_port;
    reg [32:0] read;
    reg skipped_one, several;
    always @(posedge clk) begin
        was_resting <= !enable && idle;
        was_slot_bytes <= slot_bytes_log2;
        if (ask) asked <= 1;
        else if (answer) asked <= 0;
        if (accept && \dut.slots.packets.tail == place) verdict <= \dut.verdicts_verdict_value ;
        next <= \dut.follow ? committed : next + accept;
        if (hand_out) begin
            length <= \dut.slots_line_frame_bytes ;
            port <= \dut.slots_line_frame_port ;
        end
        // A beat that enters the output is of the frame that was handed out before this edge.
        if (!tvalid || tready) {out_length, out_port} <= {length, port};
        frames_begun <= frames_begun + hand_out;
        frames_passed <= frames_passed + \dut.slots.pass ;
        beats_last <= beats_last + (tvalid && tready && tlast);
        held_read <= read_valid && !read_ready;
        read <= {read_line, read_tag};
        skipped_one <= skipped_one || \dut.slots.pass ;
        several <= several || (tvalid && tready && tlast && \stream.beats == 2);
        if (rst) begin
            asked <= 0;
            next <= 0;
            {frames_begun, frames_passed, beats_last} <= 0;
            held_read <= 0;
            was_resting <= 1;
            {skipped_one, several} <= 0;
        end
    end

    // Beats of the open frame that were offered or taken.
    wire [16:0] offered = !tvalid ? {1'b0, \stream.beats } : tlast ? 17'd0 : \stream.beats + 17'd1;
    wire [63:0] last_keep = out_length[5:0] == 0 ? ~64'd0 : ~(~64'd0 << out_length[5:0]);
    wire [16:0] last_beats = (out_length + 17'd63) >> 6;
    wire [17:0] behind = (\dut.sender.left + 18'd17) >> 6;
    wire waits = (read_valid && read_tag == tag) || asked;
    wire [4:0] body_ahead = tag[4:0] - \dut.slots.bodies.head ;
    wire [3:0] head_ahead = tag[3:0] - \dut.slots.to_measure.head ;
    wire [1:0] line_ahead = tag[1:0] - \dut.verdicts.lines.head ;
    wire tag_waits = !tag[6] && (
        !tag[5] ? {1'b0, body_ahead} < bodies && !\dut.slots.body_arrived [tag[4:0]]
        : !tag[4] ? {1'b0, head_ahead} < to_measure && !\dut.slots.head_arrived [tag[3:0]]
        : tag[3:2] == 0 && {1'b0, line_ahead} < lines && !\dut.verdicts.arrived [tag[1:0]]);

    // Bytes of the packets of known length are in range.
    reg lengths_in_range;
    integer i;
    always @* begin
        lengths_in_range = 1;
        for (i = 0; i < 16; i = i + 1)
            if ({1'b0, i[3:0] - \dut.slots.measured.head } < measured && \dut.slots.packet_bytes.all [17*i +: 17] > capacity)
                lengths_in_range = 0;
    end

    always @(posedge clk) if (started && !rst) begin
        // A frame has its bytes: full beats, and what is left in the last one. It goes to one port.
        if (tvalid) last_beat_is_exact: assert (tlast == (\stream.beats + 1 == last_beats));
        if (tvalid && tlast) last_bytes_are_exact: assert (tkeep == last_keep);
        if (tvalid) port_is_kept: assert (tuser[30:0] == out_port);
        // Each packet is sent or passed over: to the port of its verdict, and not at all if that is
        // none.
        if (hand_out && \dut.slots.measured.head == place) sent_to_the_port: assert (
            !verdict[31] && \dut.slots_line_frame_port == verdict[30:0]);
        // Its slot is free when it was handed out or passed over, in the order of the packets.
        freed_in_order: assert (freed == next - packets - (\dut.slots.following != 0));
        every_frame_counted: assert (frames == beats_last + (tvalid && tlast));
        every_frame_sent: assert (frames_begun == frames + \dut.sender.open );
        // Reads hold still until they are taken, and a tag is in use once.
        if (held_read) read_is_stable: assert (read_valid && {read_line, read_tag} == read);
        if (ask) tag_is_free: assert (!asked);
        if (read_valid) tag_is_known: assert (read_tag < 52);

        // What the induction needs to know of the state.
        state_queues: assert (\dut.slots.packets.head == \dut.slots.measured.head
            && \dut.slots.measured.tail == \dut.slots.to_measure.head
            && \dut.slots.to_measure.tail == \dut.slots.packets.tail && packets == 6'd0 + to_measure + measured
            && packets <= 16 && to_measure <= 16 && measured <= 16 && bodies <= 32 && lines <= 4);
        state_lengths: assert (lengths_in_range);
        if (unmeasured_here) state_unmeasured: assert (\dut.slots.packet_passes.word == verdict[31]);
        if (measured_here && verdict[31]) state_passed: assert (\dut.slots.packet_bytes.all [17*place +: 17] == 0);
        if (measured_here || unmeasured_here) state_port: assert (\dut.slots.packet_port.word == verdict[30:0]);
        state_tag: assert (waits == tag_waits && !((read_valid && read_tag == tag) && asked));
        // The lines still to come for the frame that is being sent.
        state_open: assert (\dut.sender.open ? {6'd0, \dut.slots.following } == (\dut.sender.flush ? 16'd0 : behind)
            && (\dut.sender.flush ? \dut.sender.left <= 46 : \dut.sender.left > 46)
            : \dut.slots.following == 0);
        if (\dut.sender.open ) state_left: assert (\dut.sender.left != 0 && \dut.sender.length <= capacity
            && \dut.sender.left + {offered, 6'd0} == \dut.sender.length
            && \dut.sender.length == length && \dut.sender.port == port);
        if (!\dut.sender.open ) state_closed: assert (!tvalid || tlast);
        if (!tvalid && !\dut.sender.open ) state_between: assert (\stream.beats == 0);
        if (tvalid && !tlast) state_same_frame: assert ({out_length, out_port} == {length, port} && \dut.sender.open );
        if (tvalid) state_out: assert (out_length != 0 && out_length <= capacity);

        three_beats_after_a_packet_passed_over: cover (several && skipped_one && tkeep == 64'h3 && tvalid && tlast);
        back_to_back: cover (tvalid && tready && tlast && \dut.sender.open && \stream.beats == 1);
    end
endmodule

// The RAM of the packets' lengths, all of whose words can be seen.
module ram_async_17_4 (
    input wire clk, input wire write_enable, input wire [3:0] write_address, input wire [16:0] write_data,
    input wire [3:0] read_address, output wire [16:0] read_data
);
    reg [271:0] all;
    always @(posedge clk) if (write_enable) all[17*write_address +: 17] <= write_data;
    assign read_data = all[17*read_address +: 17];
endmodule
