/// One question and its answer, as kept traffic shows them.
package struct Exchange: Equatable, Sendable {
    /// The number of the question on its connection, from 1.
    package var number: UInt64
    /// When the question began.
    package var began: MonotonicTime
    package var askedBytes = 0
    package var answeredBytes = 0
    /// From the first byte of the question to the first byte of its answer, or `nil` without an answer.
    package var firstByte: Duration?
    /// From the first byte of the question to the last part of its answer, or `nil` without an answer.
    package var took: Duration?
    /// The first bytes of the question.
    package var question: [UInt8]
    /// Whether the question began before the traffic, so that nothing tells its time.
    package var isRest = false
    /// The sequence numbers of the items with which question and answer begin.
    package var place: UInt64
    package var answer: UInt64?

    /// The most bytes of a question that are kept here.
    package static let head = 256

    /// Returns the exchanges in kept traffic, or `nil` if questions overlap or the traffic doesn't tell. `count` is how
    /// many questions there were in all, which tells the numbers if earlier traffic was dropped.
    package static func list(
        _ traffic: TrafficSnapshot, client: TrafficItem.Direction, count: UInt64?
    ) -> [Exchange]? {
        var (list, overlaps) = read(traffic, client: client)
        guard !overlaps else { return nil }
        let isCut = (traffic.items.first?.sequence ?? 0) > 0
        let earlier = isCut ? (count ?? 0) - min(count ?? 0, UInt64(list.count)) : 0
        for index in list.indices { list[index].number = earlier + UInt64(index) + 1 }
        return list
    }

    /// Returns the exchanges in kept traffic, without their numbers, and whether it ends with one that overlaps with what
    /// follows, or doesn't tell. `isJoined` says whether the conversation began before.
    package static func read(
        _ traffic: TrafficSnapshot, client: TrafficItem.Direction, isJoined: Bool = false
    ) -> (exchanges: [Exchange], overlaps: Bool) {
        let isCut = (traffic.items.first?.sequence ?? 0) > 0
        var tally = ExchangeTally(client: client, isJoined: isCut || isJoined)
        var list: [Exchange] = []
        for (index, item) in traffic.items.enumerated() where item.done > 0 {
            guard item.webSocket == nil, item.address == nil else { return (list, true) }
            let step = tally.pass(item.direction, item.done, at: item.time)
            if tally.wantsQuestion, step != .more { tally.judge(Array(traffic.items[...index])) }
            if tally.isOver { return (list, true) }
            add(item, step, isAsking: item.direction == client, to: &list)
        }
        return (list, false)
    }

    private static func add(
        _ item: TrafficItem, _ step: ExchangeTally.Step, isAsking: Bool, to list: inout [Exchange]
    ) {
        if step == .asked {
            list.append(
                Exchange(number: 0, began: item.time, question: Array(item.bytes.prefix(head)), place: item.sequence))
        }
        guard let last = list.indices.last else { return }
        if isAsking {
            list[last].askedBytes += item.done
        } else {
            list[last].answeredBytes += item.done
            list[last].took = item.time - list[last].began
        }
        guard step == .answered || step == .answeredRest else { return }
        if step == .answered { list[last].firstByte = item.time - list[last].began }
        list[last].isRest = step == .answeredRest
        list[last].answer = item.sequence
    }

    /// The first line of the question, or the words of its first command if it is one of RESP, and whether it goes on
    /// beyond the bytes kept here.
    package var line: (bytes: [UInt8], isCut: Bool) {
        if let command = RESPCommand(question) {
            return (command.line, !command.isWhole && question.count == Self.head)
        }
        let first = question.prefix { $0 != 0x0A && $0 != 0x0D }
        return (Array(first), first.count == Self.head)
    }
}

/// A command as Redis's clients send it: an array of strings, each after its length.
struct RESPCommand {
    private(set) var words: [ArraySlice<UInt8>] = []
    private(set) var isWhole = false

    /// Its words, as they are typed.
    var line: [UInt8] { Array(words.joined(separator: [0x20])) }

    /// Reads a command from its first bytes, which may end anywhere. Returns `nil` if they are something else.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        guard let count = Self.number(after: 0x2A, &rest), count > 0 else { return nil }
        while words.count < count, let length = Self.number(after: 0x24, &rest) {
            words.append(rest.prefix(length))
            guard rest.count >= length else { return }
            rest = rest.dropFirst(length).dropFirst(2)
        }
        guard !words.isEmpty else { return nil }
        isWhole = words.count == count
    }

    /// Takes a line that has this mark and a number of at most nine digits.
    private static func number(after mark: UInt8, _ rest: inout ArraySlice<UInt8>) -> Int? {
        guard rest.first == mark, let end = rest.firstIndex(of: 0x0D), rest[end...].starts(with: [0x0D, 0x0A]) else {
            return nil
        }
        let digits = rest[..<end].dropFirst()
        guard (1...9).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest[end...].dropFirst(2)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

extension SocketSnapshot {
    /// The direction of what its client sends.
    package var clientDirection: TrafficItem.Direction { role == .client ? .sent : .received }
}
