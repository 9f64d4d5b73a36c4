//! Parts of [`Requester`].

use super::{RequestStep, Requester};
use crate::net::{access, code, CommandPacket, RequestRow, SendPair, WorkEntry};
use hermes_hdl::prelude::*;

impl Requester {
    /// Takes a command that is posted.
    #[hdl_gen]
    pub(super) fn accept(&mut self) {
        // Posts
        let accepts = !self.posted.q.val() && self.table.ready.val();
        connect!(self.ready, self.table.ready);
        self.post_ready.next = accepts;
        if self.post_valid.val() && accepts {
            self.posted.d.next = true;
            self.posted_command.d.next = self.post.val();
        }
    }

    /// What is next.
    #[hdl_gen]
    pub(super) fn choose(&mut self, ending_pairs: Bits<16>) {
        self.choice.enable.next = self.step.q.val() == RequestStep::Choose;
        self.choice.opening.next = self.opening.q.val();
        self.choice.finishing.next = self.finishing.q.val() | ending_pairs;
        self.choice.sendable.next = self.sendable.q.val() & self.ups.val() & !self.opening.q.val();
        connect!(self.head_ready, self.choice.head_ready);
        connect!(self.fault_valid, self.choice.fault_valid);
        self.choice.fault_pair.next = self.fault.val().pair;
        connect!(self.fault_ready, self.choice.fault_ready);
        connect!(self.got_valid, self.choice.got_valid);
        connect!(self.got_pair, self.choice.got_pair);
        connect!(self.got_ready, self.choice.got_ready);
        connect!(self.answer_valid, self.choice.answer_valid);
        self.choice.answer_pair.next = self.answer.val().pair;
        connect!(self.answer_ready, self.choice.answer_ready);
        self.choice.expired.next = self.timers.expired.val();
        self.choice.expired_pair.next = self.timers.expired_pair.val();
        self.choice.posted.next = self.posted.q.val();
        self.choice.posted_pair.next = self.posted_command.q.val().pair;
        connect!(self.wants, self.choice.wants);
        if self.choice.any.val() {
            self.step.d.next = RequestStep::Read;
            self.kind.d.next = self.choice.kind.val();
            self.pair.d.next = self.choice.pair.val();
            self.reply.d.next = self.answer.val();
            self.broken.d.next = self.fault.val();
            self.arrived.d.next = self.got_sequence.val();
        }
    }

    /// Checks a command that is posted, and asks for its region.
    #[hdl_gen]
    pub(super) fn check_post(
        &mut self,
        posts: Bit,
        transmits: Bit,
        responds: Bit,
        entry: WorkEntry,
        send_row: SendPair,
    ) {
        self.command_check.command.next = self.posted_command.q.val();
        self.command_check.pair.next = send_row;
        // One that just goes up has no row yet: the command was posted before.
        self.command_check.pair.next.up =
            send_row.up && !self.opening.q.val().get_bit(self.pair.q.val().index());
        self.command_check.region.next = self.region.val();
        self.looks.next = posts || transmits || responds;
        self.region_index.next = entry.region;
        if posts {
            self.region_index.next = self.posted_command.q.val().region;
        }
    }

    /// Cuts a packet of a command.
    #[hdl_gen]
    pub(super) fn cut_packet(
        &mut self,
        answers: Bit,
        cuts: Bit,
        current_row: RequestRow,
        entry: WorkEntry,
        first: Bits<24>,
        send_row: SendPair,
        expects: Bit,
    ) {
        self.packet_cut.entry.next = entry;
        self.packet_cut.number.next = current_row.upcoming - first;
        if answers {
            self.packet_cut.number.next = current_row.oldest - first;
        }
        self.packet_cut.mtu.next = send_row.mtu;
        // A quarter of the window
        let mut read_log2 = bits::<2>(0);
        for i in 3..6 {
            if self.window.val().get_bit(i) {
                read_log2 = bits::<2>(i as u64 - 2);
            }
        }
        self.packet_cut.read_log2.next = read_log2;
        self.packet_cut.base.next = send_row.base;
        self.packet_cut.key.next = send_row.key;
        if cuts || expects {
            self.step.d.next = RequestStep::Transfer;
            self.packet.d.next = self.packet_cut.packet.val();
        }
    }

