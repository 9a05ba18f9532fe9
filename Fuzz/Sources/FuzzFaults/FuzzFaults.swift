import FuzzSupport
import SocketCore
import SocketWorkshop

/// Rules and breakpoints as people type them, and what rules do to a stream. What was read is printed and read to the same
/// again, an error names a column of the text, and reads do not move what is hit.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let cut = 1 + input.below(40)
    let parts = input.bytes(count, mask: 0xFF).split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    let text = String(decoding: parts[0], as: UTF8.self)
    let stream = parts.count > 1 ? Array(parts[1]) : Array(text.utf8)
    do throws(FaultProblem) {
        let rule = try FaultRule.parse(text)
        require((try? FaultRule.parse(rule.description)) == rule, "another rule: \(rule)")
        run(rule, over: stream, cut: cut)
    } catch {
        check(error, in: text)
    }
    do throws(FaultProblem) {
        let point = try Breakpoint.parse(text)
        require((try? Breakpoint.parse(point.description)) == point, "another breakpoint: \(point)")
    } catch {
        check(error, in: text)
    }
    return 0
}

private func check(_ problem: FaultProblem, in text: String) {
    require((1...text.unicodeScalars.count + 1).contains(problem.column), "column \(problem.column) of \(text)")
    require(!problem.message.isEmpty, "no reason for \(text)")
}

/// All that comes out of a stream, however long that takes.
private func run(_ rule: FaultRule, over stream: [UInt8], cut: Int) {
    let whole = output(rule, [stream])
    let reads = stride(from: 0, to: stream.count, by: cut).map { Array(stream[$0..<min($0 + cut, stream.count)]) }
    let chopped = output(rule, reads)
    require(whole == chopped, "\(rule): \(whole) and \(chopped)")
}

private func output(_ rule: FaultRule, _ reads: [[UInt8]]) -> [UInt8] {
    let place = FaultPlace(seed: 1, connection: 1, direction: .upstream, began: .zero)
    var pipeline = FaultPipeline(place, delayBuffer: 1 << 20)
    pipeline.add(NumberedFault(1, rule))
    var bytes: [UInt8] = []
    var wake: MonotonicTime?
    func absorb(_ actions: [FaultPipeline.Action]) {
        for action in actions {
            if case .deliver(let delivered, _, _) = action { bytes += delivered }
            if case .wake(let time) = action { wake = time }
        }
    }
    // Time stands still while the stream comes, since a condition of time depends on it.
    absorb(pipeline.start(.zero))
    for read in reads { absorb(pipeline.receive(read, .zero)) }
    absorb(pipeline.end(.zero))
    for _ in 0..<20_000 {
        guard let due = wake else { break }
        wake = nil
        absorb(pipeline.wake(due))
    }
    return bytes
}
