import Glibc
import SocketKit

/// The engine's kernel, played by `Network`.
package final class SimulatedKernel: Kernel {
    let network: Lock<Network>
    let mutation: Mutation

    init(chance: Chance, findings: Findings, mutation: Mutation) {
        network = Lock(Network(chance: chance, findings: findings))
        self.mutation = mutation
    }

    // MARK: Making descriptors

    package func openStream(for address: SocketAddress) -> IOResult {
        network.withLock { network in
            network.events += 1
            if network.fails(oneIn: 40) { return .failed(errno: network.chance.pick([EMFILE, ENFILE, ENOBUFS])) }
            return .bytes(Int(network.open()))
        }
    }

    package func bind(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        network.withLock { network in
            _ = network.role(descriptor, in: "bind")
            if let path = address.path, network.socketFiles.contains(path) { return EADDRINUSE }
            network[descriptor]?.bound = address
            return 0
        }
    }

    package func listen(_ descriptor: Int32, backlog: Int32) -> Int32 {
        network.withLock { network in
            _ = network.role(descriptor, in: "listen")
            let port = network[descriptor]?.bound?.port ?? 0
            if network.listener(on: port) != nil { return EADDRINUSE }
            network[descriptor]?.role = .listening(port: port, backlog: Int(backlog), waiting: [])
            return 0
        }
    }

    package func connect(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        network.withLock { network in
            let role = network.role(descriptor, in: "connect")
            network.progress += 1
            if case .mailbox(var mailbox) = role {
                mailbox.peer = address
                network[descriptor]?.role = .mailbox(mailbox)
                return 0
            }
            if !address.family.isIP { return ECONNREFUSED }
            network[descriptor]?.role = .connecting(to: address)
            if network.fails(oneIn: 30) {
                network[descriptor]?.role = .fresh
                return network.chance.pick([ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL, EAGAIN])
            }
            guard network.chance.oneIn(12) else { return EINPROGRESS }
            network.answer(descriptor)
            switch network[descriptor]?.role {
            case .stream: return 0
            case .refused(let errno):
                network[descriptor]?.role = .fresh
                return errno
            case .fresh, .listening, .connecting, .mailbox, nil: return EINPROGRESS
            }
        }
    }

    package func pendingError(_ descriptor: Int32) -> Int32 {
        network.withLock { network in
            let role = network.role(descriptor, in: "SO_ERROR")
            network.progress += 1
            switch role {
            case .refused(let errno):
                network[descriptor]?.role = .fresh
                return errno
            case .stream(let link, let end): return network.links[link].takeError(end)
            case .mailbox(var mailbox):
                let error = mailbox.error
                mailbox.error = 0
                network[descriptor]?.role = .mailbox(mailbox)
                return error
            case .fresh, .listening, .connecting: return 0
            }
        }
    }

    package func accept(_ listener: Int32) -> AcceptResult {
        network.withLock { network in
            let role = network.role(listener, in: "accept")
            if network.fails(oneIn: 40) {
                return .failed(errno: network.chance.pick([EMFILE, ENFILE, ECONNABORTED, ENOBUFS, EPROTO]))
            }
            guard case .listening(let port, let backlog, var waiting) = role, !waiting.isEmpty else {
                return .wouldBlock
            }
            let link = waiting.removeFirst()
            network[listener]?.role = .listening(port: port, backlog: backlog, waiting: waiting)
            network.accepted[port, default: []].append(network.address(of: 0, link).port ?? 0)
            if port == StreamTasks.port, mutation.strikes(.losesAConnection) {
                network.links[link].close(1, resets: false)
                return .wouldBlock
            }
            let descriptor = network.open()
            network[descriptor]?.role = .stream(link: link, end: 1)
            network.progress += 1
            return .accepted(descriptor, peer: network.address(of: 0, link))
        }
    }

    package func close(_ descriptor: Int32) {
        network.withLock { network in
            if case .stream = network[descriptor]?.role, mutation.strikes(.leaksADescriptor) {
                network[descriptor]?.watch = nil
                return
            }
            network.close(descriptor)
        }
    }

    // MARK: Bytes

    package func receive(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, peek: Bool
    ) -> IOResult {
        network.withLock { network in
            guard case .stream(let link, let end) = network.role(descriptor, in: "receive") else {
                return .failed(errno: ENOTCONN)
            }
            if network.fails(oneIn: 400) { return .failed(errno: network.chance.pick([ETIMEDOUT, ENOBUFS, ENOMEM])) }
            // Readiness may turn out to be false, but never that of a connection that is over.
            if !network.links[link].isOver(for: end), network.fails(oneIn: 60) { return .wouldBlock }
            return network.receive(link, end, into: buffer, peek: peek, mutation)
        }
    }

    package func send(_ descriptor: Int32, _ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> IOResult {
        network.withLock { network in
            guard case .stream(let link, let end) = network.role(descriptor, in: "send") else {
                return .failed(errno: ENOTCONN)
            }
            if network.fails(oneIn: 400) { return .failed(errno: network.chance.pick([ENOBUFS, ENOMEM, ENETDOWN])) }
            if !network.links[link].isOver(for: end), network.fails(oneIn: 60) { return .wouldBlock }
            return network.send(link, end, buffers)
        }
    }

    package func shutdownWrite(_ descriptor: Int32) -> Int32 {
        network.withLock { network in
            guard case .stream(let link, let end) = network.role(descriptor, in: "shutdown") else { return ENOTCONN }
            network.progress += 1
            if network.links[link].ends[end].isReset { return ENOTCONN }
            network.links[link].ends[end].isWriteShut = true
            network.links[link].directions[end].end()
            return 0
        }
    }

    // MARK: Facts and options

    package func set(_ option: SocketOption, on descriptor: Int32) -> Int32 {
        network.withLock { network in
            _ = network.role(descriptor, in: "setsockopt")
            if option == .resetOnClose { network[descriptor]?.resetsOnClose = true }
            return network.fails(oneIn: 100) ? ENOBUFS : 0
        }
    }

    package func makeNonBlocking(_ descriptor: Int32) -> Int32 { 0 }

    package func localAddress(_ descriptor: Int32) -> SocketAddress? {
        network.withLock { network in
            switch network.role(descriptor, in: "getsockname") {
            case .stream(let link, let end): network.address(of: end, link)
            case .listening(let port, _, _): .v4(host: Network.host, port: port)
            case .mailbox: network.address(ofMailbox: descriptor)
            case .fresh, .connecting, .refused: nil
            }
        }
    }

    /// As on Linux, nil also where RST arrived or both sides sent FIN.
    package func peerAddress(_ descriptor: Int32) -> SocketAddress? {
        network.withLock { network in
            guard case .stream(let link, let end) = network.role(descriptor, in: "getpeername"),
                !network.links[link].isGone(for: end)
            else { return nil }
            return network.address(of: 1 - end, link)
        }
    }

    package func isStream(_ descriptor: Int32) -> Bool {
        network.withLock { network in
            if case .mailbox = network.role(descriptor, in: "SO_TYPE") { false } else { true }
        }
    }

    package func describe(_ descriptor: Int32, isTCP: Bool) -> KernelSnapshot {
        network.withLock { network in
            var answer = KernelSnapshot()
            if case .stream(let link, let end) = network.role(descriptor, in: "TCP_INFO") {
                answer.receiveQueue = network.links[link].directions[1 - end].unread
            }
            return answer
        }
    }

    package func removeSocketFile(_ path: String) -> Int32 {
        network.withLock { network in
            network.events += 1
            return network.socketFiles.remove(path) == nil ? ENOENT : 0
        }
    }
}
