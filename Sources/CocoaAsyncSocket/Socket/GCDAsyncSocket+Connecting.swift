import Foundation
import SocketKit

/// Accepting.
extension GCDAsyncSocket {
    /// Accepts on a port of every interface; 0: the kernel chooses one. Throws `badConfigError` without a delegate, without
    /// its queue, with both families switched off, or where the socket is in use; the errno where the kernel refuses.
    public func accept(onPort port: UInt16) throws { try accept(onInterface: nil, port: port) }

    /// Accepts on one interface: its name, one of its numeric addresses, `localhost` or `loopback`, and a port behind a
    /// colon where `port` is 0; nil: on every one. Throws `badParamError` where there is no such interface.
    public func accept(onInterface interface: String?, port: UInt16) throws {
        let place = InterfaceDescription(interface, port: port)
        try listen(on: .tcp(host: place.host, port: place.port))
    }

    /// Accepts on a Unix-domain socket at the path of a file URL. A socket file that nobody listens on is replaced; any
    /// other file there is left alone, and refused.
    public func accept(on url: URL) throws {
        try checkIdle()
        guard url.isFileURL, !url.path.isEmpty else {
            throw NSError.badParameter("\(url): a file URL with a path is needed")
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

    /// What upstream checks before a socket begins anything, in its order.
    func checkIdle() throws {
        let (delegate, queue) = state.withLock { Unchecked(($0.delegate.object, $0.delegateQueue)) }.value
        if delegate == nil { throw NSError.badConfiguration("a delegate is needed; set it before") }
        if queue == nil { throw NSError.badConfiguration("a delegate queue is needed; set it before") }
        if !isDisconnected {
            throw NSError.badConfiguration("the socket is connected, connecting or accepting; disconnect it first")
        }
        if !isIPv4Enabled, !isIPv6Enabled {
            throw NSError.badConfiguration("both IPv4 and IPv6 are switched off")
        }
    }
}

extension SocketConfiguration {
    /// What a listener has that its connections have too: the families, and nothing else.
    fileprivate var ofAccepted: SocketConfiguration {
        var configuration = SocketConfiguration()
        (configuration.isIPv4Enabled, configuration.isIPv6Enabled) = (isIPv4Enabled, isIPv6Enabled)
        return configuration
    }
}

/// Connecting. Each call throws what is known at once and begins the rest, of which the delegate hears: that the
/// connection stands, or why it ended. Reads and writes may be queued at once.
extension GCDAsyncSocket {
    /// Connects to a host: a name, or a numeric address.
    public func connect(toHost host: String, onPort port: UInt16) throws {
        try connect(toHost: host, onPort: port, viaInterface: nil, withTimeout: -1)
    }

    /// The same with a timeout, which covers resolving and connecting.
    public func connect(toHost host: String, onPort port: UInt16, withTimeout timeout: TimeInterval) throws {
        try connect(toHost: host, onPort: port, viaInterface: nil, withTimeout: timeout)
    }

    /// The same from one interface: `[interface][:port]`, the interface by its name or one of its numeric IPv4 addresses,
    /// the port our own. Throws `badParamError` for an empty host, port 0 and an interface that there is not.
    public func connect(
        toHost inHost: String, onPort port: UInt16, viaInterface inInterface: String?,
        withTimeout timeout: TimeInterval
    ) throws {
        if inHost.isEmpty { throw NSError.badParameter("host: must not be empty") }
        try connect(to: .tcp(host: inHost, port: port), inInterface, timeout)
    }

    /// Connects to an address: the bytes of a sockaddr_in or sockaddr_in6, no more and no less.
    public func connect(toAddress remoteAddr: Data) throws {
        try connect(toAddress: remoteAddr, viaInterface: nil, withTimeout: -1)
    }

    /// The same with a timeout.
    public func connect(toAddress remoteAddr: Data, withTimeout timeout: TimeInterval) throws {
        try connect(toAddress: remoteAddr, viaInterface: nil, withTimeout: timeout)
    }

    /// The same from one interface, in the form of `connect(toHost:onPort:viaInterface:withTimeout:)`.
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
            throw NSError.badParameter("\(url): a file URL with a path is needed")
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
    /// Disconnects at once; reads and writes that are pending are dropped. The delegate's call is on its queue when this
    /// returns, and goes to the delegate of now, whichever is set later. No effect on a socket that is not in use.
    public func disconnect() {
        let (engine, session) = state.withLock { ($0.engine, $0.leave()) }
        switch session {
        case .none: return
        case .stream(let session): session.socket.disconnect()
        case .listener(let session): session.listener.stop()
        }
        engine.flushCallbacks()
    }

    /// Disconnects once every pending read is done, whatever is still to be written. Reads and writes that come later are
    /// ignored.
    public func disconnectAfterReading() { disconnect(.afterReading) }

    /// Disconnects once every pending write is done, whatever is still to be read. Reads and writes that come later are
    /// ignored.
    public func disconnectAfterWriting() { disconnect(.afterWriting) }

    /// Disconnects once every pending read and write is done. Reads and writes that come later are ignored.
    public func disconnectAfterReadingAndWriting() { disconnect(.afterBoth) }

    private func disconnect(_ mode: CloseMode) {
        if let stream { return stream.disconnect(mode) }
        // Nothing is pending where there is no connection.
        if listener != nil { disconnect() }
    }
}
