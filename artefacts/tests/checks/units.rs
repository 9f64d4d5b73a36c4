//! The units whose kernels state what always holds, and a mutant for each condition.

use std::collections::BTreeSet;

use hermes_hdl::emit::emit;
use hermes_hdl::prelude::*;
use hermes_rtl::config::{Config, SpawnOptions};
use hermes_rtl::top::emit_top;
use hermes_rtl::{command, net, queues, spawn};

use crate::mutants::{all_are_noticed, conditions, top, Case, Mutant};

/// A unit under a name that no child of another has.
fn case(unit: &impl Block, name: &str, mutants: &'static [Mutant]) -> Case {
    let design = emit(unit, &format!("{name}_alone")).unwrap_or_else(|error| panic!("{name}: {error}"));
    Case { design, mutants }
}

macro_rules! mutants {
    ($($condition:literal: $place:literal => $fault:literal, $inputs:expr;)*) => {
        &[$(Mutant { condition: $condition, place: $place, fault: $fault, inputs: $inputs }),*]
    };
}

#[test]
fn every_condition_is_broken_by_its_mutant() {
    let queues = [
        case(&queues::CommandQueues::new(2, 1, 1, 8), "command_queues", COMMAND_QUEUES),
        case(&queues::LookList::default(), "look_list", LOOK_LIST),
        case(&queues::QueueWatch::new(2, 1, 1), "queue_watch", QUEUE_WATCH),
        case(&queues::StageBuffers::new(2), "stage_buffers", STAGE_BUFFERS),
    ];
    let net = [
        case(&net::Acknowledge::default(), "acknowledge", ACKNOWLEDGE),
        case(&net::FrameBuffer::default(), "frame_buffer", FRAME_BUFFER),
        case(&net::FrameCheck::default(), "frame_check", FRAME_CHECK),
        case(&net::NetWindow::new(2, 1, 8), "net_window", NET_WINDOW),
        case(&net::PairCounts::default(), "pair_counts", PAIR_COUNTS),
        case(&net::PayloadReader::default(), "payload_reader", PAYLOAD_READER),
        case(&net::QueuePairs::default(), "queue_pairs", QUEUE_PAIRS),
        case(&net::Receiver::default(), "receiver", RECEIVER),
        case(&net::RemoteAtomics::default(), "remote_atomics", REMOTE_ATOMICS),
        case(&net::Requester::new(0, 8), "requester", REQUESTER),
        case(&net::Responder::default(), "responder", RESPONDER),
        case(&net::SendWindow::default(), "send_window", SEND_WINDOW),
        case(&net::WorkPosts::new(8), "work_posts", WORK_POSTS),
        case(&net::WorkTable::new(0, 8), "work_table", WORK_TABLE),
    ];
    let spawn = [
        case(&spawn::CompletionWriter::default(), "completion_writer", COMPLETION_WRITER),
        case(&spawn::SpawnIssue::new(3, 8), "spawn_issue", SPAWN_ISSUE),
        case(&spawn::SpawnJobs::default(), "spawn_jobs", SPAWN_JOBS),
        case(&spawn::SpawnOrder::default(), "spawn_order", SPAWN_ORDER),
        case(&spawn::ThreadSpawner::new(SPAWNER), "thread_spawner", THREAD_SPAWNER),
        case(&spawn::WriteMerge::default(), "write_merge", WRITE_MERGE),
    ];
    let command = [
        case(&command::CommandAtomics::new(false), "command_atomics", COMMAND_ATOMICS),
        case(&command::CommandCache::new(2, 16), "command_cache", COMMAND_CACHE),
        case(&command::CommandData::default(), "command_data", COMMAND_DATA),
        case(&command::CommandDebug::default(), "command_debug", COMMAND_DEBUG),
        case(&command::CommandDevices::new(2, false), "command_devices", COMMAND_DEVICES),
        case(&command::CommandFetch::new(4, 2), "command_fetch", COMMAND_FETCH),
        case(&command::HartState::default(), "hart_state", HART_STATE),
        case(&command::HartTurns::default(), "hart_turns", HART_TURNS),
        case(&command::StoreBuffer::new(1), "store_buffer", STORE_BUFFER),
        case(&command::TrapUnit::default(), "trap_unit", TRAP_UNIT),
        case(&command::UliChannels::new(1, false), "uli_channels", ULI_CHANNELS),
    ];
    let all: Vec<Case> = queues.into_iter().chain(net).chain(spawn).chain(command).collect();
    all_are_noticed(&all);

    let known: BTreeSet<_> =
        all.iter().flat_map(|case| conditions(top(&case.design))).chain(WIRING).collect();
    for preset in ["node", "pangaea"] {
        let array = emit_top(&Config::preset(preset).unwrap()).unwrap();
        let unknown: Vec<_> =
            conditions(&array.modules).into_iter().filter(|name| !known.contains(name)).collect();
        assert!(unknown.is_empty(), "{preset}: no case for the units of {unknown:?}");
    }
}

