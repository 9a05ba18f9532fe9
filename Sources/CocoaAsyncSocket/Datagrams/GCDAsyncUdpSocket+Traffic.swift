import Foundation
import SocketKit

/// Binding, connecting and options. Each call throws `badConfigError` if the socket's state does not allow it,
/// `badParamError` if an argument is invalid, and otherwise the errno.
extension GCDAsyncUdpSocket {
    /// Binds to a port of every interface, or to a port that the kernel chooses if `port` is 0.
    public func bind(toPort port: UInt16) throws { try bind(toPort: port, interface: nil) }

    /// Binds to a port of one interface, or of all if `interface` is `nil`. It can be a name, a numeric address,
    /// `localhost` or `loopback`.
    public func bind(toPort port: UInt16, interface: String?) throws {
        try checkDelegate()
        try with { socket throws(SocketError) in try socket.bind(to: .udp(host: interface ?? "", port: port)) }
    }

    /// Binds to an address: the bytes of a sockaddr_in or sockaddr_in6.
    public func bind(toAddress localAddr: Data) throws {
        try checkDelegate()
        let endpoint = try endpoint(localAddr)
        try with { socket throws(SocketError) in try socket.bind(to: endpoint) }
    }

    /// Connects to one peer, given as a name or numeric address, after the queued datagrams.
    public func connect(toHost host: String, onPort port: UInt16) throws {
        try checkDelegate()
        if host.isEmpty { throw NSError.datagram(.refused("host: must not be empty")) }
        try connect(to: .udp(host: host, port: port))
    }

    /// Connects to one peer, given as a sockaddr_in or sockaddr_in6, after the queued datagrams.
    public func connect(toAddress remoteAddr: Data) throws {
        try checkDelegate()
        try connect(to: endpoint(remoteAddr))
    }

    private func connect(to endpoint: Endpoint) throws {
        session().noteConnecting()
        try with { socket throws(SocketError) in try socket.connect(to: endpoint) }
    }

    private func checkDelegate() throws {
        if delegate() == nil { throw NSError.datagram(.unready("a delegate is required; set it first")) }
        if delegateQueue() == nil { throw NSError.datagram(.unready("a delegate queue is required; set it first")) }
    }

    private func endpoint(_ data: Data) throws -> Endpoint {
        guard let address = SocketAddress(data), address.family.isIP, let endpoint = Endpoint(address) else {
            throw NSError.datagram(.refused("address: must be the bytes of a sockaddr_in or sockaddr_in6"))
        }
        return endpoint
    }

    /// Joins a multicast group, given as a numeric address, on an interface that the kernel chooses. The socket must be
    /// bound.
    public func joinMulticastGroup(_ group: String) throws { try joinMulticastGroup(group, onInterface: nil) }

    /// Joins a multicast group on an interface, given by its name or one of its numeric addresses.
    public func joinMulticastGroup(_ group: String, onInterface interface: String?) throws {
        try with { socket throws(SocketError) in try socket.joinGroup(group, interface: interface) }
    }

    /// Leaves a multicast group that was joined with the same arguments.
    public func leaveMulticastGroup(_ group: String) throws { try leaveMulticastGroup(group, onInterface: nil) }

    /// Leaves a multicast group that was joined with the same arguments.
    public func leaveMulticastGroup(_ group: String, onInterface interface: String?) throws {
        try with { socket throws(SocketError) in try socket.leaveGroup(group, interface: interface) }
    }

    /// Sends to IPv4 multicast groups through this interface, given by its name or one of its numeric addresses.
    public func sendIPv4Multicast(onInterface interface: String) throws {
        try with { socket throws(SocketError) in try socket.sendMulticast(onInterface: interface) }
    }

    /// Sends to IPv6 multicast groups through this interface, given by its name.
    public func sendIPv6Multicast(onInterface interface: String) throws {
        try with { socket throws(SocketError) in try socket.sendMulticast(onInterface: interface) }
    }

    /// Lets several sockets share a port if each of them enables this before it is bound.
    public func enableReusePort(_ flag: Bool) throws {
        state.withLock { $0.configuration.reusePort = flag }
        present?.socket.configuration.reusePort = flag
    }

    /// Allows datagrams to broadcast addresses. Without this, the kernel refuses them.
    public func setBroadcastEnabled(_ flag: Bool) throws {
        try with { socket throws(SocketError) in try socket.setBroadcastEnabled(flag) }
    }
}

extension SocketError {
    fileprivate static func refused(_ detail: String) -> SocketError {
        SocketError(.badParameter, operation: "", detail: detail)
    }

    fileprivate static func unready(_ detail: String) -> SocketError {
        SocketError(.badConfiguration, operation: "", detail: detail)
    }
}

/// Sending. Empty data is ignored. Data must not change until it is sent.
extension GCDAsyncUdpSocket {
    /// Sends to the peer that the socket is connected to.
    public func send(_ data: Data, withTimeout timeout: TimeInterval, tag: Int) {
        send(data, to: nil, timeout, tag)
    }

