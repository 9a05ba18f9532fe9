/// Facts from the headers of an executable (elf(5)).
package struct ExecutableFacts: Equatable, Sendable {
    /// The machine whose system calls it makes, or `nil` if there is no table for it, as for a 32-bit program.
    package var machine: SystemCall.Machine?
    /// Whether the Go compiler built it.
    package var isGo = false

    /// The maximum number of sections examined, and of bytes read of their names.
    private static let sectionLimit = 512
    private static let nameLimit = 65_536

    /// Returns `nil` if it is not an ELF file.
    /// - Parameter read: Returns up to `limit` bytes from an offset.
    package init?(_ read: (_ offset: Int, _ limit: Int) -> [UInt8]) {
        let head = read(0, 64)
        guard head.count == 64, head.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { return nil }
        let span = head.span.bytes
        let all = 0..<64
        // ELFCLASS64, in this machine's byte order.
        guard head[4] == 2, head[5] == (1.littleEndian == 1 ? 1 : 2), let kind = span.u16(18, in: all),
            let place = span.u64(40, in: all).flatMap(Int.init(exactly:)), let size = span.u16(58, in: all),
            let count = span.u16(60, in: all).map(Int.init), let namesIndex = span.u16(62, in: all).map(Int.init)
        else { return }
        machine = kind == 62 ? .x86 : kind == 183 ? .arm : nil
        guard size == 64, 1...Self.sectionLimit ~= count, namesIndex < count, place < 1 << 40 else { return }
        isGo = Self.hasSection(".go.buildinfo", read(place, count * 64), namesIndex, read)
    }

    private static func hasSection(
        _ name: String, _ sections: [UInt8], _ namesIndex: Int, _ read: (_ offset: Int, _ limit: Int) -> [UInt8]
    ) -> Bool {
        let span = sections.span.bytes
        let own = namesIndex * 64..<(namesIndex + 1) * 64
        guard let place = span.u64(24, in: own).flatMap(Int.init(exactly:)), place < 1 << 40,
            let size = span.u64(32, in: own)
        else { return false }
        let names = read(place, Int(min(size, UInt64(nameLimit))))
        let wanted = Array(name.utf8) + [0]
        return stride(from: 0, to: sections.count - 63, by: 64).contains { start in
            guard let offset = span.u32(0, in: start..<(start + 64)).map(Int.init), offset < names.count else {
                return false
            }
            return names[offset...].starts(with: wanted)
        }
    }
}
