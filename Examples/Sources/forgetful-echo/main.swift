import Dispatch
import SocketKit

/// Echoes lines; `socktui attach` looks on. Whoever sends the line `forget` is never read from again.
final class Echo: SocketListenerDelegate {
    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        Task {
            for try await line in socket.lines() {
                try await socket.send(line)
                if line.starts(with: "forget".utf8) { try await Task.sleep(for: .seconds(86_400)) }
            }
        }
    }
}

let engine = SocketEngine()
try SocketInspection.serve(engine)
let echo = Echo()
let listener = SocketListener(engine: engine, delegate: echo)
try listener.listen(on: Endpoint.parse(CommandLine.arguments.dropFirst().first ?? "127.0.0.1:7000"))
dispatchMain()
