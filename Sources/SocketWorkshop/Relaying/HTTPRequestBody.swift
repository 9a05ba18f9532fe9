import SocketCore

/// Finds which of the bytes after a request's head belong to the request (RFC 9112, 6.3), however they are split. It
/// stores none of them.
package struct HTTPRequestBody: Equatable, Sendable {
    private enum State: Equatable {
        /// The number of remaining bytes of the body, or of a chunk's data.
        case length(UInt64)
        case chunk(UInt64)
        /// In a chunk size, with the number of digits so far, or after them, up to the end of the line.
        case size(UInt64, digits: Int)
        case sizeEnd(UInt64)
        /// In the line end after a chunk's data.
        case chunkEnd
        /// In a line after the last chunk, of this length so far.
        case trailer(Int)
        /// The connection switches to another protocol, whose bytes follow.
        case everything
        case over
    }

    private var state: State

    /// Describes a request without a body.
    package init() { state = .over }

    /// Reads the length of the body from the head's fields. Throws if two parsers could disagree about it, which is how
    /// requests are smuggled (RFC 9112, 11.2).
    init(after head: HTTPHead) throws(HTTPHeadFault) {
        let codings = head.list(of: "transfer-encoding")
        let lengths = try Self.lengths(head)
        guard !codings.isEmpty || head.values(of: "transfer-encoding").isEmpty else {
            throw HTTPHeadFault(problem: "Transfer-Encoding is empty")
        }
        if head.lists("upgrade", in: "connection") {
            state = .everything
        } else if let last = codings.last {
            guard lengths.isEmpty else {
                throw HTTPHeadFault(problem: "the head has both Content-Length and Transfer-Encoding")
            }
            guard last.lowercased() == "chunked" else {
                throw HTTPHeadFault(problem: "the final transfer coding is not chunked")
            }
            state = .size(0, digits: 0)
        } else {
            state = lengths.first.map { $0 == 0 ? .over : .length($0) } ?? .over
        }
    }

    /// Returns the one length that all Content-Length fields and all elements of their lists have, or nothing if there
    /// are none (RFC 9110, 8.6).
    private static func lengths(_ head: HTTPHead) throws(HTTPHeadFault) -> Set<UInt64> {
        var lengths: Set<UInt64> = []
        for value in head.values(of: "content-length") {
            for element in value.split(separator: ",", omittingEmptySubsequences: false) {
                let words = element.split { $0 == " " || $0 == "\t" }
                guard words.count == 1, words[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                    let length = UInt64(words[0]), lengths.union([length]).count == 1
                else { throw HTTPHeadFault(problem: "Content-Length is not one number") }
                lengths.insert(length)
            }
        }
        return lengths
    }

    /// Whether the request has ended.
    package var isOver: Bool { state == .over }

    /// Processes the next bytes, and returns how many of the first of them belong to the request. An invalid chunk ends
    /// it.
    package mutating func absorb(_ bytes: [UInt8]) -> Int {
        var index = 0
        while index < bytes.count {
            switch state {
            case .over: return index
            case .everything: return bytes.count
            case .length(let left):
                let part = Int(min(left, UInt64(bytes.count - index)))
                index += part
                state = left == UInt64(part) ? .over : .length(left - UInt64(part))
            case .chunk(let left):
                let part = Int(min(left, UInt64(bytes.count - index)))
                index += part
                state = left == UInt64(part) ? .chunkEnd : .chunk(left - UInt64(part))
            case .size, .sizeEnd, .chunkEnd, .trailer:
                state = after(bytes[index])
                index += 1
            }
        }
        return index
    }

    /// Returns the state after one byte between chunks.
    private func after(_ byte: UInt8) -> State {
        switch state {
        case .size(let size, let digits):
            if let digit = Character(Unicode.Scalar(byte)).hexDigitValue, digits < 15 {
                return .size(size << 4 | UInt64(digit), digits: digits + 1)
            }
            return digits > 0 && [0x0D, 0x0A, 0x3B, 0x20, 0x09].contains(byte) ? sizeLine(size, byte) : .over
        case .sizeEnd(let size): return sizeLine(size, byte)
        case .chunkEnd: return byte == 0x0A ? .size(0, digits: 0) : byte == 0x0D ? .chunkEnd : .over
        case .trailer(let length):
            if byte == 0x0A { return length == 0 ? .over : .trailer(0) }
            return .trailer(byte == 0x0D ? length : 1)
        case .length, .chunk, .everything, .over: return state
        }
    }

    private func sizeLine(_ size: UInt64, _ byte: UInt8) -> State {
        guard byte == 0x0A else { return .sizeEnd(size) }
        return size == 0 ? .trailer(0) : .chunk(size)
    }
}
