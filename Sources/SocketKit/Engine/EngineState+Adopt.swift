import Glibc
import SocketCore

/// Sessions on descriptors that were opened elsewhere.
extension EngineState {
    /// Listens on sockets that are already listening.
    func adopt(_ descriptors: [Int32], for handle: SocketListener, tls: TLSContext?) throws(SocketError) {
        let configuration = handle.configuration
        retire(configuration)
        try checkIdle(handle.session, operation: "adopt")
        try checkReactor("adopt")
        if let fault = configuration.fault { throw .refused("adopt", fault) }
        if descriptors.isEmpty { throw .refused("adopt", "descriptors: must not be empty") }
        for descriptor in descriptors {
            guard kernel.isStream(descriptor), kernel.isListening(descriptor) else {
                throw .refused("adopt", "descriptor \(descriptor): not a listening stream socket")
            }
            try checkUnwatched(descriptor, as: names.nextSession())
        }
        for descriptor in descriptors {
            let failure = kernel.makeNonBlocking(descriptor)
            guard failure == 0 else { throw .system(failure, operation: "fcntl", subject: "descriptor \(descriptor)") }
        }
        let target = kernel.localAddress(descriptors[0])?.description ?? "descriptor \(descriptors[0])"
        let sockets = descriptors.map { Acceptor.Listening(SocketHandle($0, kernel: kernel)) }
        let acceptor = Acceptor(
            id: nextSocketID(), engine: self, handle: handle, target: target, sockets: sockets, path: nil,
            configuration: configuration, tls: tls)
        sessions[acceptor.id] = .listener(acceptor)
        handle.sessionBegan(acceptor.id)
        let failure = acceptor.watch()
        if failure != 0 { acceptor.close(error: .system(failure, operation: "epoll_ctl", subject: target), mode: nil) }
    }
}

extension DatagramSession {
    /// Takes over a bound socket.
    func adopt(_ descriptor: Int32) throws(SocketError) {
        guard !isBound, links.isEmpty, peer == nil, !queue.isConnecting else {
            throw SocketError(
                .badConfiguration, operation: "adopt",
                detail: "the socket (\(id)) already has descriptors; close it first")
        }
        guard !engine.kernel.isStream(descriptor), let local = engine.kernel.localAddress(descriptor) else {
            throw .refused("adopt", "descriptor \(descriptor): not a datagram socket")
        }
        try engine.checkUnwatched(descriptor, as: id)
        let failure = engine.kernel.makeNonBlocking(descriptor)
        guard failure == 0 else { throw .system(failure, operation: "fcntl", subject: "descriptor \(descriptor)") }
        for option in configuration.options(for: local, multicastInterface: nil) {
            _ = engine.kernel.set(option, on: descriptor)
        }
        let link = Link(SocketHandle(descriptor, kernel: engine.kernel), family: local, index: nextLink)
        nextLink &+= 1
        (link.local, link.bound) = (local, local)
        links.append(link)
        (isBound, mayLiveOn, target) = (true, true, local.description)
        record(.bound)
    }
}
