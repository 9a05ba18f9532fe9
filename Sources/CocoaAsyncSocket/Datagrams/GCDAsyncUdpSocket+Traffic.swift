import Foundation
import SocketKit

/// Binding, connecting and options. Each throws `badConfigError` where the state of the socket does not allow it,
/// `badParamError` for an argument that is wrong, else the errno.
extension GCDAsyncUdpSocket {
    /// Binds to a port of every interface; 0: the kernel chooses one.
    public func bind(toPort port: UInt16) throws { try bind(toPort: port, interface: nil) }

    /// Binds to a port of one interface: its name, one of its numeric addresses, `localhost` or `loopback`; nil: of all.
    public func bind(toPort port: UInt16, interface: String?) throws {
        try checkDelegate()
        try with { socket throws(SocketError) in try socket.bind(to: .udp(host: interface ?? "", port: port)) }
    }

    /// Binds to a sockaddr_in or sockaddr_in6.
    public func bind(toAddress localAddr: Data) throws {
        try checkDelegate()
        let endpoint = try endpoint(localAddr)
        try with { socket throws(SocketError) in try socket.bind(to: endpoint) }
    }

    /// Connects to one peer, behind what is queued: a name, or a numeric address.
    public func connect(toHost host: String, onPort port: UInt16) throws {
        try checkDelegate()
        if host.isEmpty { throw NSError.datagram(.refused("host: must not be empty")) }
        try connect(to: .udp(host: host, port: port))
    }

    /// Connects to one peer: a sockaddr_in or sockaddr_in6.
    public func connect(toAddress remoteAddr: Data) throws {
        try checkDelegate()
        try connect(to: endpoint(remoteAddr))
    }

    private func connect(to endpoint: Endpoint) throws {
        session().noteConnecting()
        try with { socket throws(SocketError) in try socket.connect(to: endpoint) }
    }

    private func checkDelegate() throws {
        if delegate() == nil { throw NSError.datagram(.unready("a delegate is needed; set it before")) }
        if delegateQueue() == nil { throw NSError.datagram(.unready("a delegate queue is needed; set it before")) }
    }

    private func endpoint(_ data: Data) throws -> Endpoint {
        guard let address = SocketAddress(data), address.family.isIP, let endpoint = Endpoint(address) else {
            throw NSError.datagram(.refused("address: must be the bytes of a sockaddr_in or sockaddr_in6"))
        }
        return endpoint
    }

    /// Joins a group, by its numeric address, on the interface that the kernel chooses. The socket must be bound.
    public func joinMulticastGroup(_ group: String) throws { try joinMulticastGroup(group, onInterface: nil) }

    /// Joins a group on an interface: its name, or one of its numeric addresses.
    public func joinMulticastGroup(_ group: String, onInterface interface: String?) throws {
        try with { socket throws(SocketError) in try socket.joinGroup(group, interface: interface) }
    }

    /// Leaves a group that was joined with the same arguments.
    public func leaveMulticastGroup(_ group: String) throws { try leaveMulticastGroup(group, onInterface: nil) }

    /// Leaves a group that was joined with the same arguments.
    public func leaveMulticastGroup(_ group: String, onInterface interface: String?) throws {
        try with { socket throws(SocketError) in try socket.leaveGroup(group, interface: interface) }
    }

    /// Sends to IPv4 groups by this interface: one of its numeric addresses, or its name.
    public func sendIPv4Multicast(onInterface interface: String) throws {
        try with { socket throws(SocketError) in try socket.sendMulticast(onInterface: interface) }
    }

    /// Sends to IPv6 groups by this interface: its name.
    public func sendIPv6Multicast(onInterface interface: String) throws {
        try with { socket throws(SocketError) in try socket.sendMulticast(onInterface: interface) }
    }

    /// Lets several sockets share a port, if all of them do so before they are bound.
    public func enableReusePort(_ flag: Bool) throws {
        state.withLock { $0.configuration.reusePort = flag }
        present?.socket.configuration.reusePort = flag
    }

    /// Allows datagrams to broadcast addresses, which the kernel refuses otherwise.
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

/// Sending. Data without bytes is ignored. Data must not change until it is sent.
extension GCDAsyncUdpSocket {
    /// Sends to the peer that the socket is connected to.
    public func send(_ data: Data, withTimeout timeout: TimeInterval, tag: Int) {
        send(data, to: nil, timeout, tag)
    }

    /// Sends to a host: a name, or a numeric address. Not for a connected socket.
    public func send(_ data: Data, toHost host: String, port: UInt16, withTimeout timeout: TimeInterval, tag: Int) {
        if present?.isConnected == true, !data.isEmpty {
            return refuse(tag, .unready("a connected socket sends to its peer only"))
        }
        send(data, to: .udp(host: host, port: port), timeout, tag)
    }

    /// Sends to a sockaddr_in or sockaddr_in6; a connected socket sends to its peer instead.
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

    /// Sets what judges datagrams before they are sent, on a queue of its own; nil for both: nothing does.
    public func setSendFilter(_ filterBlock: GCDAsyncUdpSocketSendFilterBlock?, with filterQueue: DispatchQueue?) {
        setSendFilter(filterBlock, with: filterQueue, isAsynchronous: true)
    }

    /// The same; not asynchronous: the socket queue waits for the filter's.
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
    /// Delivers one datagram. Throws `badConfigError` where nothing is open: bind, connect or send before.
    public func receiveOnce() throws { try with { socket throws(SocketError) in try socket.receiveOnce() } }

    /// Delivers every datagram. Throws likewise.
    public func beginReceiving() throws { try with { socket throws(SocketError) in try socket.beginReceiving() } }

    /// Leaves datagrams with the kernel until one of the two is called again. What was delivered already still comes.
    public func pauseReceiving() { present?.socket.pauseReceiving() }

    /// Sets what judges datagrams that were received, on a queue of its own; nil for both: nothing does.
    public func setReceiveFilter(
        _ filterBlock: GCDAsyncUdpSocketReceiveFilterBlock?, with filterQueue: DispatchQueue?
    ) {
        setReceiveFilter(filterBlock, with: filterQueue, isAsynchronous: true)
    }

    /// The same; not asynchronous: the socket queue waits for the filter's.
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
    /// The address that a filter is shown: the first of a name.
    fileprivate var resolved: SocketAddress? {
        guard let host, let port else { return nil }
        return try? SocketAddress.addresses(ofHost: host, port: port).first
    }
}
