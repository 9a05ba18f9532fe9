import Glibc
import SocketCore

/// Calls that start a session and can be rejected.
extension EngineState {
    func connect(_ handle: AsyncSocket, to endpoint: Endpoint, timeout: Duration?) throws(SocketError) {
        let configuration = handle.configuration
        retire(configuration)
        let address = try address(of: endpoint, configuration, operation: "connect")
        try checkIdle(handle.session, operation: "connect")
        try checkReactor("connect")
        if let fault = configuration.fault { throw .refused("connect", fault) }
        if let timeout, timeout < .zero {
            throw .refused("connect", "timeout \(timeout): must not be negative; nil means none")
        }
        let own = try localAddresses(configuration)
        let connection = Connection(
            id: nextSocketID(), engine: self, handle: handle,
            origin: ConnectionOrigin(
                .client, target: endpoint.description, host: endpoint.host, settings: Shared(configuration)))
        sessions[connection.id] = .stream(connection)
        handle.sessionBegan(connection.id)
        connection.connect(to: endpoint, at: address, from: own, timeout: timeout)
    }

    /// Checks where to connect or to send, in GCDAsyncSocket's order: the host first, then the families. Returns the
    /// address, or `nil` for a name, which must be resolved.
    func address(
        of endpoint: Endpoint, _ families: SocketConfiguration, operation: String
    ) throws(SocketError) -> SocketAddress? {
        if let address = try unixAddress(endpoint, operation: operation) { return address }
        guard case .host(let host, let port) = endpoint else { return nil }
        if host.isEmpty { throw .refused(operation, "host: must not be empty") }
        if port == 0 { throw .refused(operation, "\(host):0: the port must be 1 to 65535") }
        try checkFamilies(families, operation: operation)
        guard let address = endpoint.numericAddress else { return nil }
        guard families.allows(address) else {
            throw .refused(operation, "\(host): its address family is disabled")
        }
        return address
    }

    /// Returns the addresses that the local side is bound to, or `nil` if the kernel chooses.
    private func localAddresses(_ configuration: SocketConfiguration) throws(SocketError) -> [SocketAddress]? {
        guard let text = configuration.interface else { return nil }
        guard let interface = InterfaceText(text) else {
            throw .refused("connect", "interface \(text): the part after the colon must be a port, 1 to 65535")
        }
        guard let name = interface.name else {
            let port = interface.port ?? 0
            return [.v4(host: "0.0.0.0", port: port), .v6(host: "::", port: port)]
        }
        let addresses = resolver.addresses(ofInterface: name).filter(configuration.allows)
        if addresses.isEmpty { throw .refused("connect", "interface \(name): no interface has that name or address") }
        return addresses.map { $0.withPort(interface.port) }
    }

    /// Adopts a connected socket. With the role `accepted` the peer counts as the one that connected.
    func adopt(
        _ descriptor: Int32, for handle: AsyncSocket, as role: SocketRole = .client
    ) throws(SocketError) {
        try checkIdle(handle.session, operation: "adopt")
        try checkReactor("adopt")
        let configuration = handle.configuration
        retire(configuration)
        if let fault = configuration.fault { throw .refused("adopt", fault) }
        guard let peer = kernel.peerAddress(descriptor) else {
            throw SocketError(.other, operation: "adopt", detail: "descriptor \(descriptor): not a connected socket")
        }
        guard kernel.isStream(descriptor) else {
            throw SocketError(.other, operation: "adopt", detail: "descriptor \(descriptor): not a stream socket")
        }
        let id = names.nextSession()
        try checkUnwatched(descriptor, as: id)
        let failure = kernel.makeNonBlocking(descriptor)
        guard failure == 0 else { throw .system(failure, operation: "fcntl", subject: "descriptor \(descriptor)") }
        counters.opened += 1
        let origin = ConnectionOrigin(role, target: peer.description, settings: Shared(configuration))
        if role == .accepted { origin.prepare(descriptor, for: peer, in: self) }
        let connection = Connection(id: id, engine: self, handle: handle, origin: origin)
        sessions[connection.id] = .stream(connection)
        handle.sessionBegan(connection.id)
        connection.peer = peer
        connection.socket = SocketHandle(descriptor, kernel: kernel)
        connection.mayLiveOn = true
        connection.didConnect()
        connection.finishStep()
    }

