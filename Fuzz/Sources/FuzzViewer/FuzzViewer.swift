import FuzzSupport
import InspectorCore
import SocketCore

/// What programs that want to harm their viewer say: several of them at once are put into one picture, shown on every
/// screen in many sizes, written as JSON and as text, and saved.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    // A choice for each field takes more bytes than an input has, so they are stretched.
    var stretched: UInt64 = 0x9E37_79B9_7F4A_7C15
    var viewing = HostileViewing(programs: 1 + input.below(4)) { bound in
        stretched = (stretched ^ UInt64(input.byte())) &* 0xBF58_476D_1CE4_E5B9
        stretched ^= stretched >> 29
        return Int((stretched >> 8) % UInt64(bound))
    }
    for _ in 0..<3 {
        let fault = viewing.step()
        require(fault == nil, fault ?? "")
    }
    return 0
}
