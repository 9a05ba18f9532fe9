import Foundation
import SocketKit

extension GCDAsyncUdpSocket {
    /// Returns the delegate.
    public func delegate() -> (any GCDAsyncUdpSocketDelegate)? {
        state.withLock { Unchecked($0.delegate.object) }.value
    }

    /// Sets the delegate, held weakly. A new delegate receives every callback that hasn't started yet.
    public func setDelegate(_ delegate: (any GCDAsyncUdpSocketDelegate)?) {
        change { $0.delegate = WeakUdpDelegate(object: delegate) }
    }

    /// Sets the delegate. Like every setter here, it takes effect before it returns.
    public func synchronouslySetDelegate(_ delegate: (any GCDAsyncUdpSocketDelegate)?) { setDelegate(delegate) }

    /// Returns the queue that callbacks run on.
    public func delegateQueue() -> DispatchQueue? { state.withLock { $0.delegateQueue } }

    /// Sets the queue that callbacks run on, or `nil` for no callbacks.
    public func setDelegateQueue(_ delegateQueue: DispatchQueue?) { change { $0.delegateQueue = delegateQueue } }

    /// Sets the delegate queue. Like every setter here, it takes effect before it returns.
    public func synchronouslySetDelegateQueue(_ delegateQueue: DispatchQueue?) { setDelegateQueue(delegateQueue) }

    /// Reads the delegate and its queue atomically.
    public func getDelegate(
        _ delegatePtr: UnsafeMutablePointer<(any GCDAsyncUdpSocketDelegate)?>?,
        delegateQueue delegateQueuePtr: UnsafeMutablePointer<DispatchQueue?>?
    ) {
        let (delegate, queue) = state.withLock { Unchecked(($0.delegate.object, $0.delegateQueue)) }.value
        delegatePtr?.pointee = delegate
        delegateQueuePtr?.pointee = queue
    }

    /// Sets the delegate and its queue together.
    public func setDelegate(_ delegate: (any GCDAsyncUdpSocketDelegate)?, delegateQueue: DispatchQueue?) {
        change { ($0.delegate, $0.delegateQueue) = (WeakUdpDelegate(object: delegate), delegateQueue) }
    }

    /// Sets the delegate and its queue together. Like every setter here, it takes effect before it returns.
    public func synchronouslySetDelegate(_ delegate: (any GCDAsyncUdpSocketDelegate)?, delegateQueue: DispatchQueue?) {
        setDelegate(delegate, delegateQueue: delegateQueue)
    }

    private func change(_ body: (inout State) -> Void) {
        let (session, delegate, queue) = state.withLock { state in
            body(&state)
            return (state.session, state.delegate, state.delegateQueue)
        }
        session?.setDelegate(delegate, on: queue)
    }

    private func set(_ body: (inout DatagramConfiguration) -> Void) {
        state.withLock { body(&$0.configuration) }
    }

    /// Whether IPv4 is used. Defaults to `true`.
    public func isIPv4Enabled() -> Bool { state.withLock { $0.configuration.isIPv4Enabled } }

    /// Sets whether IPv4 is used. A change applies the next time the socket opens.
    public func setIPv4Enabled(_ flag: Bool) { set { $0.isIPv4Enabled = flag } }

    /// Whether IPv6 is used. Defaults to `true`.
    public func isIPv6Enabled() -> Bool { state.withLock { $0.configuration.isIPv6Enabled } }

    /// Sets whether IPv6 is used. A change applies the next time the socket opens.
    public func setIPv6Enabled(_ flag: Bool) { set { $0.isIPv6Enabled = flag } }

    /// Whether IPv4 is preferred for a name with addresses of both families.
    public func isIPv4Preferred() -> Bool { state.withLock { $0.configuration.prefersIPv6 == false } }

    /// Whether IPv6 is preferred for a name with addresses of both families.
    public func isIPv6Preferred() -> Bool { state.withLock { $0.configuration.prefersIPv6 == true } }

    /// Whether the resolver's first address for a name is used. Defaults to `true`.
    public func isIPVersionNeutral() -> Bool { state.withLock { $0.configuration.prefersIPv6 == nil } }

    /// Prefers IPv4 for a name with addresses of both families.
    public func setPreferIPv4() { set { $0.prefersIPv6 = false } }

    /// Prefers IPv6 for a name with addresses of both families.
    public func setPreferIPv6() { set { $0.prefersIPv6 = true } }

