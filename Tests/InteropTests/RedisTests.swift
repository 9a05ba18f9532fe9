import SocketKit
import SocketTestSupport
import Testing

@Suite(.enabled(if: Peer.isUsable("redis-server"), "redis-server is missing"), .timeLimit(.minutes(10)))
struct RedisTests {
    private static let line = ReadRequest.Kind.delimiter([13, 10], limit: 1_024)

    @Test func aPingIsAnsweredByOneLine() throws {
        let redis = try Peer.redis()
        let end = try OurEnd.connected(to: .tcp(host: "127.0.0.1", port: redis.port))
        end.socket.read(ReadRequest(Self.line, tag: 1))
        end.socket.write(Array("PING\r\n".utf8), tag: 2)
        #expect(eventually { end.recorder.calls.count == 3 })
        #expect(end.recorder.calls.contains(.read(Array("+PONG\r\n".utf8), tag: 1)))
        #expect(end.recorder.calls.contains(.wrote(tag: 2)))
    }

    @Test func aThousandPipelinedCommandsAreAnsweredInTheirOrder() throws {
        let redis = try Peer.redis()
        let end = try OurEnd.connected(to: .tcp(host: "localhost", port: redis.port))
        for number in 1...1_000 {
            end.socket.write(Array("INCR counter\r\n".utf8), tag: number)
            end.socket.read(ReadRequest(Self.line, timeout: .seconds(30), tag: number))
        }
        let answers = (1...1_000).map { Recorder.Call.read(Array(":\($0)\r\n".utf8), tag: $0) }
        #expect(
            eventually { end.recorder.calls.filter { if case .read = $0 { true } else { false } } == answers })
        #expect(end.recorder.failures.isEmpty)
    }

    @Test func anAnswerOfAMegabyteComesWhole() throws {
        let redis = try Peer.redis()
        let end = try OurEnd.connected(to: .tcp(host: "127.0.0.1", port: redis.port))
        let value = (0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        end.socket.write(Array("*3\r\n$3\r\nSET\r\n$1\r\nv\r\n$\(value.count)\r\n".utf8) + value + [13, 10])
        end.socket.write(Array("GET v\r\n".utf8))
        end.socket.read(ReadRequest(Self.line, tag: 1))
        end.socket.read(ReadRequest(Self.line, tag: 2))
        end.socket.read(ReadRequest(.length(value.count), tag: 3))
        end.socket.read(ReadRequest(.length(2), tag: 4))
        let answer = Array("+OK\r\n$\(value.count)\r\n".utf8) + value + [13, 10]
        #expect(eventually { end.recorder.received.count == answer.count })
        #expect(end.recorder.received == answer)
    }

    @Test func aServerThatIsAskedToQuitEndsTheConnectionByFIN() throws {
        let redis = try Peer.redis()
        let end = try OurEnd.connected(to: .tcp(host: "127.0.0.1", port: redis.port))
        end.socket.read(ReadRequest(Self.line, tag: 1))
        end.socket.write(Array("QUIT\r\n".utf8))
        #expect(eventually { end.recorder.isDisconnected })
        #expect(end.recorder.received == Array("+OK\r\n".utf8))
        #expect(end.recorder.lastError?.reason == .closedByPeer)
    }
}
