import Foundation
import SocketKit

extension GCDAsyncUdpSocket {
    /// Whom callbacks go to.
    public func delegate() -> (any GCDAsyncUdpSocketDelegate)? {
        state.withLock { Unchecked($0.delegate.object) }.value
    }

    /// Sets whom callbacks go to; held weakly. A change concerns callbacks that have not begun.
    public func setDelegate(_ delegate: (any GCDAsyncUdpSocketDelegate)?) {
        change { $0.delegate = WeakUdpDelegate(object: delegate) }
    }

    /// The same; it has taken effect when this returns, as everywhere here.
    public func synchronouslySetDelegate(_ delegate: (any GCDAsyncUdpSocketDelegate)?) { setDelegate(delegate) }

    /// Where callbacks come.
    public func delegateQueue() -> DispatchQueue? { state.withLock { $0.delegateQueue } }

    /// Sets where callbacks come; nil: nobody is called.
    public func setDelegateQueue(_ delegateQueue: DispatchQueue?) { change { $0.delegateQueue = delegateQueue } }

    /// The same, likewise.
    public func synchronouslySetDelegateQueue(_ delegateQueue: DispatchQueue?) { setDelegateQueue(delegateQueue) }

    /// Reads both as they are at one instant.
    public func getDelegate(
        _ delegatePtr: UnsafeMutablePointer<(any GCDAsyncUdpSocketDelegate)?>?,
        delegateQueue delegateQueuePtr: UnsafeMutablePointer<DispatchQueue?>?
    ) {
        let (delegate, queue) = state.withLock { Unchecked(($0.delegate.object, $0.delegateQueue)) }.value
        delegatePtr?.pointee = delegate
        delegateQueuePtr?.pointee = queue
    }

    /// Sets both together.
    public func setDelegate(_ delegate: (any GCDAsyncUdpSocketDelegate)?, delegateQueue: DispatchQueue?) {
        change { ($0.delegate, $0.delegateQueue) = (WeakUdpDelegate(object: delegate), delegateQueue) }
    }

    /// Sets both together, likewise.
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

    /// Whether IPv4 is used; true by default.
    public func isIPv4Enabled() -> Bool { state.withLock { $0.configuration.isIPv4Enabled } }

    /// Sets whether IPv4 is used; it concerns the next opening.
    public func setIPv4Enabled(_ flag: Bool) { set { $0.isIPv4Enabled = flag } }

    /// Whether IPv6 is used; true by default.
    public func isIPv6Enabled() -> Bool { state.withLock { $0.configuration.isIPv6Enabled } }

    /// Sets whether IPv6 is used; it concerns the next opening.
    public func setIPv6Enabled(_ flag: Bool) { set { $0.isIPv6Enabled = flag } }

    /// Whether the IPv4 address of a name with both is taken.
    public func isIPv4Preferred() -> Bool { state.withLock { $0.configuration.prefersIPv6 == false } }

    /// Whether the IPv6 address of a name with both is taken.
    public func isIPv6Preferred() -> Bool { state.withLock { $0.configuration.prefersIPv6 == true } }

    /// Whether the resolver's first address of a name is taken; true by default.
    public func isIPVersionNeutral() -> Bool { state.withLock { $0.configuration.prefersIPv6 == nil } }

    /// Takes the IPv4 address of a name with both.
    public func setPreferIPv4() { set { $0.prefersIPv6 = false } }

    /// Takes the IPv6 address of a name with both.
    public func setPreferIPv6() { set { $0.prefersIPv6 = true } }

    /// Takes the resolver's first address of a name.
    public func setIPVersionNeutral() { set { $0.prefersIPv6 = nil } }

    /// The most bytes of one datagram by IPv4 that are delivered; 65,535 by default.
    public func maxReceiveIPv4BufferSize() -> UInt16 { state.withLock { $0.maxReceiveIPv4 } }

    /// Sets that; the rest of a longer datagram is cut off without a word.
    public func setMaxReceiveIPv4BufferSize(_ max: UInt16) { setMost { $0.maxReceiveIPv4 = max } }

    /// The most bytes of one datagram by IPv6 that are delivered; 65,535 by default.
    public func maxReceiveIPv6BufferSize() -> UInt32 { state.withLock { $0.maxReceiveIPv6 } }

    /// Sets that; the rest of a longer datagram is cut off without a word.
    public func setMaxReceiveIPv6BufferSize(_ max: UInt32) { setMost { $0.maxReceiveIPv6 = max } }

    private func setMost(_ body: (inout State) -> Void) {
        let (session, most) = state.withLock { state in
            body(&state)
            return (state.session, state.most)
        }
        session?.setMost(most)
    }

    /// The longest datagram that is sent; 65,535 by default.
    public func maxSendBufferSize() -> UInt16 { state.withLock { $0.maxSend } }

    /// Sets that, before the socket opens; a longer datagram closes the socket with EMSGSIZE.
    public func setMaxSendBufferSize(_ max: UInt16) { state.withLock { $0.maxSend = max } }

    /// Anything of the user's.
    public func userData() -> Any? { state.withLock { $0.userData }.value }

    /// Keeps anything of the user's; it is not looked at.
    public func setUserData(_ arbitraryUserData: Any?) {
        state.replace(with: Unchecked(arbitraryUserData)) { swap(&$0.userData, &$1) }
    }
}

/// What the socket is.
extension GCDAsyncUdpSocket {
    private func local(_ family: SocketAddress.Family? = nil) -> SocketAddress? {
        present?.socket.localAddresses.first { family == nil || $0.family == family }
    }

    private var peer: SocketAddress? { present.flatMap { $0.isConnected ? $0.socket.peerAddress : nil } }