    /// Throws if the reactor rejects a descriptor, mostly because another socket of this engine owns it and both would
    /// close it.
    func checkUnwatched(_ descriptor: Int32, as id: SocketID) throws(SocketError) {
        let refused = reactor.add(descriptor, [], ReactorToken(id, 0))
        if refused == 0 { return reactor.remove(descriptor) }
        if refused == EEXIST {
            throw .refused("adopt", "descriptor \(descriptor): another socket of this engine owns it")
        }
        throw .system(refused, operation: "epoll_ctl", subject: "descriptor \(descriptor)")
    }

    // MARK: Listening

    func listen(_ handle: SocketListener, on endpoint: Endpoint, tls: TLSContext?) throws(SocketError) {
        let configuration = handle.configuration
        retire(configuration)
        try checkIdle(handle.session, operation: "listen")
        try checkReactor("listen")
        if let fault = configuration.fault { throw .refused("listen", fault) }
        let addresses = try listenAddresses(endpoint, configuration)
        let sockets = try Self.withSharedPort(of: addresses) { () throws(SocketError) in
            try open(addresses, configuration)
        }
        let acceptor = Acceptor(
            id: nextSocketID(), engine: self, handle: handle, target: endpoint.description, sockets: sockets,
            path: endpoint.path, configuration: configuration, tls: tls)
        sessions[acceptor.id] = .listener(acceptor)
        let failure = acceptor.watch()
        if failure != 0 {
            acceptor.close(error: nil, mode: nil, isReleased: true)
            throw .system(failure, operation: "epoll_ctl", subject: endpoint.description)
        }
        handle.sessionBegan(acceptor.id)
    }

    /// Opens sockets that share one port. If the kernel chooses it for the first family, it may be in use for the
    /// second. `open` is then called again, up to 16 times in all.
    static func withSharedPort<R>(
        of addresses: [SocketAddress], _ open: () throws(SocketError) -> R
    ) throws(SocketError) -> R {
        for _ in 1..<16 {
            do throws(SocketError) {
                return try open()
            } catch {
                let isUnlucky = addresses.count > 1 && addresses[0].port == 0 && error.code == Int(EADDRINUSE)
                guard isUnlucky else { throw error }
            }
        }
        return try open()
    }

    private func open(
        _ addresses: [SocketAddress], _ configuration: SocketConfiguration
    ) throws(SocketError) -> [Acceptor.Listening] {
        var sockets: [Acceptor.Listening] = []
        for address in addresses {
            let port = sockets.first.flatMap { kernel.localAddress($0.socket.descriptor)?.port }
            do throws(SocketError) {
                sockets.append(try open(address.withPort(port), configuration))
            } catch {
                // On a machine without IPv6, the IPv4 socket is enough.
                let isOptional = !sockets.isEmpty && [EAFNOSUPPORT, EADDRNOTAVAIL].contains(Int32(error.code))
                if !isOptional { throw error }
            }
        }
        return sockets
    }

    private func open(
        _ address: SocketAddress, _ configuration: SocketConfiguration
    ) throws(SocketError) -> Acceptor.Listening {
        let opened = openStream(for: address)
        guard case .bytes(let descriptor) = opened else {
            guard case .failed(let errno) = opened else { preconditionFailure("socket(2) never blocks") }
            throw .system(errno, operation: "socket", subject: address)
        }
        let listening = Acceptor.Listening(SocketHandle(Int32(descriptor), kernel: kernel))
        let number = listening.socket.descriptor
        if address.family.isIP { _ = kernel.set(.reuseAddress, on: number) }
        if configuration.options.reusePort { _ = kernel.set(.reusePort, on: number) }
        if address.family == .v6 { _ = kernel.set(.onlyIPv6, on: number) }
        var failure = kernel.bind(number, to: address)
        if failure == EADDRINUSE, let path = address.path, try removeStale(path) {
            failure = kernel.bind(number, to: address)
        }
        guard failure == 0 else { throw .system(failure, operation: "bind", subject: address) }
        failure = kernel.listen(number, backlog: max(1, configuration.options.backlog))
        guard failure == 0 else { throw .system(failure, operation: "listen", subject: address) }
        return listening
    }

