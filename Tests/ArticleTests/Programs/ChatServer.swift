import SocketKit

struct ChatServer {
    /// chat-server [HOST:PORT]
    static func main() async throws {
        let listener = SocketListener(engine: SocketEngine())
        let connections = listener.connections
        try listener.listen(on: Endpoint.parse(CommandLine.arguments.dropFirst().first ?? "localhost:7000"))
        try await serve(connections)
    }

    static func serve(_ connections: SocketConnections) async throws {
        let room = Room()
        try await withThrowingDiscardingTaskGroup { group in
            for try await socket in connections {
                group.addTask {
                    do { try await room.serve(socket) } catch { print(error) }
                }
            }
        }
    }
}

actor Room {
    private var members: [AsyncSocket] = []

    /// Serves one member until it leaves. Its first line is its name.
    func serve(_ socket: AsyncSocket) async throws {
        var name: String?
        defer {
            members.removeAll { $0 === socket }
            if let name { say("\(name) left", from: socket) }
        }
        send("Your name?", to: socket)
        for try await line in socket.lines(delimiter: [10], limit: 1_024) {
            let text = String(decoding: line.filter { $0 >= 32 }, as: UTF8.self)
            if let name {
                say("\(name): \(text)", from: socket)
            } else {
                name = text
                send("\(members.count) others are here", to: socket)
                members.append(socket)
                say("\(text) joined", from: socket)
            }
        }
    }

    private func say(_ text: String, from speaker: AsyncSocket) {
        for member in members where member !== speaker { send(text, to: member) }
    }

    private func send(_ text: String, to member: AsyncSocket) {
        if member.pendingWriteBytes < 65_536 {
            member.write(Array((text + "\n").utf8), timeout: .seconds(30))
        } else {
            member.disconnect(.reset)
        }
    }
}
