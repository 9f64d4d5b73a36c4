// The ring of a trace buffer: every entry is written while it records, exactly as many as were
// asked for after that of the trigger, and nothing behind the end of the recording.
module trace_ring_formal (
    input wire        clk,
    input wire        rst,
    input wire        arm,
    input wire        stop,
    input wire        entry,
    input wire        hit,
    input wire [15:0] after
);
    wire        write, fires, recording, triggered;
    wire [47:0] count, trigger_entry;
    trace_ring dut (
        .clk(clk), .rst(rst), .arm(arm), .stop(stop), .entry(entry), .hit(hit), .after(after), .write(write), .fires(fires),
        .recording(recording), .triggered(triggered), .count(count), .trigger_entry(trigger_entry)
    );
    (* hierconn *) wire [15:0] \dut.left ;

    `include "start.vh"

    // Whether it records, and whether the trigger has fired since `arm`; entries since then; the
    // number of the trigger's, the entries that were asked for behind it, and those that were
    // written.
    reg        open, fired;
    reg [47:0] written, at;
    reg [15:0] asked, since;
    wire [15:0] now = since + 1;
    always @(posedge clk) begin
        if (write) written <= written + 1;
        if (fires) begin
            {fired, at, asked, since} <= {1'b1, written, after, 16'd0};
            if (after == 0) open <= 0;
        end else if (write && fired) begin
            since <= now;
            if (now == asked) open <= 0;
        end
        if (stop) open <= 0;
        if (arm) {open, fired, written} <= {1'b1, 1'b0, 48'd0};
        if (rst) {open, fired, written} <= 0;
    end

    always @(posedge clk) if (started && !rst) begin
        state_left: assert (!(open && fired) || (\dut.left == asked - since && since < asked));
        // It records from `arm` on, until `stop` or the last entry that was asked for.
        records_until_the_end: assert (recording == open);
        nothing_is_lost: assert (!(recording && entry) || write);
        nothing_behind_the_end: assert (recording || !write);
        only_what_happens: assert (!write || entry || fires);
        fires_at_the_first: assert (fires == (recording && hit && !fired));
        fires_with_an_entry: assert (!fires || write);
        counts_the_entries: assert (count == written);
        trigger_is_told: assert (triggered == fired && (!fired || trigger_entry == at));
        as_many_as_asked: assert (!fired || since <= asked);

        ends_by_itself: cover (fired && since == 3 && asked == 3 && !recording && at == 2);
        ends_at_the_trigger: cover (fired && asked == 0 && !recording && at == 1);
        begins_anew: cover (recording && fired && since == 1 && arm);
        is_stopped: cover (recording && fired && since == 1 && stop && entry);
    end
endmodule
