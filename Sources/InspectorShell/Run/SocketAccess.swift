import CSockTUIRun
import Glibc

/// How a program's sockets are connected to the relay.
enum SocketAccess: Sendable {
    /// The program's own socket is connected, by a duplicate.
    case duplicate
    /// A new socket is connected, and takes the place of the program's. It has none of that one's options, and its places
    /// in epoll are lost, so only blocking connects are taken.
    case replacement

    /// Reads what there is to know of a descriptor of a program. `space` is `RelayDoors.space`. Returns a duplicate of it, or a new socket of its kind,
    /// or -1 with errno.
    func open(_ thread: Int32, _ descriptor: Int32, in space: UInt64, _ facts: inout crun_socket) -> Int32 {
        switch self {
        case .duplicate:
            let socket = crun_take(thread, descriptor)
            guard socket >= 0 else { return -1 }
            let error = crun_describe(socket, space, &facts)
            return error == 0 ? socket : Self.refuse(socket, error)
        case .replacement:
            let error = crun_describe_from_outside(thread, descriptor, &facts)
            return error == 0 ? crun_open_like(&facts) : Self.refuse(-1, error)
        }
    }

    private static func refuse(_ socket: Int32, _ error: Int32) -> Int32 {
        if socket >= 0 { close(socket) }
        errno = error
        return -1
    }
}
