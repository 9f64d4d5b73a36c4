// The commands that are under way: a place holds one command from its write until its release, with what was written, then and when it
// began; places that are free, and only those, are given out; none is lost.
//
// Of all commands one is followed, in whichever place. Resets come at any time.
module ram_async_24_3 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [2:0]  write_address,
    input  wire [23:0] write_data,
    input  wire [2:0]  read_address,
    output wire [23:0] read_data
);
    wire [2:0] tracked;
    reg [23:0] word;
    (* anyseq *) wire [23:0] other;
    always @(posedge clk) if (write_enable && write_address == tracked) word <= write_data;
    assign read_data = read_address == tracked ? word : other;
endmodule

module ram_async_3_3 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [2:0] write_address,
    input  wire [2:0] write_data,
    input  wire [2:0] read_address,
    output wire [2:0] read_data
);
    wire [2:0] tracked;
    reg [2:0] word;
    (* anyseq *) wire [2:0] other;
    always @(posedge clk) if (write_enable && write_address == tracked) word <= write_data;
    assign read_data = read_address == tracked ? word : other;
endmodule

module ram_sync_work_entry_3 #(parameter WIDTH = 224) (
    input  wire             clk,
    input  wire             write_enable,
    input  wire [2:0]       write_address,
    input  wire [WIDTH-1:0] write_data,
    input  wire             read_enable,
    input  wire [2:0]       read_address,
    output reg  [WIDTH-1:0] read_data
);
    wire [2:0] tracked;
    reg [WIDTH-1:0] word;
    (* anyseq *) wire [WIDTH-1:0] other;
    always @(posedge clk) begin
        if (write_enable && write_address == tracked) word <= write_data;
        if (read_enable) read_data <= read_address == tracked ? word : other;
    end
endmodule

module work_table_formal (
    input wire              clk,
    input wire              rst,
    input wire              write,
    input wire [223:0]      entry,
    input wire              begin_,
    input wire [2:0]        begin_place,
    input wire [23:0]       first,
    input wire              link,
    input wire [2:0]        link_from,
    input wire [2:0]        link_to,
    input wire              read,
    input wire [2:0]        read_place,
    input wire [2:0]        at,
    input wire              release_
);
    wire has_room;
    wire [2:0] free, next_place;
    wire [224-1:0] found;
    wire [23:0] first_found;
    work_table dut (
        .clk(clk), .rst(rst), .has_room(has_room), .free(free), .write(write), .entry(entry), .begin_(begin_), .begin_place(begin_place),
        .first(first), .link(link), .link_from(link_from), .link_to(link_to), .read(read), .read_place(read_place), .found(found), .at(at),
        .first_found(first_found), .next_place(next_place), .release_(release_)
    );
    (* hierconn *) wire [7:0] \dut.used ;
    (* hierconn *) wire [2:0] \dut.firsts.tracked ;
    (* hierconn *) wire [2:0] \dut.links.tracked ;
    (* hierconn *) wire [2:0] \dut.entries.tracked ;
    (* hierconn *) wire [23:0] \dut.firsts.word ;
    (* hierconn *) wire [2:0] \dut.links.word ;
    (* hierconn *) wire [224-1:0] \dut.entries.word ;
    (* anyconst *) reg [2:0] chosen;
    assign \dut.firsts.tracked = chosen;
    assign \dut.links.tracked = chosen;
    assign \dut.entries.tracked = chosen;

    `include "start.vh"

    // The places where a command is, and how many there are.
    reg [7:0] taken;
    reg [3:0] count;
    // What stands in the followed place, the number that it began with, which command is behind it, and whether the last read was of it.
    reg [224-1:0] its_entry;
    reg [23:0] its_first;
    reg [2:0] its_next;
    reg begun, linked, shown;

    // The contract of the owner: a write with room, a release of a command that is there, and not both at once.
    always @* begin
        if (write) assume (has_room);
        if (release_) assume (taken[at] && !write);
        if (link) assume (taken[link_from]);
        if (begin_) assume (taken[begin_place] || (write && begin_place == free));
    end

    always @(posedge clk) begin
        if (write) taken[free] <= 1;
        if (release_) taken[at] <= 0;
        count <= count + write - release_;
        if (write && free == chosen) begin
            its_entry <= entry;
            begun <= 0;
            linked <= 0;
        end
        if (begin_ && begin_place == chosen) begin
            its_first <= first;
            begun <= 1;
        end
        if (link && link_from == chosen) begin
            its_next <= link_to;
            linked <= 1;
        end
        if (read) shown <= read_place == chosen && taken[chosen];
        else if (write && free == chosen) shown <= 0;
        if (rst) begin
            taken <= 0;
            count <= 0;
            begun <= 0;
            linked <= 0;
            shown <= 0;
        end
    end

    reg was_full;
    always @(posedge clk) was_full <= !rst && (was_full || count == 8);

    wire [3:0] ones = taken[0] + taken[1] + taken[2] + taken[3] + taken[4] + taken[5] + taken[6] + taken[7];
    always @(posedge clk) if (started && !rst) begin
        state_used: assert (\dut.used == taken);
        state_count: assert (count == ones);
        state_entry: assert (!taken[chosen] || (\dut.entries.word == its_entry && (!begun || \dut.firsts.word == its_first)));
        state_link: assert (!taken[chosen] || !linked || \dut.links.word == its_next);
        // There is room exactly while fewer than eight commands are there: no place is lost, and none is used twice.
        room_is_exact: assert (has_room == (count != 8));
        free_is_free: assert (!has_room || !taken[free]);
        // A command reads as it was written, and its first number as it began.
        first_is_kept: assert (!taken[at] || at != chosen || !begun || first_found == its_first);
        link_is_kept: assert (!taken[at] || at != chosen || !linked || next_place == its_next);
        if (shown) entry_is_kept: assert (found == its_entry);

        emptied: cover (was_full && count == 0);
        read_behind: cover (shown && begun && linked && at == chosen && count == 3 && was_full);
    end
endmodule
