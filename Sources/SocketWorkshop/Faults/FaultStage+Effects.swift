import SocketCore

// What each effect does to the stream.
extension FaultStage {
    mutating func apply(_ effect: FaultEffect, _ piece: FaultTrigger.Piece, _ now: MonotonicTime) {
        switch effect {
        case .latency(let time, let jitter): delay(piece, time, jitter, now)
        case .bandwidth, .slice:
            let isPaced = lasts(piece) && !piece.bytes.isEmpty
            if isPaced { note(piece.offset, isLasting: true) }
            append(piece.bytes[...], isCut: isPaced, offset: piece.offset)
        case .stall(let time):
            if piece.isPoint {
                note(piece.offset)
                entries.append(.block(time))
            }
            append(piece.bytes[...])
        case .limit(let most): limit(piece, to: most)
        case .halfClose: limit(piece, to: 0)
        case .reset:
            guard piece.isPoint else { return append(piece.bytes[...]) }
            note(piece.offset)
            entries.append(.reset)
            // A reset happens once, and nothing follows it.
            isShut = true
            dropped += UInt64(piece.bytes.count)
        case .corrupt(let bits): append(corrupted(piece, bits)[...])
        case .insert(let bytes):
            if piece.isPoint {
                note(piece.offset)
                append(bytes[...])
            }
            append(piece.bytes[...])
        case .replace(_, let bytes): replace(piece, with: bytes)
        case .slowClose, .refuse, .noAccept, .loss, .duplicate, .reorder, .delay, .truncate: append(piece.bytes[...])
        }
    }

    private mutating func delay(
        _ piece: FaultTrigger.Piece, _ time: Duration, _ jitter: Duration, _ now: MonotonicTime
    ) {
        guard !piece.bytes.isEmpty else { return }
        guard lasts(piece) else { return append(piece.bytes[...], due: lastDue) }
        note(piece.offset, isLasting: true)
        count += 1
        // A frame is delayed as a whole. Other bytes are delayed range by range, however reads divide them.
        let (bytes, isWhole) = (piece.bytes, hasFrame || jitter == .zero)
        var (start, next) = (0, 0)
        while next < bytes.count {
            let offset = piece.offset + UInt64(next)
            let place = isWhole ? piece.offset : offset / Self.jitterBlock
            let due = max(lastDue, now + self.time(time, jitter, at: place))
            if due != lastDue, start < next {
                append(bytes[start..<next], due: lastDue)
                start = next
            }
            lastDue = due
            next += isWhole ? bytes.count : Int(Self.jitterBlock - offset % Self.jitterBlock)
        }
        append(bytes[start...], due: lastDue)
    }

    private func time(_ time: Duration, _ jitter: Duration, at offset: UInt64) -> Duration {
        let span = jitter.wholeNanoseconds
        guard span > 0 else { return time }
        let drawn = Int64(random.below(UInt64(span) * 2 + 1, at: offset)) - span
        return max(.zero, time + .nanoseconds(drawn))
    }

    private mutating func limit(_ piece: FaultTrigger.Piece, to most: UInt64) {
        guard piece.hasBegun else { return append(piece.bytes[...]) }
        if trigger.choosesExchanges, piece.isFirst { left = nil }
        let allowed = left ?? most
        let passing = Int(min(allowed, UInt64(piece.bytes.count)))
        append(piece.bytes.prefix(passing))
        left = allowed - UInt64(passing)
        guard left == 0 else { return }
        note(piece.offset + UInt64(passing))
        dropped += UInt64(piece.bytes.count - passing)
        shut(due: .distantPast)
    }

    private mutating func shut(due: MonotonicTime) {
        isShut = true
        entries.append(.end(due: due))
    }

    mutating func applyEnd(_ now: MonotonicTime) {
        if case .fault(.replace(_, let bytes)) = kind { finishReplacing(with: bytes) }
        guard !isShut else { return }
        switch kind {
        case .fault(.slowClose(let time)):
            if trigger.hasBegun { note(nil) }
            shut(due: trigger.hasBegun ? now + time : .distantPast)
        case .fault(.latency(let time, let jitter)) where trigger.hasBegun && !hasFrame:
            shut(due: max(lastDue, now + self.time(time, jitter, at: .max)))
        case .end:
            entries.append(.hold)
            shut(due: .distantPast)
        default: shut(due: lastDue)
        }
    }

    // MARK: Changed bytes

