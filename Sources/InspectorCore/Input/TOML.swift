/// A subset of TOML 1.0: comments, tables, bare, quoted and dotted keys, single-line basic and literal strings, decimal
/// integers, booleans and arrays. Every document that this accepts is valid TOML with the same meaning.
package struct TOML: Equatable, Sendable {
    package indirect enum Value: Hashable, Sendable {
        case string(String)
        case integer(Int)
        case boolean(Bool)
        case array([Value])
    }

    /// The most parts of a dotted key.
    static let deepestKey = 8

    /// A position in the document. Line and column are counted from 1. Columns are characters.
    package struct Position: Equatable, Sendable {
        package var line: Int
        package var column: Int

        package init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    /// A mistake and its position.
    package struct Failure: Error, Equatable, Sendable {
        package var position: Position
        package var message: String

        package init(_ position: Position, _ message: String) {
            self.position = position
            self.message = message
        }
    }

    /// One key with its value, below the tables that contain it.
    package struct Entry: Equatable, Sendable {
        package var path: [String]
        package var value: Value
        /// The position of the key. `position` is that of the value.
        package var key: Position
        package var position: Position
    }

    /// The entries, in the order of the document.
    package private(set) var entries: [Entry] = []

    private var values: Set<[String]> = []
    private var tables: Set<[String]> = []

    /// Parses a document.
    package static func parse(_ text: String) -> Result<TOML, Failure> {
        var document = TOML()
        var reader = TOMLReader(text)
        do throws(Failure) {
            try document.read(&reader)
            return .success(document)
        } catch {
            return .failure(error)
        }
    }

    private mutating func read(_ reader: inout TOMLReader) throws(Failure) {
        var table: [String] = []
        while try reader.skipToContent() {
            let begin = reader.position
            if reader.accept("[") {
                if reader.next == "[" { throw Failure(begin, "arrays of tables are not supported") }
                table = try reader.path()
                guard reader.accept("]") else {
                    throw Failure(reader.position, "the ] after the table's name is missing")
                }
                guard !values.contains(table), tables.insert(table).inserted else {
                    throw Failure(begin, "\(table.joined(separator: ".")) is defined twice")
                }
            } else {
                let path = table + (try reader.path())
                guard reader.accept("=") else { throw Failure(reader.position, "the = after the key is missing") }
                reader.skipBlanks()
                let position = reader.position
                try add(
                    Entry(path: path, value: try reader.value(), key: begin, position: position), below: table.count)
            }
            try reader.endLine()
        }
    }

    private mutating func add(_ entry: Entry, below table: Int) throws(Failure) {
        let name = entry.path.joined(separator: ".")
        guard !tables.contains(entry.path), values.insert(entry.path).inserted else {
            throw Failure(entry.key, "\(name) is defined twice")
        }
        for length in 1..<entry.path.count {
            let above = Array(entry.path.prefix(length))
            if values.contains(above) { throw Failure(entry.key, "\(above.joined(separator: ".")) is not a table") }
            // A dotted key creates its tables, so no heading can open them later.
            if length > table { tables.insert(above) }
        }
        entries.append(entry)
    }
}
