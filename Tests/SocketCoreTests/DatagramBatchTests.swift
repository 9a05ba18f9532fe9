import SocketCore
import Testing

@Suite struct DatagramBatchTests {
    private let sources: [SocketAddress] = (0..<4).map { .v4(host: "127.0.0.\($0)", port: 9) }

    /// Four datagrams of different lengths from different sources.
    private func batch(lengths: [Int]) -> DatagramBatch {
        var payload: [UInt8] = []
        let entries = lengths.enumerated().map { index, length in
            defer { payload += [UInt8](repeating: UInt8(index), count: length) }
            return DatagramBatch.Entry(
                offset: UInt32(payload.count), count: UInt32(length), length: UInt32(length), source: UInt16(index),
                arrival: UInt16(index))
        }
        let arrivals = lengths.indices.map {
            DatagramBatch.Arrival(destination: sources[$0], interface: UInt32($0))
        }
        var batch = DatagramBatch(entries: entries, payload: payload, sources: sources, arrivals: arrivals)
        batch.contexts = lengths.indices.map { $0 }
        return batch
    }

    @Test(
        "what is kept is the same, whether it is copied or shared",
        arguments: [[1], [0, 3], [0, 1, 2, 3], [2, 3], []])
    func sameContent(kept: [Int]) {
        let whole = batch(lengths: [1, 60_000, 0, 3])
        let part = whole.keeping(kept.contains)
        #expect(part.count == kept.count)
        for (index, original) in kept.enumerated() {
            #expect(part[index].bytes == whole[original].bytes)
            #expect(part[index].source == whole[original].source)
            #expect(part[index].destination == whole[original].destination)
            #expect(part[index].interface == whole[original].interface)
            #expect(part[index].length == whole[original].length)
            #expect(part[index].context as? Int == original)
        }
    }

    @Test func whatIsDroppedIsNotKeptInMemory() {
        let whole = batch(lengths: [1, 60_000, 0, 3])
        #expect(whole.weight > 60_000)
        #expect(whole.keeping { $0 != 1 }.weight < 300)
        #expect(whole.keeping { $0 == 1 }.weight < 61_000)
    }
}
