import FuzzSupport
import SocketCore

/// Heads of strangers, to a server, to a client and to a client behind a proxy: whatever comes, and however it is cut, the
/// same comes of it, which is what a plain reading of the whole says; what is accepted is well-formed, and limits hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let way = input.byte()
    let piece = 1 + input.below(32)
    let limit = way & 4 == 0 ? 16_384 : 200
    let bytes = Spelling.spell(&input)
    switch way & 3 {
    case 0, 1: ServerCheck(bytes: bytes, limit: limit).run(piece: piece)
    case 2: ClientCheck(bytes: bytes, limit: limit, offers: way & 8 == 0).run(piece: piece)
    default: TunnelCheck(bytes: bytes, limit: limit, knowsWho: way & 8 == 0).run(piece: piece)
    }
    return 0
}

/// Bytes in pieces.
struct Pieces: Sequence, IteratorProtocol {
    var rest: ArraySlice<UInt8>
    let size: Int

    mutating func next() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(size) }
        return Array(rest.prefix(size))
    }
}
