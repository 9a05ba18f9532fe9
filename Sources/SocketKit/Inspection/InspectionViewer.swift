import Glibc
import SocketCore

/// One viewer's connection. Only the inspection thread touches it, and no call on it waits.
final class InspectionViewer {
    private var descriptor: Int32
    private var decoder = InspectionFrameDecoder()
    private var unsent: [UInt8] = []
    private var sent = 0
    private var hasEnded = false
    /// What it was told and wants to be told.
    var progress = InspectionBoard.Progress()
    /// Until when it has to say who it is; nil: it did.
    private(set) var helloDeadline: MonotonicTime?
    /// It said who it is, and was told nothing yet.
    var isUntold = false

    private static let patience = Duration.seconds(5)
    /// Bytes that may wait for a viewer beside one whole update: answers to what it asked for.
    private static let unsentLimit = 64 << 20

    init(_ descriptor: Int32, now: MonotonicTime) {
        self.descriptor = descriptor
        helloDeadline = now + Self.patience
    }

    deinit { close() }

    var isGreeted: Bool { helloDeadline == nil && !isClosed }
    var isClosed: Bool { descriptor < 0 }
    /// Whether all that was sent has left.
    var hasRoom: Bool { unsent.isEmpty && !isClosed }

    var polled: pollfd {
        pollfd(fd: descriptor, events: Int16(POLLIN) | (unsent.isEmpty ? 0 : Int16(POLLOUT)), revents: 0)
    }

    func greeted() {
        helloDeadline = nil
        isUntold = true
    }

    /// What it wants to be told from now on, as much as the limit allows.
    func watches(_ watch: InspectionWatch) {
        progress.watch = watch
        progress.watch.sockets = Array(watch.sockets.prefix(InspectionWatch.limit))
    }

    /// Sends as much as the kernel takes; the rest leaves when there is room.
    func send(_ bytes: [UInt8]) {
        guard !isClosed, unsent.count - sent + bytes.count <= Self.unsentLimit else { return close() }
        unsent += bytes
        flush()
    }

    func flush() {
        while !isClosed, sent < unsent.count {
            let count = unsent[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                if count < 0, errno == EAGAIN || errno == EWOULDBLOCK { return }
                return close()
            }
            sent += count
        }
        unsent = []
        sent = 0
    }

    /// Takes what has come, up to a bound, so that no viewer keeps the others waiting.
    func receive() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        for _ in 0..<16 where !isClosed && decoder.pending < 2 * InspectionFrame.limit {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 { decoder.append(buffer[..<count]) }
            if count < 0, errno == EINTR { continue }
            if count == 0 || count < 0 && errno != EAGAIN && errno != EWOULDBLOCK { hasEnded = true }
            if count < buffer.count { break }
        }
    }

    /// The next frame that is whole; nil: none is, and where the viewer has hung up, none will be.
    func next() throws(WireError) -> InspectionFrame? {
        guard !isClosed else { return nil }
        if let frame = try decoder.next() { return frame }
        guard hasEnded else { return nil }
        let cut = decoder.pending
        close()
        if cut > 0 { throw .malformed("a frame is cut off") }
        return nil
    }

    func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
        unsent = []
        sent = 0
    }
}
