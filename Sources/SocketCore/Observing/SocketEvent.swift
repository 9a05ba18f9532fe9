/// An event of a socket, as it is kept in the engine's ring.
///
/// It consists of plain numbers, so that recording one allocates nothing. Each kind documents its `first` and `second`.
public struct SocketEvent: Hashable, Sendable {
    /// The kind of event.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A connect started and its name is being resolved.
        case resolving
        /// The name was resolved. `first` is the number of addresses.
        case resolved
        /// A connect to one address started. `first` is its index in `ConnectSnapshot.attempts`.
        case connectAttempt
        /// A connect to one address failed. `first` is its index, `second` the errno.
        case connectRefused
        /// The connection was established.
        case connected
        /// The listener started to listen.
        case listening
        /// The listener accepted a connection. `first` is the number of the new socket.
        case accepted
        /// accept failed. `first` is the errno.
        case acceptFailed
        /// A connection that waited at the listener was refused with RST by a command.
        case connectionRefused
        /// A read was queued. `first` is `OperationID.number`.
        case readQueued
        /// The current read received bytes but is not complete. `first` is the bytes just added, `second` the bytes so
        /// far.
        case readPartial
        /// A read completed. `first` is its bytes.
        case readDone
        /// A read ended without completing. `first` is the bytes so far, `second` the requested bytes, or 0 if unknown.
        case readFailed
        /// A write was queued. `first` is its bytes.
        case writeQueued
        /// A user wrote into a connection that belongs to others. `first` is the bytes. Its `writeQueued` follows.
        case injected
        /// An HTTP proxy forwards a request with a rewritten head. `first` is the bytes of the received head, `second`
        /// those of the one sent.
        case headRewritten
        /// The peer sent urgent data (MSG_OOB), which a relay forwards in line, as ordinary bytes.
        case urgentData
        /// The client of a relayed connection began TLS inside another protocol, so that what follows is ciphertext.
        /// `first` is the protocol, an index into `UpgradedProtocol.allCases`, `second` the bytes that the client sent
        /// before.
        case tlsUpgraded
        /// The kernel accepted part of the current write. `first` is the bytes just written, `second` the bytes so far.
        case writePartial
        /// The kernel accepted every byte of a write. `first` is its bytes.
        case writeDone
        /// A write ended without completing. `first` is the bytes so far, `second` the total.
        case writeFailed
        /// The current read timed out. `first` is the bytes so far, `second` the milliseconds elapsed.
        case readTimedOut
        /// The current write timed out. `first` is the bytes so far, `second` the milliseconds elapsed.
        case writeTimedOut
        /// A timed-out operation was extended. `first` is the milliseconds added.
        case timeoutExtended
        /// A command changed an operation's timeout. `first` is the new one in milliseconds, or -1 for none.
        case timeoutChanged
        /// Reading was paused by the caller or the user.
        case readingPaused
        /// Reading was resumed by the caller or the user.
        case readingResumed
        /// Bytes are waiting but no read wants them, so read interest was turned off.
        case readInterestOff
        /// Read interest was turned on again.
        case readInterestOn
        /// The kernel's send buffer is full, so write interest was turned on. `first` is the bytes pending here.
        case writeBlocked
        /// The kernel's send buffer has room again.
        case writeUnblocked
        /// The write queue exceeds the high watermark. `first` is its bytes.
        case aboveHighMark
        /// The write queue has shrunk to the low watermark. `first` is the bytes left.
        case belowLowMark
        /// The peer's FIN was detected. `first` is 1 if unread bytes precede it, or 2 if they do and both directions
        /// are closed, by a reset or by a FIN from each side.
        case peerClosed
        /// The local side sent FIN and keeps reading. `first` is 1 if further input is discarded because everything is
        /// written.
        case halfClosed
        /// A close was requested. `first` is the index of the mode in `CloseMode.allCases`.
        case closeRequested
        /// The connection moved to another engine. `first` is its number there.
        case movedAway
        /// The connection came from another engine. `first` is its number there.
        case movedHere
        /// TLS was requested. `first` is the number of reads before it, `second` that of writes.
        case tlsQueued
        /// The TLS handshake started. `first` is the bytes read ahead that it received.
        case tlsBegan
        /// The peer's certificate waits for a verdict. `first` is OpenSSL's verification code, 0 if it is valid.
        case trustAsked
        /// The verdict on the certificate arrived. `first` is 1 if it was accepted.
        case trustAnswered
        /// TLS is established. `first` is the microseconds it took, `second` is 1 if a session was resumed.
        case secured
        /// The peer sent a TLS alert. `first` is its number; 0 is close_notify, the orderly end.
        case alertReceived
        /// The local side sent a TLS alert. `first` is its number.
        case alertSent
        /// A datagram socket was bound to a local address.
        case bound
        /// Datagrams were received together. `first` is their number, `second` their bytes.
        case datagramsReceived
        /// A datagram was sent. `first` is its bytes.
        case datagramSent
        /// A datagram was not sent. `first` is its bytes, `second` the errno, or 0.
        case datagramFailed
        /// Datagrams were dropped locally. `first` is their number. `second` is the reason: 0 for the receive filter, 1
        /// for a sender other than the connected peer, 2 because earlier ones had not been fetched, 3 for those held
        /// back by the send filter.
        case datagramsDropped
        /// Datagrams were longer than the receive limit and were truncated. `first` is their number.
        case datagramsTruncated
        /// The kernel reported an error for a datagram sent earlier. `first` is the errno.
        case datagramError
        /// In a capture, bytes were received again with different contents. `first` is their number. The earlier bytes
        /// are kept.
        case copiesDiffer
        /// In a capture, a keep-alive probe with an octet that is not part of the stream (RFC 1122, 4.2.3.6). `first` is
        /// 0 if the client sent it, or 1 if the server did.
        case keepAlive
        /// A multicast group was joined.
        case groupJoined
        /// A multicast group was left.
        case groupLeft
        /// A datagram socket was disconnected from its peer.
        case disconnected
        /// A fault rule took effect. `first` is the rule's number, `second` the stream offset, or -1.
        case faulted
        /// A breakpoint holds the connection. `first` is its number, `second` the bytes waiting here.
        case held
        /// A breakpoint released the connection. `first` is its number, `second` the milliseconds that it held.
        case released
        /// The session ended and its descriptor is closed. The snapshot's `closed` has the reason.
        case closed
    }

    /// Counted from 0 over the engine's lifetime. A gap means that events were overwritten before they were read.
    public var sequence: UInt64
    /// When it happened, with the precision of an engine turn.
    public var time: MonotonicTime
    /// The session it happened to.
    public var socket: SocketID
    /// The kind of event.
    public var kind: Kind
    /// The tag of its operation, or 0 if it has none.
    public var tag: Int
    /// See `Kind`.
    public var first: Int
    /// See `Kind`.
    public var second: Int

    /// Describes an event.
    public init(
        sequence: UInt64, time: MonotonicTime, socket: SocketID, kind: Kind, tag: Int = 0, first: Int = 0,
        second: Int = 0
    ) {
        self.sequence = sequence
        self.time = time
        self.socket = socket
        self.kind = kind
        self.tag = tag
        self.first = first
        self.second = second
    }
}
