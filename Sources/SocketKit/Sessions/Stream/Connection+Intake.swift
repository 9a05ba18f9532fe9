import SocketCore

/// Takes what a connection receives before any read does. What it gives back through `AsyncSocket.deliver` goes to the
/// reads.
///
/// It is called like a delegate on the engine's queue: after each receive and before the next one. Nothing follows
/// `end`.
package struct Intake: Sendable {
    let receive: @Sendable ([UInt8]) -> Void
    let end: @Sendable () -> Void
    /// Set once the stream's end was received. The intake decides when it is passed on.
    fileprivate(set) var hasEnd = false

    package init(receive: @escaping @Sendable ([UInt8]) -> Void, end: @escaping @Sendable () -> Void) {
        (self.receive, self.end) = (receive, end)
    }
}

/// What rules and breakpoints store in a connection.
struct OnPurpose {
    /// What they do to the connection, for snapshots, or `nil` if none applies to it.
    var meter: FaultMeter?
    /// What takes received bytes before the reads do, or `nil` if nothing does.
    var intake: Intake?
    /// The most writes in one system call.
    var gatherLimit = Connection.gatherLimit
}

extension Connection {
    /// Whether the end of the stream has been received, but not by the reads.
    var isEndTaken: Bool { intake?.hasEnd == true }

    /// Passes received bytes to the intake if there is one, and to the reads otherwise.
    func accept(_ bytes: UnsafeRawBufferPointer) {
        guard let intake else { return gather(lend(bytes)) }
        let copy = Array(bytes)
        engine.outbox.append(.other { intake.receive(copy) })
        // The intake's verdict on these bytes comes before the next ones.
        guard !waitsForDelivery else { return }
        waitsForDelivery = true
        engine.outbox.append(.delivered(self))
    }

    /// Notes the end of the stream, or lets the intake decide when it ends.
    func acceptEnd() {
        guard let intake else { return machine.didReachEndOfStream() }
        guard !isEndTaken else { return }
        rare?.onPurpose.intake?.hasEnd = true
        engine.outbox.append(.other { intake.end() })
    }

    func deliver(_ bytes: [UInt8]) {
        guard machine.isOpen, !machine.hasEndOfStream else { return }
        bytes.withUnsafeBytes { gather(lend($0)) }
        finishStep()
    }

    func deliverEnd() {
        guard machine.isOpen, !machine.hasEndOfStream else { return }
        machine.didReachEndOfStream()
        finishStep()
    }
}
