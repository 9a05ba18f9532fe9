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
    /// There is something that it was not told.
    var isBehind = false

    private static let patience = Duration.seconds(5)
    /// Bytes that may wait for a viewer: a piece of an update, and answers to what it asked for.
    private static let unsentLimit = 8 << 20

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

    /// Sends as much as the kernel takes; only the rest is kept, and leaves when there is room.
    func send(_ bytes: [UInt8]) {
        guard !isClosed, unsent.count - sent + bytes.count <= Self.unsentLimit else { return close() }
        guard unsent.isEmpty else { return unsent += bytes }
        let count = push(bytes, from: 0)
        if count < bytes.count, !isClosed { unsent = Array(bytes[count...]) }
    }

    func flush() {
        sent = push(unsent, from: sent)
        guard sent == unsent.count else { return }
        unsent = []
        sent = 0
    }

    /// Hands bytes to the kernel as far as it takes them; where the rest begins.
    private func push(_ bytes: [UInt8], from start: Int) -> Int {
        var start = start
        while !isClosed, start < bytes.count {
            let count = bytes[start...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                if count == 0 || errno != EAGAIN && errno != EWOULDBLOCK { close() }
                break
            }
            start += count
        }
        return start
    }

    /// Takes what has come, up to a bound, so that no viewer keeps the others waiting.
    func receive(by buffer: inout [UInt8]) {
        for _ in 0..<64 where !isClosed && decoder.pending < 2 * InspectionFrame.limit {
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
