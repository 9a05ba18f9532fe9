import SocketKit

/// What callbacks about operations must fulfil.
extension Book {
    /// An operation ended that never belonged to a session, or whose session was over when the engine got to it.
    mutating func refuse(_ failed: FailedOperation) -> [Finding] {
        guard operations.indices.contains(failed.tag) else { return [unknown(failed.tag)] }
        if operations[failed.tag].hasEnded { return [twice(failed.tag)] }
        operations[failed.tag].hasEnded = true
        if let id = operations[failed.tag].session, let index = index(of: id) { leave(failed.tag, index) }
        guard failed.done > 0 else { return [] }
        return [Finding(rule: .wrongResult, detail: "\(name(failed.tag)) was refused and has \(failed.done) bytes")]
    }

    mutating func finish(read tag: Int, with bytes: [UInt8], _ index: Int) -> [Finding] {
        sessions[index].read += bytes
        var findings = requireConnected(index, "didRead") + requireOpen(tag, index)
        guard operations.indices.contains(tag), let request = operations[tag].read else {
            return findings + [unknown(tag)]
        }
        if !request.kind.isFulfilled(by: bytes) || operations[tag].reported >= bytes.count {
            findings.append(wrong(tag, "got \(bytes.count) bytes after reports of \(operations[tag].reported)"))
        }
        if sessions[index].hasToldEnd, !sessions[index].hasGivenBack {
            findings.append(Finding(rule: .callbackOrder, detail: "\(name(tag)): didRead after the end of stream"))
        }
        if !request.isStanding { findings += end(tag, index) }
        return findings
    }

    mutating func finish(write tag: Int, _ index: Int) -> [Finding] {
        var findings = requireConnected(index, "didWrite") + requireOpen(tag, index)
        guard operations.indices.contains(tag), operations[tag].read == nil else { return findings + [unknown(tag)] }
        if operations[tag].reported >= operations[tag].bytes.count {
            findings.append(wrong(tag, "reports of \(operations[tag].reported) leave nothing for the last pass"))
        }
        if !operations[tag].hasEnded { findings += end(tag, index, written: operations[tag].bytes.count) }
        return findings
    }

    mutating func report(_ count: Int, of tag: Int, _ index: Int) -> [Finding] {
        let findings = requireConnected(index, "a partial report") + requireOpen(tag, index)
        guard operations.indices.contains(tag) else { return findings + [unknown(tag)] }
        operations[tag].reported += count
        let total = operations[tag].read?.total ?? (operations[tag].read == nil ? operations[tag].bytes.count : .max)
        if count > 0, operations[tag].reported < total, !operations[tag].isStanding { return findings }
        return findings + [wrong(tag, "report of \(count), \(operations[tag].reported) so far")]
    }

    mutating func ask(_ asking: TimedOutOperation, _ index: Int) -> [Finding] {
        let findings = requireConnected(index, "didTimeOut") + requireOpen(asking.tag, index)
        guard operations.indices.contains(asking.tag) else { return findings + [unknown(asking.tag)] }
        let reported = operations[asking.tag].reported
        let isUntold = operations[asking.tag].isStanding || operations[asking.tag].isAwaited
        if isUntold || asking.done == reported { return findings }
        return findings + [wrong(asking.tag, "timed out at \(asking.done), reported \(reported)")]
    }

    mutating func fail(_ failed: FailedOperation, _ index: Int) -> [Finding] {
        let tag = failed.tag
        sessions[index].read += failed.bytes
        var findings = requireOpen(tag, index)
        guard operations.indices.contains(tag) else { return findings + [unknown(tag)] }
        if sessions[index].hasToldUnread {
            findings.append(Finding(rule: .callbackOrder, detail: "\(name(tag)) failed after willDisconnect"))
        }
        let isRead = operations[tag].read != nil
        // A read that is cancelled gives back what it had, for the reads that follow.
        let isAwaited = operations[tag].isAwaited
        let givesBack =
            operations[tag].isStanding || isRead && failed.error.reason == .cancelled
            || isRead && isAwaited && failed.error.reason == .readTimeout
        let isTold = !givesBack && !isAwaited
        if isRead && failed.bytes.count != failed.done || isTold && failed.done != operations[tag].reported {
            findings.append(wrong(tag, "failed at \(failed.done), reported \(operations[tag].reported)"))
        }
        if givesBack { sessions[index].hasGivenBack = true }
        if !isRead, failed.error.reason == .cancelled, failed.done > 0 {
            operations[tag].hasEnded = true
            operations[tag].isAbandoned = true
            return findings + (isAwaited ? [] : [wrong(tag, "cancelled behind \(failed.done) bytes")])
        }
        // Behind the end of the stream a delegate's read waits for its timeout, and a task's does not.
        let isAtEnd = isRead && isAwaited && failed.error.reason == .closedByPeer
        if failed.leavesItsPlace || isAtEnd || operations[tag].isStanding {
            operations[tag].hasEnded = true
            leave(tag, index)
        } else {
            findings += end(tag, index, written: isRead ? 0 : failed.done)
        }
        return findings
    }

