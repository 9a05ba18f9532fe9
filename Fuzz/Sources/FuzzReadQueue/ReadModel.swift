import SocketCore

/// What a read queue promises, written down as simply as can be: the reads in order, and the bytes that came and went
/// to no read. Everything is found again from the first byte at each question.
struct ReadModel {
    /// One read that has not ended.
    struct Read {
        var operation: OperationID
        var request: ReadRequest
    }

    /// What a read can make of the bytes that are there.
    enum Outcome: Equatable {
        /// So many bytes may be taken from the kernel before it must be asked again.
        case incomplete(wanted: Int)
        /// It is done with at least one byte, and with so many at most.
        case complete(atLeast: Int, atMost: Int)
        /// It fails, with so many bytes.
        case overrun(done: Int)
    }

    /// In order; a standing read is the last.
    private(set) var reads: [Read] = []
    private(set) var stream: [UInt8] = []
    /// A read overran its limit: nothing is taken in hand any more.
    private(set) var isOver = false
    var isAsking = false
    private(set) var deadline: MonotonicTime?
    /// Bytes of the read in hand that were told in partial reports.
    var reported = 0

    /// The read in hand.
    var head: Read? { isOver ? nil : reads.first }

    mutating func receive(_ bytes: [UInt8]) { stream += bytes }

    /// The last bytes were only looked at.
    mutating func unreceive(_ count: Int) { stream.removeLast(count) }

    /// Adds a read; the standing read that it replaces, if any.
    mutating func enqueue(_ read: Read, now: MonotonicTime) -> OperationID? {
        let before = head?.operation
        let standing = reads.last.flatMap { $0.request.isStanding ? reads.popLast() : nil }
        reads.append(read)
        if let standing, !read.request.isStanding { reads.append(standing) }
        if head?.operation != before { takeHead(now) }
        return read.request.isStanding ? standing?.operation : nil
    }

    /// The read in hand took its bytes. A standing one stays.
    mutating func complete(_ count: Int, now: MonotonicTime) {
        stream.removeFirst(count)
        if head?.request.isStanding == false { reads.removeFirst() }
        takeHead(now)
    }

    /// A read ended, with the first bytes of the stream or with none.
    mutating func end(_ operation: OperationID, taking count: Int, now: MonotonicTime) {
        let wasHead = head?.operation == operation
        stream.removeFirst(count)
        reads.removeAll { $0.operation == operation }
        if wasHead { takeHead(now) }
    }

    mutating func overrun(taking count: Int) {
        stream.removeFirst(count)
        reads.removeFirst()
        isOver = true
        deadline = nil
    }

    mutating func ask() {
        isAsking = true
        deadline = nil
    }

    mutating func extend(by interval: Duration, now: MonotonicTime) {
        isAsking = false
        deadline = now + interval
    }

    private mutating func takeHead(_ now: MonotonicTime) {
        reported = 0
        isAsking = false
        deadline = head?.request.timeout.map { now + $0 }
    }
}

extension ReadModel {
    /// What the read in hand can make of the stream; nil: there is none.
    var outcome: Outcome? {
        guard let kind = head?.request.kind else { return nil }
        switch kind {
        case .available(let limit):
            let most = limit ?? .max
            return stream.isEmpty ? .incomplete(wanted: most) : .complete(atLeast: 1, atMost: min(most, stream.count))
        case .length(let length):
            return whole(length)
        case .delimiter(let terminator, let limit):
            return upTo(terminator, limit: limit ?? .max)
        case .frame(let prefix):
            guard stream.count >= prefix.headerLength else {
                return .incomplete(wanted: prefix.headerLength - stream.count)
            }
            return Self.length(of: stream, prefix).map(whole) ?? .overrun(done: prefix.headerLength)
        }
    }

    private func whole(_ length: Int) -> Outcome {
        let missing = length - stream.count
        return missing > 0 ? .incomplete(wanted: missing) : .complete(atLeast: length, atMost: length)
    }

    private func upTo(_ terminator: [UInt8], limit: Int) -> Outcome {
        let window = min(limit, stream.count)
        if window >= terminator.count {
            for end in terminator.count...window where Array(stream[(end - terminator.count)..<end]) == terminator {
                return .complete(atLeast: end, atMost: end)
            }
        }
        if stream.count >= limit { return .overrun(done: limit) }
        return .incomplete(wanted: limit == .max ? .max : limit - stream.count)
    }

    private static func length(of stream: [UInt8], _ prefix: LengthPrefix) -> Int? {
        let width = prefix.width.rawValue
        var number: UInt64 = 0
        for index in 0..<width {
            number = number * 256 + UInt64(stream[prefix.offset + (prefix.isLittleEndian ? width - 1 - index : index)])
        }
        guard number <= 1 << 40 else { return nil }
        let length = Int(number) + (prefix.countsHeader ? 0 : prefix.headerLength)
        return prefix.headerLength...prefix.limit ~= length ? length : nil
    }
}
