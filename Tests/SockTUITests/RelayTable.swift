import Glibc
import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// A descriptor at one end of a connection, worked by system calls alone. It counts what it sends and checks what it
/// receives: byte n of every stream is a function of n.
final class TablePeer {
    private(set) var descriptor: Int32
    private(set) var sent = 0
    private(set) var received = 0
    private(set) var isIntact = true

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// It repeats after 65,536 bytes, which is also the most that is sent or received at a time.
    private static let pattern = (0..<131_072).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8)) }

    /// Sends so many bytes, or as many as the kernel takes at once; false when it took none.
    @discardableResult func send(_ count: Int) -> Bool {
        let taken = Self.pattern.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress! + sent % 65_536, count, Int32(MSG_NOSIGNAL))
        }
        sent += max(0, taken)
        return taken > 0
    }

    /// Sends until nothing has moved for a while.
    func fill() {
        while isReady(Int16(POLLOUT), within: 200), send(65_536) {}
    }

    /// Whether all that was sent is acknowledged, and more waits for the peer's window.
    var isStuck: Bool {
        var (queued, unsent) = (Int32(0), Int32(0))
        // SIOCOUTQ and SIOCOUTQNSD of linux/sockios.h.
        guard ioctl(descriptor, 0x5411, &queued) == 0, ioctl(descriptor, 0x894B, &unsent) == 0 else { return false }
        return unsent > 0 && queued == unsent
    }

    /// Whether poll reports one of these, or an error or a hang-up.
    func isReady(_ events: Int16, within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    /// Whether the kernel has told of a reset, unread bytes or not.
    func isReset(within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&entry, 1, milliseconds) > 0 && entry.revents & Int16(POLLERR | POLLHUP) != 0
    }

    /// Receives until the stream ends: 0 for FIN, else the errno; `nil` when it does not end.
    func readToEnd() -> Int32? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return 0 }
            if count < 0 {
                if errno != EAGAIN { return errno }
                guard isReady(Int16(POLLIN), within: 20_000) else { return nil }
                continue
            }
            let isSame = Self.pattern.withUnsafeBytes {
                memcmp(buffer, $0.baseAddress! + received % 65_536, count) == 0
            }
            isIntact = isIntact && isSame
            received += count
        }
    }

    /// Takes what has come so far.
    func read(_ count: Int) {
        var buffer = [UInt8](repeating: 0, count: count)
        guard eventually({ recv(descriptor, &buffer, count, Int32(MSG_PEEK)) == count }) else { return }
        received += max(0, recv(descriptor, &buffer, count, 0))
    }

    func waitUntilReadable() { _ = isReady(Int16(POLLIN), within: 20_000) }

    func shut(_ how: Int) { shutdown(descriptor, Int32(how)) }

    /// Closes; with `reset`, by RST.
    func end(reset: Bool = false) {
        if reset {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        close(descriptor)
        descriptor = -1
    }

    /// Leaves the descriptor to another process alone, and kills that.
    func endByKill() throws {
        let process = try HoldingProcess(descriptor)
        end()
        process.kill()
    }
}

/// The ways in which a side can end, and what is on its way then.
enum TableEnd: String, CaseIterable { case fin, halfClose, reset, kill, unreadClose }

enum TableLoad: String, CaseIterable {
    /// All that was sent has been read.
    case idle
    /// The side that ends has just sent a little, which nobody has read.
    case few
    /// It has sent as much as fits; the other side does not read.
    case queuedAway
    /// The other side has sent as much as fits; the side that ends does not read.
    case queuedHere
    /// Both.
    case stalled
}

/// What the other side sees.
struct TableSight: Equatable {
    /// 0 for FIN, else the errno; `nil`: no end.
    var end: Int32?
    /// It was told although it did not read.
    var isTold: Bool
    /// It got a prefix of what was sent.
    var isIntact: Bool
    /// It got all of it.
    var isWhole: Bool
}