    /// Uses the resolver's first address for a name.
    public func setIPVersionNeutral() { set { $0.prefersIPv6 = nil } }

    /// The most bytes of one IPv4 datagram that are delivered. Defaults to 65,535.
    public func maxReceiveIPv4BufferSize() -> UInt16 { state.withLock { $0.maxReceiveIPv4 } }

    /// Sets the most bytes of one IPv4 datagram that are delivered. A longer datagram is silently truncated.
    public func setMaxReceiveIPv4BufferSize(_ max: UInt16) { setMost { $0.maxReceiveIPv4 = max } }

    /// The most bytes of one IPv6 datagram that are delivered. Defaults to 65,535.
    public func maxReceiveIPv6BufferSize() -> UInt32 { state.withLock { $0.maxReceiveIPv6 } }

    /// Sets the most bytes of one IPv6 datagram that are delivered. A longer datagram is silently truncated.
    public func setMaxReceiveIPv6BufferSize(_ max: UInt32) { setMost { $0.maxReceiveIPv6 = max } }

    private func setMost(_ body: (inout State) -> Void) {
        let (session, most) = state.withLock { state in
            body(&state)
            return (state.session, state.most)
        }
        session?.setMost(most)
    }

    /// The longest datagram that can be sent. Defaults to 65,535 bytes.
    public func maxSendBufferSize() -> UInt16 { state.withLock { $0.maxSend } }

    /// Sets the longest datagram that can be sent. Must be called before the socket opens. A longer datagram closes the
    /// socket with EMSGSIZE.
    public func setMaxSendBufferSize(_ max: UInt16) { state.withLock { $0.maxSend = max } }

    /// Returns the value that you stored with `setUserData(_:)`.
    public func userData() -> Any? { state.withLock { $0.userData }.value }

    /// Stores a value for your own use. The socket never reads it.
    public func setUserData(_ arbitraryUserData: Any?) {
        state.replace(with: Unchecked(arbitraryUserData)) { swap(&$0.userData, &$1) }
    }
}

/// State, descriptors and utilities.
extension GCDAsyncUdpSocket {
    private func local(_ family: SocketAddress.Family? = nil) -> SocketAddress? {
        present?.socket.localAddresses.first { family == nil || $0.family == family }
    }

    private var peer: SocketAddress? { present.flatMap { $0.isConnected ? $0.socket.peerAddress : nil } }

    /// The local sockaddr, or `nil` before a bind or the first send binds the socket. A socket with both families
    /// returns the IPv4 one.
    public func localAddress() -> Data? { local()?.ipData }
    /// The local numeric address, or `nil` before a bind or the first send binds the socket. A socket with both
    /// families returns the IPv4 one.
    public func localHost() -> String? { local()?.plainHost }
    /// The local port, or 0 if the socket isn't bound.
    public func localPort() -> UInt16 { local()?.port ?? 0 }
    /// The local IPv4 sockaddr, or `nil` if there is none.
    public func localAddress_IPv4() -> Data? { local(.v4)?.ipData }
    /// The local numeric IPv4 address, or `nil` if there is none.
    public func localHost_IPv4() -> String? { local(.v4)?.plainHost }
    /// The local IPv4 port, or 0 if there is none.
    public func localPort_IPv4() -> UInt16 { local(.v4)?.port ?? 0 }
    /// The local IPv6 sockaddr, or `nil` if there is none.
    public func localAddress_IPv6() -> Data? { local(.v6)?.ipData }
    /// The local numeric IPv6 address, or `nil` if there is none.
    public func localHost_IPv6() -> String? { local(.v6)?.plainHost }
    /// The local IPv6 port, or 0 if there is none.
    public func localPort_IPv6() -> UInt16 { local(.v6)?.port ?? 0 }
    /// The peer's sockaddr, or `nil` if the socket isn't connected.
    public func connectedAddress() -> Data? { peer?.ipData }
    /// The peer's numeric address, or `nil` if the socket isn't connected.
    public func connectedHost() -> String? { peer?.plainHost }
    /// The peer's port, or 0 if the socket isn't connected.
    public func connectedPort() -> UInt16 { peer?.port ?? 0 }
    /// Whether the socket is connected to one peer.
    public func isConnected() -> Bool { present?.isConnected ?? false }
    /// Whether the socket is closed.
    public func isClosed() -> Bool { present?.socket.isClosed ?? true }

