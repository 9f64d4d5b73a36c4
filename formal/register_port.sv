// Host and command processor share the registers: each access is performed once, as its master
// asked, and answered to that master; each gets its turn in the cycle after the other's at the
// latest; a write of the processor to TASK_PUSH is refused.
module register_port_formal (
    input wire        clk,
    input wire        rst,
    input wire [11:0] host_address,
    input wire        host_wants,
    input wire        host_writes,
    input wire [31:0] host_data,
    input wire [31:0] host_mask,
    input wire        valid,
    input wire        write,
    input wire [11:0] address,
    input wire [31:0] data,
    input wire        withdraw,
    input wire        known,
    input wire [31:0] value,
    input wire        delay
);
    wire        hold, done, by_command, was_by_command, read_request, write_request;
    wire        host_known, host_delay, command_known;
    wire [31:0] host_value, command_value, request_data, request_mask;
    wire [11:0] request_address;
    // The AXI4-Lite slave makes no access while it is held.
    wire        host_read = host_wants && !host_writes && !hold;
    wire        host_write = host_wants && host_writes && !hold;
    register_port dut (
        .clk(clk), .rst(rst), .host_address(host_address), .host_read(host_read), .host_write(host_write), .host_data(host_data),
        .host_mask(host_mask), .host_answer_known(host_known), .host_answer_value(host_value), .host_answer_delay(host_delay),
        .hold(hold), .access_valid(valid), .access_write(write), .access_address(address), .access_data(data), .access_done(done),
        .access_value(command_value), .access_known(command_known), .request_address(request_address),
        .request_read(read_request), .request_write(write_request), .request_data(request_data), .request_mask(request_mask),
        .answer_known(known), .answer_value(value), .answer_delay(delay), .by_command(by_command),
        .was_by_command(was_by_command)
    );

    `include "start.vh"

    localparam TASK_PUSH = 12'h040;
    wire refused = valid && write && address == TASK_PUSH;
    // What the registers perform, and for whom.
    wire performed = read_request || (write_request && !delay);
    wire host_done = (host_read || host_write) && !(host_write && host_delay);

    // The access of each master that waits, and its fields; cycles since it had a turn.
    reg         command_waits, host_waits, last_turn;
    reg  [44:0] command_access;
    reg  [76:0] host_access;
    reg  [1:0]  command_late, host_late;
    always @* begin
        // Both masters keep what they ask for until it is done; a hart that is held withdraws.
        if (command_waits) assume ((valid && command_access == {write, address, data}) || (!valid && withdraw));
        if (host_waits) assume (host_wants && host_access == {host_writes, host_address, host_data, host_mask});
    end
    always @(posedge clk) begin
        command_waits <= valid && !done;
        command_access <= {write, address, data};
        host_waits <= host_wants && !host_done;
        host_access <= {host_writes, host_address, host_data, host_mask};
        command_late <= valid && !by_command ? command_late + 1 : 0;
        host_late <= host_wants && !(host_read || host_write) ? host_late + 1 : 0;
        last_turn <= by_command;
        if (rst) begin
            {command_waits, host_waits, last_turn} <= 0;
            command_late <= 0;
            host_late <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        one_access_at_a_time: assert (!(read_request && write_request));
        if (by_command) begin
            command_access_as_asked: assert (valid && read_request == !write && write_request == (write && !refused) &&
                request_address == address && request_data == data && request_mask == 32'hffffffff);
        end else begin
            host_access_as_asked: assert (read_request == host_read && write_request == host_write && request_address == host_address
                && request_data == host_data && request_mask == host_mask);
        end
        // Once: done in the cycle in which the registers perform it, and in no other.
        command_done_once: assert (done == (by_command && (performed || refused)));
        host_done_once: assert (host_done == (!by_command && performed));
        if (refused) push_is_refused: assert (!(by_command && write_request) && !(done && command_known));
        if (done) command_answer: assert (command_value == value && command_known == (known && !refused));
        if (host_done) host_answer: assert (host_value == value && host_known == known);
        // Each has its turn within two cycles, whatever the registers delay.
        command_does_not_starve: assert (command_late < 2);
        host_does_not_starve: assert (host_late < 2);
        if (valid && !last_turn) command_at_once: assert (by_command);
        events_are_of_their_master: assert (was_by_command == last_turn);


        both_wait: cover (host_late == 1 && valid && host_read);
        delayed_twice: cover (command_waits && by_command && write_request && delay && last_turn == 0 && host_waits);
        push_refused: cover (done && refused && host_waits && host_access[76]);
        withdrawn: cover (command_waits && !valid);
    end
endmodule