    /// Sends to a host, given as a name or numeric address. Fails on a connected socket.
    public func send(_ data: Data, toHost host: String, port: UInt16, withTimeout timeout: TimeInterval, tag: Int) {
        if present?.isConnected == true, !data.isEmpty {
            return refuse(tag, .unready("a connected socket sends to its peer only"))
        }
        send(data, to: .udp(host: host, port: port), timeout, tag)
    }

    /// Sends to an address: the bytes of a sockaddr_in or sockaddr_in6. A connected socket sends to its peer instead.
    public func send(_ data: Data, toAddress remoteAddr: Data, withTimeout timeout: TimeInterval, tag: Int) {
        if present?.isConnected == true { return send(data, to: nil, timeout, tag) }
        guard let address = SocketAddress(remoteAddr), address.family.isIP else {
            if !data.isEmpty { refuse(tag, .refused("address: must be the bytes of a sockaddr_in or sockaddr_in6")) }
            return
        }
        send(data, to: Endpoint(address), timeout, tag)
    }

    private func send(_ data: Data, to endpoint: Endpoint?, _ timeout: TimeInterval, _ tag: Int) {
        guard !data.isEmpty else { return }
        let bytes = data.withUnsafeBytes { [UInt8]($0) }
        session().socket.send(bytes, to: endpoint, timeout: Duration(timeout: timeout), tag: tag)
    }

    private func refuse(_ tag: Int, _ error: SocketError) {
        let session = session()
        delegateQueue()?.async {
            session.tell { $0.udpSocket($1, didNotSendDataWithTag: tag, dueToError: NSError.datagram(error)) }
        }
    }

    /// Sets a filter that is called on `filterQueue` before each datagram is sent. Pass `nil` for both to remove it.
    public func setSendFilter(_ filterBlock: GCDAsyncUdpSocketSendFilterBlock?, with filterQueue: DispatchQueue?) {
        setSendFilter(filterBlock, with: filterQueue, isAsynchronous: true)
    }

    /// Sets a filter that is called on `filterQueue` before each datagram is sent. If `isAsynchronous` is `false`, the
    /// socket queue waits for the filter's queue.
    public func setSendFilter(
        _ filterBlock: GCDAsyncUdpSocketSendFilterBlock?, with filterQueue: DispatchQueue?, isAsynchronous: Bool
    ) {
        let filter = filterBlock.map { block in
            let (block, queue) = (Unchecked(block), filterQueue)
            return DatagramSendFilter(queue: isAsynchronous ? queue : nil) { bytes, destination, tag in
                let address = destination.flatMap(\.resolved)?.data ?? Data()
                let judge = { block.value(Data(bytes), address, tag) }
                return isAsynchronous ? judge() : queue?.sync(execute: judge) ?? judge()
            }
        }
        state.replace(with: filter) { swap(&$0.sendFilter, &$1) }
        present?.socket.sendFilter = filter
    }
}

/// Receiving.
extension GCDAsyncUdpSocket {
    /// Delivers one datagram. Throws `badConfigError` if the socket is closed. Bind, connect or send first.
    public func receiveOnce() throws { try with { socket throws(SocketError) in try socket.receiveOnce() } }

    /// Delivers every datagram. Throws `badConfigError` if the socket is closed. Bind, connect or send first.
    public func beginReceiving() throws { try with { socket throws(SocketError) in try socket.beginReceiving() } }

    /// Leaves datagrams in the kernel until `receiveOnce()` or `beginReceiving()` is called again. Datagrams that were
    /// already delivered still reach the delegate.
    public func pauseReceiving() { present?.socket.pauseReceiving() }

    /// Sets a filter that is called on `filterQueue` for each received datagram. Pass `nil` for both to remove it.
    public func setReceiveFilter(
        _ filterBlock: GCDAsyncUdpSocketReceiveFilterBlock?, with filterQueue: DispatchQueue?
    ) {
        setReceiveFilter(filterBlock, with: filterQueue, isAsynchronous: true)
    }

    /// Sets a filter that is called on `filterQueue` for each received datagram. If `isAsynchronous` is `false`, the
    /// socket queue waits for the filter's queue.
    public func setReceiveFilter(
        _ filterBlock: GCDAsyncUdpSocketReceiveFilterBlock?, with filterQueue: DispatchQueue?, isAsynchronous: Bool
    ) {
        let filter = filterBlock.map { block in
            let (block, queue) = (Unchecked(block), filterQueue)
            return DatagramReceiveFilter(queue: isAsynchronous ? queue : nil) { datagram in
                let judge = { () -> DatagramReceiveFilter.Verdict in
                    var context: AnyObject?
                    let passes = block.value(Data(datagram.bytes), datagram.source.data, &context)
                    return passes ? .pass(context: context.map { Unchecked<AnyObject?>($0) }) : .drop
                }
                return isAsynchronous ? judge() : queue?.sync(execute: judge) ?? judge()
            }
        }
        state.replace(with: filter) { swap(&$0.receiveFilter, &$1) }
        present?.socket.receiveFilter = filter
    }
}

extension Endpoint {
    /// The address passed to a filter, which is the first one of a name.
    fileprivate var resolved: SocketAddress? {
        guard let host, let port else { return nil }
        return try? SocketAddress.addresses(ofHost: host, port: port).first
    }
}
