// What the ends of the buses share, included in each: pauses from a seed, and the end of a run that
// failed.
integer seed;

initial seed = SEED;

// A pause begins or goes on.
function pauses;
    input dummy;
    pauses = ($random(seed) & 32'h7fffffff) % 100 < PAUSE;
endfunction

task fail;
    input [8 * 60 - 1:0] what;
    begin
        $display("FAIL %0t: %m: %0s", $time, what);
        $finish;
    end
endtask
