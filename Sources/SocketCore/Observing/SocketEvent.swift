/// One thing that happened to a socket, as it is kept in the engine's ring.
///
/// Plain numbers, so that recording one allocates nothing; what `first` and `second` mean stands beside each kind.
public struct SocketEvent: Hashable, Sendable, Codable {
    /// What happened.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// A connect began and its name is being resolved.
        case resolving
        /// The name is resolved; first: number of addresses.
        case resolved
        /// A connect to one address began; first: its index in `ConnectSnapshot.attempts`.
        case connectAttempt
        /// A connect to one address failed; first: its index, second: errno.
        case connectRefused
        /// The connection stands.
        case connected
        /// The listener listens.
        case listening
        /// The listener took a connection; first: number of the new socket.
        case accepted
        /// accept failed; first: errno.
        case acceptFailed
        /// A connection that waited at the listener was refused by hand, with RST.
        case connectionRefused
        /// A read was queued; first: `OperationID.number`.
        case readQueued
        /// The read in hand got bytes but is not done; first: bytes just added, second: bytes so far.
        case readPartial
        /// A read completed; first: bytes.
        case readDone
        /// A read ended without completing; first: bytes so far, second: bytes asked for (0: not known).
        case readFailed
        /// A write was queued; first: bytes.
        case writeQueued
        /// A user wrote into a connection that belongs to others; first: bytes. Its `writeQueued` follows.
        case injected
        /// An HTTP proxy sends a request on with another head; first: bytes of the head that came, second: of that sent.
        case headRewritten
        /// The write in hand got some bytes out; first: bytes just written, second: bytes so far.
        case writePartial
        /// A write is wholly with the kernel; first: bytes.
        case writeDone
        /// A write ended without completing; first: bytes so far, second: bytes in all.
        case writeFailed
        /// The read in hand timed out; first: bytes so far, second: milliseconds elapsed.
        case readTimedOut
        /// The write in hand timed out; first: bytes so far, second: milliseconds elapsed.
        case writeTimedOut
        /// A timed-out operation got more time; first: milliseconds added.
        case timeoutExtended
        /// An operation got another timeout by hand; first: it in milliseconds, -1: none.
        case timeoutChanged
        /// Reading was paused by hand.
        case readingPaused
        /// Reading was resumed by hand.
        case readingResumed
        /// Bytes are there but no read takes them: read interest went off.
        case readInterestOff
        /// Read interest went on again.
        case readInterestOn
        /// The kernel's send buffer is full: write interest went on; first: bytes pending here.
        case writeBlocked
        /// The kernel's send buffer has room again.
        case writeUnblocked
        /// More bytes are queued for writing than the high mark allows; first: how many.
        case aboveHighMark
        /// What is queued for writing has fallen to the low mark; first: how many bytes are left.
        case belowLowMark
        /// The peer's FIN was seen; first: 1 when unread bytes lie before it, 2 when they do and both sides are gone,
        /// be it by a reset or by FIN on either side.
        case peerClosed
        /// We sent FIN and go on reading; first: 1 when further input is discarded, since everything is written.
        case halfClosed
        /// A close was asked for; first: index of the mode in `CloseMode.allCases`.
        case closeRequested
        /// The connection went to another engine; first: its number there.
        case movedAway
        /// The connection came from another engine; first: its number there.
        case movedHere
        /// TLS was asked for; first: reads that come before it, second: writes that do.
        case tlsQueued
        /// The TLS handshake began; first: bytes read ahead that were fed to it.
        case tlsBegan
        /// Somebody is asked about the peer's certificate; first: OpenSSL's verification code, 0: it is in order.
        case trustAsked
        /// The certificate was judged; first: 1 when it was accepted.
        case trustAnswered
        /// TLS is set up; first: microseconds that took, second: 1 when a session was resumed.
        case secured
        /// The peer sent a TLS alert; first: its number (0: close_notify, the orderly end).
        case alertReceived
        /// We sent a TLS alert; first: its number.
        case alertSent
        /// A datagram socket has an address of its own.
        case bound
        /// Datagrams were received together; first: how many, second: bytes.
        case datagramsReceived
        /// A datagram was sent; first: bytes.
        case datagramSent
        /// A datagram was not sent; first: bytes, second: errno, or 0.
        case datagramFailed
        /// Datagrams were dropped on this side; first: how many, second: 0 by the receive filter, 1 from somebody else
        /// than the connected peer, 2 since nobody fetched those before, 3 held back by the send filter.
        case datagramsDropped
        /// Datagrams were longer than what is kept of one; first: how many.
        case datagramsTruncated
        /// The kernel reported an error of a datagram that was sent earlier; first: errno.
        case datagramError
        /// In a capture, bytes came again and were not the same; first: how many. Those that came first stay.
        case copiesDiffer
        /// A multicast group was joined.
        case groupJoined
        /// A multicast group was left.
        case groupLeft
        /// A datagram socket is not connected any more.
        case disconnected
        /// A fault took effect on purpose; first: the rule's number, second: the stream offset, or -1.
        case faulted
        /// A breakpoint holds the connection; first: its number, second: bytes that wait here.
        case held
        /// It holds the connection no more; first: its number, second: milliseconds that it did.
        case released
        /// The session is over and its descriptor is closed; the reason is in the snapshot's `closed`.
        case closed
    }

    /// Counted from 0 over the engine's life; a gap means events that were overwritten before they were read.
    public var sequence: UInt64
    /// When it happened, to the turn of the engine.
    public var time: MonotonicTime
    /// The session it happened to.
    public var socket: SocketID
    /// What happened.
    public var kind: Kind
    /// The tag of the operation it is about; 0 where there is none.
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
