import Glibc
import HostSockets
import SocketCore
import SocketTestSupport
import Testing

@Suite("What programs wait for", .serialized, .enabled(if: Asking.isAllowed), .timeLimit(.minutes(10)))
struct CallTests {
    @Test("each thread's call, with its descriptors and the bytes that it asks for")
    func calls() throws {
        let (program, lines) = try Asking.start()
        #expect(lines.count == 11)
        let observer = HostObserver()
        for line in lines {
            var last: HostProcess?
            let isThere = try eventually {
                var look = try observer.look()
                observer.examine(&look, process: program.process)
                last = look.processes[program.process]
                return last?.threads.contains { matches($0.call, line) } == true
            }
            #expect(isThere, "\(line) in \(last?.threads.map(\.call) ?? [])")
        }
    }

    private func matches(_ call: HostCall?, _ line: Asking.Line) -> Bool {
        guard let call else { return false }
        let (number, first) = (line.descriptor, line.numbers.first)
        switch line.name {
        case "poll":
            return call.kind == .poll && call.reads == [number, Int32(first ?? -1)] && call.writes.isEmpty
        case "select": return call.kind == .poll && call.reads == [number] && call.accepts == [number]
        case "epoll_wait": return call.kind == .pollSet && call.pollSet == number && call.name.hasPrefix("epoll_")
        case "accept4": return call.kind == .accept && call.accepts == [number]
        case "futex": return call.kind == .other && call.name == "futex"
        case "waitall": return call.name == "recv" && call.reads == [number] && call.waitsForAll && call.amount == 1_000
        case "send", "writev":
            return call.name == line.name && call.writes == [number] && call.amount == first.map { UInt64($0) }
        default: return call.name == line.name && call.reads == [number] && call.amount == first.map { UInt64($0) }
        }
    }
}
