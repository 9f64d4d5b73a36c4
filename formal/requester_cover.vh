// Where the covers of requester.sv and net_once.sv are looked for: among few stimuli, which is
// quicker, and what these reach is reached. One reset, one queue pair, always the same PUT of four
// bytes that the command holds, no answer.
`ifdef COVER
    always @* begin
        assume (rst == !started && window == 8 && retries == 1 && completed_ready && head_ready);
        assume (opens_pair == pair && ups == 16'd0 + up << pair && errors == 16'd0 + errors[pair] << pair);
        assume (post == {36'd0, pair, 128'd0, 32'd4, 96'h401} && region == 0);
        // A queue pair with windows of four bytes, packets of 256 bytes and one READ at a time.
        assume (send[301:1] == {5'd1, 88'd0, 32'd4, 168'd0, 4'd8, 4'd0});
        assume (!answer_valid && !got_valid && !fault_valid && moving == 0 && show_pair == 0);
    end
`endif
