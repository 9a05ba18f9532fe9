/// The current read: the bytes it has, and whether they suffice.
///
/// An available, length or frame read gathers its bytes here, so that they are copied once. The bytes of a delimiter
/// read stay in the prebuffer, which keeps those after the delimiter in place; the read claims the first `gathered`
/// bytes.
struct CurrentRead: TimedOperation {
    /// The outcome of a step.
    enum Step {
        /// More bytes are needed, and there is nothing new to report.
        case wait
        /// This many bytes arrived since the last report, but more are needed.
        case progress(Int)
        /// The read is done, with these bytes.
        case finish([UInt8])
        /// The limit is reached without a delimiter, or a frame's length is out of bounds.
        case overrun
    }

    let read: QueuedRead
    var timer: OperationTimer
    var ownLimit: TimeLimit { read.limit }
    private var bytes: [UInt8] = []
    /// For a delimiter read, the number of prebuffer bytes it has claimed. For a frame, its negated length. One word
    /// holds both.
    private var mark = 0
    private var reported = 0
    /// Valid only while `done` is more than 0.
    private var lastProgress: MonotonicTime

    /// Makes a read current. Its timeout starts now.
    init(_ read: consuming QueuedRead, now: MonotonicTime) {
        timer = OperationTimer(now: now)
        self.read = read
        lastProgress = now
    }

    /// Creates the placeholder for no current read.
    init() {
        let never = MonotonicTime(nanoseconds: 0)
        timer = OperationTimer(now: never)
        (read, lastProgress) = (QueuedRead(), never)
    }

    /// Drops its bytes after the read has ended.
    mutating func vacate() {
        if !bytes.isEmpty { bytes = [] }
        (mark, reported) = (0, 0)
    }

    /// For a delimiter read, the number of prebuffer bytes it has claimed, or 0 for any other read. No delimiter ends
    /// within them.
    var gathered: Int { max(0, mark) }

    /// The length of a frame, header included, or `nil` until the header has arrived.
    private var frameLength: Int? { mark < 0 ? -mark : nil }

    // MARK: Its bytes

    /// The number of bytes received so far.
    var done: Int { bytes.count + gathered }

    /// The number of bytes it can still take, or `nil` if that is unbounded.
    @inline(__always)
    var missing: Int? {
        switch read.kind {
        case .available(let limit), .delimiter(_, let limit): limit.map { $0 - done }
        case .length(let length): length - done
        case .frame(let prefix): (frameLength ?? prefix.headerLength) - done
        }
    }

    /// Takes the bytes that the read gathers itself and returns their number. They follow those that it has. Reserves
    /// at most 1 MiB in advance, so that a length announced by the peer costs no more.
    mutating func receive(
        _ new: UnsafeRawBufferPointer, now: MonotonicTime, from spares: inout ShortArrayPool
    ) -> Int {
        switch read.kind {
        case .available, .length, .frame: break
        case .delimiter: return 0
        }
        let amount = min(new.count, missing ?? .max)
        guard amount > 0, !timer.isAsking else { return 0 }
        lastProgress = now
        let wanted = bytes.isEmpty ? max(amount, min(read.total ?? 0, 1 << 20)) : 0
        if wanted == amount {
            bytes = spares.copy(UnsafeRawBufferPointer(rebasing: new[..<amount]))
        } else {
            if wanted > 0 { bytes.reserveCapacity(wanted) }
            new[..<amount].withMemoryRebound(to: UInt8.self) { bytes.append(contentsOf: $0) }
        }
        return amount
    }

    /// The number of bytes that can be received straight into the array of a long read, or 0 for any other read.
    var wantedDirectly: Int {
        guard case .length(let length) = read.kind, 4_096...1 << 20 ~= length else { return 0 }
        return length - bytes.count
    }