/// Two descriptors, joined directly or by a relay.
struct TableLine {
    let engine = SocketEngine()
    let relay: Relay?
    let client: TablePeer
    let target: TablePeer

    init(relayed: Bool) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        let kernel = LinuxKernel()
        guard kernel.bind(listener, to: .v4(host: "127.0.0.1", port: 0)) == 0, listen(listener, 1) == 0,
            let served = kernel.localAddress(listener)?.port
        else { throw PeerFailure(errno: errno) }
        var port = served
        var relay: Relay?
        if relayed {
            let made = Relay(
                engine: engine,
                request: RelayRequest(
                    listen: .tcp(host: "127.0.0.1", port: 0),
                    target: .endpoint(.tcp(host: "127.0.0.1", port: served))))
            try made.start()
            port = engine.picture(of: made.session)?.local?.port ?? 0
            relay = made
        }
        self.relay = relay
        let near = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard kernel.connect(near, to: .v4(host: "127.0.0.1", port: port)) == 0 else { throw PeerFailure(errno: errno) }
        guard case .accepted(let far, _) = kernel.accept(listener) else { throw PeerFailure(errno: errno) }
        (client, target) = (TablePeer(near), TablePeer(far))
    }

    /// The relay's two legs, that of the client first.
    var legs: [SocketSnapshot] {
        engine.snapshot(SnapshotRequest(kernel: .all)).sockets.filter { $0.linked != nil }.sorted {
            $0.role == .accepted && $1.role == .client
        }
    }

    /// Brings `side` to the point where it is about to end.
    func load(_ load: TableLoad, _ side: TablePeer, _ other: TablePeer) {
        // Both directions work.
        side.send(5)
        other.read(5)
        other.send(5)
        side.read(5)
        switch load {
        case .idle: break
        case .few: side.send(1_000)
        case .queuedAway: side.fill()
        case .queuedHere: other.fill()
        case .stalled:
            side.fill()
            other.fill()
        }
        let isFilledAway = load == .queuedAway || load == .stalled,
            isFilledHere = load == .queuedHere || load == .stalled
        // The legs hold each other back, and neither the engine nor the kernel has anything more to do.
        let held = (isFilledAway ? 1 : 0) + (isFilledHere ? 1 : 0)
        let isStill = eventually {
            (relay == nil || legs.count { $0.isHeldBack } == held)
                && (!isFilledAway || isStuck(side, before: other)) && (!isFilledHere || isStuck(other, before: side))
        }
        #expect(isStill, "\(load)")
    }

    /// Whether what `writer` sent fills all that lies before `reader`.
    private func isStuck(_ writer: TablePeer, before reader: TablePeer) -> Bool {
        guard relay != nil else { return writer.isStuck }
        let legs = legs
        guard legs.count == 2, let kernel = legs[reader === client ? 0 : 1].kernel else { return false }
        return kernel.notSent ?? 0 > 0 && kernel.sendQueue == kernel.notSent
    }

    /// Ends `side` in that way; what the other one sees.
    func end(_ end: TableEnd, _ load: TableLoad, _ side: TablePeer, _ other: TablePeer) throws -> TableSight {
        let isLoadedHere = load == .queuedHere || load == .stalled
        if end == .unreadClose, !isLoadedHere {
            other.send(1)
            side.waitUntilReadable()
        }
        switch end {
        case .fin: if isLoadedHere { side.shut(Int(SHUT_RDWR)) } else { side.end() }
        case .halfClose: side.shut(Int(SHUT_WR))
        case .reset: side.end(reset: true)
        case .unreadClose: side.end()
        case .kill: try side.endByKill()
        }
        let isReset = end == .reset || end == .unreadClose || end == .kill && isLoadedHere
        let isTold = isReset && other.isReset(within: 20_000)
        let ending = other.readToEnd()
        return TableSight(
            end: ending, isTold: isTold, isIntact: other.isIntact, isWhole: other.received == side.sent)
    }
}
