// 16 words of 32 bits, one write port, one registered read port: block RAM.
module ram_sync_32_4 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [3:0]  write_address,
    input  wire [31:0] write_data,
    input  wire        read_enable,
    input  wire [3:0]  read_address,
    output wire [31:0] read_data
);

    reg [31:0] words [0:15];
    reg [31:0] data;
    always @(posedge clk) begin
        if (read_enable) data <= words[read_address];
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = data;
endmodule

// Synchronous first-word-fall-through FIFO of `2^A` words in block RAM; `L` is `A + 1`.
//
// 1. Valid/ready on both sides; one push and one pop in every cycle are possible, also when full
//    but for the push: `push_ready` is low while `2^A` words are inside.
// 2. A word pushed into an empty FIFO in cycle t shows at the output in cycle t + 2.
// 3. No output depends on an input of the same cycle.
module sync_fifo_32_4_5 (
    input  wire        clk,         // Rising-edge clock
    input  wire        rst,         // Synchronous reset, active high: empties the FIFO
    input  wire        push_valid,  // A word is offered
    output wire        push_ready,  // There is room
    input  wire [31:0] push_data,   // The word
    output wire        pop_valid,   // The oldest word is shown
    input  wire        pop_ready,   // The oldest word is taken
    output wire [31:0] pop_data,    // The oldest word; undefined while pop_valid is low
    output wire [4:0]  level        // Words inside, 0 to 2^A
);

    localparam [4:0] CAPACITY = 5'h10;
    wire push;
    wire pop;
    reg  in_ram;
    wire fetch;
    reg  [3:0] write_pointer;
    reg  [3:0] read_pointer;
    reg  [4:0] words;
    reg  shown;

    assign push_ready = words != CAPACITY;
    assign pop_valid = shown;
    assign level = words;
    assign push = push_valid & (words != CAPACITY);
    assign pop = shown & pop_ready;

    always @* begin
        in_ram = words != 5'd0;
        if (shown) begin
            in_ram = words != 5'd1;
        end
    end

    assign fetch = in_ram & (!shown | pop);

    ram_sync_32_4 ram (
        .clk(clk),
        .write_enable(push),
        .write_address(write_pointer),
        .write_data(push_data),
        .read_enable(fetch),
        .read_address(read_pointer),
        .read_data(pop_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            write_pointer <= 4'd0;
            read_pointer <= 4'd0;
            words <= 5'd0;
            shown <= 1'b0;
        end else begin
            if (push) begin
                write_pointer <= write_pointer + 4'd1;
            end
            if (fetch) begin
                read_pointer <= read_pointer + 4'd1;
            end
            shown <= fetch | (shown & !pop);
            if (push & !pop) begin
                words <= words + 5'd1;
            end
            if (pop & !push) begin
                words <= words - 5'd1;
            end
        end
    end
endmodule

// Takes packet counts from the task FIFO and forms warps of packets with consecutive packetIdx.
//
// 1. A warp has `lanes` packets; it is formed as soon as that many wait.
// 2. A partial warp is formed when the oldest waiting packet has waited `timeout` cycles for
//    companions, or at once when `eager` and `idle_slot` are high and no formed warp waits for
//    issue. The wait is counted from the first cycle in which the packet is the oldest one of
//    `pending`; a count taken in cycle t by an idle former thus gives its partial warp at the
//    output in cycle t + 2 + `timeout`. The count stops at `timeout`.
// 3. Counts are taken while fewer than `2 * lanes` packets wait, whatever their value: no packet
//    is ever lost. A count of 0 has no effect.
// 4. No warp is formed while `run` is low; one that stands at the output stays there.
// 5. One warp a cycle at most. packetIdx starts at 0 after reset and wraps at 2^32.
module warp_former (
    input  wire        clk,          // Rising-edge clock
    input  wire        rst,          // Synchronous reset, active high
    input  wire        task_valid,   // From the task FIFO: a count is offered
    output wire        task_ready,   // To the task FIFO: the count is taken; depends on no input
    input  wire [31:0] task_count,   // From the task FIFO: packets that became ready
    input  wire        run,          // Register CONTROL, bit 0: warps are formed
    input  wire        eager,        // Register CONTROL, bit 1: partial warps are formed at once for idle slots
    input  wire [31:0] timeout,      // Register TIMEOUT, in cycles
    input  wire        idle_slot,    // From the warp issue: some core could take a warp now
    output wire        warp_valid,   // To the warp issue: a warp is formed
    input  wire        warp_ready,   // From the warp issue: it is taken
    output wire [31:0] warp_packet,  // packetIdx of the warp's first packet
    output wire [5:0]  warp_count,   // Packets of the warp, 1 to lanes
    output reg  [31:0] pending       // Packets that wait for a warp, at most 2^32 - 1 shown
);

    localparam [32:0] ENOUGH = 33'd2;
    localparam [5:0] LANES = 6'd2;
    localparam [32:0] PLENTY = 33'd4;
    wire take;
    wire full;
    wire some;
    wire expired;
    wire at_once;
    wire form;
    reg  [5:0] packets;
    reg  [32:0] left;
    reg  [32:0] waiting;
    reg  [31:0] age;
    reg  [31:0] next_packet;
    reg  formed;
    reg  [31:0] formed_packet;
    reg  [5:0] formed_count;

    assign task_ready = waiting < PLENTY;
    assign take = task_valid & (waiting < PLENTY);
    assign full = waiting >= ENOUGH;
    assign some = |waiting;
    assign expired = age >= timeout;
    assign at_once = eager & idle_slot & !formed;
    assign form = run & (!formed | warp_ready) & (full | (some & (expired | at_once)));

    always @* begin
        packets = waiting[5:0];
        if (full) begin
            packets = LANES;
        end
    end

    always @* begin
        left = waiting;
        if (form) begin
            left = waiting - {27'd0, packets};
        end
    end

    assign warp_valid = formed;
    assign warp_packet = formed_packet;
    assign warp_count = formed_count;

    always @* begin
        pending = waiting[31:0];
        if (waiting[32]) begin
            pending = 32'hffffffff;
        end
    end

    always @(posedge clk) begin
        if (rst) begin
            waiting <= 33'd0;
            age <= 32'd0;
            next_packet <= 32'd0;
            formed <= 1'b0;
            formed_packet <= 32'd0;
            formed_count <= 6'd0;
        end else begin
            waiting <= left;
            if (take) begin
                waiting <= left + {1'b0, task_count};
            end
            if (form | !some) begin
                age <= 32'd0;
            end else if (!expired) begin
                age <= age + 32'd1;
            end
            if (warp_ready) begin
                formed <= 1'b0;
            end
            if (form) begin
                formed <= 1'b1;
                formed_packet <= next_packet;
                formed_count <= packets;
                next_packet <= next_packet + {26'd0, packets};
            end
        end
    end
endmodule

// Encodes a one-hot set of 32 bits as the index of its bit.
//
// `index` answers `one_hot` in the same cycle. It is 0 if no bit is set, and of no meaning if
// several are.
module binary_encoder (
    input  wire [31:0] one_hot,  // The set: at most one bit
    output wire [4:0]  index     // Index of the bit
);

    reg  [4:0] encoded;

    always @* begin
        encoded = 5'd0;
        if (|(one_hot & 32'haaaaaaaa)) begin
            encoded = encoded | 5'd1;
        end
        if (|(one_hot & 32'hcccccccc)) begin
            encoded = encoded | 5'd2;
        end
        if (|(one_hot & 32'hf0f0f0f0)) begin
            encoded = encoded | 5'd4;
        end
        if (|(one_hot & 32'hff00ff00)) begin
            encoded = encoded | 5'd8;
        end
        if (|(one_hot & 32'hffff0000)) begin
            encoded = encoded | 5'h10;
        end
    end

    assign index = encoded;
endmodule

// Finds the lowest of 32 requests.
//
// The outputs answer `request` in the same cycle; without a request they are zero.
module priority_encoder (
    input  wire [31:0] request,  // The requests; bit 0 comes first
    output wire [31:0] one_hot,  // The lowest request alone
    output wire [4:0]  index     // Its index
);

    wire [31:0] lowest;

    assign lowest = request & (32'd0 - request);
    assign one_hot = lowest;

    binary_encoder encoder (
        .one_hot(lowest),
        .index(index)
    );
endmodule

// Tracks which warp slots of one core are busy.
//
// 1. `available` and `slot` depend on the state, `limit` and `allowed` alone, in the same cycle.
// 2. `take` marks the shown slot busy; it is legal only while `available` is high.
// 3. `free` marks a busy slot idle; the slot can be taken again in the next cycle. Freeing an idle
//    slot is illegal.
// 4. `limit` may change at any time and holds for the warps to come. It must not exceed the number
//    of bits of `allowed`.
// 5. With a thread spawner warps of spawned threads count apart: packet warps may be on the core up to `limit`,
//    spawned warps up to `spawn_limit`, each while an allowed slot is idle.
module core_slots (
    input  wire        clk,              // Rising-edge clock
    input  wire        rst,              // Synchronous reset, active high: all slots are idle
    input  wire [5:0]  limit,            // Warps that may be on the core at a time, 0 to 32
    input  wire [31:0] allowed,          // The slots that may be taken
    input  wire        take,             // The shown slot is taken at this edge
    input  wire        free,             // free_slot becomes idle at this edge
    input  wire [4:0]  free_slot,        // The slot to free
    output wire        available,        // The core can take a warp
    output wire [4:0]  slot,             // The lowest idle slot among the allowed ones
    input  wire [5:0]  spawn_limit,
    input  wire        take_spawned,     // What is taken with take is for a warp of spawned threads
    output wire        spawn_available   // The core can take a warp of spawned threads
);

    reg  [31:0] taken;
    reg  [31:0] freed;
    wire idle;
    wire freed_spawned;
    wire packet_in;
    wire packet_out;
    wire spawned_in;
    wire spawned_out;
    reg  [31:0] busy;
    reg  [5:0] warps;
    wire [31:0] encoder_request;
    wire [31:0] encoder_one_hot;
    reg  [31:0] spawned_0;
    reg  [5:0] spawned_warps_0;

    assign encoder_request = allowed & ~busy;

    always @* begin
        taken = 32'd0;
        if (take) begin
            taken = encoder_one_hot;
        end
    end

    always @* begin
        freed = 32'd0;
        if (free) begin
            freed = 32'd1 << free_slot;
        end
    end

    assign idle = |encoder_one_hot;
    assign freed_spawned = spawned_0[free_slot];
    assign packet_in = take & !take_spawned;
    assign packet_out = free & !freed_spawned;
    assign spawned_in = take & take_spawned;
    assign spawned_out = free & freed_spawned;
    assign available = (warps < limit) & idle;
    assign spawn_available = (spawned_warps_0 < spawn_limit) & idle;

    priority_encoder encoder_unit (
        .request(encoder_request),
        .one_hot(encoder_one_hot),
        .index(slot)
    );

    always @(posedge clk) begin
        if (rst) begin
            busy <= 32'd0;
            warps <= 6'd0;
            spawned_0 <= 32'd0;
            spawned_warps_0 <= 6'd0;
        end else begin
            busy <= (busy & ~freed) | taken;
            if (packet_in & !packet_out) begin
                warps <= warps + 6'd1;
            end
            if (packet_out & !packet_in) begin
                warps <= warps - 6'd1;
            end
            if (spawned_in & !spawned_out) begin
                spawned_warps_0 <= spawned_warps_0 + 6'd1;
            end
            if (spawned_out & !spawned_in) begin
                spawned_warps_0 <= spawned_warps_0 - 6'd1;
            end
            if (take) begin
                spawned_0 <= spawned_0 & ~taken;
                if (take_spawned) begin
                    spawned_0 <= spawned_0 | taken;
                end
            end
        end
    end
endmodule

// Round-robin arbiter for up to 32 requesters.
//
// 1. The outputs answer `request` in the same cycle; without a request they are zero.
// 2. The choice is the lowest requesting index above the last used one, or the lowest of all if
//    there is none. After reset index 0 comes first.
// 3. A choice counts as used at the rising edge at which `advance` is high: a requester that keeps
//    its request is chosen after at most one use by each other requester.
module round_robin (
    input  wire        clk,      // Rising-edge clock
    input  wire        rst,      // Synchronous reset, active high
    input  wire [31:0] request,  // One bit for each requester
    input  wire        advance,  // The present choice is used
    output wire        any,      // Something is requested
    output wire [31:0] grant,    // The choice, one-hot
    output wire [4:0]  index     // The choice as an index
);

    wire [63:0] wheel;
    wire [63:0] lowest;
    wire [31:0] choice;
    reg  [31:0] above;

    assign wheel = {request, request & above};
    assign lowest = wheel & (64'd0 - wheel);
    assign choice = lowest[31:0] | lowest[63:32];
    assign any = |request;
    assign grant = choice;

    binary_encoder encoder (
        .one_hot(choice),
        .index(index)
    );

    always @(posedge clk) begin
        if (rst) begin
            above <= 32'd0;
        end else begin
            if (advance) begin
                above <= ~(choice | (choice - 32'd1));
            end
        end
    end
endmodule

// Issues each formed warp to the next core, round-robin, that can take one.
//
// 1. A core can take a warp while it has fewer than min(`mcw`, slots for the kernel's register
//    class) warps: with `kernel_class` 0 (32 registers) at most 16, in slots 0 to 15; with 1 (16
//    registers) at most 32. Of the idle slots the lowest is used.
// 2. A warp moves on when a core can take it, the delay commit queue has room and `run` is high;
//    otherwise it waits, and nothing else is needed to resume. One warp a cycle is possible.
// 3. The `start_` outputs answer in the next cycle, for one cycle.
// 4. `mcw` and `kernel_class` may change at any time and hold for the warps to come.
// 5. A slot freed in cycle t can be used by a warp that moves on in cycle t + 1.
// 6. With a thread spawner a warp of spawned threads moves on when one of its cores has fewer than
//    `spawn_mcw` such warps and an idle slot of the register class; neither `run` nor the delay
//    commit queue matters. It goes before a packet warp, but never in two cycles in a row: when
//    both wait they alternate.
module warp_issue (
    input  wire        clk,             // Rising-edge clock
    input  wire        rst,             // Synchronous reset, active high
    input  wire        run,             // Register CONTROL, bit 0: warps are issued
    input  wire [5:0]  mcw,             // Register MCW: warps on a core at a time
    input  wire        kernel_class,    // Register KERNEL_CLASS
    input  wire        warp_valid,      // From the warp former: a warp is formed
    output reg         warp_ready,      // To the warp former: it is taken; does not depend on warp_valid
    input  wire [31:0] warp_packet,     // packetIdx of its first packet
    input  wire [5:0]  warp_count,      // Its packets
    output wire        idle_slot,       // To the warp former: some core can take a warp
    output reg         allocate_valid,  // To the delay commit queue: allocate an entry for this warp
    input  wire        allocate_ready,  // From the delay commit queue: there is room
    output wire [4:0]  allocate_core,   // The core that gets the warp
    output wire [4:0]  allocate_slot,   // The slot that gets the warp
    input  wire        free_valid,      // From the finish arbiter: a slot becomes idle
    input  wire [4:0]  free_core,       // Its core
    input  wire [4:0]  free_slot,       // The slot
    output wire [1:0]  start_valid,     // To each core: a warp starts there in this cycle
    output wire        start_any,       // A warp starts on some core
    output wire [4:0]  start_core,      // The core
    output wire [4:0]  start_slot,      // The slot
    output wire [31:0] start_packet,    // packetIdx of the warp's first packet
    output wire [5:0]  start_count,     // The warp's packets
    // A warp of spawned threads on its way to a core:
    input  wire        spawn_valid,     // A warp is offered; it stays until it is taken
    output wire        spawn_ready,     // It is taken at this edge; depends on no port of this group but cores
    input  wire [31:0] spawn_cores,     // The cores that may run it; bits of cores that are not there are ignored
    input  wire [3:0]  spawn_job,       // Slot of its job
    input  wire [31:0] spawn_thread,    // Number of its first thread
    input  wire [5:0]  spawn_count,     // Its threads, 1 to the lanes of a core
    input  wire [5:0]  spawn_mcw,       // Register SPAWN_MCW: warps of spawned threads on a core at a time
    output wire        spawn_take,      // To the lookup tables: a warp of spawned threads gets a slot at this edge
    output wire [4:0]  spawn_core,      // Its core
    output wire [4:0]  spawn_slot,      // Its slot
    output wire        start_spawned,
    output wire [3:0]  start_job        // Slot of its job
);

    localparam [31:0] CLASS_0_ALLOWED = 32'd3;
    localparam [5:0] CLASS_0_SLOTS = 6'd2;
    localparam [31:0] CLASS_1_ALLOWED = 32'd3;
    localparam [5:0] CLASS_1_SLOTS = 6'd2;
    localparam [4:0] INDEX_0 = 5'd0;
    localparam [4:0] INDEX_1 = 5'd1;
    reg  [5:0] limit;
    reg  [31:0] allowed;
    wire [31:0] request;
    reg  [4:0] slot;
    wire issue;
    wire [31:0] spawn_request;
    reg  [4:0] slot_of_core;
    wire turn;
    wire takes;
    reg  slots_0_take;
    wire slots_0_free;
    wire [4:0] slots_0_slot;
    reg  slots_1_take;
    wire slots_1_free;
    wire [4:0] slots_1_slot;
    reg  arbiter_advance;
    wire [31:0] arbiter_grant;
    reg  issued;
    reg  [4:0] issued_core;
    reg  [4:0] issued_slot;
    reg  [31:0] issued_packet;
    reg  [5:0] issued_count;
    wire [31:0] spawn_arbiter_0_request;
    wire spawn_arbiter_0_any;
    wire [31:0] spawn_arbiter_0_grant;
    reg  issued_spawned_0;
    reg  [3:0] issued_job_0;

    always @* begin
        limit = CLASS_0_SLOTS;
        allowed = CLASS_0_ALLOWED;
        if (kernel_class) begin
            limit = CLASS_1_SLOTS;
            allowed = CLASS_1_ALLOWED;
        end
        if (mcw < limit) begin
            limit = mcw;
        end
    end

    assign request[31:2] = 30'd0;

    always @* begin
        slot = 5'd0;
        if (arbiter_grant[0]) begin
            slot = slots_0_slot;
        end
        if (arbiter_grant[1]) begin
            slot = slots_1_slot;
        end
    end

    always @* begin
        warp_ready = run & idle_slot & allocate_ready;
        allocate_valid = run & idle_slot & warp_valid;
        arbiter_advance = issue;
        if (takes) begin
            warp_ready = 1'b0;
            allocate_valid = 1'b0;
            arbiter_advance = 1'b0;
        end
    end

    assign allocate_slot = slot;
    assign issue = run & idle_slot & warp_valid & allocate_ready;

    always @* begin
        slots_0_take = issue & arbiter_grant[0];
        if (takes) begin
            slots_0_take = spawn_arbiter_0_grant[0];
        end
    end

    assign slots_0_free = free_valid & (free_core == INDEX_0);

    always @* begin
        slots_1_take = issue & arbiter_grant[1];
        if (takes) begin
            slots_1_take = spawn_arbiter_0_grant[1];
        end
    end

    assign slots_1_free = free_valid & (free_core == INDEX_1);
    assign start_valid = {issued & (issued_core == INDEX_1), issued & (issued_core == INDEX_0)};
    assign start_any = issued;
    assign start_core = issued_core;
    assign start_slot = issued_slot;
    assign start_packet = issued_packet;
    assign start_count = issued_count;
    assign spawn_request[31:2] = 30'd0;
    assign spawn_arbiter_0_request = spawn_request & spawn_cores;

    always @* begin
        slot_of_core = 5'd0;
        if (spawn_arbiter_0_grant[0]) begin
            slot_of_core = slots_0_slot;
        end
        if (spawn_arbiter_0_grant[1]) begin
            slot_of_core = slots_1_slot;
        end
    end

    assign turn = spawn_arbiter_0_any & !issued_spawned_0;
    assign takes = spawn_valid & turn;
    assign spawn_ready = turn;
    assign spawn_take = takes;
    assign spawn_slot = slot_of_core;
    assign start_spawned = issued_spawned_0;
    assign start_job = issued_job_0;

    core_slots slots_0 (
        .clk(clk),
        .rst(rst),
        .limit(limit),
        .allowed(allowed),
        .take(slots_0_take),
        .free(slots_0_free),
        .free_slot(free_slot),
        .available(request[0]),
        .slot(slots_0_slot),
        .spawn_limit(spawn_mcw),
        .take_spawned(takes),
        .spawn_available(spawn_request[0])
    );

    core_slots slots_1 (
        .clk(clk),
        .rst(rst),
        .limit(limit),
        .allowed(allowed),
        .take(slots_1_take),
        .free(slots_1_free),
        .free_slot(free_slot),
        .available(request[1]),
        .slot(slots_1_slot),
        .spawn_limit(spawn_mcw),
        .take_spawned(takes),
        .spawn_available(spawn_request[1])
    );

    round_robin arbiter (
        .clk(clk),
        .rst(rst),
        .request(request),
        .advance(arbiter_advance),
        .any(idle_slot),
        .grant(arbiter_grant),
        .index(allocate_core)
    );

    round_robin spawn_arbiter_0 (
        .clk(clk),
        .rst(rst),
        .request(spawn_arbiter_0_request),
        .advance(takes),
        .any(spawn_arbiter_0_any),
        .grant(spawn_arbiter_0_grant),
        .index(spawn_core)
    );

    always @(posedge clk) begin
        if (rst) begin
            issued <= 1'b0;
            issued_core <= 5'd0;
            issued_slot <= 5'd0;
            issued_packet <= 32'd0;
            issued_count <= 6'd0;
            issued_spawned_0 <= 1'b0;
            issued_job_0 <= 4'd0;
        end else begin
            issued <= issue;
            if (issue) begin
                issued_core <= allocate_core;
                issued_slot <= slot;
                issued_packet <= warp_packet;
                issued_count <= warp_count;
            end
            issued_spawned_0 <= takes;
            if (takes) begin
                issued <= 1'b1;
                issued_core <= spawn_core;
                issued_slot <= slot_of_core;
                issued_packet <= spawn_thread;
                issued_count <= spawn_count;
                issued_job_0 <= spawn_job;
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, arbiter_grant[31:2], spawn_arbiter_0_grant[31:2]};
endmodule

// Round-robin arbiter of the cores' finish ports.
//
// 1. In each cycle one of the cores with `finish_valid` gets `finish_ready`, round-robin.
// 2. The event outputs report it in the next cycle, for one cycle. In that cycle the lookup table
//    is read and the slot is freed, so that a new warp cannot overwrite the slot's entry before.
module finish_arbiter (
    input  wire       clk,             // Rising-edge clock
    input  wire       rst,             // Synchronous reset, active high
    input  wire [1:0] finish_valid,    // From each core: a warp finished
    output wire [1:0] finish_ready,    // To each core: it is taken; depends on every finish_valid
    input  wire [9:0] finish_slot,     // From each core: the slot of the warp
    output wire       event_valid,     // A warp finished
    output wire [4:0] event_core,      // Its core
    output wire [4:0] event_slot,      // Its slot
    input  wire [1:0] finish_faulted,
    output wire       event_faulted    // The same of the warp that finished
);

    wire [31:0] request;
    wire arbiter_any;
    wire [31:0] arbiter_grant;
    wire [4:0] arbiter_index;
    reg  valid;
    reg  [4:0] core;
    reg  [4:0] slot;
    reg  faulted_0;

    assign request = {30'd0, finish_valid};
    assign finish_ready = arbiter_grant[1:0];
    assign event_valid = valid;
    assign event_core = core;
    assign event_slot = slot;
    assign event_faulted = faulted_0;

    round_robin arbiter (
        .clk(clk),
        .rst(rst),
        .request(request),
        .advance(arbiter_any),
        .any(arbiter_any),
        .grant(arbiter_grant),
        .index(arbiter_index)
    );

    always @(posedge clk) begin
        if (rst) begin
            valid <= 1'b0;
            core <= 5'd0;
            slot <= 5'd0;
            faulted_0 <= 1'b0;
        end else begin
            valid <= arbiter_any;
            core <= arbiter_index;
            if (arbiter_grant[0]) begin
                slot <= finish_slot[4:0];
            end
            if (arbiter_grant[1]) begin
                slot <= finish_slot[9:5];
            end
            if (arbiter_grant[0]) begin
                faulted_0 <= finish_faulted[0];
            end
            if (arbiter_grant[1]) begin
                faulted_0 <= finish_faulted[1];
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, arbiter_grant[31:2]};
endmodule

// 32 words of 4 bits, one write port, one combinational read port: distributed RAM.
module ram_async_4_5 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [4:0] write_address,
    input  wire [3:0] write_data,
    input  wire [4:0] read_address,
    output wire [3:0] read_data
);

    reg [3:0] words [0:31];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 32 words of 1 bits, one write port, one combinational read port: distributed RAM.
module ram_async_1_5 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [4:0] write_address,
    input  wire       write_data,
    input  wire [4:0] read_address,
    output wire       read_data
);

    reg [0:0] words [0:31];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 32 entries, one for each warp slot, that hold the index of the slot's entry in the delay commit
// queue.
//
// 1. `write` stores `write_index` for `write_slot` at this edge.
// 2. `read_index` is, in the same cycle, what `read_slot` holds; undefined if it was never
//    written.
//
// The paper's entry has 16 bits: the slot, by which this table is addressed, and the index. With a thread spawner an
// entry has one bit more: set, the index is the slot of a spawner's job.
module lookup_table_4 (
    input  wire       clk,            // Rising-edge clock
    input  wire       write,          // A warp is issued to this core
    input  wire [4:0] write_slot,     // Its slot
    input  wire [3:0] write_index,    // Its entry in the delay commit queue
    input  wire [4:0] read_slot,      // The slot of a warp that finished
    output wire [3:0] read_index,     // Its entry in the delay commit queue
    input  wire       write_spawned,  // The index is that of a job (one element with a thread spawner, as the next)
    output wire       read_spawned    // What read_slot holds is the index of a job
);

    ram_async_4_5 ram (
        .clk(clk),
        .write_enable(write),
        .write_address(write_slot),
        .write_data(write_index),
        .read_address(read_slot),
        .read_data(read_index)
    );

    ram_async_1_5 spawned_0 (
        .clk(clk),
        .write_enable(write),
        .write_address(write_slot),
        .write_data(write_spawned),
        .read_address(read_slot),
        .read_data(read_spawned)
    );
endmodule

// 16 words of 16 bits, one write port, one registered read port: block RAM.
module ram_sync_16_4 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [3:0]  write_address,
    input  wire [15:0] write_data,
    input  wire        read_enable,
    input  wire [3:0]  read_address,
    output wire [15:0] read_data
);

    reg [15:0] words [0:15];
    reg [15:0] data;
    always @(posedge clk) begin
        if (read_enable) data <= words[read_address];
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = data;
endmodule

// 16 words of 1 bits, one write port, one combinational read port: distributed RAM.
module ram_async_1_4 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [3:0] write_address,
    input  wire       write_data,
    input  wire [3:0] read_address,
    output wire       read_data
);

    reg [0:0] words [0:15];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// Queue of `2^A` issued warps (1,024 in the array: `DelayCommitQueue<10>`).
//
// 1. An entry is allocated at the tail; `allocate_index` names it in the same cycle.
//    `allocate_ready` is low while the queue is full. In the first `2^A` allocations after reset
//    it is low too while `done_valid` is high, so that both share the write port of the flags.
// 2. `done_valid` marks the entry `done_index` as finished, at most once for each allocation and
//    not in the cycle of the allocation. It is always accepted.
// 3. The entry at the head leaves in the first cycle in which it is known as finished, which is at
//    the earliest the cycle after `done_valid`; the `commit_` outputs report it in the cycle after
//    that, for one cycle. One entry a cycle leaves while finished ones stand at the head.
// 4. `commit_packet` sums the counts of all warps committed before, from 0 after reset, modulo
//    2^32.
//
// A flag is not a plain "done": it holds the lap (odd or even) in which its entry was last
// finished, and the head compares it with its own lap. Thus allocation need not clear flags, and
// they fit one RAM with one write and one read port; only in the first lap allocation writes them,
// as their contents are undefined.
module delay_commit_queue_4 (
    input  wire        clk,             // Rising-edge clock
    input  wire        rst,             // Synchronous reset, active high: empties the queue
    input  wire        allocate_valid,  // From the warp issue: a warp is issued
    output wire        allocate_ready,  // To the warp issue: an entry is free
    input  wire [4:0]  allocate_core,   // Core of the warp
    input  wire [4:0]  allocate_slot,   // Slot of the warp
    input  wire [5:0]  allocate_count,  // Packets of the warp
    output wire [3:0]  allocate_index,  // To the lookup tables: the entry that an allocation in this cycle gets
    input  wire        done_valid,      // From the finish arbiter: a warp finished
    input  wire [3:0]  done_index,      // Its entry
    output wire        commit_valid,    // A warp commits in this cycle
    output wire [4:0]  commit_core,     // Core of the warp; undefined, as the slot and the count, while commit_valid is low
    output wire [4:0]  commit_slot,     // Slot of the warp
    output wire [31:0] commit_packet,
    output wire [5:0]  commit_count     // Packets of the warp
);

    wire room;
    wire allocate;
    wire done_lap;
    wire leave;
    wire [15:0] warp;
    wire flags_write_enable;
    reg  [3:0] flags_write_address;
    reg  flags_write_data;
    wire flags_read_data;
    reg  [3:0] head;
    reg  head_lap;
    reg  [3:0] tail;
    reg  tail_lap;
    reg  first_lap;
    reg  committing;
    reg  [31:0] packets;

    assign room = ((head != tail) | (head_lap == tail_lap)) & !(first_lap & done_valid);
    assign allocate_ready = room;
    assign allocate_index = tail;
    assign allocate = allocate_valid & room;
    assign done_lap = head_lap ^ (done_index < head);
    assign flags_write_enable = done_valid | (allocate & first_lap);

    always @* begin
        flags_write_address = tail;
        flags_write_data = 1'b1;
        if (done_valid) begin
            flags_write_address = done_index;
            flags_write_data = done_lap;
        end
    end

    assign leave = (flags_read_data == head_lap) & ((head != tail) | (head_lap != tail_lap));
    assign commit_valid = committing;
    assign commit_core = warp[4:0];
    assign commit_slot = warp[9:5];
    assign commit_count = warp[15:10];
    assign commit_packet = packets;

    ram_sync_16_4 warps (
        .clk(clk),
        .write_enable(allocate),
        .write_address(tail),
        .write_data({allocate_count, allocate_slot, allocate_core}),
        .read_enable(leave),
        .read_address(head),
        .read_data(warp)
    );

    ram_async_1_4 flags (
        .clk(clk),
        .write_enable(flags_write_enable),
        .write_address(flags_write_address),
        .write_data(flags_write_data),
        .read_address(head),
        .read_data(flags_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            head <= 4'd0;
            head_lap <= 1'b0;
            tail <= 4'd0;
            tail_lap <= 1'b0;
            first_lap <= 1'b1;
            committing <= 1'b0;
            packets <= 32'd0;
        end else begin
            if (allocate) begin
                tail <= tail + 4'd1;
                if (&tail) begin
                    tail_lap <= !tail_lap;
                    first_lap <= 1'b0;
                end
            end
            if (leave) begin
                head <= head + 4'd1;
                if (&head) begin
                    head_lap <= !head_lap;
                end
            end
            committing <= leave;
            if (committing) begin
                packets <= packets + {26'd0, warp[15:10]};
            end
        end
    end
endmodule

// Task FIFO, warp former, warp issue, finish arbiter, lookup tables and delay commit queue,
// connected.
//
// The task FIFO and the delay commit queue have `2^A` entries each (1,024 in the array:
// `Dispatch<10, 11>`); `L` is `A + 1`.
//
// 1. A warp's life on the ports is `start_valid`, then `finish_valid` of its core and slot, then
//    `trace_commit_valid`, in the order of packetIdx.
// 2. The `trace_issue_` outputs report what starts in this cycle; `trace_finish_valid` follows the
//    transfer of a finish by one cycle; `trace_commit_valid` follows `trace_finish_valid` by two
//    cycles or more.
// 3. The counters change in the cycle after the event they count.
// 4. With a thread spawner warps of spawned threads pass by the delay commit queue: they start as
//    packet warps do, with `start_spawned`; when one finishes, `spawned_finish` reports it
//    in the cycle of `trace_finish_valid`. No counter here counts them.
module dispatch_spawned (
    input  wire        clk,                     // Rising-edge clock
    input  wire        rst,                     // Synchronous reset, active high
    input  wire        run,                     // Register CONTROL, bit 0: warps are formed and issued
    input  wire        eager,                   // Register CONTROL, bit 1: partial warps are formed at once for idle slots
    input  wire [5:0]  mcw,                     // Register MCW: warps on a core at a time
    input  wire [31:0] timeout,                 // Register TIMEOUT, in cycles
    input  wire        kernel_class,            // Register KERNEL_CLASS
    input  wire        task_valid,              // From the host: a packet count is offered
    output wire        task_ready,              // To the host: the task FIFO has room; depends on no input
    input  wire [31:0] task_count,              // From the host: packets that became ready
    output wire [1:0]  start_valid,             // To each core: a warp starts there in this cycle
    output wire [4:0]  start_slot,              // To the cores: its slot
    output wire [31:0] start_packet,            // To the cores: packetIdx of its first packet
    output wire [5:0]  start_count,             // To the cores: its packets, 1 to lanes
    input  wire [1:0]  finish_valid,            // From each core: a warp finished
    output wire [1:0]  finish_ready,            // To each core: its finish is taken; depends on every finish_valid
    input  wire [9:0]  finish_slot,             // From each core: the slot of the warp
    output wire        trace_issue_valid,       // A warp starts
    output wire [4:0]  trace_issue_core,        // Its core
    output wire [4:0]  trace_issue_slot,        // Its slot
    output wire [31:0] trace_issue_packet,      // packetIdx of its first packet
    output wire [5:0]  trace_issue_count,       // Its packets
    output wire        trace_finish_valid,      // A warp finished
    output wire [4:0]  trace_finish_core,       // Its core
    output wire [4:0]  trace_finish_slot,       // Its slot
    output wire        trace_commit_valid,      // A warp commits
    output wire [4:0]  trace_commit_core,       // Its core; undefined, as the slot and the count, while trace_commit_valid is low
    output wire [4:0]  trace_commit_slot,       // Its slot
    output wire [31:0] trace_commit_packet,     // packetIdx of its first packet
    output wire [5:0]  trace_commit_count,      // Its packets
    output wire [4:0]  task_level,              // Entries in the task FIFO
    output wire [31:0] pending,                 // Packets in the warp former that wait for a warp
    output wire [31:0] issued_warps,            // Warps issued since reset, modulo 2^32
    output wire [31:0] committed_warps,         // Warps committed since reset, modulo 2^32
    output wire [31:0] committed_packets,       // Packets committed since reset, modulo 2^32
    // A warp of spawned threads on its way to a core:
    input  wire        spawn_valid,             // A warp is offered; it stays until it is taken
    output wire        spawn_ready,             // It is taken at this edge; depends on no port of this group but cores
    input  wire [31:0] spawn_cores,             // The cores that may run it; bits of cores that are not there are ignored
    input  wire [3:0]  spawn_job,               // Slot of its job
    input  wire [31:0] spawn_thread,            // Number of its first thread
    input  wire [5:0]  spawn_count,             // Its threads, 1 to the lanes of a core
    input  wire [5:0]  spawn_mcw,               // Register SPAWN_MCW: warps of spawned threads on a core at a time
    // To the thread spawner: a warp of spawned threads finished. A warp of spawned threads finished:
    output wire        spawned_finish_valid,    // A warp finished: its threads ended, and all their stores are performed
    output wire [3:0]  spawned_finish_job,      // Slot of its job
    output wire        spawned_finish_faulted,  // One of its threads ended with a fault
    output wire        start_spawned,
    output wire [3:0]  start_job,               // To the cores: slot of its job
    input  wire [1:0]  finish_faulted,          // From each core: one of the threads of the warp that finished ended with a fault
    output wire        trace_finish_spawned     // The warp that finished is one of spawned threads
);

    localparam [4:0] INDEX_0 = 5'd0;
    localparam [4:0] INDEX_1 = 5'd1;
    wire allocated;
    reg  [3:0] done_index;
    reg  was_spawned;
    wire tasks_pop_valid;
    wire [31:0] tasks_pop_data;
    wire former_task_ready;
    wire former_warp_valid;
    wire [31:0] former_warp_packet;
    wire [5:0] former_warp_count;
    wire issue_warp_ready;
    wire issue_idle_slot;
    wire issue_allocate_valid;
    wire [4:0] issue_allocate_core;
    wire [4:0] issue_allocate_slot;
    wire issue_spawn_take;
    wire [4:0] issue_spawn_core;
    wire [4:0] issue_spawn_slot;
    reg  tables_0_write;
    reg  [4:0] tables_0_write_slot;
    reg  [3:0] tables_0_write_index;
    wire [3:0] tables_0_read_index;
    wire tables_0_read_spawned;
    reg  tables_1_write;
    reg  [4:0] tables_1_write_slot;
    reg  [3:0] tables_1_write_index;
    wire [3:0] tables_1_read_index;
    wire tables_1_read_spawned;
    wire commit_allocate_ready;
    wire [3:0] commit_allocate_index;
    wire commit_done_valid;
    reg  [31:0] issued;
    reg  [31:0] committed;

    assign allocated = issue_allocate_valid & commit_allocate_ready;

    always @* begin
        done_index = tables_0_read_index;
        if (trace_finish_core == INDEX_0) begin
            done_index = tables_0_read_index;
        end
        if (trace_finish_core == INDEX_1) begin
            done_index = tables_1_read_index;
        end
    end

    always @* begin
        tables_0_write = allocated & (issue_allocate_core == INDEX_0);
        tables_0_write_slot = issue_allocate_slot;
        tables_0_write_index = commit_allocate_index;
        if (issue_spawn_take) begin
            tables_0_write = issue_spawn_core == INDEX_0;
            tables_0_write_slot = issue_spawn_slot;
            tables_0_write_index = spawn_job;
        end
    end

    always @* begin
        tables_1_write = allocated & (issue_allocate_core == INDEX_1);
        tables_1_write_slot = issue_allocate_slot;
        tables_1_write_index = commit_allocate_index;
        if (issue_spawn_take) begin
            tables_1_write = issue_spawn_core == INDEX_1;
            tables_1_write_slot = issue_spawn_slot;
            tables_1_write_index = spawn_job;
        end
    end

    assign trace_issue_slot = start_slot;
    assign trace_issue_packet = start_packet;
    assign trace_issue_count = start_count;
    assign issued_warps = issued;
    assign committed_warps = committed;
    assign committed_packets = trace_commit_packet;

    always @* begin
        was_spawned = 1'b0;
        if (trace_finish_core == INDEX_0) begin
            was_spawned = tables_0_read_spawned;
        end
        if (trace_finish_core == INDEX_1) begin
            was_spawned = tables_1_read_spawned;
        end
    end

    assign commit_done_valid = trace_finish_valid & !was_spawned;
    assign spawned_finish_valid = trace_finish_valid & was_spawned;
    assign spawned_finish_job = done_index;
    assign trace_finish_spawned = trace_finish_valid & was_spawned;

    sync_fifo_32_4_5 tasks (
        .clk(clk),
        .rst(rst),
        .push_valid(task_valid),
        .push_ready(task_ready),
        .push_data(task_count),
        .pop_valid(tasks_pop_valid),
        .pop_ready(former_task_ready),
        .pop_data(tasks_pop_data),
        .level(task_level)
    );

    warp_former former (
        .clk(clk),
        .rst(rst),
        .task_valid(tasks_pop_valid),
        .task_ready(former_task_ready),
        .task_count(tasks_pop_data),
        .run(run),
        .eager(eager),
        .timeout(timeout),
        .idle_slot(issue_idle_slot),
        .warp_valid(former_warp_valid),
        .warp_ready(issue_warp_ready),
        .warp_packet(former_warp_packet),
        .warp_count(former_warp_count),
        .pending(pending)
    );

    warp_issue issue_unit (
        .clk(clk),
        .rst(rst),
        .run(run),
        .mcw(mcw),
        .kernel_class(kernel_class),
        .warp_valid(former_warp_valid),
        .warp_ready(issue_warp_ready),
        .warp_packet(former_warp_packet),
        .warp_count(former_warp_count),
        .idle_slot(issue_idle_slot),
        .allocate_valid(issue_allocate_valid),
        .allocate_ready(commit_allocate_ready),
        .allocate_core(issue_allocate_core),
        .allocate_slot(issue_allocate_slot),
        .free_valid(trace_finish_valid),
        .free_core(trace_finish_core),
        .free_slot(trace_finish_slot),
        .start_valid(start_valid),
        .start_any(trace_issue_valid),
        .start_core(trace_issue_core),
        .start_slot(start_slot),
        .start_packet(start_packet),
        .start_count(start_count),
        .spawn_valid(spawn_valid),
        .spawn_ready(spawn_ready),
        .spawn_cores(spawn_cores),
        .spawn_job(spawn_job),
        .spawn_thread(spawn_thread),
        .spawn_count(spawn_count),
        .spawn_mcw(spawn_mcw),
        .spawn_take(issue_spawn_take),
        .spawn_core(issue_spawn_core),
        .spawn_slot(issue_spawn_slot),
        .start_spawned(start_spawned),
        .start_job(start_job)
    );

    finish_arbiter finish (
        .clk(clk),
        .rst(rst),
        .finish_valid(finish_valid),
        .finish_ready(finish_ready),
        .finish_slot(finish_slot),
        .event_valid(trace_finish_valid),
        .event_core(trace_finish_core),
        .event_slot(trace_finish_slot),
        .finish_faulted(finish_faulted),
        .event_faulted(spawned_finish_faulted)
    );

    lookup_table_4 tables_0 (
        .clk(clk),
        .write(tables_0_write),
        .write_slot(tables_0_write_slot),
        .write_index(tables_0_write_index),
        .read_slot(trace_finish_slot),
        .read_index(tables_0_read_index),
        .write_spawned(issue_spawn_take),
        .read_spawned(tables_0_read_spawned)
    );

    lookup_table_4 tables_1 (
        .clk(clk),
        .write(tables_1_write),
        .write_slot(tables_1_write_slot),
        .write_index(tables_1_write_index),
        .read_slot(trace_finish_slot),
        .read_index(tables_1_read_index),
        .write_spawned(issue_spawn_take),
        .read_spawned(tables_1_read_spawned)
    );

    delay_commit_queue_4 commit (
        .clk(clk),
        .rst(rst),
        .allocate_valid(issue_allocate_valid),
        .allocate_ready(commit_allocate_ready),
        .allocate_core(issue_allocate_core),
        .allocate_slot(issue_allocate_slot),
        .allocate_count(former_warp_count),
        .allocate_index(commit_allocate_index),
        .done_valid(commit_done_valid),
        .done_index(done_index),
        .commit_valid(trace_commit_valid),
        .commit_core(trace_commit_core),
        .commit_slot(trace_commit_slot),
        .commit_packet(trace_commit_packet),
        .commit_count(trace_commit_count)
    );

    always @(posedge clk) begin
        if (rst) begin
            issued <= 32'd0;
            committed <= 32'd0;
        end else begin
            if (trace_commit_valid) begin
                committed <= committed + 32'd1;
            end
            if (trace_issue_valid & !start_spawned) begin
                issued <= issued + 32'd1;
            end
        end
    end
endmodule

