import CocoaAsyncSocket
import Foundation

// What both sides say. A client asks in one line:
//
//     TLS                 the connection is secured from here on
//     PUT name length     so many bytes follow; the answer is their checksum
//     SUM                 bytes follow up to the end of the stream; the answer is their number and checksum

/// Tags of reads and writes.
enum Tag {
    static let command = 1
    static let content = 2
    static let answer = 3
    static let header = 4
    static let goAhead = 5
}

/// Where servers are asked for.
enum Discovery {
    static let group = "239.255.71.7"
    static let question = "who takes files?"
    static let answer = "cocoa-drop"
}

/// How long anything may take, in seconds.
enum Patience {
    static let line: TimeInterval = 30
    static let content: TimeInterval = 60
    static let discovery: TimeInterval = 3
}

/// The checksum of RFC 1950 (Adler-32), which needs no library.
struct Checksum: CustomStringConvertible {
    private var a: UInt32 = 1
    private var b: UInt32 = 0
    private(set) var count = 0

    mutating func add(_ data: Data) {
        for byte in data {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        count += data.count
    }

    static func of(_ data: Data) -> Checksum {
        var sum = Checksum()
        sum.add(data)
        return sum
    }

    var description: String {
        let text = String(b << 16 | a, radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
    }
}

extension GCDAsyncSocket {
    /// Writes one line.
    func write(line: String, tag: Int) {
        write(Data(line.utf8) + GCDAsyncSocket.crlfData(), withTimeout: Patience.line, tag: tag)
    }

    /// Asks for one line of at most a kilobyte.
    func readLine(tag: Int) {
        readData(to: GCDAsyncSocket.crlfData(), withTimeout: Patience.line, maxLength: 1_024, tag: tag)
    }
}

/// The text of a line, without its end.
func text(of line: Data) -> String {
    String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
}

/// Prints to standard error, so that answers stay apart.
func say(_ text: String, terminator: String = "\n") {
    FileHandle.standardError.write(Data((text + terminator).utf8))
}

/// Ends the program.
func quit(_ status: Int32, _ text: String? = nil) -> Never {
    if let text { say(text) }
    exit(status)
}
