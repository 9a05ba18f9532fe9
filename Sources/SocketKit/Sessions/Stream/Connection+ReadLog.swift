import SocketCore

/// Keeps the bytes of reads in the traffic log.
extension Connection {
    func keep(_ delivery: ReadDelivery) {
        if let tap { return logRead(delivery, seenBy: tap) }
        log(delivery, delivery.bytes.count) { delivery.bytes.part($0) }
    }

    func log(_ delivery: ReadDelivery, _ count: Int, part: (Range<Int>) -> [UInt8]) {
        guard keepsTraffic, layers.keepsBytes else { return }
        traffic?.record(
            delivery.operation, direction: .received, tag: delivery.tag, kind: .read(delivery.kind), done: count,
            total: ReadRequest(delivery.kind).total, state: .complete(after: engine.now - delivery.started),
            now: engine.now, bytes: part)
    }

    func log(_ loan: Loan, _ item: UnsafeRawBufferPointer) {
        guard keepsTraffic, layers.keepsBytes, let kind = machine.reading.currentOperation?.kind else { return }
        traffic?.record(
            loan.operation, direction: .received, tag: loan.tag, kind: .read(kind), done: item.count,
            total: nil, state: .complete(after: engine.now - loan.started), now: engine.now
        ) { Array(item[$0.clamped(to: 0..<item.count)]) }
    }

    func logPartialRead(_ operation: OperationID) {
        guard keepsTraffic, layers.keepsBytes, let current = machine.reading.currentOperation,
            current.operation == operation
        else { return }
        traffic?.record(
            operation, direction: .received, tag: current.tag, kind: .read(current.kind), done: current.done,
            total: ReadRequest(current.kind).total, state: .inProgress, now: engine.now
        ) { machine.reading.currentBytes($0) }
    }
}
