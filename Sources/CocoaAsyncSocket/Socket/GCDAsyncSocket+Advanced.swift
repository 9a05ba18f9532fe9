import Foundation
import SocketKit

/// The socket queue.
extension GCDAsyncSocket {
    /// Tells that the socket queue that this socket was given targets a serial queue, on which the socket is asked too. No
    /// effect without a socket queue of one's own, since the shared one targets nothing of the user's.
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

    /// The descriptor, of a socket that accepts on both families that of IPv4. Only within `perform`; -1 elsewhere, and
    /// while there is none.
    public func socketFD() -> Int32 { descriptor { _ in true } }

    /// The IPv4 descriptor, likewise.
    public func socket4FD() -> Int32 { descriptor { $0 == .v4 } }

    /// The IPv6 descriptor, likewise.
    public func socket6FD() -> Int32 { descriptor { $0 == .v6 } }

    private func descriptor(_ isWanted: (SocketAddress.Family) -> Bool) -> Int32 {
        guard engine.isOnQueue else { return -1 }
        if let listener {
            let families = listener.localAddresses.map(\.family)
            return listener.withDescriptors { zip($0, families).first { isWanted($1) }?.0 } ?? -1
        }
        guard let stream, let family = stream.localAddress?.family, isWanted(family) else { return -1 }
        return stream.withDescriptor { $0 } ?? -1
    }

    /// What iOS needs to go on in the background; false: there is none of it here.
    public func enableBackgroundingOnSocket() -> Bool { false }
}

/// Utilities.
extension GCDAsyncSocket {
    /// The addresses of a host, each a `Data` that holds a sockaddr. Blocks while the resolver asks. `localhost` and
    /// `loopback` are 127.0.0.1 and ::1.
    public class func lookupHost(_ host: String, port: UInt16) throws -> NSMutableArray {
        let addresses = try rethrowing(NSError.stream) { () throws(SocketError) in
            try SocketAddress.addresses(ofHost: host, port: port)
        }
        return NSMutableArray(array: addresses.compactMap(\.ipData))
    }

    /// The numeric host in a sockaddr; nil where it is neither IPv4 nor IPv6.
    public class func host(fromAddress address: Data) -> String? { SocketAddress(address)?.plainHost }

    /// The port in a sockaddr; 0 where it is neither IPv4 nor IPv6.
    public class func port(fromAddress address: Data) -> UInt16 { SocketAddress(address)?.port ?? 0 }

    /// Whether data holds a sockaddr of IPv4.
    public class func isIPv4Address(_ address: Data) -> Bool { SocketAddress(address)?.family == .v4 }

    /// Whether data holds a sockaddr of IPv6.
    public class func isIPv6Address(_ address: Data) -> Bool { SocketAddress(address)?.family == .v6 }

    /// Reads host and port; false, and nothing is written, where the data is neither IPv4 nor IPv6.
    @discardableResult
    public class func getHost(
        _ hostPtr: UnsafeMutablePointer<NSString?>?, port portPtr: UnsafeMutablePointer<UInt16>?,
        fromAddress address: Data
    ) -> Bool {
        getHost(hostPtr, port: portPtr, family: nil, fromAddress: address)
    }

    /// The same with the family: AF_INET or AF_INET6.
    @discardableResult
    public class func getHost(
        _ hostPtr: UnsafeMutablePointer<NSString?>?, port portPtr: UnsafeMutablePointer<UInt16>?,
        family afPtr: UnsafeMutablePointer<sa_family_t>?, fromAddress address: Data
    ) -> Bool {
        guard let read = SocketAddress(address), let host = read.plainHost else { return false }
        hostPtr?.pointee = NSString(string: host)
        portPtr?.pointee = read.port ?? 0
        afPtr?.pointee = sa_family_t(read.family == .v4 ? AF_INET : AF_INET6)
        return true
    }

    /// Carriage return and line feed.
    public class func crlfData() -> Data { Data([13, 10]) }
    /// Carriage return.
    public class func crData() -> Data { Data([13]) }
    /// Line feed.
    public class func lfData() -> Data { Data([10]) }
    /// A zero byte.
    public class func zeroData() -> Data { Data([0]) }
}
