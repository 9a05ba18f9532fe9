import SocketCore

/// The network namespace of each process on this host, where that is visible, and which of these namespaces are listed.
struct NamespaceTable {
    struct Entry {
        let ordinal: UInt16
        var members: Set<Int32>
    }

    /// The most namespaces listed, including the starting one.
    static let most = 64
    /// The number of processes checked again in each snapshot. A process may move to another namespace, and its number
    /// may be reused.
    private static let rechecks = 128

    private let system: HostSystem
    private let own: UInt64?
    /// The processes of each namespace, and the namespace of each process, or `nil` if it is not visible.
    private(set) var members: [UInt64: Set<Int32>] = [:]
    private var places: [Int32: UInt64?] = [:]
    private var turn: [Int32] = []
    /// Processes that may not be examined. They are not tried again, because each attempt may be reported.
    private var refused: Set<Int32> = []
    /// The ordinals of the other listed namespaces, by inode.
    private(set) var ordinals: [UInt64: UInt16] = [:]
    private var lastOrdinal: UInt16 = 0

    /// - Parameter own: The inode of the starting namespace.
    init(_ system: HostSystem, own: UInt64?) { (self.system, self.own) = (system, own) }

    /// Updates the table for processes that began, ended or moved.
    mutating func refresh() {
        guard let numbers = (try? system.numbers("/proc")).map(Set.init) else { return }
        for number in Array(places.keys) where !numbers.contains(number) { forget(number) }
        let new = numbers.filter { places[$0] == nil }
        if turn.isEmpty { turn = places.keys.sorted(by: >) }
        let again = turn.suffix(Self.rechecks).filter { numbers.contains($0) && !refused.contains($0) }
        turn.removeLast(min(Self.rechecks, turn.count))
        for number in again + new { place(number) }
        choose()
    }

    /// The number of namespaces that are not listed because the table is full.
    var left: Int { members.count - ordinals.count - (own.flatMap { members[$0] } == nil ? 0 : 1) }

    private mutating func place(_ number: Int32) {
        var now: UInt64?
        var isRefused = false
        do throws(HostSystem.Failure) {
            now = NetworkText.namespaceInode(try system.link("/proc/\(number)/ns/net"))
        } catch {
            isRefused = error.isRefusal
        }
        guard places[number] != .some(now) else { return }
        forget(number)
        places[number] = .some(now)
        if isRefused { refused.insert(number) }
        if let now { members[now, default: []].insert(number) }
    }

    private mutating func forget(_ number: Int32) {
        refused.remove(number)
        guard let inode = places.removeValue(forKey: number) ?? nil else { return }
        members[inode]?.remove(number)
        if members[inode]?.isEmpty == true { members[inode] = nil }
    }

    /// Keeps the namespaces already listed. Others follow in the order of their first process.
    private mutating func choose() {
        ordinals = ordinals.filter { members[$0.key] != nil }
        guard ordinals.count < Self.most - 1 else { return }
        let new = members.filter { $0.key != own && ordinals[$0.key] == nil }
        let sorted = new.sorted { ($0.value.min() ?? 0, $0.key) < ($1.value.min() ?? 0, $1.key) }
        for (inode, _) in sorted.prefix(Self.most - 1 - ordinals.count) { ordinals[inode] = nextOrdinal() }
    }

    private mutating func nextOrdinal() -> UInt16 {
        let taken = Set(ordinals.values)
        repeat { lastOrdinal = lastOrdinal % UInt16(Self.most - 1) + 1 } while taken.contains(lastOrdinal)
        return lastOrdinal
    }
}
