import SocketCore

/// A synthesized frame: Ethernet without addresses, IP, and TCP or UDP with valid checksums.
package struct SyntheticPacket: Sendable {
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let fin = Flags(rawValue: 1)
        package static let syn = Flags(rawValue: 2)
        package static let reset = Flags(rawValue: 4)
        package static let push = Flags(rawValue: 8)
        package static let ack = Flags(rawValue: 16)
    }

    /// One end of a packet.
    package struct End: Hashable, Sendable {
        package var ip: IPAddress
        package var port: UInt16
        package init(_ ip: IPAddress, _ port: UInt16) { (self.ip, self.port) = (ip, port) }
    }

    package var source: End
    package var destination: End

    package init(from source: End, to destination: End) { (self.source, self.destination) = (source, destination) }

    /// The most payload bytes in one packet, so that a frame stays within the snaplen and the length field of IP.
    package static let mostPayload = 65_000

    /// Returns the headers of a TCP segment that carries this payload. A SYN offers window scaling, so that the window
    /// covers much unacknowledged data. If the payload is truncated (`length` is larger), there is no checksum.
    package func tcpHead(
        _ flags: Flags, sequence: UInt32, acknowledges: UInt32, payload: ArraySlice<UInt8>, length: Int
    ) -> [UInt8] {
        let options: [UInt8] = flags.contains(.syn) ? [2, 4, 0xFF, 0xD7, 1, 3, 3, 14] : []
        var segment: [UInt8] = []
        segment.reserveCapacity(20 + options.count)
        segment.append(big: source.port)
        segment.append(big: destination.port)
        segment.append(big: sequence)
        segment.append(big: flags.contains(.ack) ? acknowledges : 0)
        segment.append(UInt8(20 + options.count) << 2)
        segment.append(flags.rawValue)
        segment.append(big: UInt16.max)
        segment.append(big: UInt32(0))
        segment += options
        if payload.count == length { segment.put(big: checksum(of: segment, payload, protocol: 6), at: 16) }
        return frame(segment, with: length, protocol: 6)
    }

    /// Returns a UDP datagram.
    package func udp(_ payload: ArraySlice<UInt8>) -> [UInt8] {
        var datagram: [UInt8] = []
        datagram.append(big: source.port)
        datagram.append(big: destination.port)
        datagram.append(big: UInt16(clamping: 8 + payload.count))
        datagram.append(big: UInt16(0))
        let sum = checksum(of: datagram, payload, protocol: 17)
        datagram.put(big: sum == 0 ? 0xFFFF : sum, at: 6)
        return frame(datagram, with: payload.count, protocol: 17) + payload
    }

    private var isIPv6: Bool { if case .v6 = source.ip { true } else { false } }

    private func checksum(of head: [UInt8], _ payload: ArraySlice<UInt8>, protocol number: UInt16) -> UInt16 {
        var sum = InternetChecksum()
        sum.add(source.ip.networkBytes)
        sum.add(destination.ip.networkBytes)
        sum.add(number)
        sum.add(UInt16(clamping: head.count + payload.count))
        sum.add(head)
        sum.add(payload)
        return sum.value
    }

    private func frame(_ segment: [UInt8], with payload: Int, protocol number: UInt8) -> [UInt8] {
        let length = segment.count + payload
        var frame = [UInt8](repeating: 0, count: 12)
        frame.reserveCapacity(54 + segment.count)
        frame.append(big: UInt16(isIPv6 ? 0x86DD : 0x0800))
        if isIPv6 {
            frame.append(big: UInt32(0x6000_0000))
            frame.append(big: UInt16(clamping: length))
            frame += [number, 64]
        } else {
            frame += [0x45, 0]
            frame.append(big: UInt16(clamping: 20 + length))
            frame += [0, 0, 0x40, 0, 64, number, 0, 0]
        }
        frame += source.ip.networkBytes + destination.ip.networkBytes
        if !isIPv6 {
            var sum = InternetChecksum()
            sum.add(frame[14..<34])
            frame.put(big: sum.value, at: 24)
        }
        return frame + segment
    }
}
