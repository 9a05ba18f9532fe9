import SocketCore

/// An engine's sessions by number. A custom hash table, because it is used at every step. The numbers are unique and
/// not chosen by the peer, so one multiplication spreads them well enough.
struct SessionTable<Session> {
    private struct Slot {
        /// 0 if the slot is vacant. No session has that number.
        var number: UInt64 = 0
        var session: Session?
    }

    private var slots: [Slot] = []
    private(set) var count = 0
    /// The shift that turns a product into a slot index.
    private var shift: UInt64 = 64
    /// All sessions sorted by number, or `nil` if they must be sorted again.
    private var ordered: [Session]?
    private var highest: UInt64 = 0

    var isEmpty: Bool { count == 0 }

    /// All sessions, in no particular order.
    var values: some Sequence<Session> { slots.lazy.compactMap(\.session) }

    /// All sessions, sorted by number.
    mutating func inOrder() -> [Session] {
        if let ordered { return ordered }
        let numbers = slots.lazy.map(\.number).filter { $0 != 0 }.sorted()
        let sessions = numbers.compactMap { slots[slot(of: $0)].session }
        (ordered, highest) = (sessions, numbers.last ?? 0)
        return sessions
    }

    /// Returns up to `limit` sessions that `belongs` selects, those with the lowest numbers, sorted by number. Takes
    /// one pass over the table.
    func oldest(_ limit: Int, where belongs: (Session) -> Bool) -> [Session] {
        var oldest: [(number: UInt64, session: Session)] = []
        for slot in slots {
            guard let session = slot.session, belongs(session) else { continue }
            if oldest.count == limit {
                guard let last = oldest.last, slot.number < last.number else { continue }
                oldest.removeLast()
            }
            let index = oldest.firstIndex { slot.number < $0.number } ?? oldest.count
            oldest.insert((slot.number, session), at: index)
        }
        return oldest.map(\.session)
    }

    /// A later session has a higher number, unless it comes from another engine.
    private mutating func keepOrder(with session: Session, _ number: UInt64) {
        guard ordered != nil else { return }
        guard number > highest else { return ordered = nil }
        ordered?.append(session)
        highest = number
    }

    subscript(id: SocketID) -> Session? {
        get {
            guard count > 0, id.number != 0 else { return nil }
            return slots[slot(of: id.number)].session
        }
        set {
            if let newValue { insert(newValue, id.number) } else { remove(id.number) }
        }
    }

    /// The slot of this number, or the one it would take.
    private func slot(of number: UInt64) -> Int {
        var slot = home(of: number)
        while slots[slot].number != number, slots[slot].number != 0 { slot = (slot &+ 1) & (slots.count &- 1) }
        return slot
    }

    private func home(of number: UInt64) -> Int {
        Int(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) &>> shift)
    }

    private mutating func insert(_ session: Session, _ number: UInt64) {
        if (count + 1) * 2 > slots.count { resize(to: max(8, slots.count * 2)) }
        let slot = slot(of: number)
        if slots[slot].number == 0 { count += 1 } else { ordered = nil }
        keepOrder(with: session, number)
        slots[slot] = Slot(number: number, session: session)
    }

    /// Moves back the entries after it that are not in their home slot, so that no search stops too early.
    private mutating func remove(_ number: UInt64) {
        guard count > 0 else { return }
        var hole = slot(of: number)
        guard slots[hole].number == number, number != 0 else { return }
        count -= 1
        ordered = nil
        let mask = slots.count - 1
        var next = (hole + 1) & mask
        while slots[next].number != 0 {
            if (next - home(of: slots[next].number)) & mask >= (next - hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = Slot()
        if slots.count > 64, count * 8 < slots.count { resize(to: slots.count / 2) }
    }

    private mutating func resize(to capacity: Int) {
        let former = slots
        slots = Array(repeating: Slot(), count: capacity)
        shift = UInt64(64 - capacity.trailingZeroBitCount)
        for entry in former where entry.number != 0 { slots[slot(of: entry.number)] = entry }
    }
}
