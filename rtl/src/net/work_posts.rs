//! Who posts commands.

use super::{check_entries, PostedCommand};
use hermes_hdl::prelude::*;

/// Commands of the host and of the command processor, which take turns at
/// [`Requester`](super::Requester).
///
/// 1. The host posts a command (`host_post`) while `host_room`, else it has no effect: `entries` of
///    its commands may be under way. It waits here until it is taken.
/// 2. The command processor offers one with `window_valid` until `window_ready`; who posts it
///    counts its own.
/// 3. `post_valid`, `post_ready` and `post` give one of them on; they answer in the same cycle. The
///    side that did not post the last one goes first.
/// 4. `completed` with `completed_owner` tells that a command is complete: `host_completed` answers
///    in the same cycle if it was the host's.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(entries: usize)]
pub struct WorkPosts {
    /// The host posts a command.
    pub host_post: Signal<In, Bit>,
    /// The host's command.
    pub host_command: Signal<In, PostedCommand>,
    /// There is room for it.
    pub host_room: Signal<Out, Bit>,
    /// The command processor posts a command.
    pub window_valid: Signal<In, Bit>,
    /// The command processor's command is taken at this edge.
    pub window_ready: Signal<Out, Bit>,
    /// The command processor's command.
    pub window_command: Signal<In, PostedCommand>,
    /// A command is posted.
    pub post_valid: Signal<Out, Bit>,
    /// The command is taken at this edge.
    pub post_ready: Signal<In, Bit>,
    /// The command.
    pub post: Signal<Out, PostedCommand>,
    /// A command is complete.
    pub completed: Signal<In, Bit>,
    /// Owner of the command, as in [`WorkEntry`](super::WorkEntry).
    pub completed_owner: Signal<In, Bits<10>>,
    /// The command was the host's.
    pub host_completed: Signal<Out, Bit>,
    /// A command of the host waits here.
    kept: Register<Bit>,
    command: Register<PostedCommand>,
    /// Commands of the host that are under way, that one too.
    count: Register<Bits<4>>,
    /// The last one was the host's.
    host_last: Register<Bit>,
    #[init(Constant::new((entries as u64).into()))]
    entries: Constant<Bits<4>>,
}

impl WorkPosts {
    /// For a host that may have `entries` commands under way.
    ///
    /// # Panics
    /// If `entries` is not 1, 2, 4 or 8.
    pub fn new(entries: usize) -> Self {
        check_entries("WorkPosts", entries);
        Self::wired(entries)
    }
}

impl Logic for WorkPosts {
    #[hdl_gen]
    fn update(&mut self) {
        let room = !self.kept.q.val() && (self.count.q.val() < self.entries.val());
        self.host_room.next = room;
        let takes = self.host_post.val() && room;
        always!(commands_of_the_host_do_not_wrap, self.count.q.val() <= self.entries.val());
        let is_host = self.kept.q.val() && !(self.window_valid.val() && self.host_last.q.val());
        self.post_valid.next = self.kept.q.val() || self.window_valid.val();
        self.post.next = self.window_command.val();
        if is_host {
            self.post.next = self.command.q.val();
            // The host is owner 0.
            self.post.next.owner = bits::<10>(0);
        }
        self.window_ready.next = self.post_ready.val() && !is_host;
        if self.post_ready.val() && (self.kept.q.val() || self.window_valid.val()) {
            self.host_last.d.next = is_host;
        }
        if takes {
            self.kept.d.next = true;
            self.command.d.next = self.host_command.val();
        } else if is_host && self.post_ready.val() {
            self.kept.d.next = false;
        }
        let ends = self.completed.val() && !self.completed_owner.val().any();
        self.host_completed.next = ends;
        if takes && !ends {
            self.count.d.next = self.count.q.val() + bits::<4>(1);
        }
        if ends && !takes {
            self.count.d.next = self.count.q.val() - bits::<4>(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    /// Both sides post in any cycle; each command comes out once, those of a side in order, and
    /// neither waits for more than one of the other.
    #[test]
    fn both_sides_take_turns() {
        for entries in [1, 2, 4, 8] {
            take_turns(entries);
        }
    }

    /// The host may have so many commands under way.
    fn take_turns(entries: usize) {
        let mut rng = random(&format!("work_posts_{entries}"));
        let mut uut = WorkPosts::new(entries);
        reset!(uut);
        let command = |tag: u64, owner: u64| PostedCommand {
            words: tag.into(),
            owner: owner.into(),
            ..PostedCommand::default()
        };
        let (mut tag, mut host, mut window) = (0, VecDeque::new(), None::<u64>);
        let (mut under_way, mut passed, mut full) = (VecDeque::new(), [0; 2], 0);
        let mut others = [0; 2];
        let mut of_host = 0usize;
        for _ in 0..20_000 {
            let posts = rng.gen_bool(0.4);
            tag += 2;
            uut.host_post.next = posts;
            // Whatever the registers say, it is the host's.
            uut.host_command.next = command(tag, rng.gen_range(0..4));
            if window.is_none() && under_way.len() < 16 && rng.gen_bool(0.3) {
                window = Some(tag + 1);
            }
            uut.window_valid.next = window.is_some();
            uut.window_command.next = command(window.unwrap_or(0), 3);
            uut.post_ready.next = rng.gen_bool(0.5);
            let ends = !under_way.is_empty() && rng.gen_bool(0.4);
            uut.completed.next = ends;
            uut.completed_owner.next = if ends { under_way[0] } else { 0u64 }.into();
            settle(&mut uut);
            let room = uut.host_room.val();
            assert_eq!(room, host.is_empty() && of_host < entries);
            full += u32::from(of_host == entries);
            assert_eq!(uut.post_valid.val(), !host.is_empty() || window.is_some());
            assert_eq!(uut.host_completed.val(), ends && under_way[0] == 0);
            if ends && under_way.pop_front() == Some(0) {
                of_host -= 1;
            }
            if uut.post_valid.val() && uut.post_ready.val() {
                let post = uut.post.val();
                let side = usize::from(post.owner.any());
                passed[side] += 1;
                assert_eq!(uut.window_ready.val(), side == 1);
                let expected = if side == 1 { window.take() } else { host.pop_front() };
                assert_eq!(Some(post.words.get_bits::<32>(0).to_u64()), expected);
                under_way.push_back(post.owner.to_u64());
                others[side] = 0;
                let waits = if side == 1 { !host.is_empty() } else { window.is_some() };
                others[1 - side] += u32::from(waits);
                assert!(others[1 - side] <= 1);
            }
            if posts && room {
                host.push_back(tag);
                of_host += 1;
            }
            tick!(uut);
        }
        assert!(passed.iter().all(|count| *count > 1_000) && full > 500, "{entries}: {passed:?} {full}");
    }
}
