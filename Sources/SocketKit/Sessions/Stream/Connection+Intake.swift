import SocketCore

/// Takes what a connection receives before any read does. What it gives back, by `AsyncSocket.deliver`, goes to the reads.
///
/// It is called as a delegate is on the engine's queue: after what was received, and before more is. After `end` nothing
/// more comes.
package struct Intake: Sendable {
    let receive: @Sendable ([UInt8]) -> Void
    let end: @Sendable () -> Void
    /// The end of the stream was received, and has not been let pass yet.
    fileprivate(set) var hasEnd = false

    package init(receive: @escaping @Sendable ([UInt8]) -> Void, end: @escaping @Sendable () -> Void) {
        (self.receive, self.end) = (receive, end)
    }
}

/// What rules and breakpoints need of a connection.
struct OnPurpose {
    /// What they do to it, for snapshots; `nil`: none concerns it.
    var meter: FaultMeter?
    /// What takes received bytes before the reads do; `nil`: nothing.
    var intake: Intake?
    /// Writes that one system call may carry.
    var gatherLimit = Connection.gatherLimit
}

extension Connection {
    /// Whether the end of the stream was received, but not by the reads.
    var isEndTaken: Bool { intake?.hasEnd == true }

    /// Gives received bytes to the reads, or to the intake that comes before them.
    func accept(_ bytes: UnsafeRawBufferPointer) {
        guard let intake else { return gather(lend(bytes)) }
        let copy = Array(bytes)
        engine.outbox.append(.other { intake.receive(copy) })
        // Its verdict on these comes before the next ones.
        guard !waitsForDelivery else { return }
        waitsForDelivery = true
        engine.outbox.append(.delivered(self))
    }

    /// Notes the end of the stream, or lets the intake say when it comes.
    func acceptEnd() {
        guard let intake else { return machine.didReachEndOfStream() }
        guard !isEndTaken else { return }
        rare?.onPurpose.intake?.hasEnd = true
        engine.outbox.append(.other { intake.end() })
    }

    /// What the intake gives back.
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
