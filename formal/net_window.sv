// The window of the harts at the network interface: what a hart does with the command that it took
// is told to the queues, once, and at once but for what was told before; a command is posted once,
// as the queue's or as the hart's own; it is taken only by a hart that has none; what a hart posted
// is counted until it is complete. Of all harts one is followed, and of its contexts one,
// whichever. The buffers answer anything, accesses come and are withdrawn in any cycle. Resets come
// at any time.
module net_window_formal (
    input wire         clk,
    input wire         rst,
    input wire         valid,
    input wire         write,
    input wire [11:0]  address,
    input wire [31:0]  data,
    input wire         of_window,
    input wire [2:0]   hart,
    input wire         wake,
    input wire         coming,
    input wire         registers_done,
    input wire [31:0]  registers_value,
    input wire         registers_known,
    input wire         enable,
    input wire         posts_ready,
    input wire         completed,
    input wire [9:0]   owner,
    input wire [1:0]   context_,
    input wire [7:0]   code
);
    wire         done, known, parks, registers_valid, registers_write, posts_valid;
    wire [31:0]  value, registers_data;
    wire [11:0]  registers_address;
    wire [295:0] posted;
    net_window dut (
        .clk(clk), .rst(rst), .access_valid(valid), .access_write(write), .access_address(address), .access_data(data),
        .access_done(done), .access_value(value), .access_known(known), .select_of_window(of_window), .select_hart(hart),
        .select_wake(wake), .stage_coming(coming), .select_hold(8'd0), .select_parks(parks), .registers_valid(registers_valid),
        .registers_write(registers_write), .registers_address(registers_address), .registers_data(registers_data),
        .registers_done(registers_done), .registers_value(registers_value), .registers_known(registers_known),
        .posts_enable(enable), .posts_valid(posts_valid), .posts_ready(posts_ready), .posts_command(posted),
        .posts_completed(completed), .posts_owner(owner), .posts_context(context_), .posts_code(code)
    );
    // Commands of its own that a hart may have under way.
    localparam ENTRIES = 8;
    (* anyconst *) reg its;
    (* anyconst *) reg [1:0] its_context;
    (* hierconn *) wire [4:0] \dut.rows.tracked ;
    assign \dut.rows.tracked = {2'd0, its, its_context};
    (* hierconn *) wire [15:0] \dut.rows.word ;
    (* hierconn *) wire [31:0] \dut.known_rows ;
    (* hierconn *) wire [3:0] \dut.under_way_0 ;
    (* hierconn *) wire [3:0] \dut.under_way_1 ;
    (* hierconn *) wire \dut.buffers.take ;
    (* hierconn *) wire \dut.buffers.finish ;
    (* hierconn *) wire \dut.buffers.lose ;
    (* hierconn *) wire \dut.buffers.has ;
    (* hierconn *) wire \dut.buffers.loses ;
    (* hierconn *) wire \dut.buffers.here ;
    (* hierconn *) wire \dut.buffers.stall ;
    (* hierconn *) wire [43:0] \dut.buffers.command ;
    (* hierconn *) wire [255:0] \dut.buffers.words ;
    (* hierconn *) wire \dut.buffers.event_valid ;
    (* hierconn *) wire [105:0] \dut.buffers.event_ ;
    (* hierconn *) wire \dut.buffers.event_ready ;
    wire take = \dut.buffers.take , finish = \dut.buffers.finish , lose = \dut.buffers.lose , has = \dut.buffers.has ;
    wire tells = \dut.buffers.event_valid ;
    wire [43:0] command = \dut.buffers.command ;
    wire [105:0] told = \dut.buffers.event_ ;

    `include "start.vh"

    wire here = valid && of_window;
    wire post = here && write && address == 4;
    wire next = here && !write && (address == 0 || address == 12);
    wire [3:0] kind = data[15:12];
    wire nowhere = data[7:4] != 0 || !enable;
    wire is_own = post && kind == 1, ends = post && kind == 7, is_taken = post && kind == 0;
    wire sends = posts_valid && posts_ready;
    wire own_completes = completed && owner == 1 + its;

    // Commands of the hart that are under way; how many of its context are complete, and how the
    // last was, since the reset.
    reg [3:0] count;
    reg [7:0] complete, last;
    reg any_complete;
    wire [7:0] its_code = own_completes ? code : 8'h88;
    wire failed = is_own && nowhere && done && hart == its && \dut.buffers.words [13:12] == its_context;
    always @* begin
        assume (hart < 2);
        // The contract of the network interface: a command is complete that was posted.
        if (own_completes) assume (count != 0);
        if (completed) assume (owner <= 8 || owner >= 16);
    end
    reg was_finish, was_told, was_taken;
    reg [105:0] was_event, expected;
    reg [1:0] posts;
    always @(posedge clk) begin
        count <= count + (sends && is_own && hart == its) - own_completes;
        if ((own_completes && context_ == its_context) || failed) begin
            {complete, last} <= {complete + 8'd1, its_code};
            any_complete <= 1;
        end
        was_finish <= finish && !rst;
        expected <= {81'd0, ends && !nowhere ? data[31:24] : ends ? data[31:24] : 8'h88, command[37:36], command[3:0], command[11:4],
            is_taken && !nowhere ? 3'd1 : 3'd2};
        was_told <= tells && !\dut.buffers.event_ready && !rst;
        was_event <= told;
        was_taken <= take;
        posts <= posts + (sends && is_taken && posts != 3);
        if (rst) begin
            count <= 0;
            complete <= 0;
            any_complete <= 0;
            last <= 0;
            posts <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        // The buffers are used as they may be.
        if (take) takes_one: assert (next && done && \dut.buffers.here && !has && !\dut.buffers.loses );
        if (finish || lose) has_one: assert (has && !take && !(finish && lose));
        if (lose) gives_back_first: assert (next && !done);
        // A command that was taken is posted or ends once, and that is told until it is noted.
        if (finish) finishes_by_post: assert (done && !tells && ((is_taken && (nowhere || sends)) || ends));
        if ((is_taken || ends) && done && has) done_once: assert (finish);
        if (was_finish) is_told: assert (tells && told[24:0] == expected[24:0]);
        if (was_told) stays_told: assert (tells && told == was_event);
        if (tells) told_behind_post: assert (was_finish || was_told);
        // What is posted, by whom.
        if (posts_valid) posts_as_they_are: assert ((is_own || (is_taken && has)) && !nowhere && posted[255:0] == \dut.buffers.words
            && posted[259:256] == data[3:0] && posted[263:260] == data[11:8]);
        if (posts_valid && is_own) owner_is_hart: assert (posted[277:268] == 1 + hart && posted[279:278] == \dut.buffers.words [13:12]);
        if (posts_valid && !is_own) owner_is_queue: assert (posted[277:268] == 16 + command[11:4] && posted[279:278] == command[37:36]
            && posted[295:280] == command[27:12] && posted[267:264] == command[8:5]);
        if (sends) sent_is_done: assert (done);
        // A hart with ENTRIES commands of its own under way posts no more of them, and with fewer
        // it does.
        if (posts_valid && is_own && hart == its) room_for_own: assert (count < ENTRIES);
        if (is_own && !nowhere && hart == its && count < ENTRIES) own_is_offered: assert (posts_valid);
        if (here && !write && address == 12'h1c && hart == its) status_counts: assert (value[19:16] == count);
        if (here && !write && address[11:4] == 2 && address[3:2] == its_context && hart == its && done)
            context_counts: assert (value == {16'd0, complete, last});
        // An access that waits does so for a reason.
        if (here && !done) waits_for_a_reason: assert (parks || (next && (has || \dut.buffers.loses )) || (posts_valid && !posts_ready) || (post && tells)
            || (next && coming && !wake && address == 0) || (write && \dut.buffers.stall ) || completed);
        if (parks) parks_without_command: assert (!coming && here && !write && address == 0 && !wake && !\dut.buffers.here && !has && !done);
        // What is not of the window passes.
        if (!of_window) others_pass: assert (registers_valid == valid && done == registers_done && value == registers_value
            && known == registers_known && !post && !take && !finish && !lose && !posts_valid);
        if (of_window) window_stays: assert (!registers_valid);

        // What the induction needs to know of the state.
        state_count: assert (count == (its ? \dut.under_way_1 : \dut.under_way_0 ) && count <= ENTRIES);
        state_row: assert (\dut.known_rows [{2'd0, its, its_context}] == any_complete && (any_complete ? \dut.rows.word == {complete, last}
            : {complete, last} == 0));

        posted_twice: cover (posts == 2 && was_finish && was_told == 0);
        all_under_way: cover (count == ENTRIES && is_own && done && hart == its);
        ended_while_one_completes: cover (finish && ends && own_completes && complete == 2);
    end
endmodule