/// Conditions of the wiring of `NetInterface`, whose own test breaks them: by itself it would need
/// frames.
const WIRING: [&str; 2] = ["one_queue_pair_closes", "a_closing_queue_pair_has_an_answer_to_send"];

// Rows and list are cleared in 256 cycles first.
const COMMAND_QUEUES: &[Mutant] = mutants! {
    "arrived_lines_have_room": "assign arrivals_pop_ready = `chooses && arrives`;" => "1'b0",
        "*262; 20(response_valid=1; response_valid=0 *4)";
    "no_more_queues_are_on_than_rows": "queues_on <= `queues_on + 9'd1`;" => "9'd256",
        "control_enable=1 control_area_log2=15 write_ready=1 *262;
         control_switch_valid=1 control_switch_on=1 *8;
         control_switch_queue=1 *8";
    "a_queue_that_goes_off_was_counted": "queues_on <= `queues_on - 9'd1`;" => "9'd0",
        "control_enable=1 control_area_log2=15 write_ready=1 *262;
         control_switch_valid=1 control_switch_on=1 *8;
         control_switch_queue=1 *8; control_switch_on=0 *8; control_switch_queue=0 *8";
    "one_line_is_read_at_a_time": "assign can_fetch = stage_free && `!fetching`;" => "1'b1",
        "control_enable=1 control_area_log2=15 stage_free=1 *262; tap_phase=1 tap_valid=1;
         tap_line=64; tap_valid=0 *6; write_ready=1 control_switch_valid=1 control_switch_on=1 *8;
         control_switch_queue=1 *8";
};

const LOOK_LIST: &[Mutant] = mutants! {
    "emptied_places_stop_at_all": "emptied <= `emptied + 9'd1`;" => "9'd300", "*4";
    "the_list_has_room": "assign is_new = comes && `!listed_read_data`;" => "1'b1",
        "*260; add=1 *260";
};

const QUEUE_WATCH: &[Mutant] = mutants! {
    "a_held_write_does_not_come": "`requests[0] && !passes[0]`}" => "requests[0]",
        "enable=1 area_log2=15 event_ready=1 *4; tap_valid=1 *6";
    "the_second_write_is_behind_one": "second_0 <= `1'b0`;\n                first_line_0" => "1'b1",
        "enable=1 area_log2=15 event_ready=1 *4";
};

// Buffers 2 and 3 are free after a reset.
const STAGE_BUFFERS: &[Mutant] = mutants! {
    "staged_commands_have_room": "assign waiting_pop_ready = `skips || takes`;" => "1'b0",
        "stage_staged=2; 10(stage_stage=1; stage_stage=0 *2; take=1; take=0 *2)";
    "a_command_that_is_taken_waits":
        "assign gone = `dropped[first[STAGED_COMMAND_BUFFER +: 4]]`;" => "1'b1",
        "stage_staged=2 stage_stage=1; stage_stage=0; take=1; take=0";
    "a_claimed_buffer_is_free": "unused <= `mask`;" => "16'd0", "stage_claim=1 *2; stage_claim=0";
    "no_buffer_is_freed_twice": "mask[lowest] = `1'b0`;" => "1'b1",
        "stage_claim=1; stage_claim=0; stage_discard=1 stage_discard_buffer=2; stage_discard=0";
};

