// A guarded function executes no instruction from outside its fetch window, and starts no fill for
// one: the instruction is a fault of its lanes, whatever the cache says of it. Instructions inside
// and those of the boot sequence are not touched.
//
// The unit is the window and stage D, connected as in a core (rtl/examples/emit-units.rs). The
// window stands while instructions are in the stages.
module fetch_window_formal (
    input wire        clk,
    input wire        rst,
    input wire        advance,
    input wire [29:0] fetched_pc,
    input wire        fetched_boot,
    input wire        cached_hit,
    input wire [31:0] cached_word,
    input wire        cached_error,
    input wire        valid,
    input wire        blocked,
    input wire        waits,
    input wire        load_error,
    input wire        overdue
);
    (* anyconst *) reg guarded;
    (* anyconst *) reg [25:0] base;
    (* anyconst *) reg [25:0] size;
    wire wanted, entered, load, store, fault, branch, jump, jump_register, divide, multiply;
    wire [4:0] cause;
    wire misses;
    fetch_check dut (
        .clk(clk), .rst(rst), .advance(advance), .guarded(guarded), .base(base), .size(size), .fetched_pc(fetched_pc),
        .fetched_boot(fetched_boot), .cached_hit(cached_hit), .cached_word(cached_word), .cached_error(cached_error),
        .valid(valid), .blocked(blocked), .waits(waits), .load_error(load_error), .overdue(overdue), .wanted(wanted),
        .misses(misses), .entered(entered), .load(load), .store(store), .fault(fault), .cause(cause)
    );

    `include "start.vh"

    // Two cycles after a reset the copy of the window is there.
    reg ready = 0, was_rst = 1;
    always @(posedge clk) begin
        was_rst <= rst;
        ready <= started && !rst;
    end
    wire [26:0] window_end = {1'b0, base} + size;
    wire is_inside = fetched_pc[29:4] >= base && {1'b0, fetched_pc[29:4]} < window_end;
    wire outside = guarded && !fetched_boot && !is_inside;
    // Of the instructions in stages D and R.
    reg known_d = 0, outside_d, boot_d, hit_d, error_d;
    reg known_r = 0, outside_r, missed_r, fault_free_r;
    reg advanced;
    always @(posedge clk) begin
        if (advance) begin
            known_d <= ready;
            outside_d <= outside;
            boot_d <= fetched_boot;
            hit_d <= cached_hit || fetched_boot;
            error_d <= cached_error && !fetched_boot;
            known_r <= known_d;
            outside_r <= outside_d;
            missed_r <= !hit_d;
            fault_free_r <= !load_error && !overdue && !error_d;
        end
        advanced <= advance;
        if (rst) begin
            known_d <= 0;
            known_r <= 0;
        end
    end

    always @* if (started && !rst && !was_rst) begin
        if (known_d && outside_d) begin
            no_fill:  assert (!wanted);
            no_miss:  assert (!misses);
        end
        if (known_d && !outside_d && !boot_d && valid) inside_is_wanted: assert (wanted);
        if (known_r && outside_r && entered) begin
            is_a_fault:       assert (fault);
            cause_of_fetch:   assert (cause == 1 || cause == 5 || cause == 24);
            no_access:        assert (!load && !store);
        end
        // One that is inside has this cause only from memory.
        if (known_r && !outside_r && entered && fault_free_r) no_fetch_fault_inside: assert (!fault || cause != 1);
        if (known_r && !outside_r && entered && missed_r) only_the_watchdog_without_a_hit: assert (fault && cause == 24);
    end

    always @* if (started && !rst && !was_rst) begin
        refused:       cover (known_r && outside_r && entered && cause == 1 && !missed_r);
        refused_cold:  cover (known_r && outside_r && entered && cause == 1 && missed_r);
        executed:      cover (known_r && !outside_r && entered && !fault && store && guarded);
    end
endmodule