    /// Whether its payload may be read, or written.
    #[hdl_gen]
    pub(super) fn allow_packet(&mut self, entry: WorkEntry, prepared_packet: CommandPacket, is_put: Bit) {
        self.region_check.region.next = self.region.val();
        self.region_check.domain.next = entry.domain;
        self.region_check.rights.next = bits::<5>(access::LOCAL_WRITE);
        if is_put {
            self.region_check.rights.next = bits::<5>(access::LOCAL_READ);
        }
        self.region_check.address.next = prepared_packet.address;
        self.region_check.bytes.next = bit_cast::<32, 13>(prepared_packet.bytes);
    }

    /// The headers and the payload of the packet that is sent.
    #[hdl_gen]
    pub(super) fn offer(
        &mut self,
        current_row: RequestRow,
        entry: WorkEntry,
        send_row: SendPair,
        prepared_packet: CommandPacket,
        is_put: Bit,
        sent: Bit,
        asks: Bit,
    ) {
        self.head.next.queue_pair = bit_cast::<5, 4>(self.pair.q.val());
        self.head.next.mac = send_row.mac;
        self.head.next.ip = send_row.ip;
        self.head.next.opcode = prepared_packet.opcode;
        self.head.next.acknowledge = asks;
        self.head.next.remote = send_row.remote;
        self.head.next.sequence = current_row.upcoming;
        self.head.next.extension = prepared_packet.extension;
        self.head.next.extension_words = prepared_packet.extension_words;
        self.head.next.bytes = bits::<13>(0);
        if is_put {
            self.head.next.bytes = prepared_packet.bytes;
        }
        self.source_valid.next = sent && is_put;
        self.source.next.memory = entry.memory;
        self.source.next.data = entry.data;
        if entry.memory {
            self.source.next.data = bit_cast::<128, 32>(prepared_packet.address);
        }
        self.source.next.bytes = prepared_packet.bytes;
        self.source.next.pair = self.pair.q.val();
        self.source.next.sequence = current_row.upcoming;
        self.source.next.place = self.at.q.val();
        self.source.next.response = false;
    }

    /// Tells of a command that is complete.
    #[hdl_gen]
    pub(super) fn complete(
        &mut self,
        posts: Bit,
        current_row: RequestRow,
        entry: WorkEntry,
        wrong: Bits<8>,
        is_put: Bit,
        is_done: Bit,
        removes: Bit,
        is_cause: Bit,
    ) {
        self.table.release.next = removes;
        self.completed.next = removes || (posts && wrong.any());
        self.completed_code.next = wrong;
        self.completed_owner.next = entry.owner;
        self.completed_context.next = entry.context;
        self.completed_index.next = entry.index;
        self.completed_result.next = removes && is_done && !is_put && !entry.memory;
        self.completed_value.next = entry.data.get_bits::<64>(0);
        if posts {
            self.completed_owner.next = self.posted_command.q.val().owner;
            self.completed_context.next = self.posted_command.q.val().context;
            self.completed_index.next = self.posted_command.q.val().index;
        }
        if removes {
            self.completed_code.next = bits::<8>(code::DOWN);
            if is_cause {
                self.completed_code.next = current_row.code;
            }
            if is_done {
                self.completed_code.next = bits::<8>(code::DONE);
            }
        }
    }

    /// Queue pairs that go up and have no row yet.
    #[hdl_gen]
    pub(super) fn note_opening(&mut self, opens_row: Bit) {
        let mut waiting = self.opening.q.val();
        if opens_row {
            waiting = waiting.replace_bit(self.pair.q.val().index(), false);
        }
        if self.opens.val() {
            waiting = waiting.replace_bit(self.opens_pair.val().index(), true);
        }
        self.opening.d.next = waiting;
    }

    /// The number of the first packet of a command: behind those of the command before, or the next
    /// one of all.
    #[hdl_gen]
    pub(super) fn number_first(
        &mut self,
        current_row: RequestRow,
        behind: Bits<24>,
        later: Bits<12>,
        has_later: Bit,
        takes: Bit,
    ) {
        // Its first packet: behind those of the command before, or the next one of all.
        self.table.begin.next = (takes && !current_row.more) || (self.row_step.moves_on.val() && has_later);
        self.table.begin_place.next = later;
        self.table.first.next = behind;
        if takes {
            self.table.begin_place.next = self.table.free.val();
            self.table.first.next = current_row.upcoming;
        }
    }

    /// Queue pairs that may have commands.
    #[hdl_gen]
    pub(super) fn list(&mut self) {
        let mut lists = self.busy.q.val() | self.opening.q.val();
        if self.posted.q.val() {
            lists = lists.replace_bit(self.posted_command.q.val().pair.index(), true);
        }
        self.listed.next = lists;
    }
}
