import SocketCore
import SocketRecords

extension SocketJSON {
    /// Returns one event, with its numbers under the names of its row.
    package func members(_ event: SocketEvent, of socket: SocketSnapshot?) -> [JSON.Member] {
        let row = EventCatalogue[event.kind]
        let numbers =
            (row.hasTag ? [JSON.Member("tag", JSON(event.tag))] : [])
            + row.first.members(event.first, of: socket) + row.second.members(event.second, of: socket)
        return [JSON.Member("time", time(event.time))] + members(.event(event)) + numbers
    }

    /// Returns the kind in JSON.
    package static func word(_ kind: SocketEvent.Kind) -> String {
        (EventCatalogue[kind].word ?? kind.rawValue).snakeCased
    }
}

extension EventNumber {
    /// Returns the number's members. Unknown values are null.
    package func members(_ number: Int, of socket: SocketSnapshot?) -> [JSON.Member] {
        switch self {
        case .unused: []
        case .bytes(let name), .size(let name), .count(let name, _, _), .session(let name), .rule(let name):
            [JSON.Member(name, JSON(number))]
        case .offset(let name): [JSON.Member(name, number < 0 ? .null : JSON(number))]
        case .total(let name): [JSON.Member(name, number > 0 ? JSON(number) : .null)]
        case .milliseconds(let name): [JSON.Member(name, JSON(seconds: .milliseconds(number)))]
        case .microseconds(let name): [JSON.Member(name, JSON(seconds: .microseconds(number)))]
        case .timeout(let name): [JSON.Member(name, number < 0 ? .null : JSON(seconds: .milliseconds(number)))]
        case .errno:
            [
                JSON.Member("errno", number == 0 ? .null : JSON(number)),
                JSON.Member(
                    "error", number == 0 ? .null : JSON(ErrnoWords.name(Int32(truncatingIfNeeded: number)))),
            ]
        case .alert:
            [
                JSON.Member("alert", JSON(number)),
                JSON.Member("name", JSON(TLSFailure.alertName(UInt8(truncatingIfNeeded: number)))),
            ]
        case .attempt: [JSON.Member("address", JSON(Self.address(number, of: socket)?.description))]
        case .operation: [JSON.Member("operation", JSON(number))]
        case .verifyCode: [JSON.Member("verify_code", JSON(number))]
        case .choice(let choices): Self.members(choices, number)
        }
    }

    private static func members(_ choices: [EventChoice], _ number: Int) -> [JSON.Member] {
        guard choices.indices.contains(number) else {
            return choices[0].members.map { JSON.Member($0.key, .null) }
        }
        return choices[number].members.map { name, fact in
            switch fact {
            case .flag(let isTrue): JSON.Member(name, .bool(isTrue))
            case .word(let word): JSON.Member(name, JSON(word: word))
            }
        }
    }
}
