import CSocketKitSystem
import Glibc
import SocketCore

extension LinuxKernel {
    package func openDatagram(for address: SocketAddress) -> IOResult {
        open(for: address, kind: SOCK_DGRAM)
    }

    package func receiveDatagrams(
        _ descriptor: Int32, into inbox: DatagramInbox, most: Int, limit: Int
    ) -> IOResult {
        outcome(retry { inbox.receive(from: descriptor, most: most, limit: limit) })
    }

    package func sendDatagrams(
        _ descriptor: Int32, _ datagrams: UnsafeBufferPointer<OutgoingDatagram>
    ) -> IOResult {
        withUnsafeTemporaryAllocation(of: sockaddr_storage.self, capacity: datagrams.count) { addresses in
            withUnsafeTemporaryAllocation(of: csystem_departure.self, capacity: datagrams.count) { departures in
                for (index, datagram) in datagrams.enumerated() {
                    addresses.initializeElement(at: index, to: sockaddr_storage())
                    departures.initializeElement(at: index, to: csystem_departure())
                    departures[index].bytes = datagram.bytes.baseAddress
                    departures[index].length = datagram.bytes.count
                    guard let destination = datagram.destination else { continue }
                    guard let length = Sockaddr.fill(&addresses[index], from: destination) else {
                        return index == 0 ? .failed(errno: EINVAL) : send(descriptor, departures, index)
                    }
                    departures[index].destination = UnsafeRawPointer(addresses.baseAddress?.advanced(by: index))
                    departures[index].destination_length = length
                }
                return send(descriptor, departures, datagrams.count)
            }
        }
    }

    private func send(
        _ descriptor: Int32, _ departures: UnsafeMutableBufferPointer<csystem_departure>, _ count: Int
    ) -> IOResult {
        outcome(retry { Int(csystem_send_datagrams(descriptor, departures.baseAddress, UInt32(count))) })
    }

    package func dissolve(_ descriptor: Int32) -> Int32 {
        check(csystem_dissolve(descriptor))
    }

    package func describeDatagrams(_ descriptor: Int32) -> KernelSnapshot {
        var answer = KernelSnapshot()
        let sendQueue = csystem_send_queue(descriptor)
        if sendQueue >= 0 { answer.sendQueue = Int(sendQueue) }
        var memory = csystem_memory()
        guard csystem_memory(descriptor, &memory) == 0 else { return answer }
        // SIOCINQ would return the next datagram's length. ss too shows what all of them take.
        answer.receiveQueue = Int(memory.received)
        answer.receiveBuffer = Int(memory.receive_buffer)
        answer.drops = UInt64(memory.drops)
        return answer
    }

    /// Sets an option that only datagram sockets need.
    func setDatagram(_ option: SocketOption, on descriptor: Int32) -> Int32 {
        let (v4, v6) = (Int32(IPPROTO_IP), Int32(IPPROTO_IPV6))
        switch option {
        case .reportsDestination(let isIPv6):
            return isIPv6
                ? set(Int32(1), v6, IPV6_RECVPKTINFO, on: descriptor) : set(Int32(1), v4, IP_PKTINFO, on: descriptor)
        case .ownGroupsOnly(let isIPv6):
            return isIPv6
                ? set(Int32(0), v6, Self.multicastAllIPv6, on: descriptor)
                : set(Int32(0), v4, IP_MULTICAST_ALL, on: descriptor)
        case .timeToLive(let hops, let isIPv6):
            return isIPv6 ? set(hops, v6, IPV6_UNICAST_HOPS, on: descriptor) : set(hops, v4, IP_TTL, on: descriptor)
        case .multicastTimeToLive(let hops, let isIPv6):
            return isIPv6
                ? set(hops, v6, IPV6_MULTICAST_HOPS, on: descriptor) : set(hops, v4, IP_MULTICAST_TTL, on: descriptor)
        case .multicastLoopback(let isOn, let isIPv6):
            let value: Int32 = isOn ? 1 : 0
            return isIPv6
                ? set(value, v6, IPV6_MULTICAST_LOOP, on: descriptor)
                : set(value, v4, IP_MULTICAST_LOOP, on: descriptor)
        case .multicastInterface(let index, let isIPv6):
            guard !isIPv6 else { return set(index, v6, IPV6_MULTICAST_IF, on: descriptor) }
            return set(membership(interface: index), v4, IP_MULTICAST_IF, on: descriptor)
        case .joinGroup(let group, let interface): return member(group, interface, isJoining: true, descriptor)
        case .leaveGroup(let group, let interface): return member(group, interface, isJoining: false, descriptor)
        case .reuseAddress, .onlyIPv6, .noDelay, .urgentInLine, .sendBuffer, .receiveBuffer, .keepAlive, .reusePort,
            .broadcast, .resetOnClose:
            preconditionFailure("\(option) is not a datagram-only option")
        }
    }

    /// IPV6_MULTICAST_ALL (linux/in6.h), which glibc's headers lack.
    private static let multicastAllIPv6: Int32 = 29

    private func membership(interface: UInt32) -> ip_mreqn {
        ip_mreqn(imr_multiaddr: in_addr(), imr_address: in_addr(), imr_ifindex: Int32(bitPattern: interface))
    }

    /// On Linux the options of the two families differ in number, unlike on Darwin.
    private func member(
        _ group: SocketAddress, _ interface: UInt32, isJoining: Bool, _ descriptor: Int32
    ) -> Int32 {
        switch group.ip {
        case .v4(let bits):
            var request = membership(interface: interface)
            request.imr_multiaddr.s_addr = bits
            let name = isJoining ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP
            return set(request, Int32(IPPROTO_IP), name, on: descriptor)
        case .v6(let high, let low):
            var request = ipv6_mreq(ipv6mr_multiaddr: in6_addr(), ipv6mr_interface: interface)
            withUnsafeMutableBytes(of: &request.ipv6mr_multiaddr) {
                $0.storeBytes(of: high, as: UInt64.self)
                $0.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
            }
            let name = isJoining ? IPV6_ADD_MEMBERSHIP : IPV6_DROP_MEMBERSHIP
            return set(request, Int32(IPPROTO_IPV6), name, on: descriptor)
        case nil: return EINVAL
        }
    }
}