    /// Removes a socket file that no process listens on. Returns `false` if one does.
    func removeStale(_ path: String, isStream: Bool = true) throws(SocketError) -> Bool {
        let address = SocketAddress.unix(path: path)
        let opened = isStream ? openStream(for: address) : openDatagram(for: address)
        guard case .bytes(let descriptor) = opened else { return false }
        let probe = SocketHandle(Int32(descriptor), kernel: kernel)
        guard kernel.connect(probe.descriptor, to: address) == ECONNREFUSED else { return false }
        switch kernel.removeSocketFile(path) {
        case 0: return true
        case ENOTSOCK: throw .refused("bind", "unix:\(path): exists and is not a socket")
        case let errno: throw .system(errno, operation: "unlink", subject: address)
        }
    }

    /// Returns the local addresses that an endpoint stands for.
    func listenAddresses(
        _ endpoint: Endpoint, _ configuration: SocketConfiguration, operation: String = "listen"
    ) throws(SocketError) -> [SocketAddress] {
        if let address = try unixAddress(endpoint, operation: operation) { return [address] }
        guard case .host(let host, let port) = endpoint else { return [] }
        try checkFamilies(configuration, operation: operation)
        let addresses: [SocketAddress]
        switch host {
        case "", "*": addresses = [.v4(host: "0.0.0.0", port: port), .v6(host: "::", port: port)]
        case "localhost", "loopback":
            addresses = [.v4(host: "127.0.0.1", port: port), .v6(host: "::1", port: port)]
        default:
            let interface = resolver.addresses(ofInterface: host).map { $0.withPort(port) }
            addresses = endpoint.numericAddress.map { [$0] } ?? interface
            if addresses.isEmpty {
                throw .refused(
                    operation, "\(host): must be a numeric address, an interface's name, localhost, or empty for all")
            }
        }
        let allowed = addresses.filter(configuration.allows)
        if allowed.isEmpty { throw .refused(operation, "\(host): its address family is disabled") }
        return allowed
    }

    // MARK: Checks

    func checkIdle(_ session: SocketID?, operation: String) throws(SocketError) {
        guard let session else { return }
        let what = acceptor(session) == nil ? "has a connection" : "is listening"
        throw SocketError(
            .badConfiguration, operation: operation, detail: "the socket already \(what) (\(session)); close it first")
    }

    func checkFamilies(_ configuration: SocketConfiguration, operation: String) throws(SocketError) {
        if configuration.isIPv4Enabled || configuration.isIPv6Enabled { return }
        throw SocketError(.badConfiguration, operation: operation, detail: "both IPv4 and IPv6 are disabled")
    }

    /// Returns the Unix-domain address that an endpoint names, or `nil` for a host.
    func unixAddress(_ endpoint: Endpoint, operation: String) throws(SocketError) -> SocketAddress? {
        if let fault = endpoint.fault { throw .refused(operation, fault) }
        return endpoint.address
    }
}

extension SocketConfiguration {
    /// Whether the family of `address` is enabled.
    func allows(_ address: SocketAddress) -> Bool {
        !address.family.isIP || (address.family == .v6 ? isIPv6Enabled : isIPv4Enabled)
    }
}

extension SocketAddress {
    /// Returns the same host with another port, for the second socket of a pair. Returns it unchanged if `port` is
    /// `nil`.
    func withPort(_ port: UInt16?) -> SocketAddress { port.map { with(port: $0) } ?? self }
}