    /// Lets `fill` fill the first part of the missing bytes. A read without bytes uses `spare` as its array if that has
    /// the read's length, or else a new one. If nothing was filled, `spare` stays as it is.
    mutating func receiveDirectly(
        reusing spare: inout [UInt8], now: MonotonicTime, _ fill: (UnsafeMutableRawBufferPointer) -> Int
    ) {
        let (room, before) = (wantedDirectly, bytes.count)
        if before == 0, spare.count == room {
            let count = spare.withUnsafeMutableBytes(fill)
            guard count > 0 else { return }
            swap(&bytes, &spare)
            if count < room { bytes.removeLast(room - count) }
        } else {
            bytes.append(addingCapacity: room) { added in
                added.withUnsafeMutableBufferPointer { buffer, count in
                    count = fill(UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: room))
                }
            }
            guard bytes.count > before else {
                if before == 0 { bytes = [] }
                return
            }
        }
        lastProgress = now
    }

    /// Completes the read with the first of `bytes` if it lends them and they suffice, then starts over.
    mutating func lend(_ bytes: UnsafeRawBufferPointer, now: MonotonicTime) -> Loan? {
        guard read.lendsBytes, done == 0, !timer.isAsking, let count = itemLength(bytes) else { return nil }
        defer { timer = OperationTimer(now: now) }
        return Loan(operation: read.operation, tag: read.tag, count: count, started: timer.started)
    }

    /// Returns how many of `bytes` complete the read, or `nil` if they do not.
    private func itemLength(_ bytes: UnsafeRawBufferPointer) -> Int? {
        switch read.kind {
        case .available: return bytes.count
        case .delimiter(let terminator, let limit):
            let window = UnsafeRawBufferPointer(rebasing: bytes[..<min(bytes.count, limit ?? .max)])
            guard case .found(let end) = TerminatorSearch.find(terminator, in: window, from: 0) else { return nil }
            return end
        case .length, .frame: return nil
        }
    }

    /// Returns how many of `bytes` belong to the first item whose delimiter ends within them. `bytes` follow those of
    /// the prebuffer, and the delimiter may straddle the two.
    func bytesCompletingItem(in bytes: UnsafeRawBufferPointer, behind preBuffer: PreBuffer) -> Int? {
        guard case .delimiter(let terminator, _) = read.kind else { return nil }
        let reach = terminator.count - 1
        let before = preBuffer.suffix(reach)
        let seam = before + bytes[..<min(reach, bytes.count)]
        let across = seam.withUnsafeBytes { TerminatorSearch.find(terminator, in: $0, from: 0) }
        if case .found(let end) = across { return end - before.count }
        guard case .found(let end) = TerminatorSearch.find(terminator, in: bytes, from: 0) else { return nil }
        return end
    }

    /// Takes the bytes it needs from the prebuffer and returns the outcome.
    mutating func step(
        _ preBuffer: inout PreBuffer, now: MonotonicTime, from spares: inout ShortArrayPool
    ) -> Step {
        switch read.kind {
        case .available(let limit):
            if bytes.isEmpty {
                guard !preBuffer.isEmpty else { return .wait }
                bytes = preBuffer.take(min(preBuffer.count, limit ?? .max), from: &spares)
            }
            return .finish(takeGathered())
        case .length(let length):
            fill(upTo: length, from: &preBuffer, now: now)
            return bytes.count == length ? .finish(takeGathered()) : report()
        case .delimiter(let terminator, let limit):
            let window = min(preBuffer.count, limit ?? .max)
            switch search(terminator, in: preBuffer, window: window) {
            case .found(let end): return .finish(preBuffer.take(end, from: &spares))
            case .missing:
                claim(window, now: now)
                return window == limit ? overrun() : report()
            }
        case .frame(let prefix):
            return stepFrame(prefix, &preBuffer, now: now)
        }
    }

    /// Moves its bytes out.
    private mutating func takeGathered() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        return taken
    }

    /// Reads the header first, because it holds the frame's length.
    private mutating func stepFrame(_ prefix: LengthPrefix, _ preBuffer: inout PreBuffer, now: MonotonicTime) -> Step {
        if frameLength == nil {
            fill(upTo: prefix.headerLength, from: &preBuffer, now: now)
            guard bytes.count >= prefix.headerLength else { return report() }
            guard let length = bytes.withUnsafeBytes(prefix.frameLength) else { return overrun() }
            mark = -length
        }
        let length = frameLength ?? 0
        fill(upTo: length, from: &preBuffer, now: now)
        return bytes.count == length ? .finish(bytes) : report()
    }

    /// Whether `step` would finish or overrun the read now. Takes nothing.
    func isDecided(by preBuffer: PreBuffer) -> Bool {
        switch read.kind {
        case .available: return done + preBuffer.count > 0
        case .length(let length): return done + preBuffer.count >= length
        case .delimiter(let terminator, let limit):
            let window = min(preBuffer.count, limit ?? .max)
            return window == limit || search(terminator, in: preBuffer, window: window) != .missing(resumeAt: window)
        case .frame:
            var attempt = (self, preBuffer)
            var spares = ShortArrayPool()
            var step = attempt.0.step(&attempt.1, now: lastProgress, from: &spares)
            // An overrun reports its bytes first.
            if case .progress = step { step = attempt.0.step(&attempt.1, now: lastProgress, from: &spares) }
            switch step {
            case .wait, .progress: return false
            case .finish, .overrun: return true
            }
        }
    }

    /// Returns all its bytes to the prebuffer, as if it had never been current.
    mutating func giveBack(to preBuffer: inout PreBuffer) {
        preBuffer.prepend(bytes)
        bytes = []
        mark = 0
    }

    /// Takes the bytes of a read that will not complete.
    mutating func takeBytes(_ preBuffer: inout PreBuffer) -> [UInt8] {
        // One of the two is empty. Neither is copied, because they may be all the memory that a peer made us allocate.
        let taken = gathered > 0 ? preBuffer.take(gathered) : bytes
        bytes = []
        mark = min(0, mark)
        return taken
    }

    /// Returns a copy of those of its bytes that are in `range` and have arrived. An array made from a slice might
    /// share the storage, and appending the next byte would then copy all of it.
    func bytes(_ range: Range<Int>, _ preBuffer: PreBuffer) -> [UInt8] {
        guard gathered == 0 else {
            return Array(preBuffer.prefix(min(range.upperBound, gathered)).dropFirst(range.lowerBound))
        }
        let part = range.clamped(to: 0..<bytes.count)
        return bytes.withUnsafeBytes { [UInt8]($0[part]) }
    }

    /// A snapshot of this read.
    func snapshot(_ preBuffer: PreBuffer) -> OperationSnapshot {
        var shown = read.snapshot
        shown.done = done
        shown.total = read.total ?? frameLength
        shown.isAsking = timer.isAsking
        shown.timeout = limit.duration
        shown.started = timer.started
        shown.deadline = deadline
        shown.lastProgress = done > 0 ? lastProgress : nil
        shown.preview = bytes(0..<32, preBuffer)
        return shown
    }

    private mutating func fill(upTo length: Int, from preBuffer: inout PreBuffer, now: MonotonicTime) {
        let amount = min(preBuffer.count, length - bytes.count)
        guard amount > 0 else { return }
        lastProgress = now
        guard !bytes.isEmpty else {
            bytes = preBuffer.take(amount)
            return
        }
        preBuffer.withUnsafeBytes { bytes.append(contentsOf: $0[..<amount]) }
        preBuffer.consume(amount)
    }

    private func search(_ terminator: [UInt8], in preBuffer: PreBuffer, window: Int) -> TerminatorSearch.Outcome {
        preBuffer.withUnsafeBytes {
            TerminatorSearch.find(terminator, in: UnsafeRawBufferPointer(rebasing: $0[..<window]), from: gathered)
        }
    }

    private mutating func claim(_ window: Int, now: MonotonicTime) {
        guard window > gathered else { return }
        mark = window
        lastProgress = now
    }

    /// Reports bytes that have not been reported yet before the failure.
    private mutating func overrun() -> Step {
        switch report() {
        case .progress(let increment): .progress(increment)
        case .wait, .finish, .overrun: .overrun
        }
    }

    /// Reports progress, except for a standing read, which reports only complete items.
    private mutating func report() -> Step {
        let increment = done - reported
        guard increment > 0, !read.isStanding else { return .wait }
        reported = done
        return .progress(increment)
    }
}

