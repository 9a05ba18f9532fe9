import Foundation
import SocketKit

/// Accepting.
extension GCDAsyncSocket {
    /// Accepts connections on a port of every interface, or on a port that the kernel chooses if `port` is 0. Throws
    /// `badConfigError` if the delegate or its queue is missing, both families are disabled or the socket is in use,
    /// and the errno if the kernel refuses.
    public func accept(onPort port: UInt16) throws { try accept(onInterface: nil, port: port) }

    /// Accepts connections on one interface, or on all if `interface` is `nil`. It can be a name, a numeric address,
    /// `localhost` or `loopback`. If `port` is 0, it can end with a colon and a port. Throws `badParamError` if there
    /// is no such interface.
    public func accept(onInterface interface: String?, port: UInt16) throws {
        let place = InterfaceDescription(interface, port: port)
        try listen(on: .tcp(host: place.host, port: place.port))
    }

    /// Accepts connections on a Unix-domain socket at the path of a file URL. A socket file that no process listens on
    /// is replaced. Any other file at that path is left alone, and the call throws.
    public func accept(on url: URL) throws {
        try checkIdle()
        guard url.isFileURL, !url.path.isEmpty else {
            throw NSError.badParameter("\(url): must be a file URL with a path")
        }
        try listen(on: .unix(path: url.path))
    }

    private func listen(on endpoint: Endpoint) throws {
        try checkIdle()
        let (engine, configuration) = state.withLock { ($0.engine, $0.configuration) }
        let listener = SocketListener(engine: engine, configuration: configuration.ofAccepted)
        let session = ListenerSession(listener, owner: self)
        begin(.listener(session))
        do throws(SocketError) {
            try session.listener.listen(on: endpoint)
        } catch {
            ended(session)
            throw NSError.stream(error)
        }
    }

    /// Makes the checks that upstream makes before each start, in its order.
    func checkIdle() throws {
        let (delegate, queue) = state.withLock { Unchecked(($0.delegate.object, $0.delegateQueue)) }.value
        if delegate == nil { throw NSError.badConfiguration("a delegate is required; set it first") }
        if queue == nil { throw NSError.badConfiguration("a delegate queue is required; set it first") }
        if !isDisconnected {
            throw NSError.badConfiguration("the socket is connected, connecting or accepting; disconnect it first")
        }
        if !isIPv4Enabled, !isIPv6Enabled {
            throw NSError.badConfiguration("both IPv4 and IPv6 are disabled")
        }
    }
}

extension SocketConfiguration {
    /// The settings that accepted connections inherit from a listener: the families only.
    fileprivate var ofAccepted: SocketConfiguration {
        var configuration = SocketConfiguration()
        (configuration.isIPv4Enabled, configuration.isIPv6Enabled) = (isIPv4Enabled, isIPv6Enabled)
        return configuration
    }
}

/// Connecting. Each call throws the errors that are known at once. The delegate is notified when the connection is
/// established, or why it failed. Reads and writes can be queued at once.
extension GCDAsyncSocket {
    /// Connects to a host, given as a name or numeric address.
    public func connect(toHost host: String, onPort port: UInt16) throws {
        try connect(toHost: host, onPort: port, viaInterface: nil, withTimeout: -1)
    }

    /// Connects to a host. The timeout covers both resolving and connecting.
    public func connect(toHost host: String, onPort port: UInt16, withTimeout timeout: TimeInterval) throws {
        try connect(toHost: host, onPort: port, viaInterface: nil, withTimeout: timeout)
    }

    /// Connects to a host from one interface, written as `[interface][:port]`: the interface's name or one of its
    /// numeric IPv4 addresses, and the local port. Throws `badParamError` if the host is empty, the port is 0 or the
    /// interface does not exist.
    public func connect(
        toHost inHost: String, onPort port: UInt16, viaInterface inInterface: String?,
        withTimeout timeout: TimeInterval
    ) throws {
        if inHost.isEmpty { throw NSError.badParameter("host: must not be empty") }
        try connect(to: .tcp(host: inHost, port: port), inInterface, timeout)
    }

    /// Connects to an address: exactly the bytes of a sockaddr_in or sockaddr_in6.
    public func connect(toAddress remoteAddr: Data) throws {
        try connect(toAddress: remoteAddr, viaInterface: nil, withTimeout: -1)
    }

    /// Connects to an address, with a timeout.
    public func connect(toAddress remoteAddr: Data, withTimeout timeout: TimeInterval) throws {
        try connect(toAddress: remoteAddr, viaInterface: nil, withTimeout: timeout)
    }

    /// Connects to an address from one interface, written as in `connect(toHost:onPort:viaInterface:withTimeout:)`.
    public func connect(
        toAddress remoteAddr: Data, viaInterface interface: String?, withTimeout timeout: TimeInterval
    ) throws {
        guard let address = SocketAddress(exactly: remoteAddr), let endpoint = Endpoint(address) else {
            throw NSError.badParameter("address: must be the bytes of a sockaddr_in or sockaddr_in6")
        }
        try connect(to: endpoint, interface, timeout)
    }

    /// Connects to the Unix-domain socket at the path of a file URL.
    public func connect(to url: URL, withTimeout timeout: TimeInterval) throws {
        guard url.isFileURL, !url.path.isEmpty else {
            throw NSError.badParameter("\(url): must be a file URL with a path")
        }
        try connect(to: .unix(path: url.path), nil, timeout)
    }

    private func connect(to endpoint: Endpoint, _ interface: String?, _ timeout: TimeInterval) throws {
        try checkIdle()
        try start { socket throws(SocketError) in
            socket.configuration.interface = interface.flatMap { $0.isEmpty ? nil : $0 }
            try socket.connect(to: endpoint, timeout: Duration(timeout: timeout))
        }
    }
}

/// Disconnecting.
extension GCDAsyncSocket {
    /// Disconnects at once and drops pending reads and writes. When this returns, the delegate's callback is on its
    /// queue, and goes to the current delegate even if another is set later. Has no effect if the socket is not in use.
    public func disconnect() {
        let (engine, session) = state.withLock { ($0.engine, $0.leave()) }
        switch session {
        case .none: return
        case .stream(let session): session.socket.disconnect()
        case .listener(let session): session.listener.stop()
        }
        engine.flushCallbacks()
    }

    /// Disconnects once every pending read has completed, even if writes are pending. Later reads and writes are
    /// ignored.
    public func disconnectAfterReading() { disconnect(.afterReading) }

    /// Disconnects once every pending write has completed, even if reads are pending. Later reads and writes are
    /// ignored.
    public func disconnectAfterWriting() { disconnect(.afterWriting) }

    /// Disconnects once every pending read and write has completed. Later reads and writes are ignored.
    public func disconnectAfterReadingAndWriting() { disconnect(.afterBoth) }

    private func disconnect(_ mode: CloseMode) {
        if let stream { return stream.disconnect(mode) }
        // A listener has no pending operations.
        if listener != nil { disconnect() }
    }
}