    /// Our own sockaddr, the IPv4 one where there are two; nil before it is bound, by a bind or by its first send.
    public func localAddress() -> Data? { local()?.ipData }
    /// Our own numeric address, likewise.
    public func localHost() -> String? { local()?.plainHost }
    /// Our own port; 0 before it is bound.
    public func localPort() -> UInt16 { local()?.port ?? 0 }
    /// Our own sockaddr of IPv4.
    public func localAddress_IPv4() -> Data? { local(.v4)?.ipData }
    /// Our own numeric address of IPv4.
    public func localHost_IPv4() -> String? { local(.v4)?.plainHost }
    /// Our own port of IPv4.
    public func localPort_IPv4() -> UInt16 { local(.v4)?.port ?? 0 }
    /// Our own sockaddr of IPv6.
    public func localAddress_IPv6() -> Data? { local(.v6)?.ipData }
    /// Our own numeric address of IPv6.
    public func localHost_IPv6() -> String? { local(.v6)?.plainHost }
    /// Our own port of IPv6.
    public func localPort_IPv6() -> UInt16 { local(.v6)?.port ?? 0 }
    /// The peer's sockaddr; nil when not connected.
    public func connectedAddress() -> Data? { peer?.ipData }
    /// The peer's numeric address; nil when not connected.
    public func connectedHost() -> String? { peer?.plainHost }
    /// The peer's port; 0 when not connected.
    public func connectedPort() -> UInt16 { peer?.port ?? 0 }
    /// Whether it has one peer.
    public func isConnected() -> Bool { present?.isConnected ?? false }
    /// Whether nothing is open.
    public func isClosed() -> Bool { present?.socket.isClosed ?? true }

    /// Whether it has an IPv4 descriptor, or would open one.
    public func isIPv4() -> Bool { has(AF_INET) ?? isIPv4Enabled() }
    /// Whether it has an IPv6 descriptor, or would open one.
    public func isIPv6() -> Bool { has(AF_INET6) ?? isIPv6Enabled() }

    /// nil: nothing is open.
    private func has(_ family: Int32) -> Bool? {
        guard let present, !present.socket.isClosed else { return nil }
        return present.socket.withDescriptors { $0.contains { domain(of: $0) == family } }
    }

    private func domain(of descriptor: Int32) -> Int32 {
        var domain: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 ? domain : 0
    }

    /// Tells that the socket queue that this socket was given targets a serial queue, on which the socket is asked too. No
    /// effect without a socket queue of one's own.
    public func markSocketQueueTargetQueue(_ socketQueuesPreConfiguredTargetQueue: DispatchQueue) {
        let (engine, hasOwnQueue) = state.withLock { ($0.engine, $0.hasOwnQueue) }
        if hasOwnQueue { engine.mark(target: socketQueuesPreConfiguredTargetQueue, true) }
    }

    /// Takes that back, for all sockets of this socket queue.
    public func unmarkSocketQueueTargetQueue(_ socketQueuesPreviouslyConfiguredTargetQueue: DispatchQueue) {
        let (engine, hasOwnQueue) = state.withLock { ($0.engine, $0.hasOwnQueue) }
        if hasOwnQueue { engine.mark(target: socketQueuesPreviouslyConfiguredTargetQueue, false) }
    }

    /// Runs the block on the socket queue and waits until it has returned; may be called there.
    public func perform(_ block: () -> Void) { engine.perform(block) }

    /// The descriptor, of two that of IPv4. Only within `perform`; -1 elsewhere, and while there is none.
    public func socketFD() -> Int32 { descriptor { _ in true } }
    /// The IPv4 descriptor, likewise.
    public func socket4FD() -> Int32 { descriptor { self.domain(of: $0) == AF_INET } }
    /// The IPv6 descriptor, likewise.
    public func socket6FD() -> Int32 { descriptor { self.domain(of: $0) == AF_INET6 } }

    private func descriptor(_ isWanted: (Int32) -> Bool) -> Int32 {
        guard engine.isOnQueue, let present else { return -1 }
        return present.socket.withDescriptors { $0.first(where: isWanted) } ?? -1
    }

    /// The numeric host in a sockaddr; nil where it is neither IPv4 nor IPv6.
    public class func host(fromAddress address: Data) -> String? { SocketAddress(address)?.plainHost }
    /// The port in a sockaddr; 0 where it is neither IPv4 nor IPv6.
    public class func port(fromAddress address: Data) -> UInt16 { SocketAddress(address)?.port ?? 0 }
    /// AF_INET, AF_INET6, or AF_UNSPEC.
    public class func family(fromAddress address: Data) -> Int32 {
        switch SocketAddress(address)?.family {
        case .v4: AF_INET
        case .v6: AF_INET6
        default: AF_UNSPEC
        }
    }
    /// Whether data holds a sockaddr of IPv4.
    public class func isIPv4Address(_ address: Data) -> Bool { family(fromAddress: address) == AF_INET }
    /// Whether data holds a sockaddr of IPv6.
    public class func isIPv6Address(_ address: Data) -> Bool { family(fromAddress: address) == AF_INET6 }

    /// Reads host and port; false, and nothing is written, where the data is neither IPv4 nor IPv6.
    @discardableResult
    public class func getHost(
        _ hostPtr: UnsafeMutablePointer<NSString?>?, port portPtr: UnsafeMutablePointer<UInt16>?,
        fromAddress address: Data
    ) -> Bool {
        GCDAsyncSocket.getHost(hostPtr, port: portPtr, fromAddress: address)
    }

    /// The same with the family: AF_INET or AF_INET6.
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
