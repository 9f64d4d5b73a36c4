//! Numbers of frames of RoCEv2.
//!
//! Sources: InfiniBand Architecture Specification, volume 1: 9.2 (base transport header), 9.3
//! (extended transport headers), 9.7.5 (acknowledges and NAK codes), annex A17 (RoCEv2); RFC 791
//! (IPv4), RFC 768 (UDP).

/// Opcodes of the base transport header, reliable connection.
pub mod opcode {
    /// SEND, first packet.
    pub const RC_SEND_FIRST: u64 = 0x00;
    /// SEND, the only packet.
    pub const RC_SEND_ONLY: u64 = 0x04;
    /// RDMA WRITE, first packet.
    pub const RC_RDMA_WRITE_FIRST: u64 = 0x06;
    /// RDMA WRITE, a packet between the first and the last.
    pub const RC_RDMA_WRITE_MIDDLE: u64 = 0x07;
    /// RDMA WRITE, last packet.
    pub const RC_RDMA_WRITE_LAST: u64 = 0x08;
    /// RDMA WRITE, the only packet.
    pub const RC_RDMA_WRITE_ONLY: u64 = 0x0a;
    /// RDMA READ, request.
    pub const RC_RDMA_READ_REQUEST: u64 = 0x0c;
    /// RDMA READ, first response.
    pub const RC_RDMA_READ_RESPONSE_FIRST: u64 = 0x0d;
    /// RDMA READ, a response between the first and the last.
    pub const RC_RDMA_READ_RESPONSE_MIDDLE: u64 = 0x0e;
    /// RDMA READ, last response.
    pub const RC_RDMA_READ_RESPONSE_LAST: u64 = 0x0f;
    /// RDMA READ, the only response.
    pub const RC_RDMA_READ_RESPONSE_ONLY: u64 = 0x10;
    /// ACK or NAK.
    pub const RC_ACKNOWLEDGE: u64 = 0x11;
    /// Response of an atomic operation.
    pub const RC_ATOMIC_ACKNOWLEDGE: u64 = 0x12;
    /// Compare and swap.
    pub const RC_COMPARE_SWAP: u64 = 0x13;
    /// Fetch and add.
    pub const RC_FETCH_ADD: u64 = 0x14;
}

/// Words of 32 bits of the header behind the base transport header.
pub mod header_words {
    /// There is none.
    pub const NONE: u64 = 0;
    /// AETH, of an answer or a response.
    pub const AETH: u64 = 1;
    /// AETH and AtomicAckETH, of the response of an atomic operation.
    pub const ATOMIC_ACKNOWLEDGE: u64 = 3;
    /// RETH, of a WRITE or a READ.
    pub const RETH: u64 = 4;
    /// AtomicETH, of an atomic operation.
    pub const ATOMIC: u64 = 7;
}

/// Bits 7:5 of the syndrome of an AETH.
pub mod aeth_class {
    /// ACK; bits 4:0 are credits.
    pub const ACK: u64 = 0;
    /// RNR NAK: the receiver is not ready; bits 4:0 are a time.
    pub const RNR_NAK: u64 = 1;
    /// NAK; bits 4:0 are its code.
    pub const NAK: u64 = 3;
}

/// Syndromes of an AETH.
pub mod syndrome {
    /// ACK of a receiver that gives no credits.
    pub const ACK: u64 = 0x1f;
    /// NAK, PSN sequence error: packets before this one are missing.
    pub const NAK_PSN_SEQUENCE_ERROR: u64 = 0x60;
}

/// Answers of a frame; from 1 to 4 NAKs in the order of their codes.
pub mod nak {
    /// An ACK.
    pub const NONE: u64 = 0;
    /// PSN sequence error, syndrome 0x60: packets before it are missing.
    pub const PSN_SEQUENCE_ERROR: u64 = 1;
    /// Invalid request, syndrome 0x61: a request that cannot be.
    pub const INVALID_REQUEST: u64 = 2;
    /// Remote access error, syndrome 0x62: memory that the peer may not use.
    pub const REMOTE_ACCESS_ERROR: u64 = 3;
    /// Remote operational error, syndrome 0x63: memory could not be read.
    pub const REMOTE_OPERATIONAL_ERROR: u64 = 4;
    /// An ACK of a packet that came again.
    pub const DUPLICATE: u64 = 5;
}

/// Fields of the Ethernet, IPv4 and UDP headers.
pub mod header {
    /// Bytes of the Ethernet header.
    pub const ETHERNET_BYTES: u64 = 14;
    /// Bytes of the IPv4 header: it has no options.
    pub const IPV4_BYTES: u64 = 20;
    /// Bytes of the UDP header.
    pub const UDP_BYTES: u64 = 8;
    /// Bytes of the base transport header.
    pub const BTH_BYTES: u64 = 12;
    /// Bytes of the ICRC.
    pub const ICRC_BYTES: u64 = 4;
    /// Bytes up to the end of the base transport header.
    pub const BYTES: u64 = ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + BTH_BYTES;
    /// Bytes of the shortest frame.
    pub const LEAST_FRAME: u64 = BYTES + ICRC_BYTES;
    /// The shortest length that an IPv4 header can say.
    pub const LEAST_IPV4_LENGTH: u64 = LEAST_FRAME - ETHERNET_BYTES;
    /// Ethernet type of IPv4, 0x0800, its first byte in bits 7:0.
    pub const ETHERTYPE_IPV4: u64 = 0x0008;
    /// Version 4, and a header of five words.
    pub const IPV4_VERSION_LENGTH: u64 = 0x45;
    /// Protocol UDP.
    pub const IPV4_PROTOCOL_UDP: u64 = 17;
    /// UDP port 4791 of RoCEv2, its first byte in bits 7:0.
    pub const UDP_PORT_ROCE: u64 = 0xb712;
}

/// Responses that an RDMA READ may have at most.
pub const MOST_RESPONSES: u64 = 1 << 22;
