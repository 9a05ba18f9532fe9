import SocketCore

/// A part of a typed message. Parts that are not bytes yet become bytes when the message is sent.
package enum MessagePiece: Equatable, Sendable {
    case bytes([UInt8])
    /// `${seq}`: the number of this message on its connection, in digits.
    case sequence
    /// `${time}`: the time in UTC, to the millisecond, in ISO 8601 form.
    case time
    /// `${rand:16}`: that many random bytes.
    case random(Int)
    /// `${file:path}`: a file's bytes.
    case file(String)
    /// `${len32be:...}`: the length in bytes of its contents, as a number of that width, followed by the contents.
    indirect case counted(width: Int, isLittleEndian: Bool, [MessagePiece])

    /// The length in bytes of a `${time}`.
    package static let timeLength = 24
    /// The most bytes of a `${rand:n}`.
    package static let randomLimit = 65_536
    /// The most bytes of a `${file:path}`. It is held in memory, unlike a file that is sent as it is.
    package static let fileLimit = 1 << 20

    /// The maximum nesting of lengths.
    package static let deepest = 8

    /// Whether its bytes depend on nothing but the message itself.
    package var isKnown: Bool {
        switch self {
        case .bytes, .sequence: true
        case .time, .random, .file: false
        case .counted(_, _, let inner): inner.allSatisfy(\.isKnown)
        }
    }
}

/// The values of macros at the moment of sending.
package struct MessageValues {
    package var sequence: Int
    package var time: () -> [UInt8]
    package var random: (Int) -> [UInt8]
    package var file: (String) throws(MessageText.Unsendable) -> [UInt8]

    package init(
        sequence: Int, time: @escaping () -> [UInt8], random: @escaping (Int) -> [UInt8],
        file: @escaping (String) throws(MessageText.Unsendable) -> [UInt8]
    ) {
        self.sequence = sequence
        self.time = time
        self.random = random
        self.file = file
    }
}

