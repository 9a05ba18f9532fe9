import FuzzSupport
import SocketCore

/// What the kernel and other programs wrote, as one that means harm would have written it: whatever it is, it is read or
/// refused within its bounds, and what was read is what a caller may rely on.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let way = input.byte()
    let bytes = input.bytes(count, mask: 0xFF)
    switch way % 4 {
    case 0: readMessages(bytes, SocketTable.allCases[Int(way / 4) % SocketTable.allCases.count])
    case 1: readCall(bytes, machine: way & 4 == 0 ? .x86 : .arm)
    case 2: readTexts(bytes)
    default: readExecutable(bytes)
    }
    return 0
}

private func readMessages(_ bytes: [UInt8], _ table: SocketTable) {
    let span = bytes.span.bytes
    var offset = 0
    while true {
        let before = offset
        guard let message = NetlinkMessage.next(in: span, at: &offset) else { break }
        require(offset > before && offset <= bytes.count, "from \(before) to \(offset) of \(bytes.count)")
        require(message.content.upperBound <= bytes.count, "\(message.content) of \(bytes.count)")
        check(HostSocket(span, message.content, of: table, time: .zero))
    }
    // Straight to the content of a message: random lengths seldom are right.
    check(HostSocket(span, 0..<bytes.count, of: table, time: .zero))
}

private func check(_ socket: HostSocket?) {
    guard let socket else { return }
    require(socket.unread ?? 0 >= 0 && socket.unsent ?? 0 >= 0, "\(socket)")
    require(socket.local?.name?.utf8.count ?? 0 <= 3 * 108, "\(socket)")
    require(socket.congestion?.utf8.count ?? 0 <= 3 * 16, "\(socket)")
}

/// The text ends at the first NUL; what follows is the memory, wherever it is looked for.
private func readCall(_ bytes: [UInt8], machine: SystemCall.Machine) {
    let text = Array(bytes.prefix { $0 != 0 })
    let memory = Array(bytes.dropFirst(text.count + 1))
    var asked = 0
    let call = HostCall(text, waitChannel: "poll_schedule_timeout", machine: machine) { address, limit in
        asked += limit
        require(limit >= 0 && limit <= HostCall.descriptorLimit * 8, "\(limit) bytes at \(address)")
        return address & 1 == 0 || memory.isEmpty ? Array(memory.prefix(limit)) : spread(memory, limit)
    }
    require(asked <= HostCall.descriptorLimit * 8, "\(asked) bytes")
    guard let call else { return }
    require(call.reads.union(call.writes).union(call.accepts).allSatisfy { $0 >= 0 }, "\(call)")
    require(call.pollSet ?? 0 >= 0, "\(call)")
}

/// So many bytes, by saying them again and again.
private func spread(_ bytes: [UInt8], _ count: Int) -> [UInt8] { (0..<count).map { bytes[$0 % bytes.count] } }

private func readTexts(_ bytes: [UInt8]) {
    if let stat = ProcessStat(bytes) { require(stat.command.utf8.count <= 3 * bytes.count, "\(stat)") }
    _ = ProcessStatus(bytes)
    if let ran = ThreadSchedule(bytes).lastRun { require(ran >= 0, "\(ran)") }
    let facts = DescriptorFacts(bytes)
    require(facts.entries.count <= bytes.count / 8, "\(facts)")
    for file in ProcessCgroup(bytes).freezeFiles { require(file.utf8.starts(with: "/sys/fs/cgroup/".utf8), file) }
    _ = ProcessCgroup.isFrozen(bytes)
    _ = (NetworkText.listenOverflows(bytes), NetworkText.portRange(bytes), NetworkText.socketInode(bytes))
    require(WaitChannel.name(bytes).utf8.count <= 3 * 64, "a long wait channel")
    let arguments = ProgramName.arguments(bytes)
    require(arguments.count <= 256, "\(arguments.count) arguments")
    let name = ProgramName.helpful(arguments, command: "command")
    let isPart = arguments.contains { $0.utf8.count >= name.utf8.count && ProgramName.base($0) == name }
    require(name == "command" || isPart, "\(name) of \(arguments)")
}

private func readExecutable(_ bytes: [UInt8]) {
    var asked = 0
    _ = ExecutableFacts { offset, limit in
        asked += limit
        require(offset >= 0 && limit >= 0, "\(limit) bytes at \(offset)")
        return Array(bytes.dropFirst(offset % 256).prefix(limit))
    }
    require(asked <= 200_000, "\(asked) bytes")
}
