import Glibc
import SocketCore

/// Descriptors, binding, connecting, groups.
extension DatagramSession {
    // MARK: Descriptors

    /// Returns the descriptor that sends to `address`. Opens one if that is allowed.
    func link(for address: SocketAddress) throws(SocketError) -> Link {
        if let link = link(like: address) { return link }
        guard configuration.allows(address) else {
            throw .refused("send", "\(address): its address family is disabled")
        }
        if isBound || peer != nil || links.contains(where: { $0.family.family.isIP != address.family.isIP }) {
            let own = links.compactMap(\.local).map(\.description).joined(separator: " and ")
            throw .refused("send", "\(address): wrong address family; the socket is bound to \(own)")
        }
        let link = try open(for: address)
        if address.family.row.namesSenders { _ = engine.kernel.bind(link.socket.descriptor, to: .unnamed) }
        link.local = engine.kernel.localAddress(link.socket.descriptor)
        return link
    }

    /// Returns the open descriptor of that family, or `nil` if there is none.
    func link(like address: SocketAddress) -> Link? {
        links.first { $0.family.isSameFamily(as: address) }
    }

    /// Opens a descriptor for the family of `address`, and sets its options. User code that prepares it may have sent,
    /// cancelled or closed by the time this returns.
    private func open(for address: SocketAddress) throws(SocketError) -> Link {
        let opened = engine.openDatagram(for: address)
        guard case .bytes(let number) = opened else {
            guard case .failed(let errno) = opened else { preconditionFailure("socket(2) never blocks") }
            throw .system(errno, operation: "socket", subject: address)
        }
        let socket = SocketHandle(Int32(number), kernel: engine.kernel)
        let index = configuration.multicastInterface.flatMap { engine.resolver.index(ofInterface: $0) }
        for option in configuration.options(for: address, multicastInterface: index) {
            _ = engine.kernel.set(option, on: socket.descriptor)
        }
        if let prepareDescriptor = configuration.prepareDescriptor {
            isPreparing = true
            engine.runUserCode { prepareDescriptor(socket.descriptor) }
            isPreparing = false
            guard !isClosed else {
                throw SocketError(.disconnected, operation: "socket", detail: "the socket was closed in the meantime")
            }
        }
        // A session may open any number of descriptors, but few are open at once.
        while links.contains(where: { $0.index == nextLink }) { nextLink &+= 1 }
        let link = Link(socket, family: address, index: nextLink)
        nextLink &+= 1
        links.append(link)
        return link
    }

    // MARK: Binding

    /// Binds to every address of the endpoint. If this fails, no descriptor is left open.
    func bind(to endpoint: Endpoint) throws(SocketError) {
        try checkUnbound()
        let addresses = try engine.listenAddresses(endpoint, configuration.families, operation: "bind")
        // Queued datagrams may have waited for a descriptor that is gone now.
        defer { askForFlush() }
        do throws(SocketError) {
            try EngineState.withSharedPort(of: addresses) { () throws(SocketError) in try bind(to: addresses) }
        } catch {
            dropLinks()
            throw error
        }
        isBound = true
        path = endpoint.path ?? path
        record(.bound)
    }

    /// Throws if called by `prepareDescriptor`, which must not change descriptors.
    private func checkUnprepared(_ operation: String) throws(SocketError) {
        guard isPreparing else { return }
        throw SocketError(
            .badConfiguration, operation: operation, detail: "called by prepareDescriptor, before a descriptor is ready"
        )
    }

    private func checkUnbound() throws(SocketError) {
        try checkUnprepared("bind")
        let state: String
        if isBound {
            state = "is already bound"
        } else if peer != nil || queue.isConnecting {
            state = "is connected or about to be"
        } else if counters.sent > 0 {
            state = "has already sent, which bound it"
        } else {
            return
        }
        throw SocketError(
            .badConfiguration, operation: "bind", detail: "the socket \(state) (\(id)); close it first")
    }

    private func bind(to addresses: [SocketAddress]) throws(SocketError) {
        // Descriptors that were opened only for their options have no address of their own yet.
        dropLinks()
        var port: UInt16?
        for address in addresses {
            let address = address.withPort(port)
            let link: Link
            do {
                link = try open(for: address)
                try bind(link, to: address)
            } catch {
                // A machine without IPv6 can still bind its IPv4 address.
                let isOptional = port != nil && [EAFNOSUPPORT, EADDRNOTAVAIL].contains(Int32(error.code))
                guard isOptional else { throw error }
                dropLinks { $0.family == address }
                continue
            }
            link.local = engine.kernel.localAddress(link.socket.descriptor)
            link.bound = link.local
            port = port ?? link.local?.port
        }
    }

    private func bind(_ link: Link, to address: SocketAddress) throws(SocketError) {
        let number = link.socket.descriptor
        // Several programs may listen to the same group.
        if address.isGroup { _ = engine.kernel.set(.reuseAddress, on: number) }
        var failure = engine.kernel.bind(number, to: address)
        if failure == EADDRINUSE, let path = address.path, try engine.removeStale(path, isStream: false) {
            failure = engine.kernel.bind(number, to: address)
        }
        guard failure == 0 else { throw .system(failure, operation: "bind", subject: address) }
    }

    // MARK: Connecting

