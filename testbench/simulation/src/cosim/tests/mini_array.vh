  // The body of a module: see `ARRAY` in tests.rs, which replaces the names of registers between @.
  reg [31:0] pending, issued, committed, faults; reg [31:0] values [0:63];
  reg [31:0] records [0:1023]; reg [9:0] record_in, record_out; reg [6:0] busy; reg [23:0] maintenances;
  wire hold = 1'b0; wire get_error = 1'b0;
  wire [9:0] level = record_in - record_out;
  wire [31:0] get_value =
    get_offset == @ID@ ? @IDVALUE@ : get_offset == @CONFIG@ ? {8'd0, 8'd1, 8'd2, 8'd4} :
    get_offset == @PENDING@ ? pending : get_offset == @COMMITTED_PACKETS@ ? committed :
    get_offset == @L2_MAINTENANCE@ ? {maintenances, 7'd0, busy != 0} : get_offset == @FAULTS@ ? faults : get_offset == @FAULT_LEVEL@ ? {22'd0, level} :
    get_offset == @FAULT_INFO@ ? 32'h01000102 : get_offset == @FAULT_PACKET@ ? records[record_out] :
    get_offset == @CORE_INSTRUCTIONS@ ? {31'd0, values[@CORE_SELECT@ >> 2][0]} + 32'd7 + retired : values[get_offset[7:2]];
  wire run = values[@CONTROL@ >> 2][0];
  reg [3:0] state; reg core, second; reg [31:0] first [0:1]; reg [5:0] count [0:1]; reg [5:0] done;
  wire [5:0] take = pending > 4 ? 6'd4 : pending[5:0];
  wire [31:0] packet = first[core] + {26'd0, done};
  wire [31:0] slot = packet & ((32'd1 << values[@RING_SLOTS_LOG2@ >> 2]) - 1);
  wire [31:0] slot_address = values[@RING_BASE@ >> 2] + (slot << values[@SLOT_BYTES_LOG2@ >> 2]);
  wire [31:0] verdict_address = values[@VERDICT_BASE@ >> 2] + (slot << 2);
  reg [511:0] line; reg aw_done, w_done; reg [31:0] retired; reg [14:0] turns;
  wire fault = line[159:152] == 8'hff;
  wire [31:0] verdict = fault ? 32'hc0000002 : line[31:0];
  wire aw_now = aw_done | m_axi_0_awready; wire w_now = w_done | m_axi_0_wready;
  localparam IDLE = 0, ISSUE = 1, READ = 2, DATA = 3, WRITE = 4, WAIT = 5, VERDICT = 6, ANSWER = 7, FINISH = 8, FIRST = 9,
             SECOND = 10, LOOP = 11;
  assign m_axi_0_arvalid = state == READ; assign m_axi_0_araddr = slot_address; assign m_axi_0_arsize = 3'd6;
  assign m_axi_0_arburst = 2'd1; assign m_axi_0_rready = state == DATA; assign m_axi_0_bready = 1'b1;
  assign m_axi_0_awvalid = (state == WRITE | state == VERDICT) & ~aw_done; assign m_axi_0_awsize = 3'd6;
  assign m_axi_0_awburst = 2'd1; assign m_axi_0_wlast = 1'b1;
  assign m_axi_0_awaddr = state == WRITE ? slot_address : {verdict_address[31:6], 6'd0};
  assign m_axi_0_wvalid = (state == WRITE | state == VERDICT) & ~w_done;
  assign m_axi_0_wdata = state == WRITE ? line : {16{verdict}};
  assign m_axi_0_wstrb = state == WRITE ? 64'hffffffffffffffff : 64'd15 << verdict_address[5:0];
  assign trace_issue_valid = (state == IDLE | state == ISSUE) & run & pending != 0;
  assign trace_issue_core = {4'd0, state == ISSUE}; assign trace_issue_slot = 5'd0;
  assign trace_issue_packet = issued; assign trace_issue_count = take;
  assign trace_finish_valid = state == FINISH; assign trace_finish_core = {4'd0, core};
  assign trace_commit_valid = state == FIRST | state == SECOND; assign trace_commit_core = {4'd0, state == SECOND};
  assign trace_commit_packet = first[state == SECOND]; assign trace_commit_count = count[state == SECOND];
  wire [31:0] pushed = (set & set_offset == @TASK_PUSH@) ? set_value : 32'd0;
  always @(posedge clk) begin
    pending <= pending + pushed - (trace_issue_valid ? {26'd0, take} : 32'd0);
    if (set) values[set_offset[7:2]] <= set_value;
    if (set & set_offset == @L2_MAINTENANCE@ & set_value == 2) begin busy <= 100; maintenances <= maintenances + 1; end
    else if (busy != 0) busy <= busy - 1;
    if (set & set_offset == @FAULT_POP@) record_out <= record_out + 1;
    if (trace_issue_valid) begin
      first[state == ISSUE] <= issued; count[state == ISSUE] <= take; issued <= issued + {26'd0, take};
      core <= state == ISSUE; second <= state == ISSUE; done <= 0;
    end
    if (trace_commit_valid) committed <= committed + {26'd0, trace_commit_count};
    case (state)
      IDLE: if (trace_issue_valid) state <= ISSUE;
      ISSUE: state <= READ;
      READ: if (m_axi_0_arready) state <= DATA;
      DATA: if (m_axi_0_rvalid) begin
        line <= m_axi_0_rdata; line[151:144] <= m_axi_0_rdata[151:144] + 8'd1;
        state <= m_axi_0_rdata[151:144] == 8'hee ? DATA : m_axi_0_rdata[151:144] == 8'hed ? LOOP : WRITE;
        aw_done <= 0; w_done <= 0; turns <= 0;
      end
      LOOP: begin retired <= retired + 1; turns <= turns + 1; if (turns == 20000) state <= WRITE; end
      WRITE, VERDICT: begin
        aw_done <= aw_now; w_done <= w_now;
        if (aw_now & w_now) state <= state == WRITE ? WAIT : ANSWER;
      end
      WAIT: if (m_axi_0_bvalid) begin state <= VERDICT; aw_done <= 0; w_done <= 0; end
      ANSWER: if (m_axi_0_bvalid) begin
        done <= done + 1; state <= done + 1 == count[core] ? FINISH : READ;
        if (fault) begin faults <= faults + 1; records[record_in] <= packet; record_in <= record_in + 1; end
      end
      FINISH: begin core <= 0; done <= 0; state <= core ? READ : FIRST; end
      FIRST: state <= second ? SECOND : IDLE;
      SECOND: state <= IDLE;
      default: state <= IDLE;
    endcase
    if (rst) begin
      state <= IDLE; pending <= 0; issued <= 0; committed <= 0; faults <= 0; record_in <= 0; record_out <= 0;
      busy <= 0; maintenances <= 0; retired <= 0;
    end
  end
