import SocketCore

/// The fields that a connection uses in every step. Overlapping accesses to them are checked in debug builds only.
///
/// The checks of all fields together took a quarter of the instructions of an echo. A whole-module build proves most fields
/// free of overlaps and checks those at no cost; it cannot prove these.
///
/// Proof: the fields are used on the engine's queue only, where `Confined` keeps their owner. Code that runs within an access
/// is ours (the machine, the kernel, TLS, tapes and taps), and at most reads a field that is being read. User code runs outside
/// of all accesses. A debug build checks every access and traps; the tests run in debug builds, and `script/test --all`
/// simulates with the checks.
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
