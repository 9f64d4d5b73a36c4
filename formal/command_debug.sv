// Harts that the host stops, steps, resumes and has execute words: a hart stops at a boundary or
// with a trap, since it was told to or behind its step, and at the first one; nothing is delivered
// to it meanwhile; a step is one instruction; a word is executed once, by a hart that is stopped.
//
// Of all harts one is followed, whichever. The pipeline is a model: stage W holds anything that the
// rules of the harts allow.
module command_debug_formal (
    input wire        clk,
    input wire        rst,
    input wire [2:0]  select,
    input wire        write_data,
    input wire        write_execute,
    input wire [31:0] value,
    input wire [7:0]  ask_step,
    input wire [7:0]  ask_resume,
    input wire [7:0]  ask_stop,
    input wire [29:0] pc,
    input wire [7:0]  run,
    input wire [7:0]  others_stopped,
    input wire [7:0]  between,
    input wire [7:0]  trap,
    input wire        fetches,
    input wire        live,
    input wire [2:0]  hart,
    input wire        executed,
    input wire        retire,
    input wire        exception,
    input wire        halts,
    input wire        data_write,
    input wire [31:0] data_value
);
    (* anyconst *) reg [2:0] follow;
    wire [7:0]  stop, resume, closed, execute;
    wire [31:0] word, data;
    wire [29:0] pc_out;
    wire        busy, error;
    // Whether the followed hart is stopped, as its own state has it.
    reg         is_stopped;
    wire [7:0]  stopped = (others_stopped & ~(8'd1 << follow)) | (is_stopped << follow);
    wire        issue = fetches && execute != 0;
    command_debug dut (
        .clk(clk), .rst(rst), .registers_select(select), .registers_data_write(write_data), .registers_execute(write_execute),
        .registers_value(value), .registers_step(ask_step), .registers_resume(ask_resume), .registers_stop(ask_stop),
        .registers_data(data), .registers_pc(pc_out), .pc(pc), .run(run), .stopped(stopped), .between(between), .trap(trap),
        .issue(issue), .live(live), .hart(hart), .executed(executed), .retire(retire), .exception(exception),
        .data_write(data_write), .data_value(data_value), .stop(stop), .resume(resume), .closed(closed), .execute(execute),
        .word(word), .busy(busy), .error(error)
    );
    (* hierconn *) wire [7:0] \dut.wanted ;
    (* hierconn *) wire [7:0] \dut.steps ;
    (* hierconn *) wire [7:0] \dut.ran ;
    (* hierconn *) wire [7:0] \dut.executes ;
    (* hierconn *) wire       \dut.fetches ;

    `include "start.vh"

    wire here = live && hart == follow;
    wire done = here && !executed && retire;

    // The word: whether there is one, whose it is, whether it is in the pipeline.
    reg         any, inside;
    reg  [2:0]  whose;
    reg  [31:0] given;
    wire        mine = any && whose == follow;
    wire        accepted = write_execute && !any && stopped[select] && run[select] && !(ask_step[select] || ask_resume[select]);
    // What is asked of the followed hart: to stop; to execute one instruction, and how many it has
    // executed.
    reg         told, stepping, was_run, late;
    reg  [1:0]  count;

    always @* begin
        // Only a hart that runs is between instructions, has one in stage W, or enters a trap; a
        // stopped one has none but the word.
        if (between[follow]) assume (run[follow] && !is_stopped && !(here && exception));
        if (here) assume (run[follow] && (executed ? is_stopped : !is_stopped));
        if (live && executed) assume (any && inside && hart == whose && run[hart]);
        assume (retire + exception < 2);
        if (!live) assume (!retire && !exception);
        // No interrupt is taken while nothing may be delivered: a trap is that of an exception.
        if (trap[follow] && closed[follow]) assume (here && !executed && exception && !halts);
        if (trap[follow]) assume (run[follow] && !is_stopped && !halts);
        // Behind an instruction that retires there is a boundary in its cycle, or in the next, in
        // which stage W has none of the hart.
        if (late) assume (!here && (!run[follow] || between[follow]));
    end

    always @(posedge clk) begin
        was_run <= run[follow];
        is_stopped <= run[follow] && (stop[follow] || (here && !executed && exception && halts) || (is_stopped && !resume[follow]));
        told <= (told || ask_stop[follow]) && !stop[follow] && !is_stopped && (run[follow] || !was_run);
        stepping <= run[follow]
            && ((is_stopped && resume[follow] && ask_step[follow]) || (stepping && !is_stopped && !stop[follow]));
        late <= done && !between[follow];
        if (is_stopped) count <= 0;
        else if (done && count != 3) count <= count + 1;
        if (issue) inside <= 1;
        if (live && executed) inside <= 0;
        if (live && executed && (retire || exception)) any <= 0;
        if (any && !run[whose]) {any, inside} <= 0;
        if (accepted) begin
            any <= 1;
            whose <= select;
            given <= value;
        end
        if (rst) {any, inside, told, stepping, was_run, late, is_stopped, count} <= 0;
    end

    always @(posedge clk) if (started && !rst) begin
        stops_between_instructions: assert (!stop[follow] || between[follow] || trap[follow]);
        stops_since_told: assert (!stop[follow] || told || stepping);
        told_stops: assert (!(told && between[follow]) || stop[follow]);
        step_stops: assert (!(stepping && between[follow] && (done || count != 0)) || stop[follow]);
        step_stops_at_handler: assert (!(stepping && trap[follow]) || stop[follow]);
        one_instruction: assert (!(stepping && done) || count == 0);
        nothing_delivered: assert (!(told || stepping) || closed[follow]);
        delivered_else: assert (!closed[follow] || told || stepping || is_stopped);
        only_stopped_resume:
            assert (!resume[follow] || (is_stopped && run[follow] && !mine && (ask_step[follow] || ask_resume[follow])));
        resume_is_obeyed:
            assert (!(is_stopped && run[follow] && !mine && (ask_step[follow] || ask_resume[follow])) || resume[follow]);
        word_for_stopped: assert (!execute[follow] || (mine && is_stopped));
        word_once: assert (!(execute != 0 && inside));
        word_is_kept: assert (!mine || execute[follow] || inside);
        word_is_given: assert (!any || word == given);
        busy_while_executed: assert (busy == any);

        // What the induction needs to know of the state.
        state_run: assert (\dut.ran [follow] == was_run && (was_run || !(is_stopped || late || stepping)));
        state_executes: assert (\dut.executes == (any ? 8'd1 << whose : 8'd0));
        state_fetches: assert (!any || \dut.fetches != inside);
        state_inside: assert (!inside || any);
        state_mine: assert (!mine || is_stopped);
        state_steps: assert (!\dut.steps [follow] || is_stopped || (stepping && count == 0));
        state_late: assert (!(stepping && !is_stopped && !\dut.steps [follow]) || (late && \dut.wanted [follow] && count == 1));
        state_told: assert (!told || \dut.wanted [follow]);
        state_wanted: assert (!\dut.wanted [follow] || told || (late && stepping));

        a_step: cover (stepping && stop[follow] && done);
        a_late_step: cover (stepping && stop[follow] && late);
        a_step_to_a_handler: cover (stepping && stop[follow] && trap[follow]);
        a_word: cover (here && executed && retire);
    end
endmodule
