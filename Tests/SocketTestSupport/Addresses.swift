import Glibc
import SocketKit

/// A port that is taken but not listened on: a connect to it is refused and a bind to it fails, as long as this is held.
package final class HeldPort {
    private let descriptor: Int32
    /// The address that is held.
    package let address: SocketAddress
    /// Its port.
    package var port: UInt16 { address.port ?? 0 }

    /// Takes this address; for port 0, with a port that is free.
    package init(_ address: SocketAddress = .v4(host: "127.0.0.1", port: 0)) throws {
        (descriptor, self.address) = try BlackHole.bound(address)
    }

    deinit {
        close(descriptor)
    }
}

/// An address that neither takes a connection nor refuses it: a listener that nobody serves and whose backlog is full.
package final class BlackHole {
    private let listener: Int32
    private let filler: Int32
    /// The address.
    package let address: SocketAddress
    /// Its port.
    package var port: UInt16 { address.port ?? 0 }

    /// Opens one on 127.0.0.1.
    package init() throws {
        (listener, address) = try Self.bound(.v4(host: "127.0.0.1", port: 0))
        filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let kernel = LinuxKernel()
        guard kernel.listen(listener, backlog: 0) == 0, kernel.connect(filler, to: address) == 0 else {
            throw PeerFailure(errno: errno)
        }
    }

    deinit {
        close(filler)
        close(listener)
    }

    /// Takes the connection that fills the backlog, so that there is room for another.
    package func open() {
        close(accept(listener, nil, nil))
    }

    fileprivate static func bound(_ address: SocketAddress) throws -> (Int32, SocketAddress) {
        let family = address.family == .v6 ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let kernel = LinuxKernel()
        let failure = kernel.bind(descriptor, to: address)
        guard failure == 0, let bound = kernel.localAddress(descriptor) else {
            close(descriptor)
            throw PeerFailure(errno: failure)
        }
        return (descriptor, bound)
    }
}

/// A resolver that keeps its questions until a test answers them.
package final class HeldResolver: Resolver {
    package typealias Answer = @Sendable (Result<[SocketAddress], SocketError>) -> Void

    private let questions = Lock<[Answer]>([])

    package init() {}

    /// Answers every question so far.
    package func answer(_ result: Result<[SocketAddress], SocketError>) {
        let answers = questions.withLock { questions in
            defer { questions = [] }
            return questions
        }
        answers.forEach { $0(result) }
    }

    package func resolve(host: String, port: UInt16, answer: @escaping Answer) {
        questions.withLock { $0.append(answer) }
    }
}
