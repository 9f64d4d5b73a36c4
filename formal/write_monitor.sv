// Rules U4 and U5: each accepted write of a byte of a watched range by another than the channel's
// own hart shows one cycle later, and nothing else does.
//
// Requester 5 is that of the command processor; two harts have a channel each.
module write_monitor_formal (
    input wire        clk,
    input wire        rst,
    input wire        write,
    input wire [4:0]  requester,
    input wire [5:0]  tag,
    input wire [25:0] line,
    input wire [63:0] strobe,
    input wire [1:0]  watched_valid,
    input wire [51:0] watched_line,
    input wire [51:0] watched_lines,
    input wire [31:0] watched_words
);
    wire [1:0] hit;
    write_monitor dut (
        .clk(clk), .rst(rst), .write(write), .observed_requester(requester), .observed_write_tag(tag), .observed_line(line), .observed_strobe(strobe),
        .watched_valid(watched_valid), .watched_line(watched_line), .watched_lines(watched_lines),
        .watched_words(watched_words), .hit(hit)
    );

    `include "start.vh"

    // Who writes: a store of a hart of the command processor (its tag has the hart in bits 4:3), an
    // atomic operation of a hart (bits 2:0), the completion word of the thread spawner (31), or
    // somebody else.
    wire of_processor = requester == 5;
    wire completion = of_processor && tag == 31;
    wire store = of_processor && !tag[5] && !completion;
    wire atomic = of_processor && tag[5];
    wire [1:0] own = {(store && tag[4:3] == 1) || (atomic && tag[2:0] == 1), (store && tag[4:3] == 0) || (atomic && tag[2:0] == 0)};

    // A byte that is written, whichever.
    (* anyseq *) reg [5:0] place;
    wire written = write && strobe[place];
    wire [1:0] same_line = {
        ((line ^ watched_line[51:26]) & watched_lines[51:26]) == 0, ((line ^ watched_line[25:0]) & watched_lines[25:0]) == 0
    };
    wire [1:0] within = {
        watched_valid[1] && same_line[1] && watched_words[16 + place[5:2]],
        watched_valid[0] && same_line[0] && watched_words[place[5:2]]
    };

    reg [1:0] must, may;
    reg was_completion, was_own;
    integer w;
    reg [15:0] words;
    always @* for (w = 0; w < 16; w = w + 1) words[w] = strobe[4*w +: 4] != 0;
    always @(posedge clk) begin
        must <= {2{written}} & within & ~own;
        may <= {2{write}} & ~own & watched_valid & same_line
            & {(words & watched_words[31:16]) != 0, (words & watched_words[15:0]) != 0};
        was_completion <= completion;
        was_own <= own != 0 && within != 0 && written;
        if (rst) begin
            must <= 0;
            may <= 0;
            was_completion <= 0;
            was_own <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        // U4: none is missed.
        seen_0: assert (!must[0] || hit[0]);
        seen_1: assert (!must[1] || hit[1]);
        // U5, U7: never for an own write, one of no watched word, or none at all.
        only_then_0: assert (!hit[0] || may[0]);
        only_then_1: assert (!hit[1] || may[1]);

        both: cover (hit == 3);
        by_completion: cover (hit == 3 && was_completion);
        own_alone: cover (was_own && hit == 2);
    end
endmodule
