import FoundationEssentials
import InspectorCore
import SocketCore
import Testing

@testable import SocketRecords

/// Facts as they were written when these files were made: what programs sent to a viewer (`.wire`), recordings
/// (`.pcapng`) and a snapshot in which every field of the wire has a value. A fact that is new adds to the JSON; no byte
/// that is there may change. `SOCKTUI_WRITE_FACTS=1 swift test --filter KeptFactsTests` writes the JSON again.
@Suite("Facts of kept sessions")
struct KeptFactsTests {
    private static let folder =
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Recordings"

    private static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
    }

    private static func isKept(_ lines: [String], _ name: String) throws -> Bool {
        let text = lines.joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["SOCKTUI_WRITE_FACTS"] != nil {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        return String(decoding: try bytes(name), as: UTF8.self) == text
    }

    @Test("a live session is read, written again byte for byte, and tells the same", arguments: KeptFacts.wires)
    func wire(_ name: String) throws {
        let bytes = try Self.bytes(name)
        #expect(try KeptFacts.rewritten(bytes) == bytes)
        #expect(try Self.isKept(KeptFacts.lines(ofWire: bytes), "\(name).jsonl"))
    }

    @Test("a recording opens and tells the same", arguments: KeptFacts.recordings)
    func recording(_ name: String) throws {
        #expect(try Self.isKept(KeptFacts.lines(ofRecording: Self.bytes(name)), "\(name).jsonl"))
    }

    @Test("a snapshot with every field is written as ever, and tells the same")
    func everything() throws {
        #expect(try Self.isKept(KeptFacts.everything, "everything.jsonl"))
    }
}
