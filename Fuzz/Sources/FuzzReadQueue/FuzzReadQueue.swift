import FuzzSupport

/// Reads of every kind are queued, cancelled, extended, timed out and failed while bytes come, asked for or not.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var run = ReadQueueRun(FuzzInput(start, count))
    run.play()
    return 0
}
