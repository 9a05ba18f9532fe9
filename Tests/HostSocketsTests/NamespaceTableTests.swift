import SocketCore
import Synchronization
import Testing

@testable import HostSockets

/// Which namespaces are looked at, of processes that are made up.
@Suite("Namespaces of processes")
struct NamespaceTableTests {
    /// Processes by number, with the inode of their namespace.
    private final class World: Sendable {
        let places = Mutex<[Int32: UInt64]>([:])
        let asked = Mutex(0)

        var system: HostSystem {
            var system = HostSystem.live
            system.numbers = { _ throws(HostSystem.Failure) in
                self.places.withLock { Array($0.keys) }
            }
            system.link = { path throws(HostSystem.Failure) in
                self.asked.withLock { $0 += 1 }
                let number = path.split(separator: "/").dropFirst().first.flatMap { Int32($0) } ?? 0
                guard let inode = self.places.withLock({ $0[number] }), inode != 0 else {
                    throw HostSystem.Failure(13)
                }
                return Array("net:[\(inode)]".utf8)
            }
            return system
        }

        func set(_ places: [Int32: UInt64]) { self.places.withLock { $0 = places } }
    }

    @Test("each is looked at once, 64 at most; the others are counted, and move up")
    func most() {
        let world = World()
        var places: [Int32: UInt64] = [:]
        for number in 1...200 as ClosedRange<Int32> { places[number] = 1_000 + UInt64(number % 70) }
        places[201] = 0
        world.set(places)
        var table = NamespaceTable(world.system, own: 1_000)
        table.refresh()
        #expect(table.ordinals.count == 63 && Set(table.ordinals.values).count == 63)
        #expect(table.ordinals[1_000] == nil && !table.ordinals.values.contains(0) && table.left == 6)
        #expect(table.ordinals[1_001] != nil && table.members[1_001] == [1, 71, 141])
        let before = table.ordinals
        for number in [1, 71, 141] as [Int32] { places[number] = nil }
        world.set(places)
        table.refresh()
        #expect(table.ordinals.count == 63 && table.left == 5 && table.ordinals[1_001] == nil)
        #expect(table.ordinals.filter { before[$0.key] != nil } == before.filter { $0.key != 1_001 })
    }

    @Test("one that ended is not looked at, and its number is not given to the next one")
    func ended() {
        let world = World()
        world.set([1: 10, 2: 20, 3: 20])
        var table = NamespaceTable(world.system, own: 10)
        table.refresh()
        #expect(table.ordinals == [20: 1] && table.left == 0)
        world.set([1: 10, 3: 20])
        table.refresh()
        #expect(table.ordinals == [20: 1] && table.members[20] == [3])
        world.set([1: 10])
        table.refresh()
        #expect(table.ordinals.isEmpty && table.left == 0)
        world.set([1: 10, 4: 20])
        table.refresh()
        #expect(table.ordinals == [20: 2])
    }

    @Test("a process that may not be asked is asked once, and where /proc cannot be read all stays as it was")
    func refused() {
        let world = World()
        world.set([1: 10, 2: 20, 3: 0])
        var system = world.system
        let fails = Mutex(false)
        let numbers = system.numbers
        system.numbers = { path throws(HostSystem.Failure) in
            if fails.withLock({ $0 }) { throw HostSystem.Failure(24) }
            return try numbers(path)
        }
        var table = NamespaceTable(system, own: 10)
        table.refresh()
        fails.withLock { $0 = true }
        table.refresh()
        #expect(table.ordinals == [20: 1])
        fails.withLock { $0 = false }
        let asked = world.asked.withLock { $0 }
        for _ in 0..<4 as Range<Int> { table.refresh() }
        #expect(world.asked.withLock { $0 } - asked == 4 * 2)
    }

    @Test("a process that moves is noticed, though not all are asked in each look")
    func moved() {
        let world = World()
        var places: [Int32: UInt64] = [:]
        for number in 1...1_000 as ClosedRange<Int32> { places[number] = 10 }
        world.set(places)
        var table = NamespaceTable(world.system, own: 10)
        table.refresh()
        places[500] = 20
        world.set(places)
        let before = world.asked.withLock { $0 }
        var looks = 0
        while table.ordinals.isEmpty, looks < 20 {
            table.refresh()
            looks += 1
        }
        #expect(table.ordinals == [20: 1] && looks <= 10)
        #expect(world.asked.withLock { $0 } - before <= looks * 128)
    }
}