/// Typed messages: escapes, and macros in `${...}`.
package enum MessageText {
    /// The reason why a valid message can't be sent, as a sentence.
    package struct Unsendable: Error, Equatable, Sendable {
        package var sentence: String

        package init(_ sentence: String) {
            self.sentence = sentence
        }
    }

    static let macros = "seq, time, rand:16, file:PATH, len32be:..."

    /// Parses escapes and macros.
    package static func parse(_ text: String) -> Result<[MessagePiece], EscapedText.Failure> {
        var reader = EscapedText.Reader(characters: Array(text.unicodeScalars))
        do {
            return .success(try pieces(&reader, depth: 0))
        } catch {
            return .failure(error)
        }
    }

    private static func pieces(
        _ reader: inout EscapedText.Reader, depth: Int
    ) throws(EscapedText.Failure) -> [MessagePiece] {
        var pieces: [MessagePiece] = []
        while let scalar = reader.next {
            if depth > 0 && scalar == "}" { break }
            if scalar == "\\" {
                pieces.add(try reader.escape())
            } else if scalar == "$", reader.index + 1 < reader.characters.count,
                reader.characters[reader.index + 1] == "{"
            {
                pieces.append(try macro(&reader, depth: depth))
            } else {
                pieces.add(Array(String(scalar).utf8))
                reader.index += 1
            }
        }
        return pieces
    }

    private static func macro(
        _ reader: inout EscapedText.Reader, depth: Int
    ) throws(EscapedText.Failure) -> MessagePiece {
        let column = reader.index + 1
        func failure(_ message: String) -> EscapedText.Failure { EscapedText.Failure(column: column, message: message) }
        reader.index += 2
        let name = word(&reader) { $0 != ":" && $0 != "}" }
        let hasArgument = reader.next == ":"
        if hasArgument { reader.index += 1 }
        let piece: MessagePiece
        switch (name, hasArgument) {
        case ("seq", false): piece = .sequence
        case ("time", false): piece = .time
        case ("rand", true):
            let digits = word(&reader) { $0 != "}" }
            guard let count = Int(digits), 1...MessagePiece.randomLimit ~= count else {
                throw failure("${rand:N} needs a number of bytes from 1 to \(MessagePiece.randomLimit)")
            }
            piece = .random(count)
        case ("file", true):
            let path = word(&reader) { $0 != "}" }
            guard !path.isEmpty else { throw failure("${file:PATH} needs a path") }
            piece = .file(path)
        default:
            guard hasArgument, let (width, isLittleEndian) = countedForm(name) else {
                throw failure("no such macro; write one of \(macros); \\x24{ writes ${")
            }
            guard depth < MessagePiece.deepest else { throw failure("macros are nested too deeply") }
            piece = .counted(width: width, isLittleEndian: isLittleEndian, try pieces(&reader, depth: depth + 1))
        }
        guard reader.next == "}" else { throw failure("a } is missing") }
        reader.index += 1
        return piece
    }

    private static func word(_ reader: inout EscapedText.Reader, while isPart: (Unicode.Scalar) -> Bool) -> String {
        var word = ""
        while let scalar = reader.next, isPart(scalar) {
            word.unicodeScalars.append(scalar)
            reader.index += 1
        }
        return word
    }

    /// Parses `len8`, `len16`, `len32le`, `len64be`: the width of the number and its byte order. The default is network
    /// order.
    private static func countedForm(_ name: String) -> (width: Int, isLittleEndian: Bool)? {
        for (bits, width) in [("8", 1), ("16", 2), ("32", 4), ("64", 8)] {
            for (order, isLittleEndian) in [("", false), ("be", false), ("le", true)] where name == "len\(bits)\(order)"
            {
                return (width, isLittleEndian)
            }
        }
        return nil
    }

    // MARK: Converting to bytes

    /// Returns the message's bytes.
    /// - Throws: if a file can't be read, or a length does not fit in its number.
    package static func bytes(
        _ pieces: [MessagePiece], _ values: MessageValues
    ) throws(Unsendable) -> [UInt8] {
        var bytes: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .bytes(let plain): bytes += plain
            case .sequence: bytes += Array(String(values.sequence).utf8)
            case .time: bytes += values.time()
            case .random(let count): bytes += values.random(count)
            case .file(let path): bytes += try values.file(path)
            case .counted(let width, let isLittleEndian, let inner):
                let body = try Self.bytes(inner, values)
                guard width == 8 || body.count < 1 << (width * 8) else {
                    throw Unsendable("\(body.count) bytes do not fit in ${len\(width * 8):...}")
                }
                let digits = (0..<width).map { UInt8(truncatingIfNeeded: body.count >> ($0 * 8)) }
                bytes += isLittleEndian ? digits : digits.reversed()
                bytes += body
            }
        }
        return bytes
    }

    /// Returns what is known of a message before it is sent: its bytes, with `nil` for those that are only known when
    /// it is sent, and the number of files that will add to it. A length that does not fit counts as unknown.
    package static func preview(_ pieces: [MessagePiece], sequence: Int) -> (bytes: [UInt8?], files: Int) {
        var bytes: [UInt8?] = []
        var files = 0
        for piece in pieces {
            switch piece {
            case .bytes(let plain): bytes += plain
            case .sequence: bytes += Array(String(sequence).utf8)
            case .time: bytes += [UInt8?](repeating: nil, count: MessagePiece.timeLength)
            case .random(let count): bytes += [UInt8?](repeating: nil, count: count)
            case .file: files += 1
            case .counted(let width, let isLittleEndian, let inner):
                let body = preview(inner, sequence: sequence)
                let isKnown = body.files == 0 && (width == 8 || body.bytes.count < 1 << (width * 8))
                let digits = (0..<width).map { isKnown ? UInt8(truncatingIfNeeded: body.bytes.count >> ($0 * 8)) : nil }
                bytes += isLittleEndian ? digits : digits.reversed()
                bytes += body.bytes
                files += body.files
            }
        }
        return (bytes, files)
    }
}

extension [MessagePiece] {
    /// Appends bytes, to the last piece if that is bytes.
    package mutating func add(_ bytes: [UInt8]) {
        if case .bytes(let before) = last {
            self[count - 1] = .bytes(before + bytes)
        } else if !bytes.isEmpty {
            append(.bytes(bytes))
        }
    }
}
