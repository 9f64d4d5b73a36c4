// The commands that are under way: each owner has 2^K places; a place holds one command from its
// write until its release, with what was written, then its result, and when it began; places that
// are free, and only those, are given out; none is lost; what one owner does takes nothing from
// another.
//
// Of all commands one is followed, in whichever place of whichever owner. Resets come at any time.
module work_table_formal #(parameter K = 3) (
    input wire         clk,
    input wire         rst,
    input wire         write,
    input wire [253:0] entry,
    input wire         begin_,
    input wire [K:0]   begin_place,
    input wire [23:0]  first,
    input wire         link,
    input wire [K:0]   link_from,
    input wire [11:0]  link_to,
    input wire         read,
    input wire [K:0]   read_place,
    input wire [K:0]   at,
    input wire         keep,
    input wire [63:0]  kept,
    input wire         release_
);
    localparam ENTRIES = 1 << K;
    wire [11:0] whole_begin_place = begin_place, whole_link_from = link_from, whole_read_place = read_place, whole_at = at;
    wire ready;
    wire [11:0] free, next_place;
    wire [253:0] found;
    wire [23:0] first_found;
    work_table dut (
        .clk(clk), .rst(rst), .ready(ready), .free(free), .write(write), .entry(entry), .begin_(begin_), .begin_place(whole_begin_place),
        .first(first), .link(link), .link_from(whole_link_from), .link_to(link_to), .read(read), .read_place(whole_read_place),
        .found(found), .at(whole_at), .first_found(first_found), .next_place(next_place), .keep(keep), .kept(kept), .release_(release_)
    );
    (* hierconn *) wire [9:0] \dut.freed ;
    (* hierconn *) wire [15:0] \dut.used.tracked ;
    (* hierconn *) wire [15:0] \dut.firsts.tracked ;
    (* hierconn *) wire [15:0] \dut.links.tracked ;
    (* hierconn *) wire [15:0] \dut.ranges.tracked ;
    (* hierconn *) wire [15:0] \dut.values.tracked ;
    (* hierconn *) wire [15:0] \dut.rest.tracked ;
    (* hierconn *) wire [7:0] \dut.used.word ;
    (* hierconn *) wire [23:0] \dut.firsts.word ;
    (* hierconn *) wire [11:0] \dut.links.word ;
    (* hierconn *) wire [63:0] \dut.ranges.word ;
    (* hierconn *) wire [127:0] \dut.values.word ;
    (* hierconn *) wire [61:0] \dut.rest.word ;
    (* anyconst *) reg [K:0] chosen;
    wire owner = chosen[K];
    assign \dut.used.tracked = owner;
    assign \dut.firsts.tracked = chosen;
    assign \dut.links.tracked = chosen;
    assign \dut.ranges.tracked = chosen;
    assign \dut.values.tracked = chosen;
    assign \dut.rest.tracked = chosen;

    `include "start.vh"

    // Cycles since the reset; the places of the followed owner where a command is, and how many
    // these are.
    reg [1:0] age;
    reg [ENTRIES-1:0] taken;
    reg [3:0] count;
    // What stands in the followed place, the number that it began with, and which command is behind
    // it; what the last read showed.
    reg [253:0] its_entry, its_read;
    reg [23:0] its_first;
    reg [11:0] its_next;
    reg begun, linked, shown;
    wire here = taken[chosen[K-1:0]];
    wire its_write = write && entry[226] == owner;
    wire its_release = release_ && at[K] == owner;
    wire puts = its_write && free[K-1:0] == chosen[K-1:0];

    // The contract of the owners and of the sender: a write by an owner that has fewer than
    // ENTRIES commands, a release and a result of a command that is there; one of these at a time,
    // when all places were freed; no command is read while it is written.
    always @* begin
        assume (entry[226 +: 10] < 2);
        if (write || release_ || keep) assume (ready);
        if (its_write) assume (count != ENTRIES);
        if (its_release) assume (taken[at[K-1:0]]);
        if (write) assume (!release_ && !keep);
        if (keep && at == chosen) assume (here);
        if (read) assume (!(write && whole_read_place == free) && !(keep && read_place == at));
    end

    always @(posedge clk) begin
        if (age != 3) age <= age + 1;
        if (its_write) taken[free[K-1:0]] <= 1;
        if (its_release) taken[at[K-1:0]] <= 0;
        count <= count + its_write - its_release;
        if (puts) begin
            its_entry <= entry;
            begun <= 0;
            linked <= 0;
        end
        if (keep && at == chosen) its_entry[67 +: 128] <= {64'd0, kept};
        if (begin_ && begin_place == chosen) begin
            its_first <= first;
            begun <= 1;
        end
        if (link && link_from == chosen) begin
            its_next <= link_to;
            linked <= 1;
        end
        if (read) begin
            shown <= read_place == chosen && here;
            its_read <= its_entry;
        end
        if (rst) begin
            age <= 0;
            taken <= 0;
            count <= 0;
            begun <= 0;
            linked <= 0;
            shown <= 0;
        end
    end

    reg was_full, was_kept;
    always @(posedge clk) begin
        was_full <= !rst && (was_full || count == ENTRIES);
        was_kept <= !rst && !puts && (was_kept || (keep && at == chosen));
    end

    integer i;
    reg [3:0] ones;
    always @* begin
        ones = 0;
        for (i = 0; i < ENTRIES; i = i + 1) ones = ones + taken[i];
    end
    wire [253:0] stored = {
        \dut.rest.word [61:46], \dut.rest.word [43:42], \dut.rest.word [41:32], \dut.rest.word [22:0], \dut.rest.word [31:28],
        \dut.rest.word [27:24], \dut.values.word , \dut.rest.word [23], \dut.ranges.word , \dut.rest.word [45:44]
    };
    always @(posedge clk) if (started && !rst) begin
        state_freed: assert (\dut.freed == (age < 2 ? age : 2));
        state_used: assert (\dut.freed <= owner ? taken == 0 : \dut.used.word == taken);
        state_count: assert (count == ones && (ready || count == 0));
        state_entry: assert (!here || (stored == its_entry && (!begun || \dut.firsts.word == its_first)));
        state_link: assert (!here || !linked || \dut.links.word == its_next);
        // All places are freed in as many cycles as there are owners.
        ready_in_time: assert (ready == (age >= 2));
        // An owner with fewer than ENTRIES commands is given a place of its own, where no command
        // is: no place is lost, and none is used twice.
        if (ready && !release_ && entry[226] == owner && count != ENTRIES) free_is_free: assert (free[11:K] == owner && !taken[free[K-1:0]]);
        // A command reads as it was written, with its result if that came, and its first number as
        // it began.
        if (here && at == chosen && begun) first_is_kept: assert (first_found == its_first);
        if (here && at == chosen && linked) link_is_kept: assert (next_place == its_next);
        if (shown) entry_is_kept: assert (found == its_read);

        emptied: cover (was_full && count == 0);
        read_behind: cover (shown && begun && linked && at == chosen && count == (ENTRIES + 1) / 3 && was_full && was_kept);
    end
endmodule
