import SocketCore
import SocketRecords
import Testing

@testable import InspectorCore

@Suite("The catalogue of events")
struct EventCatalogueTests {
    private static let numbers = [-WireLimit.number, -1, 0, 1, 2, 5, 7_000, WireLimit.number]

    @Test("labels fit their column, and each kind has a word of its own in JSON")
    func names() {
        #expect(EventCatalogue[.resolving].label == "resolving" && EventCatalogue[.closed].label == "closed")
        for kind in SocketEvent.Kind.allCases {
            let label = EventCatalogue[kind].label
            #expect(!label.isEmpty && TextWidth.of(label) <= 14, "\(label)")
        }
        #expect(
            Set(SocketEvent.Kind.allCases.map { SocketJSON.word($0) }).count == SocketEvent.Kind.allCases.count)
    }

    @Test("a read that the peer's FIN ended did not fail, unless bytes were missing or the connection was reset")
    func endOfStream() {
        var socket = World.busy
        socket.activity.peerClosed = World.at(14, 0, 0)
        func label(_ time: MonotonicTime, done: Int = 0) -> String {
            let event = SocketEvent(sequence: 0, time: time, socket: socket.id, kind: .readFailed, tag: 1, first: done)
            return EventWords.label(event, of: socket).text + ", " + EventWords.detail(event, of: socket, answer: "A")
        }
        #expect(label(World.at(14, 0, 0)) == "read ended, peer closed its side (FIN): no more data")
        #expect(label(World.at(13, 0, 0)) == "read failed, after 0 B")
        #expect(label(World.at(14, 0, 0), done: 3) == "read failed, after 3 B")
        let reset = SocketError(.system(errno: 104), operation: "read", detail: "reset")
        socket.closed = CloseRecord(time: World.at(14, 0, 1), error: reset)
        #expect(label(World.at(14, 0, 0)) == "read failed, after 0 B")
    }

    @Test("an event has a sentence in Traffic whatever its numbers are", arguments: SocketEvent.Kind.allCases)
    func sentences(kind: SocketEvent.Kind) {
        let row = EventCatalogue[kind]
        for first in Self.numbers {
            for second in Self.numbers {
                let event = SocketEvent(
                    sequence: 0, time: .zero, socket: SocketID(1), kind: kind, first: first, second: second)
                for socket in [nil, World.listener, World.busy] {
                    let words = EventWords.sentence(event, of: socket, isAsking: true, answer: "A")
                    #expect(words.isEmpty == (row.sentence == nil), "\(first) \(second)")
                }
            }
        }
    }

    @Test("the members in JSON depend on the kind alone", arguments: SocketEvent.Kind.allCases)
    func members(kind: SocketEvent.Kind) {
        let row = EventCatalogue[kind]
        for meaning in [row.first, row.second] {
            let names = Set(Self.numbers.map { meaning.members($0, of: nil).map(\.name) })
            #expect(names.count == 1)
        }
        let all = row.first.members(0, of: nil) + row.second.members(0, of: nil)
        #expect(Set(all.map(\.name)).count == all.count)
    }
}
