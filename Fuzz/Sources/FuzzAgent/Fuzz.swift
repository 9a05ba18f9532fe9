import FuzzSupport
import InspectorCore
import SocketCore
import SocketRecords

/// Bytes of an agent that wants to do harm: whatever they are, they are read or refused, and what one host tells stays with
/// that host, whatever its judge makes of it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let way = input.byte()
    let rest = input.bytes(count, mask: 0xFF)
    if way & 1 == 0 {
        read(AgentFrame.preamble + AgentFrame.hello(AgentHello()).bytes + rest)
    } else {
        // Straight to the content of the frames of a look: random lengths seldom are right.
        let cut = Int(way >> 1) * rest.count / 128
        let kinds: [AgentFrame.Kind] = [.sockets, .owners, .programs, .closings]
        let kind = kinds[Int(way >> 1) % kinds.count]
        read(
            AgentFrame.preamble + AgentFrame.hello(AgentHello()).bytes + frame(.look, rest.prefix(cut))
                + frame(kind, rest.dropFirst(cut)) + AgentFrame.lookEnd(AgentLookEnd()).bytes)
    }
    var asks = AgentAskReader()
    _ = try? asks.take(rest, at: .zero)
    return 0
}

private func frame(_ kind: AgentFrame.Kind, _ content: some Collection<UInt8>) -> [UInt8] {
    let length = content.count + 1
    return [0, 0, UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), kind.rawValue] + content
}

private func read(_ bytes: [UInt8]) {
    var reader = AgentReader()
    guard let host = HostOrdinal(3), let news = try? reader.take(bytes, at: .zero) else { return }
    var fleet = HostFleet()
    var judge = HostJudge()
    fleet.open(host, boot: "", namespace: 0, clock: .zero, at: .zero)
    judge.note(HostMachine(name: "h", command: ""), host)
    for case .update(let update) in news {
        for second in 1...2 as ClosedRange<Int64> {
            let time = MonotonicTime(nanoseconds: second * 1_000_000_000)
            guard let merge = fleet.merge(update, of: host, at: time, into: judge.look) else { continue }
            judge.absorb(merge)
        }
    }
    let look = judge.look
    require(look.sockets.allSatisfy { $0.host == host }, "a socket of another host")
    require(look.processes.keys.allSatisfy { HostOrdinal(ofProcess: $0) == host }, "a process of another host")
    require(look.owners.keys.allSatisfy { HostOrdinal(ofInode: $0) == host }, "an inode of another host")
    require(Set(look.sockets.map(\.id)).count == look.sockets.count, "a socket is there twice")
    _ = HostCheck.lines(judge.verdicts().found, sockets: look.sockets.count, hidden: look.hidden)
    _ = HostAnswer(about: { _ in true }, [], look, judge)?.lines
}
