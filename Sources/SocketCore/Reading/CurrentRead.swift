/// The read in hand: what it has so far, and whether that is enough.
///
/// Bytes of an available or length read are gathered here, so that they are copied once. Those of a delimiter read
/// stay in the prebuffer, of which it claims the first `gathered`: whatever follows the delimiter is then in its place.
struct CurrentRead: TimedOperation {
    /// What a look at the bytes came to.
    enum Step {
        /// More bytes are needed, and there is nothing new to report.
        case wait
        /// So many bytes came since the last report, but more are needed.
        case progress(Int)
        /// The read is done, with these bytes.
        case finish([UInt8])
        /// The limit is reached and there is no delimiter.
        case overrun
    }

    /// What was asked for.
    let read: QueuedRead
    /// Its clock.
    var timer: OperationTimer
    var ownLimit: TimeLimit { read.limit }
    private var bytes: [UInt8] = []
    /// What a read of its kind knows of the bytes. Of a delimiter read: how many of the prebuffer are its own; of a frame:
    /// its length, below zero. One word for both.
    private var mark = 0
    private var reported = 0
    /// Means something only while `done` is more than 0.
    private var lastProgress: MonotonicTime

    /// Takes a read in hand: its time counts from now on.
    init(_ read: consuming QueuedRead, now: MonotonicTime) {
        timer = OperationTimer(now: now)
        self.read = read
        lastProgress = now
    }

    /// Stands where no read is in hand.
    init() {
        let never = MonotonicTime(nanoseconds: 0)
        timer = OperationTimer(now: never)
        (read, lastProgress) = (QueuedRead(), never)
    }

    /// Forgets what it had, once its read is over.
    mutating func vacate() {
        if !bytes.isEmpty { bytes = [] }
        (mark, reported) = (0, 0)
    }

    /// Of a delimiter read: the bytes of the prebuffer that are its own; no delimiter ends within them.
    var gathered: Int { max(0, mark) }

    /// Of a frame: its length, header included; nil until the header is here.
    private var frameLength: Int? { mark < 0 ? -mark : nil }

    // MARK: Its bytes

    /// Bytes so far.
    var done: Int { bytes.count + gathered }

    /// The bytes that it can still take; nil: no bound.
    @inline(__always)
    var missing: Int? {
        switch read.kind {
        case .available(let limit), .delimiter(_, let limit): limit.map { $0 - done }
        case .length(let length): length - done
        case .frame(let prefix): (frameLength ?? prefix.headerLength) - done
        }
    }

    /// Takes what it may hold itself of bytes that follow those it has, and says how many that were. The most that is
    /// set aside before the bytes are there is 1 MiB, so that a length that a peer announced costs no more.
    mutating func receive(
        _ new: UnsafeRawBufferPointer, now: MonotonicTime, from spares: inout ShortArrays
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

    /// What a long read lacks: so many bytes can go straight into its array.
    var wantedDirectly: Int {
        guard case .length(let length) = read.kind, 4_096...1 << 20 ~= length else { return 0 }
        return length - bytes.count
    }

    /// Lets `fill` fill the first part of what it lacks. Where no byte has come, that is an array: `spare` if that is as long as
    /// the read, or a new one. If nothing was filled, `spare` stays as it is.
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

    /// Completes it with the first of `bytes`, if it lends them and they are enough, and begins anew.
    mutating func lend(_ bytes: UnsafeRawBufferPointer, now: MonotonicTime) -> Loan? {
        guard read.lendsBytes, done == 0, !timer.isAsking, let count = itemLength(bytes) else { return nil }
        defer { timer = OperationTimer(now: now) }
        return Loan(operation: read.operation, tag: read.tag, count: count, started: timer.started)
    }

    /// How many of `bytes` complete it; nil: they do not.
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

    /// How many of `bytes`, which follow those of the prebuffer, belong to the first delimiter that ends within them. The
    /// delimiter may lie across the seam.
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

    /// Takes from the prebuffer what it needs, and says how it stands then.
    mutating func step(
        _ preBuffer: inout PreBuffer, now: MonotonicTime, from spares: inout ShortArrays
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

    /// Its bytes, which it gives away.
    private mutating func takeGathered() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        return taken
    }

    /// The header first, since it says how long the rest is.
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

    /// Whether `step` would finish or overrun it now; nothing is taken.
    func isDecided(by preBuffer: PreBuffer) -> Bool {
        switch read.kind {
        case .available: return done + preBuffer.count > 0
        case .length(let length): return done + preBuffer.count >= length
        case .delimiter(let terminator, let limit):
            let window = min(preBuffer.count, limit ?? .max)
            return window == limit || search(terminator, in: preBuffer, window: window) != .missing(resumeAt: window)
        case .frame:
            var attempt = (self, preBuffer)
            var spares = ShortArrays()
            var step = attempt.0.step(&attempt.1, now: lastProgress, from: &spares)
            // An overrun reports its bytes first.
            if case .progress = step { step = attempt.0.step(&attempt.1, now: lastProgress, from: &spares) }
            switch step {
            case .wait, .progress: return false
            case .finish, .overrun: return true
            }
        }
    }

    /// Gives all its bytes back to the prebuffer, as if it had never been in hand.
    mutating func giveBack(to preBuffer: inout PreBuffer) {
        preBuffer.prepend(bytes)
        bytes = []
        mark = 0
    }

    /// Takes its bytes, for a read that will not complete.
    mutating func takeBytes(_ preBuffer: inout PreBuffer) -> [UInt8] {
        // One of the two is empty. Neither is copied: they may be all the memory that a peer made us take.
        let taken = gathered > 0 ? preBuffer.take(gathered) : bytes
        bytes = []
        mark = min(0, mark)
        return taken
    }

    /// Those of its bytes that are in a range, as far as they have come, copied: an array made of a slice might share the storage, and the next byte
    /// would then copy all of it.
    func bytes(_ range: Range<Int>, _ preBuffer: PreBuffer) -> [UInt8] {
        guard gathered == 0 else {
            return Array(preBuffer.prefix(min(range.upperBound, gathered)).dropFirst(range.lowerBound))
        }
        let part = range.clamped(to: 0..<bytes.count)
        return bytes.withUnsafeBytes { [UInt8]($0[part]) }
    }

    /// This read as it is shown.
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

    /// Bytes that were not reported yet are reported before the failure.
    private mutating func overrun() -> Step {
        switch report() {
        case .progress(let increment): .progress(increment)
        case .wait, .finish, .overrun: .overrun
        }
    }

    /// A standing read reports only what is complete.
    private mutating func report() -> Step {
        let increment = done - reported
        guard increment > 0, !read.isStanding else { return .wait }
        reported = done
        return .progress(increment)
    }
}

extension PreBuffer {
    /// How many of its bytes complete a read of this kind that begins with the first of them; nil: they are too few.
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
