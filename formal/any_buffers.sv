// In place of the staging buffers, for the proof of the window: they answer anything.
module stage_buffers (
    input  wire         clk,
    input  wire         rst,
    output wire         stage_free,
    output wire [3:0]   stage_free_buffer,
    input  wire         stage_soon,
    input  wire         stage_coming,
    input  wire         stage_claim,
    input  wire         stage_fill,
    input  wire [3:0]   stage_fill_buffer,
    input  wire [511:0] stage_fill_data,
    input  wire         stage_stage,
    input  wire [43:0]  stage_staged,
    input  wire         stage_discard,
    input  wire [3:0]   stage_discard_buffer,
    input  wire         stage_drop,
    input  wire [3:0]   stage_drop_buffer,
    output wire         stage_event_valid,
    input  wire         stage_event_ready,
    output wire [105:0] stage_event,
    input  wire         event_valid,
    input  wire [105:0] event_,
    output wire         event_ready,
    input  wire [2:0]   hart,
    input  wire [3:0]   place,
    input  wire         store,
    input  wire [31:0]  data,
    output wire         stall,
    output wire [31:0]  word,
    output wire [255:0] words,
    output wire         here,
    output wire [43:0]  oldest,
    input  wire         take,
    output wire         has,
    output wire [43:0]  command,
    input  wire         finish,
    input  wire         lose,
    output wire         loses,
    input  wire [7:0]   hold
);
    (* anyseq *) wire any_stage_free;
    assign stage_free = any_stage_free;
    (* anyseq *) wire [3:0] any_stage_free_buffer;
    assign stage_free_buffer = any_stage_free_buffer;
    (* anyseq *) wire any_stage_event_valid;
    assign stage_event_valid = any_stage_event_valid;
    (* anyseq *) wire [105:0] any_stage_event;
    assign stage_event = any_stage_event;
    (* anyseq *) wire any_event_ready;
    assign event_ready = any_event_ready;
    (* anyseq *) wire any_stall;
    assign stall = any_stall;
    (* anyseq *) wire [31:0] any_word;
    assign word = any_word;
    (* anyseq *) wire [255:0] any_words;
    assign words = any_words;
    (* anyseq *) wire any_here;
    assign here = any_here;
    (* anyseq *) wire [43:0] any_oldest;
    assign oldest = any_oldest;
    (* anyseq *) wire any_has;
    assign has = any_has;
    (* anyseq *) wire [43:0] any_command;
    assign command = any_command;
    (* anyseq *) wire any_loses;
    assign loses = any_loses;
endmodule
