import Glibc
import SocketCore
import SocketRecords

/// One viewer's connection. Only the inspection thread uses it, and no call on it waits.
final class InspectionViewer {
    private var descriptor: Int32
    private let kernel: any Kernel
    /// The requests that have not been carried out yet.
    let account = ViewerAccount()
    /// The size of the last frame that was read.
    private(set) var frameLength = 0
    private var decoder = InspectionFrameDecoder()
    private var unsent: [UInt8] = []
    private var sent = 0
    private var hasEnded = false
    /// What the viewer has been sent, and what it wants to be sent.
    var progress = InspectionBoard.Progress()
    /// The deadline for the viewer's hello, or `nil` if it has arrived.
    private(set) var helloDeadline: MonotonicTime?
    /// Set after the viewer's hello until the first update is sent.
    var isUntold = false
    /// The tape of the traffic that this viewer wants, if any.
    var tape: RecordingTape?
    /// Whether there is an update that the viewer has not been sent.
    var isBehind = false

    private static let patience = Duration.seconds(5)
    /// The most bytes that may wait for a viewer: a piece of an update, and answers to its requests.
    private static let unsentLimit = 8 << 20

    init(_ descriptor: Int32, _ kernel: any Kernel, now: MonotonicTime) {
        self.descriptor = descriptor
        self.kernel = kernel
        helloDeadline = now + Self.patience
    }

    deinit { close() }

    var isGreeted: Bool { helloDeadline == nil && !isClosed }
    var isClosed: Bool { descriptor < 0 }
    /// Whether all bytes have been sent.
    var hasRoom: Bool { unsent.isEmpty && !isClosed }

    var polled: pollfd {
        // While nothing is read, ignore a hang-up too, because poll would report it again and again.
        let (reads, writes) = (!account.isOverdrawn, !unsent.isEmpty)
        let events = Int16(reads ? POLLIN : 0) | Int16(writes ? POLLOUT : 0)
        return pollfd(fd: reads || writes ? descriptor : -1, events: events, revents: 0)
    }

    func greeted() {
        helloDeadline = nil
        isUntold = true
    }

    /// Sets what the viewer wants to be sent, within the limit.
    func watches(_ watch: InspectionWatch) {
        progress.watch = watch
        progress.watch.sockets = Array(watch.sockets.prefix(InspectionWatch.limit))
    }

    /// Sends as much as the kernel accepts. Only the rest is kept, and sent when there is room.
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

    /// Sends bytes until the kernel accepts no more. Returns where the rest begins.
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

    /// Receives what has arrived, up to a limit, so that no viewer delays the others.
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

    /// Returns the next complete frame, or `nil` if there is none. Closes a viewer that has hung up and has sent no
    /// further frame.
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
        if cut > 0 { throw .malformed("a frame is truncated") }
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