// Of a mark, bit 32 says that it has a payload, bit 57 that it is a response.
const ACKNOWLEDGE: &[Mutant] = mutants! {
    "performed_payloads_have_marks": "done <= `done + 5'd1`;" => "5'd9",
        "mark[32]=1 mark[57]=1 mark_valid=1; mark_valid=0 *4; performed=1; performed=0 *2";
    "payloads_that_pass_are_performed":
        "assign is_due = marks_pop_valid && `(!oldest[ANSWER_MARK_PAYLOAD] || has_done)`;" => "1'b1",
        "mark[32]=1 mark_valid=1; mark_valid=0 *4";
};

const FRAME_BUFFER: &[Mutant] = mutants! {
    "beats_have_room": "assign full = `used == CAPACITY`;" => "1'b0",
        "rx_tvalid=1 rx_tkeep=0xffffffffffffffff *600";
    "a_stored_frame_has_an_entry": "lost || full || `order_full`;" => "1'b0",
        "rx_tvalid=1 rx_tlast=1 rx_tkeep=0xffffffffffffffff *70";
};

// The frame that is read is one of IPv4 with 256 bytes and a right checksum.
const FRAME_CHECK: &[Mutant] = mutants! {
    "a_beat_that_comes_has_room": "assign frees = feeds && `quarter[1]`;" => "1'b1",
        "read_ready=1 stored[18]=300 read_data[99]=1 read_data[112]=0x45 read_data[128]=1
         read_data[192]=0xffb9; stored_valid=1; stored_valid=0 *12";
};

// An own command is posted by 0x1000 at address 4; NEXT is read at 0, and what it gave ended by
// 0x7000.
const NET_WINDOW: &[Mutant] = mutants! {
    "commands_of_a_hart_do_not_wrap": "assign has_room = `count < ENTRIES`;" => "1'b1",
        "select_of_window=1 posts_enable=1 posts_ready=1; access_address=4 access_data=0x1000
         access_write=1 access_valid=1 *12";
    "what_is_told_is_taken_first":
        "assign finishes_taken = concerns && (is_end || nowhere) && `can_tell`;" => "1'b1",
        "select_of_window=1 posts_enable=1 stage_stage=1 stage_staged=2; stage_staged=3;
         stage_stage=0 *2; 2(access_valid=1 access_write=0 access_address=0; access_valid=0;
         access_valid=1 access_write=1 access_address=4 access_data=0x7000; access_valid=0)";
};

const PAIR_COUNTS: &[Mutant] = mutants! {
    "counts_do_not_overflow": "counts_0 <= `counts_0 + 5'd1`;" => "5'd31", "add=1 *2; add=0";
    "counts_do_not_underflow": "counts_1 <= `counts_1 + 5'd1`;" => "counts_1",
        "add=1 add_pair=1; add=0; remove=1 remove_pair=1; remove=0";
};

const PAYLOAD_READER: &[Mutant] = mutants! {
    "payloads_have_room": "assign takes = source_valid && !issues && `sources_push_ready`;" => "1'b1",
        "source_valid=1 *10";
    "reads_that_are_left_do_not_wrap": "assign issued = `issues` && " => "1'b1", "read_ready=1 *2";
};

const QUEUE_PAIRS: &[Mutant] = mutants! {
    "a_queue_pair_has_one_state": "!is_at_work && `!is_down` && !is_ending;" => "1'b1",
        "set_state=1 new_state=1; new_state=3; new_state=1; set_state=0 *2";
};

/// A response of a READ comes to queue pair 0, and its payload is written.
const RESPONSE: &str = "checked[25]=1 receive=1 ups=1 mark_ready=1 answer_ready=1 judged=1 lands=1
    place_ready=1 checked_valid=1 *4; checked_valid=0 place_ready=0 *2; checked_valid=1 *3";

