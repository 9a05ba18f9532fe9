import SocketCore
import SocketRecords

/// A system call on a socket that a program made.
package struct SocketCall: Equatable, Sendable {
    /// The calls that are traced.
    package enum Kind: String, CaseIterable, Sendable, WireWord {
        case read, write, recvfrom, sendto, readv, writev, recvmsg, sendmsg, recvmmsg, sendmmsg, sendfile, splice
        case accept, accept4, shutdown, close

        /// What it returns, unless it fails.
        package var returns: Returned {
            switch self {
            case .read, .write, .recvfrom, .sendto, .readv, .writev, .recvmsg, .sendmsg, .recvmmsg, .sendmmsg,
                .sendfile, .splice:
                .bytes
            case .accept, .accept4: .descriptor
            case .shutdown, .close: .nothing
            }
        }
    }

    package enum Returned: Sendable { case bytes, descriptor, nothing }

    package enum State: Equatable, Sendable {
        case waits
        /// The value is -1 if it is not known.
        case returned(Int64)
        /// From 512 on, the kernel's own numbers for a call that a signal interrupted.
        case failed(Int32)
        /// The thread ended in the call, or it executed a program.
        case vanished
    }

    /// The session on which the call was made, or `nil` if it is not one of the relay's.
    package var id: SocketID?
    package var process: Int
    package var thread: Int
    package var kind: Kind
    package var descriptor: Int
    /// The bytes that it asks for, or `nil` if it names none.
    package var asked: Int64?
    package var state: State
    package var began: MonotonicTime
    /// How long it took, or `nil` while it waits.
    package var took: Duration?

    package init(
        id: SocketID? = nil, process: Int, thread: Int, _ kind: Kind, descriptor: Int, asked: Int64?, _ state: State,
        began: MonotonicTime, took: Duration? = nil
    ) {
        (self.id, self.process, self.thread, self.kind) = (id, process, thread, kind)
        (self.descriptor, self.asked, self.state, self.began, self.took) = (descriptor, asked, state, began, took)
    }

    package var isWaiting: Bool { state == .waits }

    /// The bytes that it returned, or `nil` if it returned none, or something else.
    package var returnedBytes: Int64? {
        guard case .returned(let count) = state, kind.returns == .bytes, count >= 0 else { return nil }
        return count
    }

    /// The new descriptor that it returned.
    package var returnedDescriptor: Int64? {
        guard case .returned(let number) = state, kind.returns == .descriptor, number >= 0 else { return nil }
        return number
    }

    package var errno: Int32? { if case .failed(let number) = state { number } else { nil } }
}

/// How many calls of a program are missing.
package struct CallLosses: Equatable, Sendable {
    /// The calls that came faster than they were read.
    package var lost: UInt64
    /// The programs for another machine that were executed, whose calls are not seen.
    package var strangePrograms: UInt64
    /// The programs that may not be looked into.
    package var hiddenPrograms: UInt64

    package init(lost: UInt64 = 0, strangePrograms: UInt64 = 0, hiddenPrograms: UInt64 = 0) {
        (self.lost, self.strangePrograms, self.hiddenPrograms) = (lost, strangePrograms, hiddenPrograms)
    }

    /// What is not shown, as phrases.
    package var phrases: [String] {
        (lost > 0 ? [Format.count(Int(clamping: lost), "call") + " that came too fast"] : [])
            + (strangePrograms > 0 ? ["the calls of \(programs(strangePrograms, "32-bit program"))"] : [])
            + (hiddenPrograms > 0
                ? ["the calls of \(programs(hiddenPrograms, "program")) that may not be looked into"] : [])
    }

    private func programs(_ count: UInt64, _ noun: String) -> String {
        Format.count(Int(clamping: count), noun)
    }
}

/// The calls that wait, by thread, and the latest of those that are over.
package struct CallLedger: Equatable, Sendable {
    package private(set) var waiting: [Int: SocketCall] = [:]
    /// The latest calls that are over, in the order in which they ended.
    package private(set) var latest: [SocketCall] = []
    /// The number of earlier ones that are not kept.
    package private(set) var dropped = 0
    private var lost: UInt64 = 0
    /// How many are kept.
    private let limit: Int

    package init(limit: Int = 10_000) { self.limit = limit }

    /// The calls that wait, the one that waits longest first.
    package var longestWaiting: [SocketCall] {
        waiting.values.sorted { ($0.began, $0.thread) < ($1.began, $1.thread) }
    }

    /// Adds calls in their order.
    package mutating func absorb(_ calls: [SocketCall], _ losses: CallLosses? = nil) {
        for call in calls {
            if call.isWaiting {
                waiting[call.thread] = call
            } else {
                waiting[call.thread] = nil
                if limit > 0 { latest.append(call) }
            }
        }
        // Those that seem to wait may be among the lost ends.
        if let losses, losses.lost != lost { (waiting, lost) = ([:], losses.lost) }
        guard latest.count > limit + limit / 4 else { return }
        dropped += latest.count - limit
        latest.removeFirst(latest.count - limit)
    }
}
