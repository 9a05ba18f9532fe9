import Glibc
import SocketTestSupport
import Testing

@testable import SocketKit

/// A recording for which room was found ahead, and which is partly on the disk alone.
@Suite("A long recording", .timeLimit(.minutes(5)))
struct LongRecordingTests {
    private static let part = 1 << 20
    private static let parts = 70

    private static func bytes(_ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(number), count: part - 1) + [UInt8(number) ^ 0xFF]
    }

    private static func facts(of path: String) throws -> (size: Int, onDisk: Int) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw PeerFailure(errno: errno) }
        return (Int(facts.st_size), Int(facts.st_blocks) * 512)
    }

    @Test("has all of its bytes, and no room behind them when it is complete")
    func isWhole() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/long.pcapng"
        var file = try RecordingFile(path, limit: nil, replaces: false)
        for number in 0..<Self.parts { try file.write(Self.bytes(number)) { false } }
        #expect(try Self.facts(of: path).size == Self.parts * Self.part)
        file.close()

        let (size, onDisk) = try Self.facts(of: path)
        #expect(size == Self.parts * Self.part)
        #expect(onDisk <= size + Self.part)
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: Self.part)
        for number in 0..<Self.parts {
            try #require(read(descriptor, &buffer, buffer.count) == buffer.count)
            try #require(buffer == Self.bytes(number), "part \(number)")
        }
    }

    @Test("begins again at its limit with a file that is whole too")
    func rotates() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ring.pcapng"
        var file = try RecordingFile(path, limit: 2 * Self.parts * Self.part, replaces: false)
        for number in 0..<Self.parts + 2 {
            if file.isFull { try file.rotate() }
            try file.write(Self.bytes(number)) { false }
        }
        file.close()
        let (former, current) = (try Self.facts(of: path + ".1"), try Self.facts(of: path))
        #expect(former.size + current.size == (Self.parts + 2) * Self.part)
        #expect(former.onDisk <= former.size + Self.part)
    }
}
