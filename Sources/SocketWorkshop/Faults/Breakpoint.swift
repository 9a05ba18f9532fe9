/// A place at which a connection is held, so that the user can inspect it and release it piece by piece.
package struct Breakpoint: Equatable, Sendable {
    package enum Point: Equatable, Sendable {
        /// Before anything is done with a new connection.
        case accept
        /// Once the connection is established.
        case connect
        /// Once this many bytes have passed in this direction.
        case bytes(UInt64)
        case match(BytePattern)
        case frame(FaultFrame)
        /// At the sender's FIN.
        case end
        /// When a side is reset.
        case reset
        /// When an operation times out.
        case timeout
        /// When the receiver accepts no more bytes.
        case writeBlocked
    }

    /// The connections it applies to, in the syntax of the list's filter, or empty for all.
    package var filter: String
    /// The direction, or `nil` for both, which are then both held.
    package var direction: FaultDirection?
    package var point: Point

    package init(_ point: Point, _ direction: FaultDirection? = nil, filter: String = "") {
        (self.point, self.direction, self.filter) = (point, direction, filter)
    }
}

/// What to do with held bytes.
package enum BreakRelease: Equatable, Sendable {
    /// Everything passes, up to the next breakpoint.
    case all
    /// The bytes of one read pass.
    case read
    case bytes(Int)
    /// Other bytes replace those that wait, and then everything passes.
    case edit([UInt8])
    /// The bytes that wait are dropped, and then everything passes.
    case drop
}

package struct NumberedBreak: Equatable, Sendable {
    package var number: Int
    package var breakpoint: Breakpoint

    package init(_ number: Int, _ breakpoint: Breakpoint) { (self.number, self.breakpoint) = (number, breakpoint) }

    /// Returns the stage that stops one direction at its point, or `nil` if its point has passed or is not in that
    /// stream. `start` is the number of bytes that passed before the breakpoint was added.
    func stage(at place: FaultPlace, from start: UInt64) -> FaultStage? {
        guard breakpoint.direction.map({ $0 == place.direction }) ?? true else { return nil }
        func stage(_ condition: FaultCondition) -> FaultStage {
            FaultStage(number, .place, when: [condition], place, from: start)
        }
        return switch breakpoint.point {
        case .bytes(let count): count < start ? nil : stage(.afterBytes(count))
        case .match(let pattern): stage(.match(pattern))
        case .frame(let kind): stage(.frame(kind))
        case .end: FaultStage(number, .end, when: [.afterBytes(.max)], place)
        case .accept, .connect, .reset, .timeout, .writeBlocked: nil
        }
    }
}

extension Breakpoint: CustomStringConvertible {
    /// The text that `parse` reads.
    package var description: String {
        let parts = [filter, direction?.rawValue ?? "", "on", "\(point)"]
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Parses `[FILTER] [upstream|downstream] on POINT`. Does not parse the filter itself.
    package static func parse(_ text: String) throws(FaultProblem) -> Breakpoint {
        var reader = try FaultReader(text)
        var filter: [String] = []
        var direction: FaultDirection?
        while true {
            let word = try reader.next("'on' and a point are missing, as in on bytes 4711")
            if word.kind == .plain, word.text == "on" { break }
            if word.kind == .plain, let way = FaultDirection(rawValue: word.text) {
                guard direction == nil else { throw word.problem("the direction is already given") }
                direction = way
            } else if direction != nil {
                throw word.problem("on must follow the direction")
            } else {
                filter.append(word.typed)
            }
        }
        let point = try point(&reader)
        if let extra = try reader.next() { throw extra.problem("unexpected word after the point") }
        return Breakpoint(point, direction, filter: filter.joined(separator: " "))
    }

    private static func point(_ reader: inout FaultReader) throws(FaultProblem) -> Point {
        let names = FaultWord.names(.point)
        let word = try reader.next("a point is missing: " + names.joined(separator: ", "))
        switch word.text {
        case "accept": return .accept
        case "connect": return .connect
        case "bytes": return .bytes(try reader.size(after: "bytes", atLeast: 0))
        case "match": return .match(try reader.pattern(after: "match"))
        case "frame": return .frame(try reader.frame(after: "frame"))
        case "fin": return .end
        case "reset": return .reset
        case "timeout": return .timeout
        case "write-blocked": return .writeBlocked
        default:
            let suggestion = Spelling.suggestion(for: word.text, among: names)
            throw word.problem(
                "not a point" + (suggestion.isEmpty ? "; points are \(names.joined(separator: ", "))" : suggestion))
        }
    }
}

extension Breakpoint.Point: CustomStringConvertible {
    package var description: String {
        switch self {
        case .accept: "accept"
        case .connect: "connect"
        case .bytes(let count): "bytes \(FaultText.size(count))"
        case .match(let pattern): "match \(pattern)"
        case .frame(let kind): "frame \(kind.rawValue)"
        case .end: "fin"
        case .reset: "reset"
        case .timeout: "timeout"
        case .writeBlocked: "write-blocked"
        }
    }
}
