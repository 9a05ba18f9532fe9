/// A system call on a socket that a program made.
package struct SocketCall: Equatable, Sendable {
    /// The calls that are traced.
    package enum Kind: String, CaseIterable, Sendable {
        case read, write, recvfrom, sendto, readv, writev, recvmsg, sendmsg, recvmmsg, sendmmsg, sendfile, splice
        case accept, accept4, connect, shutdown, close
        case poll, ppoll, select, pselect6
        case epollWait = "epoll_wait"
        case epollPwait = "epoll_pwait"
        case epollPwait2 = "epoll_pwait2"

        /// What it returns, unless it fails.
        package var returns: Returned {
            switch self {
            case .read, .write, .recvfrom, .sendto, .readv, .writev, .recvmsg, .sendmsg, .recvmmsg, .sendmmsg,
                .sendfile, .splice:
                .bytes
            case .accept, .accept4: .descriptor
            case .connect, .shutdown, .close: .nothing
            case .poll, .ppoll, .select, .pselect6, .epollWait, .epollPwait, .epollPwait2: .ready
            }
        }
    }

    package enum Returned: Sendable { case bytes, descriptor, nothing, ready }

    package enum State: Equatable, Sendable {
        case waits
        /// The value is -1 if it is not known.
        case returned(Int64)
        /// From 512 on, the kernel's own numbers for a call that a signal interrupted.
        case failed(Int32)
        /// The thread ended in the call, or it executed a program.
        case vanished
    }

    /// What a call that waits for several descriptors was asked.
    package struct Poll: Equatable, Sendable {
        /// How many descriptors it names, or `nil` if they are elsewhere: those of an epoll are in the kernel.
        package var descriptors: Int?
        /// How long it may wait, or `nil` for forever.
        package var timeout: Duration?

        package init(descriptors: Int? = nil, timeout: Duration? = nil) {
            (self.descriptors, self.timeout) = (descriptors, timeout)
        }
    }

    /// The earlier calls of a loop that reads one message in pieces, each into the rest of one buffer.
    package struct Gathered: Equatable, Sendable {
        /// The bytes that the first of them asked for, which is the whole message.
        package var asked: Int64
        /// The bytes that they returned.
        package var had: Int64
        /// How many they are.
        package var calls: Int
        /// When the first of them began.
        package var began: MonotonicTime

        package init(asked: Int64, had: Int64, calls: Int, began: MonotonicTime) {
            (self.asked, self.had, self.calls, self.began) = (asked, had, calls, began)
        }
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
    /// The calls before it that read the beginning of its message, or `nil` if there were none.
    package var gathered: Gathered?
    /// What it was asked, if it waits for several descriptors.
    package var poll: Poll?

    package init(
        id: SocketID? = nil, process: Int, thread: Int, _ kind: Kind, descriptor: Int, asked: Int64?, _ state: State,
        began: MonotonicTime, took: Duration? = nil
    ) {
        (self.id, self.process, self.thread, self.kind) = (id, process, thread, kind)
        (self.descriptor, self.asked, self.state, self.began, self.took) = (descriptor, asked, state, began, took)
    }

    package var isWaiting: Bool { state == .waits }

    /// When it ended, or `nil` while it waits.
    package var ended: MonotonicTime? { took.map { began + $0 } }

    /// The bytes that it returned, or `nil` if it returned none, or something else.
    package var returnedBytes: Int64? { returned(.bytes) }

    /// The new descriptor that it returned.
    package var returnedDescriptor: Int64? { returned(.descriptor) }

    /// The number of descriptors that it found ready, which is 0 if its time ran out.
    package var readyDescriptors: Int64? { returned(.ready) }

    private func returned(_ what: Returned) -> Int64? {
        guard case .returned(let value) = state, kind.returns == what, value >= 0 else { return nil }
        return value
    }

    package var errno: Int32? { if case .failed(let number) = state { number } else { nil } }

    /// Whether it only looked which descriptors are ready, or hardly waited for them. Such calls are not kept.
    package var isBrief: Bool { kind.returns == .ready && took.map { $0 < Self.leastWait } ?? false }

    private static let leastWait = Duration.milliseconds(1)

    /// The call as it was at an instant at which it had begun and not ended.
    func waiting() -> SocketCall {
        var call = self
        (call.state, call.took) = (.waits, nil)
        return call
    }
}

/// How many calls of a program are missing.
package struct CallLosses: Equatable, Sendable {
    /// The calls that came faster than they were read.
    package var lost: UInt64
    /// The programs for another machine that were executed, whose calls are not seen.
    package var strangePrograms: UInt64
    /// The programs that may not be looked into.
    package var hiddenPrograms: UInt64
    /// The processes that use io_uring, whose calls by it are not seen. Only some are named.
    package var rings: [Int] = []

    package init(lost: UInt64 = 0, strangePrograms: UInt64 = 0, hiddenPrograms: UInt64 = 0) {
        (self.lost, self.strangePrograms, self.hiddenPrograms) = (lost, strangePrograms, hiddenPrograms)
    }
}
