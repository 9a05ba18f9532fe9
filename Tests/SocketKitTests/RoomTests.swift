import SocketCore
import SocketKit
import SocketTestSupport
import Testing

/// Waiting for room in the write queue.
@Suite(.timeLimit(.minutes(10))) struct RoomTests {
    private static let size = 2_000_000

    private func fullPair() throws -> ConnectedPair {
        var configuration = SocketConfiguration()
        configuration.writeWatermarks = .init(low: 1_000, high: 100_000)
        let pair = try ConnectedPair(.unix, configuration: configuration)
        pair.socket.write([UInt8](repeating: 1, count: Self.size))
        return pair
    }

    @Test func whoWaitsGoesOnOnceThePeerHasTakenEnough() async throws {
        let pair = try fullPair()
        let socket = pair.socket
        let waiting = Task { try await socket.waitUntilWritable() }
        #expect(await eventually { pair.socket.waitersForRoom == 1 })
        #expect(pair.socket.pendingWriteBytes > 1_000)
        _ = try pair.peerReceives(Self.size)
        try await waiting.value
        #expect(pair.socket.pendingWriteBytes <= 1_000)
    }

    @Test func whereThereIsRoomNobodyWaits() async throws {
        var configuration = SocketConfiguration()
        configuration.writeWatermarks = .init(low: 1_000, high: 100_000)
        let pair = try ConnectedPair(configuration: configuration)
        pair.socket.write([1, 2, 3])
        try await pair.socket.waitUntilWritable()
    }

    @Test func withoutWatermarksWaitingIsRefused() async throws {
        let pair = try ConnectedPair()
        let error = await #expect(throws: SocketError.self) { try await pair.socket.waitUntilWritable() }
        #expect(error?.reason == .badConfiguration)
        #expect(error?.detail.contains("writeWatermarks") == true)
    }

    @Test func whoWaitsHearsOfTheEnd() async throws {
        let pair = try fullPair()
        let socket = pair.socket
        let waiting = Task { try await socket.waitUntilWritable() }
        #expect(await eventually { pair.socket.waitersForRoom == 1 })
        pair.closePeer()
        let error = await #expect(throws: SocketError.self) { try await waiting.value }
        #expect(error != nil && error?.reason != .cancelled)
        let later = await #expect(throws: SocketError.self) { try await pair.socket.waitUntilWritable() }
        #expect(later?.reason == .notConnected)
    }

    @Test func whoWaitsGoesOnWhenTheMarksAreTakenAway() async throws {
        let pair = try fullPair()
        let socket = pair.socket
        let waiting = Task { try await socket.waitUntilWritable() }
        #expect(await eventually { pair.socket.waitersForRoom == 1 })
        pair.engine.post(.setWatermarks(try #require(socket.session), nil))
        try await waiting.value
        #expect(pair.picture?.isAboveHighMark == false)
    }

    @Test func aCancelledTaskLeavesNobodyWaiting() async throws {
        let pair = try fullPair()
        let socket = pair.socket
        let waiting = Task { try await socket.waitUntilWritable() }
        #expect(await eventually { pair.socket.waitersForRoom == 1 })
        waiting.cancel()
        let error = await #expect(throws: SocketError.self) { try await waiting.value }
        #expect(error?.reason == .cancelled)
        #expect(pair.socket.waitersForRoom == 0)
    }
}
