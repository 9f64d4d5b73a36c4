//! From the trigger to the threads, in cycles.

use hermes_testbench::cosim::{Device as _, MemoryOptions, SpawnEvent};

use super::array::*;

/// On an idle array the first warp of a job starts four cycles after the trigger (read 1, check 2,
/// choice 3).
#[test]
fn trigger_to_start() {
    let mut array = Array::with_memory(MemoryOptions::default());
    array.enable(4, 0);
    let job = array.job("threads", 9, 1);
    array.host.spawn(0, &job).unwrap();
    array.host.wait_for_jobs(1).unwrap();
    let events = array.spawn_events();
    let at = |wanted: fn(&SpawnEvent) -> bool| {
        events.iter().filter(|(_, event)| wanted(event)).map(|(cycle, _)| *cycle).collect::<Vec<_>>()
    };
    let trigger = at(|event| matches!(event, SpawnEvent::Trigger(_)));
    let starts = at(|event| matches!(event, SpawnEvent::Issue { .. }));
    let finishes = at(|event| matches!(event, SpawnEvent::Finish(_)));
    let complete = at(|event| matches!(event, SpawnEvent::Complete(_)));
    assert_eq!(trigger.len(), 1);
    assert_eq!(starts, [4, 6, 8].map(|after| trigger[0] + after), "a warp each second cycle");
    assert_eq!(complete.len(), 1);
    let wait = complete[0] - finishes[2];
    println!("last finish to completion: {wait} cycles");
    assert!(wait <= 8, "{wait} cycles from the last finish to the visible completion word");
    array.host.device_mut().run(1).unwrap();
}
