// 32 words of 32 bits, one write port, one combinational read port: distributed RAM.
module ram_async_32_5 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [4:0]  write_address,
    input  wire [31:0] write_data,
    input  wire [4:0]  read_address,
    output wire [31:0] read_data
);

    reg [31:0] words [0:31];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// The scoreboard: which registers of each warp have a load or division outstanding.
//
// 1. `set_valid` marks register `set_register` of warp `set_slot`; `clear_valid` takes a mark
//    away. Both show from the next cycle on. A marked register is not marked again, an unmarked
//    one not cleared.
// 2. `pending` says combinationally whether warp `slot` has a mark on any of `rs1`, `rs2` and
//    `rd`; register 0 is never marked.
// 3. After reset the marks are wiped, one warp a cycle for 32 cycles, in which nothing is marked.
//    The core keeps this rule since its instruction cache answers no lookup before.
//
// A mark is the difference of two bits in two memories, of which one changes when it is set and
// the other when it is cleared: so both can happen in the same cycle with one write port each.
module scoreboard (
    input  wire       clk,             // Rising-edge clock
    input  wire       rst,             // Synchronous reset, active high
    input  wire       set_valid,       // A register is marked
    input  wire [4:0] set_slot,        // Warp slot
    input  wire [4:0] set_register,    // Register, 1 to 31
    input  wire       clear_valid,     // A mark is taken away
    input  wire [4:0] clear_slot,      // Warp slot
    input  wire [4:0] clear_register,  // Register, 1 to 31
    input  wire [4:0] slot,            // Stage D: warp slot
    input  wire [4:0] rs1,             // Stage D: first source register
    input  wire [4:0] rs2,             // Stage D: second source register
    input  wire [4:0] rd,              // Stage D: destination register
    output wire       pending          // One of them is marked
);

    wire wiping;
    reg  set_enable;
    reg  [4:0] set_address;
    reg  [31:0] set_row;
    reg  clear_enable;
    reg  [4:0] clear_address;
    reg  [31:0] clear_row;
    wire [31:0] marks;
    wire [31:0] set_asked_read_data;
    wire [31:0] set_changed_read_data;
    wire [31:0] clear_asked_read_data;
    wire [31:0] clear_changed_read_data;
    reg  [5:0] wiped;
    reg  set_valid_2;
    reg  [4:0] set_slot_2;
    reg  [4:0] set_register_2;

    assign wiping = !wiped[5];

    always @* begin
        set_enable = set_valid_2;
        set_address = set_slot_2;
        set_row = set_changed_read_data ^ (32'd1 << set_register_2);
        clear_enable = clear_valid;
        clear_address = clear_slot;
        clear_row = clear_changed_read_data ^ (32'd1 << clear_register);
        if (wiping) begin
            set_enable = 1'b1;
            set_address = wiped[4:0];
            set_row = 32'd0;
            clear_enable = 1'b1;
            clear_address = wiped[4:0];
            clear_row = 32'd0;
        end
    end

    assign marks = (set_asked_read_data ^ clear_asked_read_data) & 32'hfffffffe;
    assign pending = marks[rs1] | marks[rs2] | marks[rd] | (set_valid_2 & (set_slot_2 == slot) &
        ((set_register_2 == rs1) | (set_register_2 == rs2) | (set_register_2 == rd)));

    ram_async_32_5 set_asked (
        .clk(clk),
        .write_enable(set_enable),
        .write_address(set_address),
        .write_data(set_row),
        .read_address(slot),
        .read_data(set_asked_read_data)
    );

    ram_async_32_5 set_changed (
        .clk(clk),
        .write_enable(set_enable),
        .write_address(set_address),
        .write_data(set_row),
        .read_address(set_slot_2),
        .read_data(set_changed_read_data)
    );

    ram_async_32_5 clear_asked (
        .clk(clk),
        .write_enable(clear_enable),
        .write_address(clear_address),
        .write_data(clear_row),
        .read_address(slot),
        .read_data(clear_asked_read_data)
    );

    ram_async_32_5 clear_changed (
        .clk(clk),
        .write_enable(clear_enable),
        .write_address(clear_address),
        .write_data(clear_row),
        .read_address(clear_slot),
        .read_data(clear_changed_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            wiped <= 6'd0;
            set_valid_2 <= 1'b0;
            set_slot_2 <= 5'd0;
            set_register_2 <= 5'd0;
        end else begin
            set_valid_2 <= set_valid;
            set_slot_2 <= set_slot;
            set_register_2 <= set_register;
            if (wiping) begin
                wiped <= wiped + 6'd1;
            end
        end
    end
endmodule

// 32 words of 6 bits, one write port, one combinational read port: distributed RAM.
module ram_async_6_5 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [4:0] write_address,
    input  wire [5:0] write_data,
    input  wire [4:0] read_address,
    output wire [5:0] read_data
);

    reg [5:0] words [0:31];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// Tracks for every warp slot whether it has operations outstanding, for a kind of operation that
// completes in the order in which it starts.
//
// 1. `start_valid` starts an operation of `start_slot`; `busy` shows it from the next cycle on.
// 2. `done_valid` completes the oldest operation, which is one of `done_slot` and started two
//    cycles before or earlier. The slot stops being busy with the next cycle if none of its
//    operations started after the completed one.
// 3. `slot_busy` and `other_busy` answer `slot` and `other_slot` combinationally.
//
// Up to 63 operations are outstanding. For each slot the number of its youngest operation is kept,
// so that no counter per slot is needed.
module outstanding_operations (
    input  wire        clk,          // Rising-edge clock
    input  wire        rst,          // Synchronous reset, active high
    input  wire        start_valid,  // An operation starts
    input  wire [4:0]  start_slot,   // Its warp slot
    input  wire        done_valid,   // The oldest operation completes
    input  wire [4:0]  done_slot,    // Its warp slot
    output wire [31:0] busy,         // Slots with operations outstanding
    input  wire [4:0]  slot,         // Slot to look up
    output wire        slot_busy,    // It has operations outstanding
    input  wire [4:0]  other_slot,   // Another slot to look up
    output wire        other_busy    // It has operations outstanding
);

    reg  [31:0] set_;
    reg  [31:0] cleared;
    reg  start;
    reg  [4:0] start_slot_2;
    wire [5:0] youngest_read_data;
    reg  [5:0] started;
    reg  [5:0] completed;
    reg  [31:0] busy_2;

    always @* begin
        set_ = 32'd0;
        if (start) begin
            set_ = 32'd1 << start_slot_2;
        end
    end

    always @* begin
        cleared = 32'd0;
        if (done_valid) begin
            if (youngest_read_data == completed) begin
                cleared = 32'd1 << done_slot;
            end
        end
    end

    assign busy = busy_2 | set_;
    assign slot_busy = busy_2[slot] | (start & (start_slot_2 == slot));
    assign other_busy = busy_2[other_slot] | (start & (start_slot_2 == other_slot));

    ram_async_6_5 youngest (
        .clk(clk),
        .write_enable(start),
        .write_address(start_slot_2),
        .write_data(started),
        .read_address(done_slot),
        .read_data(youngest_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            start <= 1'b0;
            start_slot_2 <= 5'd0;
            started <= 6'd0;
            completed <= 6'd0;
            busy_2 <= 32'd0;
        end else begin
            start <= start_valid;
            start_slot_2 <= start_slot;
            if (start) begin
                started <= started + 6'd1;
            end
            if (done_valid) begin
                completed <= completed + 6'd1;
            end
            busy_2 <= (busy_2 & ~cleared) | set_;
        end
    end
endmodule

// Compares the instruction in stage D with what its warp has in flight.
//
// An instruction is `blocked` while
//
// - one of its registers waits for a load or division (in stages R to W, or marked on the
//   [`Scoreboard`]);
// - it needs a product whose multiplication is in stage R (a product is known at the end of stage
//   W only);
// - it is a load and a store of its warp is not acknowledged, or the other way round, so that
//   memory sees the accesses of a thread in their order (the scratchpad keeps it by itself); a
//   `fence` waits for both, and EXIT for all values that are still to come;
// - it is a division (here and in all stages counts of bits are divisions, too), and the divider
//   is busy;
// - it is an atomic instruction and its warp has a load or store outstanding, or the path of
//   atomic operations is busy or refused to the warp;
// - it is a load and an atomic operation of its warp is not complete.
//
// A blocked instruction is replayed: at once, or (`waits`) after a load, store or division of its
// warp has completed. A completion in the very cycle counts, so that no wake-up is lost. All other
// results are forwarded, so that the very next instruction can use them. All outputs are
// combinational; completions and starts show in the next cycle.
module hazards (
    input  wire        clk,                // Rising-edge clock
    input  wire        rst,                // Synchronous reset, active high
    input  wire [4:0]  slot,               // Stage D: warp slot
    input  wire [4:0]  rs1,                // Stage D: first source register, 0 for none
    input  wire [4:0]  rs2,                // Stage D: second source register, 0 for none
    input  wire [4:0]  rd,                 // Stage D: destination register, 0 for none
    input  wire        load,               // Stage D: load
    input  wire        store,              // Stage D: store, or the verdict store of EXIT
    input  wire        exit,               // Stage D: EXIT
    input  wire        fence,              // Stage D: fence
    input  wire        divide,             // Stage D: division
    input  wire        atomic,             // Stage D: atomic instruction; it counts as a load as well, in all stages
    input  wire        read_valid,         // Stage R holds an instruction
    input  wire [4:0]  read_slot,          // Stage R: warp slot
    input  wire [4:0]  read_rd,            // Stage R: destination register
    input  wire        read_load,          // Stage R: load
    input  wire        read_store,         // Stage R: store
    input  wire        read_multiply,      // Stage R: multiplication
    input  wire        read_divide,        // Stage R: division
    input  wire        read_atomic,        // Stage R: atomic instruction
    input  wire        execute_valid,      // Stage X holds an instruction
    input  wire [4:0]  execute_slot,       // Stage X: warp slot
    input  wire [4:0]  execute_rd,         // Stage X: destination register
    input  wire        execute_load,       // Stage X: load
    input  wire        execute_store,      // Stage X: store
    input  wire        execute_divide,     // Stage X: division
    input  wire        execute_atomic,     // Stage X: atomic instruction
    input  wire        write_valid,        // Stage W holds an instruction
    input  wire [4:0]  write_slot,         // Stage W: warp slot
    input  wire [4:0]  write_rd,           // Stage W: destination register
    input  wire        write_load,         // Stage W: load
    input  wire        write_store,        // Stage W: store
    input  wire        write_divide,       // Stage W: division
    input  wire        write_atomic,       // Stage W: atomic instruction
    input  wire        memory_start,       // Stage M takes the load, store or atomic operation in stage W for shared memory
    input  wire        scratchpad_start,   // Stage M takes the load or store in stage W for the scratchpad
    input  wire        divide_start,       // The division in stage W starts
    input  wire        loaded_valid,       // A load from the shared memory completes
    input  wire        scratchpad_loaded,  // A load from the scratchpad completes
    input  wire        scratchpad_stored,  // A store to the scratchpad completes
    input  wire [4:0]  scratchpad_slot,    // Its warp slot
    input  wire        divided_valid,      // The division or the atomic operation in flight completes
    input  wire        late_valid,         // A load from either memory, or a division, writes its last value
    input  wire [4:0]  late_slot,          // Its warp slot
    input  wire [4:0]  late_rd,            // Its register
    input  wire        stored_valid,       // A store to the shared memory completes
    input  wire [4:0]  stored_slot,        // Its warp slot
    input  wire        divide_busy,        // The divider is busy
    input  wire [4:0]  divide_slot,        // Warp slot of the division
    input  wire        atomic_busy,        // The path of atomic operations is busy
    input  wire [4:0]  atomic_slot,        // Warp slot of the operation
    input  wire        atomic_refused,     // Stage D: other warps come first at that path
    output wire        blocked,            // The instruction in stage D cannot be executed yet
    output wire        waits,              // It waits until an operation of its warp completes
    output wire        rs1_in_read,        // rs1 is the result of the instruction in stage R
    output wire        rs2_in_read,        // rs2 is the result of the instruction in stage R
    output wire        rs1_in_execute,     // rs1 is the result in stage X now
    output wire        rs1_in_write,       // rs1 is the result in stage W now
    output wire        rs2_in_execute,     // rs2 is the result in stage X now
    output wire        rs2_in_write,       // rs2 is the result in stage W now
    output wire [31:0] stores_busy,        // Slots with outstanding stores
    output wire        write_warp_late     // The warp in stage W has long-latency results outstanding
);

    wire read_mine;
    wire execute_mine;
    wire write_mine;
    wire uses_read;
    wire uses_execute;
    wire uses_write;
    wire late;
    wire exchanging;
    wire loading;
    wire storing;
    wire dividing;
    wire scratching;
    wire order;
    wire transient;
    wire waiting;
    wire woken;
    wire scoreboard_set_valid;
    wire scoreboard_clear_valid;
    wire scoreboard_pending;
    wire loads_start_valid;
    wire [31:0] loads_busy_unused;
    wire loads_slot_busy;
    wire loads_other_busy;
    wire stores_start_valid;
    wire stores_slot_busy;
    wire stores_other_busy_unused;
    wire scratchpad_start_valid;
    wire [31:0] scratchpad_busy_unused;
    wire scratchpad_other_busy;

    assign scoreboard_set_valid = (divide_start | ((memory_start | scratchpad_start) & write_load)) &
        (|write_rd);
    assign scoreboard_clear_valid = late_valid & (|late_rd);
    assign loads_start_valid = memory_start & write_load & !write_atomic;
    assign stores_start_valid = memory_start & write_store;
    assign scratchpad_start_valid = scratchpad_start & write_load;
    assign read_mine = read_valid & (read_slot == slot);
    assign execute_mine = execute_valid & (execute_slot == slot);
    assign write_mine = write_valid & (write_slot == slot);
    assign rs1_in_read = read_mine & (|rs1) & (read_rd == rs1);
    assign rs2_in_read = read_mine & (|rs2) & (read_rd == rs2);
    assign rs1_in_execute = execute_mine & (|rs1) & (execute_rd == rs1);
    assign rs2_in_execute = execute_mine & (|rs2) & (execute_rd == rs2);
    assign rs1_in_write = write_mine & (|rs1) & (write_rd == rs1);
    assign rs2_in_write = write_mine & (|rs2) & (write_rd == rs2);
    assign uses_read = rs1_in_read | rs2_in_read | (read_mine & (|rd) & (read_rd == rd));
    assign uses_execute = rs1_in_execute | rs2_in_execute | (execute_mine & (|rd) & (execute_rd == rd));
    assign uses_write = rs1_in_write | rs2_in_write | (write_mine & (|rd) & (write_rd == rd));
    assign late = (uses_read & (read_load | read_divide)) | (uses_execute & (execute_load | execute_divide)) |
        (uses_write & (write_load | write_divide));
    assign exchanging = (atomic_busy & (atomic_slot == slot)) | (read_mine & read_atomic) | (execute_mine &
        execute_atomic) | (write_mine & write_atomic);
    assign loading = loads_slot_busy | exchanging | (read_mine & read_load) | (execute_mine & execute_load) |
        (write_mine & write_load);
    assign storing = stores_slot_busy | (read_mine & read_store) | (execute_mine & execute_store) |
        (write_mine & write_store);
    assign dividing = (divide_busy & (divide_slot == slot)) | (read_mine & read_divide) | (execute_mine &
        execute_divide) | (write_mine & write_divide);
    assign order = ((load | fence) & storing) | ((store | fence | atomic) & loading) | (load & exchanging) |
        (exit & (dividing | scratching));
    assign transient = ((rs1_in_read | rs2_in_read) & read_multiply) | (divide & ((read_valid & read_divide) |
        (execute_valid & execute_divide) | (write_valid & write_divide))) | (atomic & ((read_valid & read_atomic)
        | (execute_valid & execute_atomic) | (write_valid & write_atomic)));
    assign waiting = scoreboard_pending | late | order | (divide & divide_busy) | (atomic & (atomic_busy |
        atomic_refused));
    assign woken = divided_valid | (late_valid & (late_slot == slot)) | (scratchpad_stored & (scratchpad_slot
        == slot)) | (stored_valid & (stored_slot == slot));
    assign blocked = waiting | transient;
    assign waits = waiting & !transient & !woken;
    assign write_warp_late = loads_other_busy | (atomic_busy & (atomic_slot == write_slot)) |
        scratchpad_other_busy | (divide_busy & (divide_slot == write_slot));

    scoreboard scoreboard (
        .clk(clk),
        .rst(rst),
        .set_valid(scoreboard_set_valid),
        .set_slot(write_slot),
        .set_register(write_rd),
        .clear_valid(scoreboard_clear_valid),
        .clear_slot(late_slot),
        .clear_register(late_rd),
        .slot(slot),
        .rs1(rs1),
        .rs2(rs2),
        .rd(rd),
        .pending(scoreboard_pending)
    );

    outstanding_operations loads (
        .clk(clk),
        .rst(rst),
        .start_valid(loads_start_valid),
        .start_slot(write_slot),
        .done_valid(loaded_valid),
        .done_slot(late_slot),
        .busy(loads_busy_unused),
        .slot(slot),
        .slot_busy(loads_slot_busy),
        .other_slot(write_slot),
        .other_busy(loads_other_busy)
    );

    outstanding_operations stores (
        .clk(clk),
        .rst(rst),
        .start_valid(stores_start_valid),
        .start_slot(write_slot),
        .done_valid(stored_valid),
        .done_slot(stored_slot),
        .busy(stores_busy),
        .slot(slot),
        .slot_busy(stores_slot_busy),
        .other_slot(write_slot),
        .other_busy(stores_other_busy_unused)
    );

    outstanding_operations scratchpad (
        .clk(clk),
        .rst(rst),
        .start_valid(scratchpad_start_valid),
        .start_slot(write_slot),
        .done_valid(scratchpad_loaded),
        .done_slot(late_slot),
        .busy(scratchpad_busy_unused),
        .slot(slot),
        .slot_busy(scratching),
        .other_slot(write_slot),
        .other_busy(scratchpad_other_busy)
    );
endmodule

