//! A line that is busy holds the array back.

use hermes_testbench::cosim::{
    Device as _, Host, MemoryOptions, NetAddress, PostOptions, QueuePair, Simulation,
};

use super::library;

#[test]
fn a_held_sink_takes_no_beat_and_loses_none() {
    let simulation = Simulation::new(library().instantiate().unwrap(), 1 << 20, MemoryOptions::default());
    let mut host = Host::new(simulation.unwrap()).unwrap();
    let window = host.rmalloc("the window", 64).unwrap();
    host.enable_network(NetAddress { mac: [2, 0, 0, 0, 0, 1], ip: [10, 0, 0, 1] }, 0).unwrap();
    let pair = QueuePair { window, window_bytes: 64, remote_base: window.into(), ..QueuePair::default() };
    host.connect_queue_pair(0, &pair).unwrap();
    let mut frames = Vec::new();
    host.device_mut().network_mut().unwrap().sink.hold(true);
    let mut command = [0; 16];
    [command[0], command[1], command[3]] = [1 | 1 << 10, window, 16];
    for _ in 0..3 {
        assert!(host.post(0, &command, PostOptions::default()).unwrap());
    }
    host.device_mut().run(1_000).unwrap();
    let network = host.device_mut().network_mut().unwrap();
    network.sink.take_frames(&mut frames);
    assert!(frames.is_empty(), "{frames:?}");
    network.sink.hold(false);
    let now = host.device_mut().cycle();
    host.device_mut().run(200).unwrap();
    host.device_mut().network_mut().unwrap().sink.take_frames(&mut frames);
    assert_eq!(frames.len(), 3);
    assert!(frames.iter().all(|frame| frame.cycle > now && frame.bytes.len() == 90), "{frames:?}");
}
