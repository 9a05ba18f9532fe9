import FuzzSupport
import SocketCore
import SocketRecords

/// Segments of one stream in any order, lost, repeated, cut and overlapping: what comes out is the stream itself, in
/// order, with gaps that are as long as what is missing.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let base = UInt32(input.byte()) << 24 | 0xFF_FF00 | UInt32(input.byte())
    let lies = input.byte() % 4 == 0
    var assembler = StreamAssembler()
    var check = Check(base: base, lies: lies)
    if input.byte() % 2 == 0 {
        let syn = ParsedPacket.TCPSegment(sequence: base, flags: .syn)
        check.absorb(assembler.absorb(syn, []))
        check.start = 1
    }
    while !input.isEmpty {
        let offset = Int(input.byte()) + 4 * Int(input.byte() & 0x3F)
        let length = Int(input.byte() % 64)
        let way = input.byte()
        var payload = check.truth(offset..<(offset + length))
        if lies, way & 64 != 0, !payload.isEmpty { payload[0] ^= 1 }
        let sequence = base &+ 1 &+ UInt32(offset)
        switch way % 8 {
        case 0: check.absorb(assembler.otherSide(acknowledges: sequence))
        case 1: check.absorb(assembler.absorb(segment(sequence, [.ack, .fin]), payload[...]))
        case 2: check.absorb(assembler.absorb(segment(sequence, .ack), payload[...], missing: Int(way >> 3)))
        default: check.absorb(assembler.absorb(segment(sequence, .ack), payload[...]))
        }
        check.follow(assembler)
        require(assembler.pendingBytes <= StreamAssembler.pendingLimit, "\(assembler.pendingBytes) wait")
    }
    check.absorb(assembler.finish())
    check.follow(assembler)
    require(assembler.pendingBytes == 0, "\(assembler.pendingBytes) wait after the end")
    require(assembler.missing == check.gaps, "\(assembler.missing) missing, \(check.gaps) in gaps")
    return 0
}

private func segment(_ sequence: UInt32, _ flags: SyntheticPacket.Flags) -> ParsedPacket.TCPSegment {
    ParsedPacket.TCPSegment(sequence: sequence, flags: flags)
}

/// Follows what the assembler gives out.
private struct Check {
    let base: UInt32
    let lies: Bool
    /// Where the stream begins after its SYN, or `nil` if it has none.
    var start: Int?
    private var hasFollowed = false
    private var place = 0
    private(set) var gaps: UInt64 = 0
    private var early: [StreamAssembler.Piece] = []

    init(base: UInt32, lies: Bool) { (self.base, self.lies) = (base, lies) }

    func truth(_ range: Range<Int>) -> [UInt8] { range.map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) } }

    /// Without a SYN it begins where the assembler says, which can move until a byte has come out.
    mutating func follow(_ assembler: StreamAssembler) {
        guard start == nil, let first = assembler.first else { return }
        if !hasFollowed { place = Int(Int32(bitPattern: first &- base &- 1)) }
        hasFollowed = hasFollowed || early.contains { $0 != .keepAlive }
        for piece in early { follow(piece) }
        early = []
    }

    mutating func absorb(_ pieces: [StreamAssembler.Piece]) {
        if start == nil { early += pieces } else { pieces.forEach { follow($0) } }
    }

    private mutating func follow(_ piece: StreamAssembler.Piece) {
        switch piece {
        case .gap(let count):
            place += Int(count)
            gaps += count
        case .bytes(let bytes):
            require(lies || bytes == truth(place..<(place + bytes.count)), "other bytes at \(place)")
            place += bytes.count
        case .keepAlive: break
        case .differs(let count): require(lies && count > 0, "\(count) bytes differ where none do")
        }
    }
}
