`ifdef ANY_STATE
// The first cycle is any in which the properties hold.
reg started = 1, first = 1;
always @(posedge clk) first <= 0;
`else
// The first cycle is one of reset; later ones come at any time.
reg started = 0;
always @(posedge clk) started <= 1;
always @* if (!started) assume (rst);
`endif
