import CSocketKitSystem
import Glibc
import SocketCore

extension LinuxKernel {
    package func set(_ option: SocketOption, on descriptor: Int32) -> Int32 {
        switch option {
        case .reuseAddress: set(1, SOL_SOCKET, SO_REUSEADDR, on: descriptor)
        case .onlyIPv6: set(1, Int32(IPPROTO_IPV6), IPV6_V6ONLY, on: descriptor)
        case .noDelay: set(1, Int32(IPPROTO_TCP), TCP_NODELAY, on: descriptor)
        case .urgentInLine: set(1, SOL_SOCKET, SO_OOBINLINE, on: descriptor)
        case .sendBuffer(let bytes): set(Int32(clamping: bytes), SOL_SOCKET, SO_SNDBUF, on: descriptor)
        case .receiveBuffer(let bytes): set(Int32(clamping: bytes), SOL_SOCKET, SO_RCVBUF, on: descriptor)
        case .keepAlive(let idle, let interval, let count):
            [
                set(1, SOL_SOCKET, SO_KEEPALIVE, on: descriptor),
                set(idle, Int32(IPPROTO_TCP), TCP_KEEPIDLE, on: descriptor),
                set(interval, Int32(IPPROTO_TCP), TCP_KEEPINTVL, on: descriptor),
                set(count, Int32(IPPROTO_TCP), TCP_KEEPCNT, on: descriptor),
            ].first { $0 != 0 } ?? 0
        case .reusePort: set(1, SOL_SOCKET, SO_REUSEPORT, on: descriptor)
        case .broadcast(let isOn): set(isOn ? 1 : 0, SOL_SOCKET, SO_BROADCAST, on: descriptor)
        case .reportsDestination, .ownGroupsOnly, .timeToLive, .multicastTimeToLive, .multicastLoopback,
            .multicastInterface, .joinGroup, .leaveGroup:
            setDatagram(option, on: descriptor)
        case .resetOnClose: set(linger(l_onoff: 1, l_linger: 0), SOL_SOCKET, SO_LINGER, on: descriptor)
        }
    }

    func set<Value>(
        _ value: Value, _ level: Int32, _ name: Int32, on descriptor: Int32
    ) -> Int32 {
        withUnsafePointer(to: value) {
            setsockopt(descriptor, level, name, $0, socklen_t(MemoryLayout<Value>.size)) < 0 ? errno : 0
        }
    }
}
