// The ports and the unit of core_clear.sv and core_owner.sv, behind the name of the module: an
// owner of two cores for two functions, with four rows to clear.
    input wire         clk,
    input wire         rst,
    input wire [127:0] wanted,
    input wire [1:0]   idle,
    input wire         written_valid,
    input wire [2:0]   written_function,
    input wire [3:0]   written_word,
    input wire [31:0]  written_data,
    input wire [31:0]  copy_data
);
    wire [31:0] ready;
    wire [1:0]  open, first, drop, take, rows_valid;
    wire [5:0]  owner;
    wire [23:0] rows_row;
    wire [3:0]  word, copy_word;
    wire [31:0] data;
    wire [2:0]  copy_function;
    owner_that_clears dut (
        .clk(clk), .rst(rst), .assignment_wanted(wanted), .assignment_ready(ready), .idle(idle), .open(open),
        .function_(owner), .first(first), .drop(drop), .rows_valid(rows_valid), .rows_row(rows_row), .take(take),
        .word(word), .data(data), .written_valid(written_valid), .written_function(written_function),
        .written_word(written_word), .written_data(written_data), .copy_function(copy_function),
        .copy_word(copy_word), .copy_data(copy_data)
    );
    (* hierconn *) wire [3:0] \dut.owner_0 ;
    (* hierconn *) wire [3:0] \dut.owner_1 ;
