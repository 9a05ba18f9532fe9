import Foundation
import SocketKit

/// The socket queue and the descriptors.
extension GCDAsyncSocket {
    /// Declares that this socket's queue targets the given serial queue, so that the socket can also be used from that
    /// queue. Has no effect without a socket queue of its own, since the shared queue targets none of the caller's
    /// queues.
    public func markSocketQueueTargetQueue(_ socketQueuesPreConfiguredTargetQueue: DispatchQueue) {
        ownEngine?.mark(target: socketQueuesPreConfiguredTargetQueue, true)
    }

    /// Undoes `markSocketQueueTargetQueue(_:)` for all sockets of this socket queue.
    public func unmarkSocketQueueTargetQueue(_ socketQueuesPreviouslyConfiguredTargetQueue: DispatchQueue) {
        ownEngine?.mark(target: socketQueuesPreviouslyConfiguredTargetQueue, false)
    }

    /// Runs the block on the socket queue and waits until it returns. It may be called on that queue.
    public func perform(_ block: () -> Void) { engine.perform(block) }

    /// Returns the descriptor, or the IPv4 one if the socket accepts on both families. Returns -1 if there is none, and
    /// outside `perform`.
    public func socketFD() -> Int32 { descriptor { _ in true } }

    /// Returns the IPv4 descriptor, or -1 if there is none, and outside `perform`.
    public func socket4FD() -> Int32 { descriptor { $0 == .v4 } }

    /// Returns the IPv6 descriptor, or -1 if there is none, and outside `perform`.
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

    /// Returns `false`: backgrounding is an iOS feature.
    public func enableBackgroundingOnSocket() -> Bool { false }
}

/// Utilities.
extension GCDAsyncSocket {
    /// Returns the addresses of a host, each a `Data` that holds a sockaddr. Blocks during name resolution. `localhost`
    /// and `loopback` are 127.0.0.1 and ::1.
    public class func lookupHost(_ host: String, port: UInt16) throws -> NSMutableArray {
        let addresses = try rethrowing(NSError.stream) { () throws(SocketError) in
            try SocketAddress.addresses(ofHost: host, port: port)
        }
        return NSMutableArray(array: addresses.compactMap(\.ipData))
    }

    /// Returns the numeric host in a sockaddr, or `nil` if it is neither IPv4 nor IPv6.
    public class func host(fromAddress address: Data) -> String? { SocketAddress(address)?.plainHost }

    /// Returns the port in a sockaddr, or 0 if it is neither IPv4 nor IPv6.
    public class func port(fromAddress address: Data) -> UInt16 { SocketAddress(address)?.port ?? 0 }

    /// Whether the data holds an IPv4 sockaddr.
    public class func isIPv4Address(_ address: Data) -> Bool { SocketAddress(address)?.family == .v4 }

    /// Whether the data holds an IPv6 sockaddr.
    public class func isIPv6Address(_ address: Data) -> Bool { SocketAddress(address)?.family == .v6 }

    /// Reads the host and port of a sockaddr. Returns `false` and writes nothing if it is neither IPv4 nor IPv6.
    @discardableResult
    public class func getHost(
        _ hostPtr: UnsafeMutablePointer<NSString?>?, port portPtr: UnsafeMutablePointer<UInt16>?,
        fromAddress address: Data
    ) -> Bool {
        getHost(hostPtr, port: portPtr, family: nil, fromAddress: address)
    }

    /// Reads the host, the port and the family (AF_INET or AF_INET6) of a sockaddr. Returns `false` and writes nothing
    /// if it is neither IPv4 nor IPv6.
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
