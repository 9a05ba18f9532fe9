import FuzzSupport

/// A host of hostile programs as metrics: the text is what the format allows, its series are unique and few, and its sums
/// are those of the JSON of the same look.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let fault = HostileHost { input.below($0) }.fault()
    require(fault == nil, fault ?? "")
    return 0
}
