import Glibc
import SocketKit

/// Datagrams between sockets of the engine's machine. They arrive at once; what nobody is bound to is refused.
extension Network {
    /// A datagram socket.
    struct Mailbox {
        var peer: SocketAddress?
        var inbox: [Datagram] = []
        /// Port unreachable, of a datagram sent earlier.
        var error: Int32 = 0
        /// Datagrams that found no room.
        var drops: UInt64 = 0
    }

    /// Datagrams that one socket holds.
    private static let room = 32

    /// The address of a datagram socket, which gets a port of its own where it has none.
    mutating func address(ofMailbox number: Int32) -> SocketAddress {
        if let bound = self[number]?.bound, bound.port != 0 { return bound }
        let address = SocketAddress.v4(host: Self.host, port: 30_000 + UInt16(number))
        self[number]?.bound = address
        return address
    }

    /// Sends datagrams; how many left before one failed.
    mutating func send(
        _ datagrams: UnsafeBufferPointer<OutgoingDatagram>, from number: Int32, _ mutation: Mutation
    ) -> IOResult {
        for (index, datagram) in datagrams.enumerated() {
            guard case .mailbox(var own) = self[number]?.role else { return .failed(errno: ENOTSOCK) }
            if own.error != 0 {
                let error = own.error
                own.error = 0
                self[number]?.role = .mailbox(own)
                return index == 0 ? .failed(errno: error) : .bytes(index)
            }
            guard let destination = datagram.destination ?? own.peer else { return .failed(errno: EDESTADDRREQ) }
            let source = address(ofMailbox: number)
            let sent = Datagram(bytes: Array(datagram.bytes), source: source, destination: destination)
            if !deliver(sent, mutation) {
                own.error = own.peer == nil ? 0 : ECONNREFUSED
                self[number]?.role = .mailbox(own)
            }
            progress += 1
        }
        return .bytes(datagrams.count)
    }

    /// Puts a datagram where it belongs; false when nobody is there.
    private mutating func deliver(_ datagram: Datagram, _ mutation: Mutation) -> Bool {
        for number in openDescriptors {
            guard case .mailbox(var mailbox) = self[number]?.role, self[number]?.bound == datagram.destination,
                mailbox.peer == nil || mailbox.peer == datagram.source
            else { continue }
            for _ in 0..<copies(of: datagram, mutation) {
                if mailbox.inbox.count < Self.room { mailbox.inbox.append(datagram) } else { mailbox.drops += 1 }
            }
            self[number]?.role = .mailbox(mailbox)
            return true
        }
        return false
    }

    /// How many arrive of one that tasks sent: a planted bug loses it, or doubles it.
    private func copies(of datagram: Datagram, _ mutation: Mutation) -> Int {
        guard datagram.destination?.port == DatagramTasks.port else { return 1 }
        if mutation.strikes(.losesADatagram) { return 0 }
        return mutation.strikes(.doublesADatagram) ? 2 : 1
    }

    /// Datagrams that found no room at this port.
    func drops(on port: UInt16) -> Int {
        for number in openDescriptors where self[number]?.bound?.port == port {
            if case .mailbox(let mailbox) = self[number]?.role { return Int(mailbox.drops) }
        }
        return 0
    }

    /// Takes datagrams out.
    mutating func receive(_ number: Int32, into inbox: DatagramInbox, most: Int, limit: Int) -> IOResult {
        guard case .mailbox(var mailbox) = self[number]?.role else { return .failed(errno: ENOTSOCK) }
        let taken = mailbox.inbox.prefix(most)
        guard !taken.isEmpty else { return .wouldBlock }
        mailbox.inbox.removeFirst(taken.count)
        self[number]?.role = .mailbox(mailbox)
        inbox.fill(
            taken.map { datagram in
                var kept = datagram
                kept.bytes = Array(datagram.bytes.prefix(limit))
                return kept
            })
        progress += 1
        return .bytes(taken.count)
    }
}

extension SimulatedKernel {
    package func openDatagram(for address: SocketAddress) -> IOResult {
        network.withLock { network in
            network.events += 1
            if network.fails(oneIn: 40) { return .failed(errno: network.chance.pick([EMFILE, ENFILE, ENOBUFS])) }
            let descriptor = network.open()
            network[descriptor]?.role = .mailbox(Network.Mailbox())
            return .bytes(Int(descriptor))
        }
    }

    package func receiveDatagrams(
        _ descriptor: Int32, into inbox: DatagramInbox, most: Int, limit: Int
    ) -> IOResult {
        network.withLock { network in
            _ = network.role(descriptor, in: "recvmmsg")
            return network.receive(descriptor, into: inbox, most: most, limit: limit)
        }
    }

    package func sendDatagrams(
        _ descriptor: Int32, _ datagrams: UnsafeBufferPointer<OutgoingDatagram>
    ) -> IOResult {
        network.withLock { network in
            _ = network.role(descriptor, in: "sendmmsg")
            return network.send(datagrams, from: descriptor, mutation)
        }
    }

    package func dissolve(_ descriptor: Int32) -> Int32 {
        network.withLock { network in
            guard case .mailbox(var mailbox) = network.role(descriptor, in: "connect") else { return ENOTSOCK }
            mailbox.peer = nil
            network[descriptor]?.role = .mailbox(mailbox)
            return 0
        }
    }

    package func describeDatagrams(_ descriptor: Int32) -> KernelSnapshot {
        network.withLock { network in
            var answer = KernelSnapshot()
            guard case .mailbox(let mailbox) = network.role(descriptor, in: "SO_MEMINFO") else { return answer }
            answer.receiveQueue = mailbox.inbox.reduce(0) { $0 + $1.bytes.count }
            answer.drops = mailbox.drops
            return answer
        }
    }
}
