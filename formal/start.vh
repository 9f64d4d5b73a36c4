// The first cycle is one of reset; later ones come at any time.
reg started = 0;
always @(posedge clk) started <= 1;
always @* if (!started) assume (rst);
