import CSystem
import Glibc
import SocketCore

extension LinuxKernel {
    package func set(_ option: SocketOption, on descriptor: Int32) -> Int32 {
        switch option {
        case .reuseAddress: set(1, SOL_SOCKET, SO_REUSEADDR, on: descriptor)
        case .onlyIPv6: set(1, Int32(IPPROTO_IPV6), IPV6_V6ONLY, on: descriptor)
        case .noDelay: set(1, Int32(IPPROTO_TCP), TCP_NODELAY, on: descriptor)
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

    package func describe(_ descriptor: Int32, isTCP: Bool) -> KernelSnapshot {
        var answer = KernelSnapshot()
        var info = csystem_tcp_info()
        if isTCP, csystem_tcp_info(descriptor, &info) == 0 {
            fill(&answer, from: info)
            // A listener has no byte queues; what ss shows as its Recv-Q are connections waiting for accept.
            if answer.state == "LISTEN" {
                answer.receiveQueue = known(info.unacked)
                return answer
            }
        }
        answer.receiveQueue = known(Int64(csystem_receive_queue(descriptor)))
        answer.sendQueue = known(Int64(csystem_send_queue(descriptor)))
        return answer
    }

    private func fill(_ answer: inout KernelSnapshot, from info: csystem_tcp_info) {
        answer.state = Self.stateNames.indices.contains(Int(info.state)) ? Self.stateNames[Int(info.state)] : nil
        guard answer.state != "LISTEN" else { return }
        answer.notSent = known(info.not_sent)
        answer.roundTripTime = known(info.rtt_microseconds).map { .microseconds($0) }
        answer.congestionWindow = known(info.congestion_window)
        answer.retransmits = known(info.retransmits)
        answer.bytesSent = known(info.bytes_sent).map(UInt64.init)
        answer.bytesReceived = known(info.bytes_received).map(UInt64.init)
        answer.deliveryRate = known(info.delivery_rate).map(UInt64.init)
        if info.busy_microseconds > 0, info.receiver_limited_microseconds >= 0 {
            answer.receiverWindowLimited =
                Double(info.receiver_limited_microseconds) / Double(info.busy_microseconds)
        }
    }

    private func known(_ value: Int64) -> Int? {
        value < 0 ? nil : Int(value)
    }

    /// The kernel's TCP_* states (net/tcp_states.h) in the words of ss.
    private static let stateNames = [
        "UNKNOWN", "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN", "CLOSE-WAIT",
        "LAST-ACK", "LISTEN", "CLOSING",
    ]
}
