import Glibc
import SocketKit

/// Two sockets of one engine, joined by TCP over loopback through a line that a test controls.
package final class TLSPair {
    package let engine: SocketEngine
    package let client: AsyncSocket
    package let server: AsyncSocket
    package let clientSide: Recorder
    package let serverSide: Recorder
    /// What passes from the client to the server, and back.
    package let up: Line
    package let down: Line

    /// Joins two sockets that are in clear.
    package init(
        engine: SocketEngine = SocketEngine(), clientSide: Recorder = Recorder(), serverSide: Recorder = Recorder(),
        configuration: SocketConfiguration = SocketConfiguration()
    ) throws {
        self.engine = engine
        self.clientSide = clientSide
        self.serverSide = serverSide
        client = AsyncSocket(engine: engine, delegate: clientSide, configuration: configuration)
        server = AsyncSocket(engine: engine, delegate: serverSide, configuration: configuration)
        let (near, nearEnd) = try ConnectedPair.tcpPair()
        let (far, farEnd) = try ConnectedPair.tcpPair()
        let ends = Line.Ends([nearEnd, farEnd])
        up = Line(from: nearEnd, to: farEnd, ends)
        down = Line(from: farEnd, to: nearEnd, ends)
        try client.adopt(descriptor: near)
        try server.adopt(descriptor: far)
    }

    deinit {
        up.cut()
        down.cut()
    }

    /// Asks for TLS on both sides.
    package func startTLS(
        client clientSettings: TLSSettings = .testClient(), server serverSettings: TLSSettings = .testServer()
    ) throws {
        try server.startTLS(serverSettings)
        try client.startTLS(clientSettings)
    }

    /// Whether both sides are secure, soon.
    package var isSecured: Bool {
        eventually { clientSide.calls.contains(.secured) && serverSide.calls.contains(.secured) }
    }
}

/// One direction of a line: a thread that moves bytes from one descriptor to another, and keeps a copy.
package final class Line: Sendable {
    /// How bytes pass.
    package struct Rule: Sendable {
        /// Bytes that go on at once; each piece leaves as a segment of its own.
        package var piece = 65_536
        /// Bytes that pass in all; what comes then stays here.
        package var most = Int.max
        /// Nothing passes before so many bytes are here.
        package var least = 1
        /// What lies here is sent on and the rest of the line is cut.
        package var isCut = false
    }

    /// The descriptors of both directions; closed when both have gone.
    final class Ends: Sendable {
        let descriptors: [Int32]
        init(_ descriptors: [Int32]) {
            self.descriptors = descriptors
        }
        deinit {
            for descriptor in descriptors { close(descriptor) }
        }
    }

    private struct State {
        var rule = Rule()
        var copy: [UInt8] = []
        var passed = 0
    }

    private let state = Lock(State())
    private let ends: Ends

    init(from source: Int32, to target: Int32, _ ends: Ends) {
        self.ends = ends
        var on: Int32 = 1
        setsockopt(target, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Run(self, source, target)).toOpaque()
        let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
            if let context { Unmanaged<Run>.fromOpaque(context).takeRetainedValue().run() }
            return nil
        }
        pthread_create(&thread, nil, main, context)
        pthread_detach(thread)
    }

    /// All bytes that came in at this line's source.
    package var copy: [UInt8] { state.withLock { $0.copy } }

    /// How bytes pass from now on.
    package func set(_ change: @Sendable (inout Rule) -> Void) {
        state.withLock { change(&$0.rule) }
    }

    /// Ends the line: FIN to the target behind what may pass, and nothing more is taken.
    package func cut() {
        state.withLock { $0.rule.isCut = true }
    }

    private final class Run {
        let line: Line
        let source: Int32
        let target: Int32
        var waiting: [UInt8] = []

        init(_ line: Line, _ source: Int32, _ target: Int32) {
            self.line = line
            self.source = source
            self.target = target
        }

        func run() {
            var hasEnded = false
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let isFull = waiting.count >= buffer.count
                var poll = pollfd(fd: hasEnded || isFull ? -1 : source, events: Int16(POLLIN), revents: 0)
                Glibc.poll(&poll, 1, 2)
                if poll.revents != 0 {
                    let count = recv(source, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                    if count > 0 {
                        waiting += buffer[..<count]
                        let new = Array(buffer[..<count])
                        line.state.withLock { $0.copy += new }
                    } else if count == 0 || errno != EAGAIN {
                        hasEnded = true
                    }
                }
                let (rule, passed) = line.state.withLock { ($0.rule, $0.passed) }
                guard pass(rule, passed) else { return }
                if rule.isCut || hasEnded && waiting.isEmpty {
                    shutdown(target, Int32(SHUT_WR))
                    return
                }
            }
        }

        private func pass(_ rule: Rule, _ passed: Int) -> Bool {
            var passed = passed
            guard waiting.count >= rule.least || passed > 0 || rule.isCut else { return true }
            while !waiting.isEmpty, passed < rule.most {
                let piece = min(rule.piece, waiting.count, rule.most - passed)
                let sent = waiting.withUnsafeBytes {
                    send(target, $0.baseAddress, piece, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                }
                guard sent > 0 else { return sent < 0 && errno == EAGAIN }
                waiting.removeFirst(sent)
                passed += sent
                let total = passed
                line.state.withLock { $0.passed = total }
            }
            return true
        }
    }
}