const RECEIVER: &[Mutant] = mutants! {
    "one_frame_is_in_progress": "assign looks = checked_valid && !looked && `!reading`;" => "1'b1",
        RESPONSE;
    "only_the_frame_in_progress_is_given": "if (`given || fails_there`)" => "1'b0", RESPONSE;
};

// Of a job, bit 173 says that it is atomic.
const REMOTE_ATOMICS: &[Mutant] = mutants! {
    "an_answer_of_memory_is_awaited":
        "step <= `REMOTE_ATOMIC_STEP_AT_MEMORY`;" => "REMOTE_ATOMIC_STEP_IDLE",
        "job[173]=1 job_valid=1 write_ready=1 *2; written=1; written=0";
};

/// Queue pair 0 goes up; a PUT of 8 bytes, which its row and region 0 allow, is posted and sent.
const SENDS: &str = "window=32 timeout=1000 retries=3 completed_ready=1 ups=1 head_ready=1
    send=1 send[5]=8 send[177]=5000 send[297]=4 region=1 region[5]=31 region[42]=5000 *4;
    opens=1; opens=0 *12; post[0]=1 post[96]=8 post_valid=1; post_valid=0 *20";

const REQUESTER: &[Mutant] = mutants! {
    "only_packets_and_responses_transfer":
        "assign transmits = `transfers && (kind == KIND_SEND)`;" => "1'b0", SENDS;
    "packets_in_flight_stay_in_the_window": "assign current_row = `row`;"
        => "transfers ? row - (208'd40 << REQUEST_ROW_OLDEST) : row", SENDS;
    "sequence_numbers_are_in_order": "row <= `stored_row`;"
        => "kind == KIND_OPEN ? stored_row : stored_row + (208'd1 << REQUEST_ROW_UPCOMING)", SENDS;
    "no_command_leaves_an_empty_list": "assign removes = `finishes && \
        (|current_row[REQUEST_ROW_ENTRIES +: 13]) && (is_done || is_down)`;" => "works", SENDS;
};

// READs of queue pair 0, of one response of 8 bytes each (bits 28 and 83), which are served (bit
// 172); the MTU is 2^8 bytes, and region 0 may be read.
const RESPONDER: &[Mutant] = mutants! {
    "reads_fit_their_ring": "assign fits = new_job[READ_JOB_SERVE] && `!current_row[JOB_ROW_COUNT + 4]`;"
        => "1'b1", "ups=1 job[28]=1 job[83]=8 job[172]=1 job_valid=1 *90";
    "responses_stay_below_the_limit":
        "assign ends_it = sent && `((current_row[JOB_ROW_SENT +: 23] + 23'd1) == limit)`;" => "1'b0",
        "ups=1 row_free=1 region_free=1 head_taken=1 send=1 send[5]=8 region=1 region[5]=31
         region[42]=5000; job[28]=1 job[83]=8 job[172]=1 job_valid=1 *4; job_valid=0 *16";
    "only_an_act_refuses": "step <= `RESPONDER_STEP_ACT`;\n                    refuses"
        => "RESPONDER_STEP_READ", "ups=1 fault_valid=1; fault_valid=0 *3";
};

const SEND_WINDOW: &[Mutant] = mutants! {
    "the_window_is_1_to_32_packets": "assign first = `6'h10 >> (mtu - 4'd8)`;" => "6'd0",
        "window=32 mtu=8 opens=1; opens=0";
};

const WORK_POSTS: &[Mutant] = mutants! {
    "commands_of_the_host_do_not_wrap": "assign room = !kept && `(count < ENTRIES)`;" => "1'b1",
        "host_post=1 post_ready=1 *30";
};

const WORK_TABLE: &[Mutant] = mutants! {
    "freed_owners_stop_at_all": "freed <= `freed + 10'd1`;" => "10'd2", "*4";
};

// Tag 31 is that of completion words.
const COMPLETION_WRITER: &[Mutant] = mutants! {
    "a_word_on_offer_is_under_way": "under_way <= `1'b1`;" => "1'b0",
        "ended=1 completion=0x100; ended=0 *2";
    "a_silent_completion_writes_nothing": "silent <= `bad_address || !(|completion)`;" => "1'b1",
        "ended=1 completion=0x100; ended=0 *2";
    "a_word_is_there_after_its_write": "assign written = `write_written_valid` && " => "1'b1",
        "ended=1 completion=0x100 write_written_tag=31; ended=0 *2";
};

