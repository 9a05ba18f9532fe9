extension FaultStage {
    /// Lets nothing pass from now on.
    mutating func hold() {
        guard !isHeld else { return }
        isHeld = true
        count += 1
        reports.append(FaultReport(number: number, kind: .held, offset: nil))
    }

    /// Does the same as `hold()`, without counting or reporting it.
    mutating func holdQuietly() {
        isHeld = true
    }

    /// Lets everything pass again.
    mutating func release() {
        isHeld = false
        allowance = nil
    }

    /// Lets some of the held bytes pass.
    mutating func allow(_ allowance: Allowance) {
        if isHeld { self.allowance = allowance }
    }

    /// Removes and returns the bytes that wait here.
    mutating func takeWaiting() -> [UInt8] {
        var bytes: [UInt8] = []
        var kept = FaultQueue<Entry>()
        while let entry = entries.first {
            entries.removeFirst()
            switch entry {
            case .bytes(let chunk): bytes += chunk.bytes
            case .end, .reset: kept.append(entry)
            case .block, .hold: break
            }
        }
        entries = kept
        entryBytes = 0
        return bytes + takeScanned()
    }

    /// Removes and returns the partly scanned bytes.
    mutating func takeScanned() -> [UInt8] {
        let bytes = replacing?.takeHeld() ?? []
        replaced += UInt64(bytes.count)
        return bytes + trigger.takeHeld()
    }

    /// Returns up to `most` of the bytes that wait here, oldest first.
    func waiting(_ most: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for case .bytes(let chunk) in entries.all where bytes.count < most {
            bytes += chunk.bytes.prefix(most - bytes.count)
        }
        bytes += replacing?.held(most - bytes.count) ?? []
        return bytes + trigger.held(most - bytes.count)
    }

    /// The exchange that the first bytes waiting here belong to, or `nil` if none wait, or only partly scanned ones.
    var waitingTalk: FaultTalk.Place? {
        for case .bytes(let chunk) in entries.all { return chunk.marks.talk }
        return nil
    }

    /// Puts bytes that the user wrote ahead of everything that waits here. They belong to this exchange.
    mutating func putFirst(_ bytes: [UInt8], of talk: FaultTalk.Place) {
        guard !bytes.isEmpty else { return }
        entryBytes += bytes.count
        entries.putFirst(.bytes(Chunk(bytes: bytes[...], due: .distantPast, marks: Marks(isOurs: true, talk: talk))))
    }

    /// Drops all bytes that wait here.
    mutating func abandon() {
        dropped += UInt64(takeWaiting().count)
    }

    /// Counts bytes that the user dropped.
    mutating func drop(_ count: Int) { dropped += UInt64(count) }
}
