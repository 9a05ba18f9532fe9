import SocketCore

/// What a connection reaches within each step. Overlapping accesses to it are looked for in debug builds only: in a release
/// build the looking was a quarter of all instructions of an echo.
///
/// Proof: it is reached on the engine's queue only, where `Confined` keeps it. Nothing that runs within an access reaches the
/// same field: machines call nobody, and user code runs between steps. A debug build checks each access and traps, and the
/// tests and the simulation run in such builds.
class ConnectionStorage {
    #if DEBUG
    final var machine: ConnectionMachine
    final var socket: SocketHandle?
    /// Where callbacks go.
    final var handle: HandleReference<AsyncSocket>
    #else
    @exclusivity(unchecked) final var machine: ConnectionMachine
    @exclusivity(unchecked) final var socket: SocketHandle?
    @exclusivity(unchecked) final var handle: HandleReference<AsyncSocket>
    #endif

    init(machine: consuming ConnectionMachine, handle: AsyncSocket?) {
        self.machine = machine
        self.handle = HandleReference(handle)
    }
}
