// The turns of frames: one in a cycle, as it is offered, only with room for it; and who waits lets
// one frame of each other pass at most.
//
// A request or a response can go only while there is room for a payload: for these the cycles
// without room do not count, in which answers may pass. As in the network interface, a command's
// packet comes in the cycle behind the one in which it was chosen, and in that cycle responses and
// answers are not offered, since they cannot look at the tables. That they are withdrawn in other
// cycles too is not in here: those do not count as waiting.
module frame_turns_formal (
    input wire         clk,
    input wire         rst,
    input wire         request_wants,
    input wire         chooses,
    input wire [381:0] request,
    input wire         response_waits,
    input wire [381:0] response,
    input wire         answer_waits,
    input wire [381:0] answer,
    input wire         source_ready,
    input wire         head_ready
);
    wire request_ready, response_taken, answer_taken, head_valid;
    wire [381:0] head;
    reg request_valid;
    wire response_valid = response_waits && !request_valid;
    wire answer_valid = answer_waits && !request_valid;
    frame_turns dut (
        .clk(clk), .rst(rst), .request_wants(request_wants), .request_ready(request_ready), .request_valid(request_valid),
        .request(request), .response_valid(response_valid), .response(response), .response_taken(response_taken),
        .answer_valid(answer_valid), .answer(answer), .answer_taken(answer_taken), .source_ready(source_ready),
        .head_valid(head_valid), .head_ready(head_ready), .head(head)
    );

    `include "start.vh"

    // Who waited in the cycle before, and was not taken.
    reg request_waited, response_waited, answer_waited;
    // Frames of others that passed since then, in cycles that count.
    reg [1:0] responses_past_request, answers_past_request, requests_past_response, answers_past_response;
    reg [1:0] requests_past_answer, responses_past_answer;
    wire counted_answer = answer_taken && source_ready;
    always @* begin
        // Nobody else took the room of the packet that was chosen; it is still wanted.
        if (request_valid) assume (head_ready && source_ready && request_wants);
        if (request_waited) assume (request_wants);
        if (response_waited) assume (response_waits);
        if (answer_waited) assume (answer_waits);
    end
    always @(posedge clk) begin
        request_valid <= chooses && request_wants && request_ready && !request_valid && !rst;
        request_waited <= request_wants && !request_valid && !rst;
        response_waited <= response_waits && !response_taken && !rst;
        answer_waited <= answer_waits && !answer_taken && !rst;
        responses_past_request <= (request_waited ? responses_past_request : 0) + response_taken;
        answers_past_request <= (request_waited ? answers_past_request : 0) + counted_answer;
        requests_past_response <= (response_waited ? requests_past_response : 0) + request_valid;
        answers_past_response <= (response_waited ? answers_past_response : 0) + counted_answer;
        requests_past_answer <= (answer_waited ? requests_past_answer : 0) + request_valid;
        responses_past_answer <= (answer_waited ? responses_past_answer : 0) + response_taken;
    end
    // With those of this cycle
    wire [1:0] request_responses = (request_waited ? responses_past_request : 0) + response_taken;
    wire [1:0] request_answers = (request_waited ? answers_past_request : 0) + counted_answer;
    wire [1:0] response_requests = (response_waited ? requests_past_response : 0) + request_valid;
    wire [1:0] response_answers = (response_waited ? answers_past_response : 0) + counted_answer;
    wire [1:0] answer_requests = (answer_waited ? requests_past_answer : 0) + request_valid;
    wire [1:0] answer_responses = (answer_waited ? responses_past_answer : 0) + response_taken;

    always @(posedge clk) if (started && !rst) begin
        one_frame: assert (request_valid + response_taken + answer_taken <= 1);
        with_room: assert ((!response_taken && !answer_taken) || head_ready);
        payload_has_room: assert ((!response_taken && !request_ready) || (source_ready && head_ready));
        only_what_is_offered: assert ((!response_taken || response_valid) && (!answer_taken || answer_valid));
        as_it_is_offered: assert ((!request_valid || head == request) && (!response_taken || head == response) && (!answer_taken || head == answer));
        sent_when_taken: assert ((head_valid && head_ready) == (request_valid || response_taken || answer_taken));
        // The room of a packet that may be chosen is taken by nobody.
        room_of_a_request_stays: assert (!request_ready || !request_wants || request_valid || !head_valid);
        // Nothing waits while the link is free, but for a request that is about to come.
        no_pause: assert (!head_ready || request_wants || head_valid || !(answer_valid || (response_valid && source_ready)));

        if (request_wants && !request_valid) request_is_passed_once: assert (request_responses <= 1 && request_answers <= 1);
        if (response_waits && !response_taken) response_is_passed_once: assert (response_requests <= 1 && response_answers <= 1);
        if (answer_waits && !answer_taken) answer_is_passed_once: assert (answer_requests <= 1 && answer_responses <= 1);

        last_of_three: cover (answer_taken && answer_requests == 1 && answer_responses == 1);
        request_last: cover (request_valid && request_responses == 1 && request_answers == 1);
        response_last: cover (response_taken && response_requests == 1 && response_answers == 1);
        answers_pass: cover (answer_taken && response_waited && !source_ready);
    end
endmodule
