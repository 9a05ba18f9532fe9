import CSockTUIRun
import Glibc

/// The listeners that a program's sockets are connected to, for each family of addresses. Only connections that a call
/// announced are accepted.
struct RelayDoors {
    /// A listener and its address.
    struct Door {
        var socket: Int32
        var address: KernelAddress
        /// The connection that fills the listener's queue, or -1.
        var filler: Int32
    }

    /// They accept.
    private var open: [Int32: Door] = [:]
    /// They drop what comes, so that a socket that connects to one is still connecting.
    private var full: [Int32: Door] = [:]

    /// Opens them. A family that this host lacks has none.
    init() {
        for family in [AF_INET, AF_INET6] {
            open[family] = Self.listen(family, isFull: false)
            full[family] = Self.listen(family, isFull: true)
        }
        space = open.values.first.map { crun_space($0.socket) } ?? 0
    }

    private static func listen(_ family: Int32, isFull: Bool) -> Door? {
        var (address, filler) = (sockaddr_storage(), Int32(-1))
        let socket = crun_listen(family, isFull ? 1 : 0, &address, &filler)
        return socket < 0 ? nil : Door(socket: socket, address: KernelAddress(address), filler: filler)
    }

    /// Returns the family whose listeners serve a target: an IPv4 one in an IPv6 socket is served by IPv4.
    private static func family(of target: KernelAddress) -> Int32 { target.isMapped ? AF_INET : target.family }

    /// Returns the listener for a target, and its address in the family of the program's socket.
    func door(for target: KernelAddress, isFull: Bool) -> (Door, address: KernelAddress)? {
        guard let door = (isFull ? full : open)[Self.family(of: target)] else { return nil }
        guard target.isMapped, let address = door.address.address else { return (door, door.address) }
        return KernelAddress(address, isMapped: true).map { (door, $0) }
    }

    /// The number of this network namespace, or 0 where the kernel has none.
    let space: UInt64

    var sockets: [Int32] { open.values.map(\.socket) }

    func close() {
        for door in Array(open.values) + Array(full.values) {
            Glibc.close(door.socket)
            if door.filler >= 0 { Glibc.close(door.filler) }
        }
    }
}
