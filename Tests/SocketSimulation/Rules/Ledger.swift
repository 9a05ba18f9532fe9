import SocketKit

/// One call of a delegate.
package enum Notice: Sendable {
    case connected
    case read([UInt8], tag: Int)
    case readPartial(Int, tag: Int)
    case wrote(tag: Int)
    case wrotePartial(Int, tag: Int)
    case failed(FailedOperation)
    case timedOut(TimedOutOperation)
    case closedReadStream
    case peerClosed
    case writable(Bool)
    case disconnecting(unread: [UInt8])
    case disconnected(SocketError?)
}

/// Keeps account of every session and operation, and holds each callback against what the engine promises: one
/// completion each, first in first out in each direction, partial reports that add up, `didConnect` first,
/// `didDisconnect` last and once.
///
/// Whoever asks the engine for something tells it here first, and passes on every callback. Tags are given out here, so
/// that no two operations share one.
package final class Ledger: Sendable {
    private let findings: Findings
    private let book = Lock(Book())

    package init(findings: Findings) {
        self.findings = findings
    }

    // MARK: What is asked

    /// A session began; `owner` is the number of the handle. nil: it was over before anybody could ask for its name.
    package func begin(_ id: SocketID?, owner: Int, isAccepted: Bool) {
        book.withLock { $0.sessions.append(Book.Session(id: id, owner: owner, isAccepted: isAccepted)) }
    }

    /// A read is about to be queued; the request with a tag of its own.
    package func read(_ request: ReadRequest, session: SocketID?, isAwaited: Bool = false) -> ReadRequest {
        var request = request
        request.tag = book.withLock {
            $0.add(Book.Operation(session: session, read: request, bytes: [], isAwaited: isAwaited))
        }
        return request
    }

    /// A write is about to be queued; its tag.
    package func write(_ bytes: [UInt8], session: SocketID?, isAwaited: Bool = false) -> Int {
        book.withLock { $0.add(Book.Operation(session: session, read: nil, bytes: bytes, isAwaited: isAwaited)) }
    }

    /// A connection moved to another engine, where its session has another name.
    package func move(_ former: SocketID, to later: SocketID) {
        book.withLock { $0.rename(former, later) }
    }

    /// The owner let go of its handle: nothing is promised any more.
    package func release(owner: Int) {
        book.withLock { $0.release(owner) }
    }

    // MARK: What is told

    /// Holds a callback against all that came before it.
    package func absorb(_ notice: Notice, owner: Int) {
        for finding in book.withLock({ $0.absorb(notice, owner) }) { findings.report(finding.rule, finding.detail) }
    }

    /// All is over: whatever did not end by now never will.
    package func finish() {
        for finding in book.withLock({ $0.finish() }) { findings.report(finding.rule, finding.detail) }
    }

    // MARK: Facts

    /// What a session's reads got, and what its writes gave, as far as its operations ended; nil: not known.
    package func bytes(of id: SocketID) -> (read: [UInt8], written: [UInt8])? {
        book.withLock { book in book.index(of: id).map { (book.sessions[$0].read, book.sessions[$0].written) } }
    }

    /// Whether callbacks came for a session since this was asked last.
    package func hasNews(of id: SocketID) -> Bool {
        book.withLock { book in
            guard let index = book.index(of: id) else { return false }
            defer { book.sessions[index].hasNews = false }
            return book.sessions[index].hasNews
        }
    }

    /// How many reads and writes of a session have not ended.
    package func unfinished(of id: SocketID) -> (reads: Int, writes: Int)? {
        book.withLock { book in
            guard let index = book.index(of: id), !book.sessions[index].hasBeenTakenAlong else { return nil }
            return (book.sessions[index].reads.count, book.sessions[index].writes.count)
        }
    }

    /// Whether a session's owner heard of it to the end, and did not let go of it before.
    package func hasToldAll(of id: SocketID) -> Bool {
        book.withLock { book in
            book.index(of: id).map { book.sessions[$0].isOver && !book.sessions[$0].isReleased } ?? false
        }
    }

    /// Whether a session's delegate was told that the peer's stream is over.
    package func hasToldEnd(of id: SocketID) -> Bool {
        book.withLock { book in book.index(of: id).map { book.sessions[$0].hasToldEnd } ?? false }
    }

    /// How many operations there were.
    package var operationCount: Int { book.withLock { $0.operations.count } }

    /// How many sessions there were.
    package var sessionCount: Int { book.withLock { $0.sessions.count } }

    /// Whether every session that began is over.
    package var isOver: Bool { book.withLock { $0.sessions.allSatisfy { $0.isOver || $0.isReleased } } }
}