extension PreBuffer {
    /// Returns the offsets at which the first pieces end, each of at most `limit` bytes. All end within `reach` bytes.
    func ends(of terminator: [UInt8], limit: Int?, within reach: Int) -> [Int] {
        var ends: [Int] = []
        withUnsafeBytes { bytes in
            var start = 0
            while start < reach {
                let window = UnsafeRawBufferPointer(rebasing: bytes[start..<start + min(limit ?? reach, reach - start)])
                guard case .found(let length) = TerminatorSearch.find(terminator, in: window, from: 0) else { return }
                start += length
                ends.append(start)
            }
        }
        return ends
    }

    /// Returns how many of the first bytes complete a read of this kind, or `nil` if there are too few.
    func length(for kind: ReadRequest.Kind) -> Int? {
        switch kind {
        case .available(let limit): return isEmpty ? nil : min(count, limit ?? .max)
        case .length(let length): return count >= length ? length : nil
        case .delimiter(let terminator, let limit):
            return withUnsafeBytes {
                let window = UnsafeRawBufferPointer(rebasing: $0[..<min($0.count, limit ?? .max)])
                guard case .found(let end) = TerminatorSearch.find(terminator, in: window, from: 0) else { return nil }
                return end
            }
        case .frame: return nil
        }
    }
}
