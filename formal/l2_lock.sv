// The line lock of a bank (ComP-Net, section 4.2.3), for one set of two, whichever, and any places
// and requests in it: a set has one lock; a locked line is not given up before it was read by the
// command processor or network interface, lost its place, or saw 63 misses; nothing else about the
// choice of a place depends on locks. So answers are those of a bank without locks, which may give
// up any line that is neither being fetched nor waiting for its write-back.
//
// Requesters The RAM of the locks, of which one set is followed; the other reads as anything.
module ram_sized_async_9_1 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [15:0] write_address,
    input  wire [8:0]  write_data,
    input  wire [15:0] read_address,
    output wire [8:0]  read_data
);
    wire tracked;
    reg [8:0] word;
    (* anyseq *) wire [8:0] other;
    always @(posedge clk) if (write_enable && write_address[0] == tracked) word <= write_data;
    assign read_data = read_address[0] == tracked ? word : other;
endmodule

module l2_lock_formal #(
    parameter WAYS = 4
) (
    input wire            clk,
    input wire            rst,
    input wire            enable,
    input wire [25:0]     base,
    input wire [25:0]     mask,
    input wire            at,
    input wire [1:0]      turn,
    input wire [WAYS-1:0] present,
    input wire [WAYS-1:0] fetching,
    input wire [WAYS-1:0] changed,
    input wire [WAYS-1:0] leaving,
    input wire [25:0]     line,
    input wire [4:0]      requester,
    input wire            phase,
    input wire [3:0]      way,
    input wire            written,
    input wire            read,
    input wire            missed,
    input wire            drop,
    input wire            clear
);
    wire [3:0] victim, locked;
    wire victim_changed, refused, expired;
    l2_lock dut (
        .clk(clk), .rst(rst), .rings_enable(enable), .rings_base(base), .rings_mask(mask), .set_({15'd0, at}), .turn(turn), .place_present(present),
        .place_fetching(fetching), .place_changed(changed), .place_leaving(leaving), .line(line), .requester(requester), .phase(phase), .way(way),
        .written(written), .read(read), .missed(missed), .drop(drop), .clear(clear), .victim(victim),
        .victim_changed(victim_changed), .locked(locked), .refused(refused), .expired(expired)
    );

    `include "start.vh"

    (* anyconst *) reg chosen;
    (* hierconn *) wire \dut.locks.tracked ;
    (* hierconn *) wire [8:0] \dut.locks.word ;
    assign \dut.locks.tracked = chosen;
    wire [8:0] word = \dut.locks.word ;

    // The lock of the chosen set: whether it was cleared since reset, holds a line, of which way,
    // and the misses since.
    reg known, valid;
    reg [3:0] holder;
    reg [5:0] misses;

    // What the bank does: one thing at a time, to one way; a line that is not here takes the place
    // that is given up.
    wire something = written || read || missed || drop;
    always @* begin
        assume (turn < WAYS);
        if (something) assume (way == 1 || way == 2 || (WAYS == 4 && (way == 4 || way == 8)));
        if (missed) assume (way == victim);
        assume (read + drop + (written || missed) <= 1);
        // After reset it clears each set before it looks at requests.
        if (!known && at == chosen) assume (!something);
    end

    wire here = at == chosen;
    wire wants = enable && written && requester < 3 && phase && ((line ^ base) & mask) == 0;
    wire own = valid && (way & holder) != 0;
    wire fetched = own && read && (requester == 3 || requester == 4);
    wire sixty_third = valid && missed && misses == 62;
    reg was_refused, was_expired, was_fetched, was_dropped, was_cleared, was_locked, was_sixty_third;
    always @(posedge clk) begin
        if (here) begin
            if (wants && (!valid || own)) begin
                valid <= 1;
                holder <= way;
                misses <= 0;
            end else if (fetched || (own && drop) || sixty_third) valid <= 0;
            else if (valid && missed) misses <= misses + 1;
            if (clear) begin
                valid <= 0;
                known <= 1;
            end
        end
        was_refused <= here && known && wants && valid && !own;
        was_expired <= here && known && sixty_third;
        was_fetched <= here && known && fetched;
        was_dropped <= here && known && own && drop;
        was_cleared <= here && clear;
        was_locked <= here && known && wants && !valid && !clear;
        // By the unit's own count, which state_lock ties to the other one.
        was_sixty_third <= here && known && word[0] && word[8:3] == 62 && missed && !wants;
        if (rst) begin
            known <= 0;
            valid <= 0;
            misses <= 0;
            was_refused <= 0;
            was_expired <= 0;
            was_fetched <= 0;
            was_dropped <= 0;
            was_cleared <= 0;
            was_locked <= 0;
            was_sixty_third <= 0;
        end
    end
    reg looked;
    always @(posedge clk) looked <= here && !rst;

    // Places that a bank without locks may give up, and which it does.
    wire [3:0] present_4 = {{(4 - WAYS){1'b1}}, present};
    wire [3:0] under_way = {{(4 - WAYS){1'b1}}, fetching | (changed & leaving)};
    wire [3:0] free = ~under_way | ~present_4;
    reg [3:0] plain;
    integer w;
    always @* begin
        plain = 0;
        for (w = 0; w < WAYS; w = w + 1) if (!under_way[w]) plain = 1 << w;
        if (!under_way[turn]) plain = 1 << turn;
        for (w = 0; w < WAYS; w = w + 1) if (!present[w]) plain = 1 << w;
    end
    wire [3:0] held = valid ? holder : 0;
    wire one_holder = holder == 1 || holder == 2 || (WAYS == 4 && (holder == 4 || holder == 8));
    wire [1:0] number = holder == 8 ? 3 : holder == 4 ? 2 : holder == 2 ? 1 : 0;

    always @(posedge clk) if (started && !rst) begin
        state_lock: assert (!known || (valid ? word == {misses, number, 1'b1} && one_holder && misses < 63 : !word[0]));
        if (here && known) begin
            // One lock a set, which is that of the line that was written.
            one_lock: assert (locked == held);
            // Until 63 misses, or the line is read or lost, it is not given up.
            never_victim: assert ((victim & held) == 0);
            // Whatever is given up may be given up: answers are those of a bank without locks.
            victim_is_free: assert ((victim & ~free) == 0 && (victim & (victim - 1)) == 0);
            changes_are_written_back: assert (victim == 0 || victim_changed == ((victim & present_4 & {{(4 - WAYS){1'b0}}, changed}) != 0));
            // Without a lock it is the same place, and so it is if that is not the locked one.
            same_place: assert ((plain & held) != 0 || victim == plain);
            // A request is held up only while another place of the set is under way to or from
            // memory.
            waits_for_memory: assert (victim != 0 || (free & ~held) == 0);
        end
        // How locks begin and end.
        write_locks: assert (!was_locked || word[0]);
        fetch_unlocks: assert (!was_fetched || !word[0]);
        drop_unlocks: assert (!was_dropped || !word[0]);
        clear_unlocks: assert (!was_cleared || !word[0]);
        ends_after_63_misses: assert (!was_sixty_third || !word[0]);
        // What is counted.
        refused_told: assert (!looked || !known || refused == was_refused);
        expired_told: assert (!looked || !known || expired == was_expired);

        locked_again: cover (was_locked && looked && known);
        refused_once: cover (was_refused);
        held_up: cover (here && known && valid && victim == 0 && plain != 0);
        another_place: cover (here && known && valid && plain != victim && victim != 0);
        unlocked: cover (was_fetched);
    end
endmodule