    /// Queues a connect after the queued datagrams.
    func connect(to endpoint: Endpoint, as operation: OperationID) throws(SocketError) {
        try checkUnprepared("connect")
        if peer != nil || queue.isConnecting {
            throw SocketError(
                .badConfiguration, operation: "connect",
                detail:
                    "the socket is already \(peer == nil ? "about to be connected" : "connected"); disconnect it first")
        }
        let target = try target(of: endpoint, operation: "connect")
        if case .address(let address) = target { _ = try link(for: address) }
        queue.enqueueConnect(to: endpoint, target, as: operation, now: engine.now)
        if target == .name { resolve(endpoint, for: operation) }
        askForFlush()
    }

    func performConnect(to address: SocketAddress) {
        let operation = queue.first
        let opened = Result { () throws(SocketError) in try link(for: address) }
        // User code that prepared the descriptor may have cancelled the connect.
        guard !isClosed, queue.first == operation else { return }
        _ = queue.takeFirst(engine.now)
        do throws(SocketError) {
            let link = try opened.get()
            let failure = engine.kernel.connect(link.socket.descriptor, to: address)
            guard failure == 0 else {
                throw .system(failure, operation: "connect", subject: address)
            }
            dropLinks { $0 !== link }
            link.local = engine.kernel.localAddress(link.socket.descriptor)
            peer = address
            connected = engine.now
            record(.connected)
            notify(.connected(address))
        } catch {
            notify(.notConnected(error))
        }
    }

    /// Dissolves the connection, or cancels a connect that is still queued.
    func disconnect() {
        if let operation = queue.connect, queue.remove(operation, now: engine.now) != nil {
            notify(.notConnected(SocketError(.disconnected, operation: "connect", detail: "cancelled locally")))
        }
        guard peer != nil, let link = links.first else { return finishStep() }
        let failure = engine.kernel.dissolve(link.socket.descriptor)
        guard failure == 0 else { return met(failure) }
        peer = nil
        connected = nil
        record(.disconnected)
        restoreBinding(link)
        askForFlush()
        finishStep()
    }

    /// Binds again if needed. Linux forgets a port that it chose itself, and the binding with it.
    private func restoreBinding(_ link: Link) {
        let number = link.socket.descriptor
        if let bound = link.bound, engine.kernel.localAddress(number) != bound {
            let failure = engine.kernel.bind(number, to: bound)
            // EINVAL: it is still bound. Otherwise another socket may have taken the port.
            if failure != 0, failure != EINVAL { met(failure) }
        }
        link.local = engine.kernel.localAddress(number)
    }

    // MARK: Groups

    /// Joins or leaves a group on an interface.
    func change(
        _ membership: DatagramSocket.Membership, of group: String, interface: String?
    ) throws(SocketError) {
        let call = membership == .join ? "join" : "leave"
        guard isBound, peer == nil, !queue.isConnecting else {
            throw SocketError(
                .badConfiguration, operation: call, detail: "\(group): the socket must be bound and not connected")
        }
        guard let address = SystemResolver.numeric(host: group, port: 0), address.isGroup else {
            throw .refused(
                call, "\(group): not a multicast group; use 224.0.0.0 to 239.255.255.255, or one that begins with ff")
        }
        guard let link = links.first(where: { $0.family.isSameFamily(as: address) }) else {
            let own = links.compactMap(\.local).map(\.description).joined(separator: " and ")
            throw .refused(call, "\(group): wrong address family; the socket is bound to \(own)")
        }
        let index = try interface.map { name throws(SocketError) in try engine.interfaceIndex(name, call) } ?? 0
        let joined = Group(address: address, interface: index, name: "\(group)\(interface.map { " on \($0)" } ?? "")")
        switch membership {
        case .join: try join(joined, link)
        case .leave: try leave(joined, link)
        }
    }

    private func join(_ group: Group, _ link: Link) throws(SocketError) {
        let failure = engine.kernel.set(
            .joinGroup(group.address, interface: group.interface), on: link.socket.descriptor)
        guard failure == 0 else { throw .system(failure, operation: "join", subject: group.name) }
        groups.append(group)
        record(.groupJoined)
    }

    private func leave(_ group: Group, _ link: Link) throws(SocketError) {
        let failure = engine.kernel.set(
            .leaveGroup(group.address, interface: group.interface), on: link.socket.descriptor)
        if failure == EADDRNOTAVAIL { throw .refused("leave", "\(group.name): not joined") }
        guard failure == 0 else { throw .system(failure, operation: "leave", subject: group.name) }
        groups.removeAll { $0.address == group.address && $0.interface == group.interface }
        record(.groupLeft)
    }

    /// Applies changed settings to the open descriptors.
    func apply(_ configuration: DatagramConfiguration, _ option: (_ isIPv6: Bool) -> SocketOption?) throws(SocketError)
    {
        try checkUnprepared("setsockopt")
        engine.retire(self.configuration)
        self.configuration = configuration
        noteForViewers()
        for link in links where link.family.family.isIP {
            let isIPv6 = link.family.family == .v6
            guard let option = option(isIPv6) else { continue }
            let failure = engine.kernel.set(option, on: link.socket.descriptor)
            guard failure == 0 else { throw .system(failure, operation: "setsockopt", subject: "\(option)") }
        }
    }
}

extension SocketAddress {
    /// Whether this is a multicast group.
    var isGroup: Bool { ip?.isMulticast ?? false }
}
