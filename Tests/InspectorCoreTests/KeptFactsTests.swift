import FoundationEssentials
import InspectorCore
import SocketCore
import Testing

@testable import SocketRecords

/// Facts as they were written when these files were made: what programs sent to a viewer (`.wire`), recordings
/// (`.pcapng`), and messages in which every field has a value (`everything.hex`). Facts that are new may add to the JSON;
/// whatever is there stays. `SOCKTUI_WRITE_FACTS=1 swift test --filter KeptFactsTests` writes the JSON again.
@Suite("Facts of kept sessions")
struct KeptFactsTests {
    private static let folder =
        #filePath.split(separator: "/").dropLast(2).reduce("") { $0 + "/" + $1 } + "/Recordings"

    private static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
    }

    private static func lines(_ name: String) throws -> [Substring] {
        String(decoding: try bytes(name), as: UTF8.self).split(separator: "\n")
    }

    private static func expectKept(_ lines: [String], _ name: String) throws {
        if ProcessInfo.processInfo.environment["SOCKTUI_WRITE_FACTS"] != nil {
            let text = lines.joined(separator: "\n") + "\n"
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        let kept = try Self.lines(name)
        #expect(kept.count == lines.count)
        for (line, former) in zip(lines, kept) {
            let (told, expected) = try (JSONReader.read(Array(line.utf8)), JSONReader.read(Array(former.utf8)))
            #expect(told.extends(expected), "\(line)\nwas \(former)")
        }
    }

    @Test("a live session is read, written again byte for byte, and tells the same", arguments: KeptFacts.wires)
    func wire(_ name: String) throws {
        let bytes = try Self.bytes(name)
        #expect(try KeptFacts.rewritten(bytes) == bytes)
        try Self.expectKept(KeptFacts.lines(ofWire: bytes), "\(name).jsonl")
    }

    @Test("a recording opens and tells the same", arguments: KeptFacts.recordings)
    func recording(_ name: String) throws {
        try Self.expectKept(KeptFacts.lines(ofRecording: Self.bytes(name)), "\(name).jsonl")
    }

    /// The last message is the first for a viewer without the right to payload.
    @Test("every field keeps its number, its right and its place in the JSON")
    func everything() throws {
        let messages = try Self.lines("everything.hex").map { line in
            line.split(separator: " ").compactMap { UInt8($0, radix: 16) }
        }
        #expect(try KeptFacts.again(messages[0], SocketSnapshot.self) == messages[0])
        #expect(try KeptFacts.again(messages[2], PeerEnd.self) == messages[2])
        #expect(try KeptFacts.hidden(messages[0]) == messages[3])
        try Self.expectKept(KeptFacts.everything(messages), "everything.jsonl")
    }
}
