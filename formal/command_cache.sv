// Rules C4 to C6: a hart finds a line only if it was fetched for it after the last time that it, or
// its whole part, was dropped, and whole; what it finds is the line as it was fetched with its own
// stores since. A fill that is ended by a drop of the part installs nothing.
//
// Of all words of all lines of all harts one is followed, whichever. The RAMs are replaced by ones
// that keep the word and the tag of its place; all others read as anything, and so does a word that
// is read while it is written.
module ram_sized_32_9 (
    input wire clk, input wire write_enable, input wire [15:0] write_address, input wire [31:0] write_data,
    input wire read_enable, input wire [15:0] read_address, output wire [31:0] read_data
);
    wire [8:0]  tracked;
    reg  [31:0] word, data;
    (* anyseq *) wire [31:0] other;
    wire writes = write_enable && write_address[8:0] == tracked;
    always @(posedge clk) begin
        if (read_enable) data <= read_address[8:0] == tracked && !writes ? word : other;
        if (writes) word <= write_data;
    end
    assign read_data = data;
endmodule

module ram_sized_26_5 (
    input wire clk, input wire write_enable, input wire [15:0] write_address, input wire [25:0] write_data,
    input wire read_enable, input wire [15:0] read_address, output wire [25:0] read_data
);
    wire [4:0]  tracked;
    reg  [25:0] word, data;
    (* anyseq *) wire [25:0] other;
    wire writes = write_enable && write_address[4:0] == tracked;
    always @(posedge clk) begin
        if (read_enable) data <= read_address[4:0] == tracked && !writes ? word : other;
        if (writes) word <= write_data;
    end
    assign read_data = data;
endmodule

