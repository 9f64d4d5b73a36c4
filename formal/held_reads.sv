// Harts that wait for a command: a hart is held from its read that ended without an answer until
// there is a command and no lower one is held, it is to wake, or it goes on elsewhere; no command
// passes all by, and no wake-up passes it by. Of eight harts one is followed, whichever.
module held_reads_formal (
    input wire       clk,
    input wire       rst,
    input wire [7:0] parks,
    input wire       here,
    input wire       soon,
    input wire [7:0] wake,
    input wire [7:0] gone
);
    wire [7:0] held;
    held_reads dut (.clk(clk), .rst(rst), .parks(parks), .here(here), .soon(soon), .wake(wake), .gone(gone), .held(held));
    (* anyconst *) reg [2:0] hart;

    `include "start.vh"

    // Whether it waits, and what came in the last cycle.
    reg waits, was_parked, was_here, was_lowest, was_woken, was_gone;
    wire comes = here || soon;
    reg [1:0] times;
    always @(posedge clk) begin
        was_parked <= parks[hart] && !rst;
        was_here <= comes || rst;
        was_lowest <= !(held & ((8'd1 << hart) - 8'd1)) || rst;
        was_woken <= wake[hart];
        was_gone <= gone[hart];
        waits <= held[hart] && !rst;
        if (held[hart] && comes) times <= times + (times != 3);
        if (rst) times <= 0;
    end
    always @(posedge clk) if (started && !rst) begin
        parked_is_held: assert (!was_parked || was_gone || held[hart]);
        stays_held: assert (!waits || (was_here && was_lowest) || was_woken || was_gone || held[hart]);
        command_frees: assert (!((was_here && was_lowest) || was_woken) || was_parked || !held[hart]);
        gone_is_free: assert (!was_gone || !held[hart]);
        held_only_by_a_read: assert (!held[hart] || was_parked || waits);

        held_twice: cover (times == 2 && held[hart] && waits);
        gone_while_held: cover (waits && was_gone && !held[hart] && times == 1);
        woken: cover (waits && was_woken && !was_here && !held[hart]);
        not_its_turn: cover (waits && was_here && !was_lowest && held[hart]);
    end
endmodule
