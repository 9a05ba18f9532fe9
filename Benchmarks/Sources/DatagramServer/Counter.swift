import Dispatch
import SocketKit
import Synchronization

/// How datagrams are taken.
enum Way: String {
    /// A batch at a time, on the engine's queue.
    case batch
    /// One by one, on the engine's queue.
    case each
    /// A batch at a time, on a queue of its own.
    case queue

    var queue: DispatchQueue? { self == .queue ? DispatchQueue(label: "receiver") : nil }
}

/// Looks at every datagram and counts it.
final class Counter: DatagramSocketDelegate {
    private let way: Way
    private let datagrams = Atomic(0)
    private let sum = Atomic(0)

    init(_ way: Way) {
        self.way = way
    }

    var count: Int { datagrams.load(ordering: .relaxed) }
    var bytes: Int { sum.load(ordering: .relaxed) }

    func datagramSocket(_ socket: DatagramSocket, didReceiveBatch batch: DatagramBatch) {
        guard way != .each else {
            for datagram in batch { self.datagramSocket(socket, didReceive: datagram) }
            return
        }
        var bytes = 0
        for index in batch.indices { batch.withBytes(at: index) { bytes += $0.count + Int($0.first ?? 0) } }
        note(batch.count, bytes)
    }

    func datagramSocket(_ socket: DatagramSocket, didReceive datagram: Datagram) {
        note(1, datagram.bytes.count + Int(datagram.bytes.first ?? 0))
    }

    private func note(_ count: Int, _ bytes: Int) {
        datagrams.wrappingAdd(count, ordering: .relaxed)
        sum.wrappingAdd(bytes, ordering: .relaxed)
    }
}