// Entry 0x100; a warp has eight threads.
const SPAWN_ISSUE: &[Mutant] = mutants! {
    "a_job_is_in_one_step": "assign free = `!read_valid` && " => "1'b1",
        "entry=0x100 shape=4 job_valid=1 *4";
    "a_warp_is_offered_of_an_active_job": "offered <= `!taken`;" => "1'b1",
        "entry=0x100 shape=4 warp_ready=1; job_valid=1; job_valid=0 *8";
    "an_active_job_has_threads_left": "left <= `left - LANES`;" => "24'd0",
        "entry=0x100 shape=20 warp_ready=1; job_valid=1; job_valid=0 *8";
};

const SPAWN_JOBS: &[Mutant] = mutants! {
    "only_a_free_slot_is_triggered": "busy_q <= (`busy_q & ~freed`) | " => "busy_q",
        "trigger_slot=3 freed_slot=3; trigger_valid=1; trigger_valid=0; freed_valid=1; freed_valid=0;
         trigger_valid=1; trigger_valid=0";
    "only_a_busy_slot_is_freed": ") | `triggered`;" => "16'd0",
        "trigger_valid=1; trigger_valid=0; freed_valid=1; freed_valid=0";
    "warps_that_finish_were_taken": "count = `11'd1`;" => "11'd0",
        "trigger_valid=1; trigger_valid=0; warp_taken=1 warp_first=1 warp_last=1; warp_taken=0;
         finish_valid=1; finish_valid=0";
    "only_a_busy_slot_has_ended": "ended_q <= (`ended_q & ~reported`) | " => "ended_q",
        "trigger_valid=1; trigger_valid=0; checked_valid=1 checked_code=2; checked_valid=0;
         end_taken=1; end_taken=0; freed_valid=1; freed_valid=0 *2";
};

const SPAWN_ORDER: &[Mutant] = mutants! {
    "jobs_that_wait_have_room": "head <= `head + 5'd1`;" => "5'd16",
        "push=1; push=0 take=1; take=0";
};

const SPAWNER: SpawnOptions = SpawnOptions { cores: 1, lanes: 4, spawn_slots: 8, uli_channels: 0 };

const THREAD_SPAWNER: &[Mutant] = mutants! {
    "only_a_busy_job_starts": ".trigger_valid(`trigger`)" => "1'b0",
        "control_enable=1 control_value=0x1000; control_write=1; control_write=0 begins=1; begins=0";
};

const WRITE_MERGE: &[Mutant] = mutants! {
    "a_store_on_offer_is_not_taken_back":
        "stays <= `stores_valid && !completion && !memory_ready`;" => "1'b1",
        "completions_valid=1 *2; completions_valid=0";
};

const COMMAND_DEBUG: &[Mutant] = mutants! {
    "one_hart_executes": "executes <= `one`;" => "8'd3",
        "run=3 stopped=3 registers_execute=1; registers_execute=0 *2";
};

// Tag 0x20 is that of an atomic operation of hart 0.
const COMMAND_ATOMICS: &[Mutant] = mutants! {
    "one_operation_is_under_way":
        "busy_q <= start_valid || `(busy_q && !(answers && answer_ready))`;" => "busy_q",
        "write_ready=1 answer_ready=1 write_written_tag=0x20; 2(start_valid=1; start_valid=0 *2;
         write_written_valid=1; write_written_valid=0)";
    "an_answer_is_awaited":
        "sending <= start_valid || `(sending && !(offers && write_ready))`;" => "sending",
        "write_ready=1 answer_ready=1 write_written_tag=0x20; start_valid=1; start_valid=0 *2;
         write_written_valid=1; write_written_valid=0";
};

const COMMAND_CACHE: &[Mutant] = mutants! {
    "the_line_buffer_is_free_for_a_line": "!fill_error && `!buffer_used` && " => "1'b1",
        "fill_valid=1 *3; fill_valid=0";
};

