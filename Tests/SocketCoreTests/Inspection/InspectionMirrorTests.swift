import SocketTestSupport
import Testing

@testable import SocketCore

@Suite("The picture that a viewer keeps")
struct InspectionMirrorTests {
    private func socket(_ number: UInt64, received: UInt64 = 0) -> SocketSnapshot {
        var socket = SocketSnapshot(
            id: SocketID(number), role: .client, phase: .connected, target: "t", opened: .zero)
        socket.received = received
        return socket
    }

    private func tick(removing removed: [UInt64] = []) -> InspectionFrame {
        var tick = InspectionTick()
        tick.removed = removed.map { SocketID($0) }
        return .tick(tick)
    }

    private func received(_ mirror: InspectionMirror) -> [UInt64: UInt64] {
        let sockets = mirror.seen?.sockets ?? []
        return Dictionary(uniqueKeysWithValues: sockets.map { ($0.id.number, $0.received) })
    }

    @Test("shows updates one by one and whole, and leaves pictures that were taken as they are")
    func updates() throws {
        var mirror = InspectionMirror()
        mirror.take(.sockets([socket(3), socket(1)]))
        mirror.take(.sockets([socket(2)]))
        #expect(mirror.seen == nil)
        mirror.take(tick())
        #expect(mirror.seen?.sockets.map(\.id.number) == [1, 2, 3])
        var pictures: [EngineSnapshot] = []
        for round in UInt64(1)...5 {
            mirror.take(.sockets([socket(round % 3 + 1, received: round)]))
            #expect(received(mirror).values.max() == round - 1)
            mirror.take(tick())
            pictures.append(try #require(mirror.seen))
        }
        #expect(
            pictures.map { $0.sockets.map(\.received) } == [[0, 1, 0], [0, 1, 2], [3, 1, 2], [3, 4, 2], [3, 4, 5]])
    }

    @Test("keeps what did not change when sessions come and go")
    func comingAndGoing() {
        var mirror = InspectionMirror()
        for frame in [.sockets((1...4).map { socket($0, received: $0) }), tick()] { mirror.take(frame) }
        for frame in [.sockets([socket(2, received: 9)]), tick()] { mirror.take(frame) }
        for frame in [.sockets([socket(6), socket(5), socket(5, received: 5)]), tick(removing: [1, 6, 77])] {
            mirror.take(frame)
        }
        #expect(received(mirror) == [2: 9, 3: 3, 4: 4, 5: 5])
        for frame in [.sockets([socket(3, received: 8)]), tick()] { mirror.take(frame) }
        #expect(received(mirror) == [2: 9, 3: 8, 4: 4, 5: 5])
        for frame in [.reset, .sockets([socket(7)]), tick()] { mirror.take(frame) }
        #expect(received(mirror) == [7: 0])
    }

    @Test("forgets the kernel's side of what is watched no more")
    func unwatched() {
        var mirror = InspectionMirror()
        var watch = InspectionWatch()
        watch.sockets = [SocketID(1), SocketID(2)]
        mirror.watches(watch)
        var watched = [socket(1), socket(2)]
        for index in watched.indices { watched[index].kernel = KernelSnapshot() }
        for frame in [.sockets(watched), tick()] { mirror.take(frame) }
        watch.sockets = [SocketID(2)]
        mirror.watches(watch)
        for _ in 1...3 {
            mirror.take(tick())
            #expect(mirror.seen?.sockets.map { $0.kernel == nil } == [true, false])
        }
    }
}
