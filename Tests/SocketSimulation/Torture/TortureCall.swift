import Glibc
import SocketKit

/// A call of the engine that can fail: those of the kernel's seam, and those by which a reactor watches.
package enum TortureCall: String, Sendable, CaseIterable {
    case openStream, bind, listen, connect, pendingError, accept, receive, peek, send, shutdownWrite, set
    case makeNonBlocking, localAddress, peerAddress, isStream, describe, removeSocketFile, watch, changeWatch
    case openDatagram, receiveDatagrams, sendDatagrams, dissolve, describeDatagrams

    /// What is put in the place of a call's answer.
    package enum Fault: Hashable, Sendable, CustomStringConvertible {
        case errno(Int32)
        /// EAGAIN, which is no error.
        case wouldBlock
        /// The call moves one byte and no more.
        case oneByte
        /// The kernel does not say.
        case nothing

        package var description: String {
            switch self {
            case .errno(let errno): String(cString: strerror(errno))
            case .wouldBlock: "would block"
            case .oneByte: "one byte"
            case .nothing: "nothing"
            }
        }
    }

    /// Whether it needs a free descriptor.
    var opensDescriptor: Bool { [.openStream, .openDatagram, .accept].contains(self) }

    /// What this call can plausibly come to, other than success. EINTR is not among it: it is retried below the seam.
    package var faults: [Fault] {
        switch self {
        case .openStream, .openDatagram: [EMFILE, ENFILE, ENOBUFS, ENOMEM, EAFNOSUPPORT].map(Fault.errno)
        case .bind: [EADDRINUSE, EACCES, EADDRNOTAVAIL].map(Fault.errno)
        case .listen: [EADDRINUSE].map(Fault.errno)
        case .connect: [ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL, ETIMEDOUT, EAGAIN].map(Fault.errno)
        case .pendingError: [ECONNREFUSED, ETIMEDOUT, ECONNRESET, EHOSTUNREACH].map(Fault.errno)
        case .accept:
            [EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED, EPROTO, EPERM].map(Fault.errno) + [.wouldBlock]
        case .receive: [ECONNRESET, ETIMEDOUT, ENOBUFS, ENOMEM].map(Fault.errno) + [.oneByte, .wouldBlock]
        // It never blocks: it follows a report, at times the last one.
        case .peek: [ECONNRESET, ETIMEDOUT, ENOMEM].map(Fault.errno)
        case .send:
            [EPIPE, ECONNRESET, ENOBUFS, ENOMEM, ENETDOWN, ETIMEDOUT].map(Fault.errno) + [.oneByte, .wouldBlock]
        case .shutdownWrite: [ENOTCONN, ENOBUFS].map(Fault.errno)
        case .set: [ENOBUFS, ENOPROTOOPT].map(Fault.errno)
        case .makeNonBlocking: [EPERM].map(Fault.errno)
        case .removeSocketFile: [EACCES, ENOENT, ENOTSOCK].map(Fault.errno)
        case .localAddress, .peerAddress, .isStream, .describe, .describeDatagrams: [.nothing]
        case .receiveDatagrams: [ECONNREFUSED, EHOSTUNREACH, ENOMEM].map(Fault.errno) + [.wouldBlock]
        case .sendDatagrams:
            [ECONNREFUSED, EMSGSIZE, ENETUNREACH, EACCES, EPERM, ENOBUFS, ENOMEM].map(Fault.errno) + [.wouldBlock]
        case .dissolve: [ENOBUFS].map(Fault.errno)
        case .watch: [ENOMEM, ENOSPC].map(Fault.errno)
        case .changeWatch: [ENOMEM].map(Fault.errno)
        }
    }
}

/// One fault at one call of a scenario.
package struct TorturePoint: Hashable, Sendable {
    /// Which call, counted from 0 over all calls of the scenario.
    package var index: Int
    package var call: TortureCall
    package var fault: TortureCall.Fault
    /// Whether the calls after it that open a descriptor fail likewise, for a while.
    package var lasts = false
}

/// Numbers the calls of a scenario, and says which of them is to fail.
package final class TortureCounter: Sendable {
    private struct State {
        var calls: [TortureCall] = []
        var hasStruck = false
        /// How many more calls that open a descriptor find none.
        var drought = 0
    }

    /// How many calls in a row find no descriptor.
    private static let drought = 20

    private let point: TorturePoint?
    private let state = Lock(State())

    init(_ point: TorturePoint?) {
        self.point = point
    }

    /// Counts a call; the fault to put in the place of its answer, if it is the one.
    func count(_ call: TortureCall) -> TortureCall.Fault? {
        state.withLock { state in
            state.calls.append(call)
            if state.drought > 0, call.opensDescriptor {
                state.drought -= 1
                return point?.fault
            }
            guard let point, point.index == state.calls.count - 1, point.call == call else { return nil }
            state.hasStruck = true
            if point.lasts { state.drought = Self.drought }
            return point.fault
        }
    }

    /// All calls so far.
    var calls: [TortureCall] { state.withLock { $0.calls } }
    /// Whether the call that is to fail was reached.
    var hasStruck: Bool { state.withLock { $0.hasStruck } }
}
