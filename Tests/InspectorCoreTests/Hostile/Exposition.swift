/// The text format of Prometheus, version 0.0.4, as strictly as its grammar says, so that nothing that a tolerant reader
/// lets pass goes unnoticed.
struct Exposition {
    struct Sample: Hashable {
        var name: String
        var labels: [String: String]
        var value: Double

        subscript(label: String) -> String { labels[label] ?? "" }
    }

    struct Problem: Error {
        var sentence: String
    }

    private(set) var samples: [Sample] = []
    private(set) var types: [String: String] = [:]
    /// The family of the last line. A family's lines are together.
    private var family = ""
    private var ended: Set<String> = []
    private var series: Set<[String]> = []

    /// Reads a text, or throws what the format forbids.
    init(_ text: String) throws(Problem) {
        let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.last?.isEmpty == true else { throw Problem(sentence: "the last line has no end") }
        for line in lines.dropLast() {
            do throws(Problem) { try read(Array(line)) } catch {
                throw Problem(sentence: "\(error.sentence): \(String(decoding: line, as: UTF8.self).debugDescription)")
            }
        }
    }

    private mutating func read(_ line: [UInt8]) throws(Problem) {
        guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw Problem(sentence: "a control character") }
        var rest = line[...]
        guard line.first == UInt8(ascii: "#") else { return try sample(&rest) }
        let words = String(decoding: line, as: UTF8.self).split(
            separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, words[0] == "#" else { throw Problem(sentence: "not a comment of a family") }
        try begin(String(words[2]), isComment: true)
        switch words[1] {
        case "HELP": break
        case "TYPE":
            guard ["counter", "gauge"].contains(words[3]), types.updateValue(String(words[3]), forKey: family) == nil
            else { throw Problem(sentence: "not one type") }
        default: throw Problem(sentence: "neither HELP nor TYPE")
        }
    }

    private mutating func begin(_ name: String, isComment: Bool = false) throws(Problem) {
        if name != family {
            ended.insert(family)
            family = name
            guard !ended.contains(name), isComment else { throw Problem(sentence: "not with its family") }
        }
    }

    private mutating func sample(_ rest: inout ArraySlice<UInt8>) throws(Problem) {
        let name = try Self.name(&rest, mayHaveColon: true)
        try begin(name)
        let labels = try Self.take("{", &rest) ? Self.labels(&rest) : []
        guard Self.take(" ", &rest) else { throw Problem(sentence: "no space before the value") }
        let value = try Self.value(String(decoding: rest, as: UTF8.self))
        guard types[name] != nil else { throw Problem(sentence: "a sample before its type") }
        // By bytes: to Prometheus, two spellings of one character are two values.
        let key = labels.sorted { $0.name < $1.name }.map { "\($0.name)=\(Array($0.value.utf8))" }
        guard series.insert([name] + key).inserted else { throw Problem(sentence: "a series twice") }
        let pairs = labels.map { ($0.name, $0.value) }
        samples.append(Sample(name: name, labels: Dictionary(pairs) { first, _ in first }, value: value))
    }

    private static func labels(_ rest: inout ArraySlice<UInt8>) throws(Problem) -> [(name: String, value: String)] {
        var labels: [(name: String, value: String)] = []
        repeat {
            let name = try name(&rest, mayHaveColon: false)
            guard !name.hasPrefix("__"), !labels.contains(where: { $0.name == name }) else {
                throw Problem(sentence: "the label \(name) is reserved, or there twice")
            }
            guard take("=", &rest), take("\"", &rest) else { throw Problem(sentence: "no value of a label") }
            labels.append((name, try quoted(&rest)))
        } while take(",", &rest)
        guard take("}", &rest) else { throw Problem(sentence: "labels without an end") }
        return labels
    }

    /// What is quoted, up to and including the closing quote.
    private static func quoted(_ rest: inout ArraySlice<UInt8>) throws(Problem) -> String {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: bytes, as: UTF8.self) else { throw Problem(sentence: "not UTF-8") }
                guard !text.isEmpty else { throw Problem(sentence: "an empty label is none") }
                return text
            case UInt8(ascii: "\\"):
                switch rest.popFirst() {
                case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
                case UInt8(ascii: "\""): bytes.append(UInt8(ascii: "\""))
                case UInt8(ascii: "n"): bytes.append(0x0A)
                default: throw Problem(sentence: "an unknown escape")
                }
            default: bytes.append(byte)
            }
        }
        throw Problem(sentence: "a label without an end")
    }

    private static func take(_ character: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    private static func name(_ rest: inout ArraySlice<UInt8>, mayHaveColon: Bool) throws(Problem) -> String {
        let name = rest.prefix { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
            default: byte == UInt8(ascii: ":") && mayHaveColon
            }
        }
        guard let first = name.first, !(0x30...0x39).contains(first) else { throw Problem(sentence: "not a name") }
        rest = rest.dropFirst(name.count)
        return String(decoding: name, as: UTF8.self)
    }

    /// A decimal number: there is no reason for another one here, such as NaN.
    private static func value(_ text: String) throws(Problem) -> Double {
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.e".utf8.contains($0) }
        guard isPlain, let value = Double(text), value.isFinite else { throw Problem(sentence: "not a finite number") }
        return value
    }
}