    // MARK: Order

    /// The operation belongs to this session and has not ended.
    private func requireOpen(_ tag: Int, _ index: Int) -> [Finding] {
        guard operations.indices.contains(tag) else { return [] }
        if operations[tag].hasEnded { return [twice(tag)] }
        if operations[tag].session == sessions[index].id || sessions[index].id == nil { return [] }
        return [Finding(rule: .callbackOrder, detail: "\(name(tag)) was told in \(name(sessions[index]))")]
    }

    /// Ends an operation in its place: those before it must have ended. Whether one that was overtaken ends later or
    /// never tells a wrong order from a lost completion, so that is left to its own ending.
    private mutating func end(_ tag: Int, _ index: Int, written: Int = 0) -> [Finding] {
        var findings: [Finding] = []
        if operations[tag].wasOvertaken, !operations[tag].hasEnded {
            findings.append(Finding(rule: .outOfOrder, detail: "\(name(tag)) ended after one that was queued later"))
        }
        operations[tag].hasEnded = true
        let isRead = operations[tag].read != nil
        let queue = isRead ? sessions[index].reads : sessions[index].writes
        for earlier in queue.prefix(while: { $0 != tag })
        where !operations[earlier].isStanding && !operations[earlier].wasOvertaken {
            // Whether the rest of it went out is known once bytes of a later one did.
            if operations[earlier].isAbandoned, written == 0 { continue }
            operations[earlier].wasOvertaken = true
            sessions[index].written += operations[earlier].bytes
        }
        if !operations[tag].wasOvertaken { sessions[index].written += operations[tag].bytes.prefix(written) }
        leave(tag, index)
        return findings
    }

    private mutating func leave(_ tag: Int, _ index: Int) {
        sessions[index].reads.removeAll { $0 == tag }
        sessions[index].writes.removeAll { $0 == tag }
    }

    // MARK: Words

    private func unknown(_ tag: Int) -> Finding {
        Finding(rule: .wrongResult, detail: "no such operation was asked for: tag \(tag)")
    }

    private func twice(_ tag: Int) -> Finding {
        Finding(rule: .completedTwice, detail: name(tag))
    }

    private func wrong(_ tag: Int, _ detail: String) -> Finding {
        Finding(rule: .wrongResult, detail: "\(name(tag)): \(detail)")
    }
}

extension FailedOperation {
    /// Whether it may end before those that were queued earlier: it was cancelled, or never queued at all.
    fileprivate var leavesItsPlace: Bool {
        switch error.reason {
        case .cancelled, .badParameter: true
        case .disconnected: error.detail.hasPrefix("refused")
        default: false
        }
    }
}

extension ReadRequest.Kind {
    /// Whether these bytes are what such a read asks for.
    fileprivate func isFulfilled(by bytes: [UInt8]) -> Bool {
        switch self {
        case .available(let limit): return !bytes.isEmpty && bytes.count <= limit ?? .max
        case .length(let length): return bytes.count == length
        case .delimiter(let delimiter, let limit):
            guard bytes.count >= delimiter.count, bytes.count <= limit ?? .max else { return false }
            let starts = 0...(bytes.count - delimiter.count)
            let first = starts.first { bytes[$0..<($0 + delimiter.count)] == delimiter[...] }
            return first == starts.upperBound
        case .frame(let prefix):
            guard bytes.count >= prefix.headerLength, bytes.count <= prefix.limit else { return false }
            let digits = bytes[prefix.offset..<prefix.headerLength]
            let number = (prefix.isLittleEndian ? Array(digits.reversed()) : Array(digits)).reduce(0) {
                $0 << 8 | Int($1)
            }
            return bytes.count == number + (prefix.countsHeader ? 0 : prefix.headerLength)
        }
    }
}