    /// Whether the socket has an IPv4 descriptor, or would open one.
    public func isIPv4() -> Bool { has(AF_INET) ?? isIPv4Enabled() }
    /// Whether the socket has an IPv6 descriptor, or would open one.
    public func isIPv6() -> Bool { has(AF_INET6) ?? isIPv6Enabled() }

    /// Whether there is a descriptor of this family, or `nil` if the socket is closed.
    private func has(_ family: Int32) -> Bool? {
        guard let present, !present.socket.isClosed else { return nil }
        return present.socket.withDescriptors { $0.contains { domain(of: $0) == family } }
    }

    private func domain(of descriptor: Int32) -> Int32 {
        var domain: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 ? domain : 0
    }

    /// Declares that this socket's queue targets the given serial queue, so that the socket can also be used from that
    /// queue. Has no effect without a socket queue of its own.
    public func markSocketQueueTargetQueue(_ socketQueuesPreConfiguredTargetQueue: DispatchQueue) {
        ownEngine?.mark(target: socketQueuesPreConfiguredTargetQueue, true)
    }

    /// Undoes `markSocketQueueTargetQueue(_:)` for all sockets of this socket queue.
    public func unmarkSocketQueueTargetQueue(_ socketQueuesPreviouslyConfiguredTargetQueue: DispatchQueue) {
        ownEngine?.mark(target: socketQueuesPreviouslyConfiguredTargetQueue, false)
    }

    /// Runs the block on the socket queue and waits until it returns. It may be called on that queue.
    public func perform(_ block: () -> Void) { engine.perform(block) }

    /// Returns the descriptor, or the IPv4 one of two. Returns -1 if there is none, and outside `perform`.
    public func socketFD() -> Int32 { descriptor { _ in true } }
    /// Returns the IPv4 descriptor, or -1 if there is none, and outside `perform`.
    public func socket4FD() -> Int32 { descriptor { self.domain(of: $0) == AF_INET } }
    /// Returns the IPv6 descriptor, or -1 if there is none, and outside `perform`.
    public func socket6FD() -> Int32 { descriptor { self.domain(of: $0) == AF_INET6 } }

    private func descriptor(_ isWanted: (Int32) -> Bool) -> Int32 {
        guard engine.isOnQueue, let present else { return -1 }
        return present.socket.withDescriptors { $0.first(where: isWanted) } ?? -1
    }

    /// Returns the numeric host in a sockaddr, or `nil` if it is neither IPv4 nor IPv6.
    public class func host(fromAddress address: Data) -> String? { SocketAddress(address)?.plainHost }
    /// Returns the port in a sockaddr, or 0 if it is neither IPv4 nor IPv6.
    public class func port(fromAddress address: Data) -> UInt16 { SocketAddress(address)?.port ?? 0 }
    /// Returns AF_INET, AF_INET6, or AF_UNSPEC for anything else.
    public class func family(fromAddress address: Data) -> Int32 {
        switch SocketAddress(address)?.family {
        case .v4: AF_INET
        case .v6: AF_INET6
        default: AF_UNSPEC
        }
    }
    /// Whether the data holds an IPv4 sockaddr.
    public class func isIPv4Address(_ address: Data) -> Bool { family(fromAddress: address) == AF_INET }
    /// Whether the data holds an IPv6 sockaddr.
    public class func isIPv6Address(_ address: Data) -> Bool { family(fromAddress: address) == AF_INET6 }

    /// Reads the host and port of a sockaddr. Returns `false` and writes nothing if it is neither IPv4 nor IPv6.
    @discardableResult
    public class func getHost(
        _ hostPtr: UnsafeMutablePointer<NSString?>?, port portPtr: UnsafeMutablePointer<UInt16>?,
        fromAddress address: Data
    ) -> Bool {
        GCDAsyncSocket.getHost(hostPtr, port: portPtr, fromAddress: address)
    }

    /// Reads the host, the port and the family (AF_INET or AF_INET6) of a sockaddr. Returns `false` and writes nothing
    /// if it is neither IPv4 nor IPv6.
    @discardableResult
    public class func getHost(
        _ hostPtr: UnsafeMutablePointer<NSString?>?, port portPtr: UnsafeMutablePointer<UInt16>?,
        family afPtr: UnsafeMutablePointer<Int32>?, fromAddress address: Data
    ) -> Bool {
        guard getHost(hostPtr, port: portPtr, fromAddress: address) else { return false }
        afPtr?.pointee = family(fromAddress: address)
        return true
    }
}
