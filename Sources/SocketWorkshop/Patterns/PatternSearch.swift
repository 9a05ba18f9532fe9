extension Pattern {
    /// The most steps that one search through a line or a frame can visit. A search that needs more finds nothing, so
    /// that no pattern can stall a stream, whatever is sent.
    package static let searchLimit = 4 << 20

    /// Returns the first match at or after `start`, and the longest of those that begin there. `work` counts the steps
    /// visited, and the search stops when it reaches `searchLimit`.
    package func firstRange(in bytes: [UInt8], from start: Int, _ work: inout Int) -> Range<Int>? {
        var search = PatternSearch(steps)
        return search.run(bytes, from: start, &work)
    }

    /// Returns all matches without overlaps. Of the empty matches, only the first is returned, and only if no other
    /// match is found.
    package func ranges(in bytes: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var start = 0
        var work = 0
        while start <= bytes.count, let range = firstRange(in: bytes, from: start, &work) {
            guard !range.isEmpty else {
                if found.isEmpty { found.append(range) }
                start = range.upperBound + 1
                continue
            }
            if found.first?.isEmpty == true { found.removeFirst() }
            found.append(range)
            start = range.upperBound
        }
        return found
    }
}

/// Runs all alternatives in parallel, each with the position where it began.
private struct PatternSearch {
    private struct Thread {
        var step: Int
        var start: Int
    }

    private let steps: [Pattern.Step]
    /// The threads in order of their starts, so that the first to reach a step is the one to keep.
    private var waiting: [Thread] = []
    private var next: [Thread] = []
    /// The position in the text, from 1, at which each step was last reached.
    private var seen: [Int]
    private var stack: [Int] = []
    private var best: Range<Int>?

    init(_ steps: [Pattern.Step]) {
        self.steps = steps
        seen = [Int](repeating: 0, count: steps.count)
    }

    mutating func run(_ bytes: [UInt8], from start: Int, _ work: inout Int) -> Range<Int>? {
        guard start <= bytes.count else { return nil }
        for index in start...bytes.count {
            let before = index > 0 ? UInt32(bytes[index - 1]) : nil
            let here = index < bytes.count ? UInt32(bytes[index]) : nil
            var current: [Thread] = []
            swap(&current, &next)
            for thread in current where best.map({ thread.start <= $0.lowerBound }) ?? true {
                follow(thread, at: index, before, here, &work)
            }
            if best == nil { follow(Thread(step: 0, start: index), at: index, before, here, &work) }
            guard work < Pattern.searchLimit else { return nil }
            if waiting.isEmpty, best != nil { break }
            if let here { advance(over: here, &work) }
        }
        return best
    }

    private mutating func advance(over unit: UInt32, _ work: inout Int) {
        for thread in waiting {
            work += 1
            if case .one(let set) = steps[thread.step], set.contains(unit) {
                next.append(Thread(step: thread.step + 1, start: thread.start))
            }
        }
        waiting.removeAll(keepingCapacity: true)
    }

    private mutating func follow(_ thread: Thread, at index: Int, _ before: UInt32?, _ here: UInt32?, _ work: inout Int)
    {
        stack.append(thread.step)
        while let step = stack.popLast() {
            guard seen[step] != index + 1 else { continue }
            seen[step] = index + 1
            work += 1
            switch steps[step] {
            case .one: waiting.append(Thread(step: step, start: thread.start))
            case .jump(let target): stack.append(target)
            case .split(let left, let right):
                stack.append(right)
                stack.append(left)
            case .require(let place): if place.holds(before, here) { stack.append(step + 1) }
            case .done: if best.map({ thread.start <= $0.lowerBound }) ?? true { best = thread.start..<index }
            }
        }
    }
}