    private mutating func corrupted(_ piece: FaultTrigger.Piece, _ bits: UInt64) -> [UInt8] {
        guard piece.isHit, !piece.bytes.isEmpty else { return piece.bytes }
        var bytes = piece.bytes
        if findsPlaces {
            guard random.happens(share, at: piece.offset, .max) else { return bytes }
            let count = UInt64(bytes.count - piece.header)
            guard count > 0 else { return bytes }
            for bit in random.distinct(bits, below: count * 8, at: piece.offset) {
                bytes[piece.header + Int(bit / 8)] ^= 1 << UInt8(bit % 8)
            }
            note(piece.offset)
            return bytes
        }
        let end = piece.offset + UInt64(bytes.count)
        for block in piece.offset / Self.block...(end - 1) / Self.block
        where random.happens(share, at: block, .max) {
            if drawn?.block != block {
                drawn = (block, random.distinct(bits, below: Self.block * 8, at: block).sorted())
            }
            for bit in drawn?.bits ?? [] {
                let place = block * Self.block + bit / 8
                guard place >= piece.offset, place < end else { continue }
                bytes[Int(place - piece.offset)] ^= 1 << UInt8(bit % 8)
                note(place)
            }
        }
        return bytes
    }

    /// Searches what is held for `replace` as it is.
    private mutating func finishReplacing(with bytes: [UInt8]) {
        guard var scanner = replacing else { return }
        var segments: [MatchScanner.Segment] = []
        scanner.finish(into: &segments)
        replacing = scanner
        add(segments, with: bytes)
    }

    private mutating func replace(_ piece: FaultTrigger.Piece, with bytes: [UInt8]) {
        guard var scanner = replacing else { return append(piece.bytes[...]) }
        // What is found must lie within the exchange.
        if trigger.choosesExchanges, !hasFrame, piece.hasBegun != (replacesFrom != nil) {
            finishReplacing(with: bytes)
            replacesFrom = piece.hasBegun ? piece.offset : nil
            if let former = replacing { scanner = former }
        }
        if replacesFrom == nil, piece.hasBegun { replacesFrom = piece.offset }
        if hasFrame, piece.isHit { framesToChange.append(piece.offset) }
        var segments: [MatchScanner.Segment] = []
        scanner.scan(piece.bytes, into: &segments)
        replacing = scanner
        add(segments, with: bytes)
    }

    private mutating func add(_ segments: [MatchScanner.Segment], with bytes: [UInt8]) {
        for segment in segments {
            let start = replaced
            replaced += UInt64(segment.bytes.count)
            guard mayReplace(at: start) else {
                append(segment.bytes[...])
                continue
            }
            switch segment {
            case .plain(let plain): append(plain[...])
            case .match(let match): append(draws() ? bytes[...] : match[...])
            case .frame(let frame, let ranges):
                append(frame.with(replaced(ranges, of: frame.payload, with: bytes))[...])
            }
        }
    }

    /// Returns a frame's payload with the drawn ranges replaced, as long as it does not grow beyond `frameLimit`.
    private mutating func replaced(_ ranges: [Range<Int>], of payload: [UInt8], with bytes: [UInt8]) -> [UInt8] {
        var size = payload.count
        var drawn: [Range<Int>] = []
        for range in ranges.reversed() {
            let grown = size + bytes.count - range.count
            guard bytes.count <= range.count || grown <= Self.frameLimit else {
                limited += 1
                continue
            }
            guard draws() else { continue }
            size = grown
            drawn.append(range)
        }
        var (changed, start): ([UInt8], Int) = ([], 0)
        changed.reserveCapacity(size)
        for range in drawn.reversed() {
            changed += payload[start..<range.lowerBound] + bytes
            start = range.upperBound
        }
        return changed + payload[start...]
    }

    /// Whether the rule applies to what begins at this offset in the stream.
    private mutating func mayReplace(at start: UInt64) -> Bool {
        guard hasFrame else { return replacesFrom.map { start >= $0 } ?? false }
        guard framesToChange.first == start else { return false }
        framesToChange.removeFirst()
        return true
    }

    /// Draws whether the next place found is replaced.
    private mutating func draws() -> Bool {
        places += 1
        guard random.happens(share, at: places, .max) else { return false }
        note(nil)
        return true
    }

    /// Counts and reports an occurrence. A lasting effect is reported once and counted for each piece.
    private mutating func note(_ offset: UInt64?, isLasting: Bool = false) {
        if !isLasting { count += 1 }
        guard reported < (isLasting ? 1 : Self.reportLimit) else { return }
        reported += 1
        reports.append(FaultReport(number: number, kind: .happened, offset: offset))
    }
}

extension MatchScanner.Segment {
    /// All bytes of the segment, as they arrived.
    var bytes: [UInt8] {
        switch self {
        case .plain(let bytes), .match(let bytes): bytes
        case .frame(let frame, _): frame.bytes
        }
    }
}

extension [FaultCondition] {
    /// The probability given by `prob`, or `nil` if there is none.
    var probability: Double? {
        for case .probability(let share) in self { return share }
        return nil
    }
}
