import Glibc
import SocketCore

/// One viewer's connection. Only the inspection thread touches it, and no call on it waits.
final class InspectionViewer {
    private var descriptor: Int32
    private let kernel: any Kernel
    /// What it asked for and the engine has not done yet.
    let account = ViewerAccount()
    /// Bytes of the frame that was read last.
    private(set) var frameLength = 0
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
    /// What passes, where it records that.
    var tape: RecordingTape?
    /// There is something that it was not told.
    var isBehind = false

    private static let patience = Duration.seconds(5)
    /// Bytes that may wait for a viewer: a piece of an update, and answers to what it asked for.
    private static let unsentLimit = 8 << 20

    init(_ descriptor: Int32, _ kernel: any Kernel, now: MonotonicTime) {
        self.descriptor = descriptor
        self.kernel = kernel
        helloDeadline = now + Self.patience
    }

    deinit { close() }

    var isGreeted: Bool { helloDeadline == nil && !isClosed }
    var isClosed: Bool { descriptor < 0 }
    /// Whether all that was sent has left.
    var hasRoom: Bool { unsent.isEmpty && !isClosed }

    var polled: pollfd {
        // While nothing is read, its hanging up is not heard either: poll would report it again and again.
        let (reads, writes) = (!account.isOverdrawn, !unsent.isEmpty)
        let events = Int16(reads ? POLLIN : 0) | Int16(writes ? POLLOUT : 0)
        return pollfd(fd: reads || writes ? descriptor : -1, events: events, revents: 0)
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
            let result = bytes[start...].withUnsafeBytes { rest in
                withUnsafePointer(to: UnsafeRawBufferPointer(rest)) {
                    kernel.send(descriptor, UnsafeBufferPointer(start: $0, count: 1))
                }
            }
            guard case .bytes(let count) = result, count > 0 else {
                if result != .wouldBlock { close() }
                break
            }
            start += count
        }
        return start
    }

    /// Takes what has come, up to a bound, so that no viewer keeps the others waiting.
    func receive(by buffer: inout [UInt8]) {
        for _ in 0..<64 where !isClosed && !account.isOverdrawn && decoder.pending < 2 * InspectionFrame.limit {
            let result = buffer.withUnsafeMutableBytes { kernel.receive(descriptor, into: $0, peek: false) }
            guard case .bytes(let count) = result, count > 0 else {
                if result != .wouldBlock { hasEnded = true }
                break
            }
            decoder.append(buffer[..<count])
            if count < buffer.count { break }
        }
    }

    /// The next frame that is whole; nil: none is, and where the viewer has hung up, none will be.
    func next() throws(WireError) -> InspectionFrame? {
        guard !isClosed, !account.isOverdrawn else { return nil }
        let before = decoder.pending
        if let frame = try decoder.next() {
            frameLength = before - decoder.pending
            return frame
        }
        guard hasEnded else { return nil }
        let cut = decoder.pending
        close()
        if cut > 0 { throw .malformed("a frame is cut off") }
        return nil
    }

    func close() {
        guard descriptor >= 0 else { return }
        kernel.close(descriptor)
        descriptor = -1
        unsent = []
        sent = 0
    }
}