const COMMAND_DATA: &[Mutant] = mutants! {
    "one_operation_of_a_hart_is_outstanding": "loading_q <= (`loading_q & ~ends`) | " => "loading_q",
        "start_hart=1 late_hart=1; 2(start_valid=1; start_valid=0; late_valid=1; late_valid=0)";
    "an_answer_is_awaited": ") | `starts`;" => "8'd0",
        "start_valid=1; start_valid=0; late_valid=1; late_valid=0";
    "a_dropped_answer_is_awaited": "(dropped | (hold & loading_q)) & `~ends`;" => "8'hff",
        "start_valid=1; start_valid=0; hold=1; hold=0; late_valid=1; late_valid=0 *2";
};

const COMMAND_DEVICES: &[Mutant] = mutants! {
    "one_access_is_under_way": "busy_q <= `1'b0`;\n                kept" => "1'b1",
        "answer_ready=1; 2(start_valid=1; start_valid=0 *3)";
    "a_kept_answer_is_of_an_access": "kept <= `1'b0`;\n            end" => "1'b1",
        "answer_ready=1; start_valid=1; start_valid=0 *3";
};

// A hart misses in the cache, and its line comes.
const COMMAND_FETCH: &[Mutant] = mutants! {
    "a_line_that_comes_is_awaited": "filling <= `1'b1`;" => "1'b0",
        "fetch_ready=1; issue_valid=1; issue_valid=0 *8; fetch_response_valid=1;
         fetch_response_valid=0";
    "one_line_is_fetched_at_a_time":
        "else if (fetch_response_valid) begin\n                filling <= `1'b0`;" => "1'b1",
        "fetch_ready=1; issue_valid=1; issue_valid=0 *8; fetch_response_valid=1;
         fetch_response_valid=0 *30; issue_pc=0x4000 issue_valid=1; issue_valid=0 *8";
};

const HART_STATE: &[Mutant] = mutants! {
    "only_a_hart_that_started_is_stopped":
        "started_q <= 1'b0;\n                stopped_q <= `1'b0`;" => "1'b1", "*2";
    "only_a_hart_that_started_is_taken": "started_q <= `quiet`;" => "1'b0",
        "run=1 quiet=1 *2; take_valid=1; take_valid=0 *2";
};

const HART_TURNS: &[Mutant] = mutants! {
    "a_refused_hart_does_not_start": "assign owed = `wanting & ~served`;" => "8'hff",
        "live=1 starts=1 *2; live=0 starts=0";
};

const STORE_BUFFER: &[Mutant] = mutants! {
    "a_store_has_a_number": "numbers_0 <= (`numbers_0 & ~ends`) | " => "numbers_0",
        "write_ready=1; 10(push_valid=1; push_valid=0; write_written_valid=1; write_written_valid=0)";
    "a_store_that_ends_was_outstanding": ") | `starts`;" => "8'd0",
        "write_ready=1; push_valid=1; push_valid=0; write_written_valid=1; write_written_valid=0";
};

const TRAP_UNIT: &[Mutant] = mutants! {
    "a_hart_that_stops_enters_no_trap": "assign enters = (`exception && !stops`) || " => "exception",
        "exception=1 halts=1; exception=0";
    "a_hart_that_entered_a_trap_does_not_sleep":
        "entered_q <= 1'b1;\n                asleep_q <= `1'b0`;" => "1'b1", "exception=1; exception=0 *2";
};

// The one channel watches a word, and is made pending by a write of ulipend.
const ULI_CHANNELS: &[Mutant] = mutants! {
    "only_what_is_due_is_taken": "pending_0 <= `1'b1`;" => "1'b0",
        "arm_valid=1 arm_scenario=1 arm_parameter=0x100; arm_valid=0; write_valid=1 write_number=2
         write_set=1; write_valid=0 take=1; take=0";
    "ranges_are_aligned": "ignored = `trailing[31:2]`;" => "arm_parameter[31:2]",
        "arm_valid=1 arm_scenario=1 arm_parameter=0x85; arm_valid=0 *2";
};