module command_cache_formal (
    input wire         clk,
    input wire         rst,
    input wire         look_enable,
    input wire [2:0]   look_hart,
    input wire [31:0]  look_address,
    input wire         store,
    input wire [31:0]  store_data,
    input wire [3:0]   store_strobe,
    input wire         remove,
    input wire [7:0]   drop,
    input wire         fill_valid,
    input wire [2:0]   fill_hart,
    input wire [25:0]  fill_line,
    input wire [511:0] fill_data,
    input wire         fill_error
);
    wire        hit;
    wire [31:0] word;
    wire [7:0]  filling;
    command_cache dut (
        .clk(clk), .rst(rst), .look_enable(look_enable), .look_hart(look_hart), .look_address(look_address), .hit(hit), .word(word),
        .store(store), .store_data(store_data), .store_strobe(store_strobe), .remove(remove), .drop(drop), .fill_valid(fill_valid),
        .fill_hart(fill_hart), .fill_line(fill_line), .fill_data(fill_data), .fill_error(fill_error), .filling(filling)
    );
    // The word that is followed: hart, line, number in the line.
    (* anyconst *) reg        h;
    (* anyconst *) reg [25:0] l;
    (* anyconst *) reg [3:0]  w;
    (* hierconn *) wire [8:0]  \dut.words.tracked ;
    (* hierconn *) wire [31:0] \dut.words.word ;
    (* hierconn *) wire [31:0] \dut.words.data ;
    (* hierconn *) wire [4:0]  \dut.tags.tracked ;
    (* hierconn *) wire [25:0] \dut.tags.word ;
    (* hierconn *) wire [25:0] \dut.tags.data ;
    assign \dut.words.tracked = {h, l[3:0], w};
    assign \dut.tags.tracked = {h, l[3:0]};
    (* hierconn *) wire [15:0]  \dut.valid_0 ;
    (* hierconn *) wire [15:0]  \dut.valid_1 ;
    (* hierconn *) wire         \dut.looked ;
    (* hierconn *) wire [2:0]   \dut.hart_q ;
    (* hierconn *) wire [31:0]  \dut.address_q ;
    (* hierconn *) wire         \dut.same_word ;
    (* hierconn *) wire [31:0]  \dut.stored_word ;
    (* hierconn *) wire         \dut.buffer_used ;
    (* hierconn *) wire [2:0]   \dut.buffer_hart ;
    (* hierconn *) wire [25:0]  \dut.buffer_line ;
    (* hierconn *) wire [511:0] \dut.buffer_data ;
    (* hierconn *) wire [3:0]   \dut.buffer_word ;

    `include "start.vh"

    // Stage W: the hart and address that were looked up in the cycle before, and whether the hart's
    // line was being filled then.
    reg         there_is, filled_then;
    reg  [2:0]  hart;
    reg  [31:0] address;
    always @(posedge clk) begin
        there_is <= look_enable && !rst;
        filled_then <= filling[look_hart] || (fill_valid && fill_hart == look_hart);
        if (look_enable) begin
            hart <= look_hart;
            address <= look_address;
        end
        if (rst) begin
            hart <= 0;
            address <= 0;
        end
    end
    wire of_line = there_is && hart == h && address[31:6] == l;
    wire of_word = of_line && address[5:2] == w;

    // The line that is being filled.
    reg         used;
    reg         owner;
    reg  [25:0] line;
    reg  [4:0]  written;
    wire accepted = fill_valid && !fill_error && !used && !drop[fill_hart];
    wire writes = used && !(store && hit);
    wire ends = writes && written == 15;
    wire is_ours = used && owner == h && line == l;
    wire same_place = used && owner == h && line[3:0] == l[3:0];
    wire arrives = accepted && fill_hart == h && fill_line == l;

    // `fresh`: fetched for the hart since the last drop. `present`: whole. `truth`: what its hart
    // has to find.
    reg         fresh, present;
    reg  [31:0] truth;
    wire [31:0] mask = {{8{store_strobe[3]}}, {8{store_strobe[2]}}, {8{store_strobe[1]}}, {8{store_strobe[0]}}};
    wire        dropped = drop[h] || (remove && of_line);
    always @(posedge clk) begin
        if (accepted) begin
            used <= 1;
            owner <= fill_hart[0];
            line <= fill_line;
            written <= 0;
        end else begin
            if (writes) written <= written + 1;
            if (ends || (used && drop[owner])) used <= 0;
        end
        if (ends && same_place) present <= is_ours;
        if (dropped) fresh <= 0;
        if (dropped) present <= 0;
        if (arrives) fresh <= 1;
        if (arrives) truth <= fill_data[32 * w +: 32];
        else if (store && of_word) truth <= (truth & ~mask) | (store_data & mask);
        if (rst) begin
            used <= 0;
            written <= 0;
            fresh <= 0;
            present <= 0;
        end
    end

    // The contract: two harts. A hart whose load is outstanding, or whose line is filled, has no
    // store and no atomic operation in the pipeline; its load was in vain: the line that comes is
    // not there.
    always @* begin
        assume (look_hart < 2 && fill_hart < 2);
        assume (!(store && remove));
        assume (!((store || remove) && (!there_is || filled_then)));
        assume (!((store || remove) && (filling[hart] || (fill_valid && fill_hart == hart))));
        assume (!(fill_valid && fill_hart == h && fill_line == l && present));
    end

    reg [2:0] seen;
    reg       ended_by_drop, refused, own_store;
    always @(posedge clk) begin
        ended_by_drop <= !rst && (ended_by_drop || (used && written > 3 && drop[owner] && !ends));
        refused <= !rst && (refused || (fill_valid && used && fill_hart != owner));
        own_store <= !rst && !arrives && (own_store || (store && of_word && hit && store_strobe == 4'b0110));
    end

    always @(posedge clk) if (started && !rst) begin
        // C4, C6: no later hit on an older copy; C5: one that was ended installs nothing.
        if (of_line && hit) no_older_copy: assert (fresh);
        // C5: valid only with the last word.
        if (of_line && hit) only_whole_lines: assert (present);
        // D10: what is found is the line as it came, with the hart's own stores.
        if (of_word && hit) word_is_right: assert (word == truth);
        // What is there is found, but for a lookup while a line of the hart is filled.
        if (of_line && present && !filled_then) what_is_there_is_found: assert (hit);
        if (!there_is) nothing_from_nothing: assert (!hit);
        // The line buffer: one line, sixteen cycles and those of stores that hit.
        filling_is_exact: assert (filling == (used << owner));

        // What the induction needs to know of the state.
        state_stage: assert ((!\dut.looked || there_is) && \dut.hart_q == hart && \dut.address_q == address && hart < 2);
        if (there_is && !filled_then) state_looked: assert (\dut.looked );
        state_buffer: assert (\dut.buffer_used == used && (!used || written <= 15));
        if (used) state_line: assert (\dut.buffer_hart == owner && \dut.buffer_line == line && \dut.buffer_word == written[3:0]);
        if (is_ours) state_coming: assert (fresh && !present && \dut.buffer_data [32 * w +: 32] == truth);
        if (is_ours && written > w) state_written: assert (\dut.words.word == truth);
        if (present) state_fresh: assert (fresh);
        state_present: assert (present == ((h ? \dut.valid_1 [l[3:0]] : \dut.valid_0 [l[3:0]]) && \dut.tags.word == l));
        if (present && !same_place) state_word: assert (\dut.words.word == truth);
        if (\dut.looked && hart == h && address[9:6] == l[3:0]) state_tag: assert (\dut.tags.data == \dut.tags.word );
        if (\dut.looked && of_word && present) state_read: assert ((\dut.same_word ? \dut.stored_word : \dut.words.data ) == truth);

        found_with_a_store: cover (of_word && hit && own_store);
        found_after_a_fill_that_was_ended: cover (of_line && hit && ended_by_drop);
        refused_while_used: cover (refused && of_line && hit);
        store_delays_the_fill: cover (used && store && hit && written == 3);
    end
endmodule
