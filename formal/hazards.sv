// No instruction reads or overwrites a register that waits for a value, and memory sees a thread's
// accesses in their order.
//
// Of all registers of all warps one is followed, whichever; of the scoreboard's RAMs the row of its
// warp (see tracked_ram.sv).
module hazards_formal (
    input wire       clk,
    input wire       rst,
    input wire [4:0] slot, input wire [4:0] rs1, input wire [4:0] rs2, input wire [4:0] rd,
    input wire       load, input wire store, input wire exit, input wire fence, input wire divide, input wire atomic,
    input wire       read_valid, input wire [4:0] read_slot, input wire [4:0] read_rd,
    input wire       read_load, input wire read_store, input wire read_multiply, input wire read_divide, input wire read_atomic,
    input wire       execute_valid, input wire [4:0] execute_slot, input wire [4:0] execute_rd,
    input wire       execute_load, input wire execute_store, input wire execute_divide,
    input wire       execute_atomic, input wire write_atomic, input wire atomic_busy, input wire [4:0] atomic_slot, input wire atomic_refused,
    input wire       write_valid, input wire [4:0] write_slot, input wire [4:0] write_rd,
    input wire       write_load, input wire write_store, input wire write_divide,
    input wire       memory_start, input wire scratchpad_start, input wire divide_start,
    input wire       loaded_valid, input wire scratchpad_loaded, input wire scratchpad_stored,
    input wire [4:0] scratchpad_slot, input wire divided_valid,
    input wire       late_valid, input wire [4:0] late_slot, input wire [4:0] late_rd,
    input wire       stored_valid, input wire [4:0] stored_slot,
    input wire       divide_busy, input wire [4:0] divide_slot
);
    wire blocked, waits, rs1_in_read, rs1_in_execute, rs1_in_write, rs2_in_read, rs2_in_execute, rs2_in_write, write_warp_late;
    wire [31:0] stores_busy;
    (* anyconst *) reg [4:0] warp;
    (* anyconst *) reg [4:0] number;
    hazards dut (
        .clk(clk), .rst(rst), .slot(slot), .decode_rs1(rs1), .decode_rs2(rs2), .decode_rd(rd), .decode_load(load), .decode_store(store), .decode_exit(exit),
        .decode_fence(fence), .decode_divide(divide), .decode_atomic(atomic), .read_valid(read_valid), .read_slot(read_slot), .read_rd(read_rd),
        .read_load(read_load), .read_store(read_store), .read_multiply(read_multiply), .read_divide(read_divide),
        .atomic_read(read_atomic), .atomic_execute(execute_atomic), .atomic_write(write_atomic),
        .atomic_busy(atomic_busy), .atomic_slot(atomic_slot), .atomic_refused(atomic_refused), .execute_valid(execute_valid), .execute_slot(execute_slot),
        .execute_rd(execute_rd), .execute_load(execute_load), .execute_store(execute_store),
        .execute_divide(execute_divide), .write_valid(write_valid),
        .write_slot(write_slot), .write_rd(write_rd), .write_load(write_load), .write_store(write_store),
        .write_divide(write_divide), .memory_start(memory_start), .scratchpad_start(scratchpad_start),
        .divide_start(divide_start), .loaded_valid(loaded_valid), .scratchpad_loaded(scratchpad_loaded),
        .completions_scratchpad_valid(scratchpad_stored), .completions_scratchpad_slot(scratchpad_slot), .completions_any(divided_valid),
        .completions_late_valid(late_valid), .completions_late_slot(late_slot), .late_rd(late_rd), .completions_stored_valid(stored_valid),
        .completions_stored_slot(stored_slot), .divide_busy(divide_busy), .divide_slot(divide_slot), .blocked(blocked), .waits(waits),
        .forward_rs1_in_read(rs1_in_read), .forward_rs2_in_read(rs2_in_read),
        .forward_rs1_in_execute(rs1_in_execute), .forward_rs1_in_write(rs1_in_write), .forward_rs2_in_execute(rs2_in_execute),
        .forward_rs2_in_write(rs2_in_write), .stores_busy(stores_busy), .write_warp_late(write_warp_late)
    );
    (* hierconn *) wire [4:0] \dut.scoreboard.set_asked.tracked ;
    (* hierconn *) wire [4:0] \dut.scoreboard.set_changed.tracked ;
    (* hierconn *) wire [4:0] \dut.scoreboard.clear_asked.tracked ;
    (* hierconn *) wire [4:0] \dut.scoreboard.clear_changed.tracked ;
    (* hierconn *) wire [4:0] \dut.loads.youngest.tracked ;
    (* hierconn *) wire [4:0] \dut.stores.youngest.tracked ;
    (* hierconn *) wire [4:0] \dut.scratchpad.youngest.tracked ;
    assign \dut.scoreboard.set_asked.tracked = warp;
    assign \dut.scoreboard.set_changed.tracked = warp;
    assign \dut.scoreboard.clear_asked.tracked = warp;
    assign \dut.scoreboard.clear_changed.tracked = warp;
    assign \dut.loads.youngest.tracked = warp;
    assign \dut.stores.youngest.tracked = warp;
    assign \dut.scratchpad.youngest.tracked = warp;
    (* hierconn *) wire [31:0] \dut.scoreboard.set_asked.word ;
    (* hierconn *) wire [31:0] \dut.scoreboard.set_changed.word ;
    (* hierconn *) wire [31:0] \dut.scoreboard.clear_asked.word ;
    (* hierconn *) wire [31:0] \dut.scoreboard.clear_changed.word ;
    (* hierconn *) wire [5:0] \dut.scoreboard.wiped ;
    (* hierconn *) wire \dut.scoreboard.set_valid_q ;
    (* hierconn *) wire [4:0] \dut.scoreboard.set_slot_q ;
    (* hierconn *) wire [4:0] \dut.scoreboard.set_register_q ;
    (* hierconn *) wire [31:0] \dut.loads.busy ;

    `include "start.vh"

    // The registers of the followed warp that wait for a load or division which has started.
    reg [31:0] under_way;
    reg [5:0] since_reset;
    wire ready = since_reset == 32;
    wire starts = divide_start || ((memory_start || scratchpad_start) && write_load);
    wire set = starts && write_slot == warp && write_rd != 0;
    wire clear = late_valid && late_slot == warp && late_rd != 0;
    always @* begin
        assume (number != 0);
        // Nothing is in the pipeline while the marks are wiped after reset.
        assume (ready || !(starts || late_valid || memory_start || scratchpad_start));
        // What starts was not blocked, and what completes was started.
        assume (!set || !under_way[write_rd]);
        assume (!clear || under_way[late_rd]);
        // What starts is the instruction in stage W.
        assume (!(memory_start || scratchpad_start || divide_start) || write_valid);
        assume (!divide_start || write_divide);
        assume (!(memory_start || scratchpad_start) || write_load || write_store);
    end
    always @(posedge clk) begin
        under_way <= (under_way | (set << write_rd)) & ~(clear << late_rd);
        if (!ready) since_reset <= since_reset + 1;
        if (rst) begin
            under_way <= 0;
            since_reset <= 0;
        end
    end
    wire mine = slot == warp;
    wire reads = mine && (rs1 == number || rs2 == number);
    wire uses = reads || (mine && rd == number);
    wire in_read = read_valid && read_slot == warp;
    wire in_execute = execute_valid && execute_slot == warp;
    wire in_write = write_valid && write_slot == warp;
    // What was set a cycle ago and is not in the RAMs yet.
    wire [31:0] coming = (\dut.scoreboard.set_valid_q && \dut.scoreboard.set_slot_q == warp)
        << \dut.scoreboard.set_register_q ;

    always @(posedge clk) if (started && !rst) begin
        // The register waits for a value: from a started operation, or from one in the pipeline
        // that is about to start.
        if (ready && uses && under_way[number]) no_use_of_a_pending_register: assert (blocked);
        if (uses && in_read && read_rd == number && (read_load || read_divide)) no_use_behind_stage_r: assert (blocked);
        if (uses && in_execute && execute_rd == number && (execute_load || execute_divide))
            no_use_behind_stage_x: assert (blocked);
        if (uses && in_write && write_rd == number && (write_load || write_divide)) no_use_behind_stage_w: assert (blocked);
        if (reads && in_read && read_rd == number && read_multiply) no_product_too_early: assert (blocked);
        // Loads and stores of a warp do not overtake each other.
        if (mine && (load || fence) && (stores_busy[warp] || (in_read && read_store) || (in_execute && execute_store)
            || (in_write && write_store))) no_load_over_a_store: assert (blocked);
        if (mine && (store || fence) && (\dut.loads.busy [warp] || (in_read && read_load) || (in_execute && execute_load)
            || (in_write && write_load))) no_store_over_a_load: assert (blocked);
        if (mine && exit && ((divide_busy && divide_slot == warp) || (in_read && read_divide)
            || (in_execute && execute_divide) || (in_write && write_divide))) no_exit_before_a_division_ends: assert (blocked);
        if (divide && (divide_busy || (read_valid && read_divide) || (execute_valid && execute_divide)
            || (write_valid && write_divide))) one_division_at_a_time: assert (blocked);
        // Atomic operations wait for all that their warp has under way in memory, and its later
        // loads wait for them; one at a time in a core.
        if (mine && atomic && load && (stores_busy[warp] || \dut.loads.busy [warp] || (in_read && (read_load || read_store))
            || (in_execute && (execute_load || execute_store)) || (in_write && (write_load || write_store))))
            no_atomic_over_an_access: assert (blocked);
        if (mine && load && ((atomic_busy && atomic_slot == warp) || (in_read && read_atomic)
            || (in_execute && execute_atomic) || (in_write && write_atomic))) no_load_over_an_atomic: assert (blocked);
        if (atomic && (atomic_busy || (read_valid && read_atomic) || (execute_valid && execute_atomic)
            || (write_valid && write_atomic))) one_atomic_at_a_time: assert (blocked);
        // Forwarding: from the stage that has the register.
        if (mine) forwarded_from_r: assert (
            (!(rs1 == number) || rs1_in_read == (in_read && read_rd == number))
            && (!(rs2 == number) || rs2_in_read == (in_read && read_rd == number)));
        if (mine) forwarded_from_x: assert (
            (!(rs1 == number) || rs1_in_execute == (in_execute && execute_rd == number))
            && (!(rs2 == number) || rs2_in_execute == (in_execute && execute_rd == number)));
        if (mine) forwarded_from_w: assert (
            (!(rs1 == number) || rs1_in_write == (in_write && write_rd == number))
            && (!(rs2 == number) || rs2_in_write == (in_write && write_rd == number)));
        zero_is_never_forwarded: assert (!(rs1 == 0 && (rs1_in_read || rs1_in_execute || rs1_in_write))
            && !(rs2 == 0 && (rs2_in_read || rs2_in_execute || rs2_in_write)));
        // Who waits is woken: no completion of the warp is missed.
        if (waits) waits_only_while_blocked: assert (blocked);
        // What is only in stages R to W yet may be flushed, and then a warp that waits for it is
        // not woken; a product completes nothing.
        if (waits && divide) no_wait_for_a_division_to_come: assert (!(read_valid && read_divide)
            && !(execute_valid && execute_divide) && !(write_valid && write_divide));
        if (waits && atomic) no_wait_for_an_atomic_to_come: assert (!(read_valid && read_atomic)
            && !(execute_valid && execute_atomic) && !(write_valid && write_atomic));
        if (waits && reads && in_read && read_rd == number) no_wait_for_a_product: assert (!read_multiply);
        if (waits && mine) no_wake_up_lost: assert (!divided_valid && !(late_valid && late_slot == warp)
            && !(stored_valid && stored_slot == warp) && !(scratchpad_stored && scratchpad_slot == warp));

        // What the induction needs to know of the state.
        state_wiped: assert (\dut.scoreboard.wiped == since_reset && since_reset <= 32
            && !under_way[0] && (ready || under_way == 0));
        if (since_reset > warp) state_copies: assert (
            \dut.scoreboard.set_asked.word == \dut.scoreboard.set_changed.word
            && \dut.scoreboard.clear_asked.word == \dut.scoreboard.clear_changed.word );
        if (since_reset > warp) state_marks: assert (
            (\dut.scoreboard.set_asked.word ^ \dut.scoreboard.clear_asked.word ^ coming) == under_way);
        state_coming: assert ((!\dut.scoreboard.set_valid_q || (ready && \dut.scoreboard.set_register_q != 0))
            && (coming & ~under_way) == 0);

        blocked_by_a_mark: cover (ready && uses && blocked && waits && !in_read && !in_execute && !in_write && under_way == 32'h100);
        not_blocked: cover (ready && uses && !blocked && under_way != 0);
    end
endmodule
