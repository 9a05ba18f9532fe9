import Glibc
import SocketCore
import Synchronization
import Testing

@testable import HostSockets

/// The flags of the descriptors of a program with very many sockets of interest.
@Suite("Flags of descriptors")
struct FlagTests {
    /// The descriptors whose flags were read.
    private final class Reads: Sendable {
        let list = Mutex<[Int32]>([])
        func take() -> Set<Int32> {
            list.withLock { list in
                defer { list = [] }
                return Set(list)
            }
        }
    }

    @Test("those of a thousand are read in turns, and kept meanwhile; those of a closed one are forgotten")
    func turns() throws {
        let reads = Reads()
        var system = HostSystem.live
        system.read = { path, offset, limit throws(HostSystem.Failure) in
            guard path.contains("/fdinfo/") else { return try HostSystem.live.read(path, offset, limit) }
            reads.list.withLock { $0.append(Int32(path.split(separator: "/").last ?? "") ?? -1) }
            return Array("pos:\t0\nflags:\t02004002\n".utf8)
        }
        let stat = try #require(system.text("/proc/self/stat").flatMap(ProcessStat.init))
        var entry = ProcessTable.Entry(id: HostProcess.ID(number: getpid(), start: stat.start), stat: stat)
        entry.sockets = Dictionary(uniqueKeysWithValues: (10..<1_010).map { ($0, UInt64($0) + 1_000) })
        let reader = ProcessReader(system, readsCalls: false, ProcessTable.Privilege(system))
        let inodes = Set(entry.sockets.values)
        let first = reader.describe(&entry, inodes: inodes), one = reads.take()
        let second = reader.describe(&entry, inodes: inodes), two = reads.take()
        #expect(one.count < 600 && first.flagsRead == one)
        #expect(one.union(two).count == 1_000 && second.flagsRead.count == 1_000)
        #expect(second.nonBlocking.count == 1_000 && second.keptOverExec.isEmpty)
        entry.sockets[10] = nil
        entry.sockets[11] = 5
        let third = reader.describe(&entry, inodes: inodes)
        #expect(third.flagsRead.count == 998 && !third.flagsRead.contains(11))
        // Those of few are read for each snapshot.
        _ = reads.take()
        for _ in 0..<2 {
            _ = reader.describe(&entry, inodes: [1_012, 1_013])
            #expect(reads.take() == [12, 13])
        }
    }
}
