import SocketKit

/// A bug that is planted on purpose, to prove that the rules find it.
package enum Mutant: String, Sendable, CaseIterable {
    /// The completion of one write never reaches its delegate.
    case losesACompletion
    /// The completion of one write reaches its delegate twice.
    case doublesACompletion
    /// Two completions change places.
    case swapsCompletions
    /// A delegate hears `didDisconnect` twice.
    case doublesTheEnd
    /// One received byte vanishes.
    case losesAByte
    /// One received byte comes twice.
    case doublesAByte
    /// One connection's descriptor stays open.
    case leaksADescriptor
    /// One descriptor is reported as readable for ever, while it is not.
    case readyForEver
    /// One descriptor is never reported again.
    case forgetsADescriptor
    /// The timer never comes.
    case losesTheTimer
    /// One task that has its answer never goes on.
    case losesAResumption
    /// One cancellation never reaches its task.
    case losesACancellation
    /// A task loses one byte that it read.
    case losesASecuredByte
    /// One connection that was accepted never reaches a task.
    case losesAConnection
    /// One connection reaches two tasks.
    case doublesAConnection
    /// One message never reaches a task.
    case losesAMessage
    /// One message reaches a task twice.
    case doublesAMessage
    /// One datagram vanishes.
    case losesADatagram
    /// One datagram comes twice.
    case doublesADatagram
    /// One datagram leaves though its sender was told that it does not.
    case sendsACancelledDatagram

    /// The rule that must find it.
    package var rule: Rule {
        switch self {
        case .losesACompletion: .neverCompleted
        case .doublesACompletion: .completedTwice
        case .swapsCompletions: .outOfOrder
        case .doublesTheEnd: .callbackOrder
        case .losesAByte, .doublesAByte: .bytesDiffer
        case .leaksADescriptor: .descriptorLeaked
        case .readyForEver: .spinning
        case .forgetsADescriptor, .losesTheTimer: .hanging
        case .losesAResumption, .losesACancellation: .neverReturned
        case .losesASecuredByte: .bytesDiffer
        case .losesAConnection, .doublesAConnection: .connectionsDiffer
        case .losesAMessage, .doublesAMessage: .messagesDiffer
        case .losesADatagram, .doublesADatagram, .sendsACancelledDatagram: .datagramsDiffer
        }
    }
}

/// Strikes once in a run, at the first chance, with the bug that was planted; without one, never.
package final class Mutation: Sendable {
    private let mutant: Mutant?
    private let hasStruck = Lock(false)

    package init(_ mutant: Mutant?) {
        self.mutant = mutant
    }

    /// Whether this bug shall show itself here. It is true once.
    package func strikes(_ candidate: Mutant) -> Bool {
        guard candidate == mutant else { return false }
        return hasStruck.withLock { struck in
            defer { struck = true }
            return !struck
        }
    }

    /// Whether this bug is the one that was planted.
    package func isPlanted(_ candidate: Mutant) -> Bool { candidate == mutant }

    /// Whether it has shown itself.
    package var hasShown: Bool { hasStruck.withLock { $0 } }
}
