import SocketCore
import Testing

@Suite("Calls of other programs' threads")
struct HostCallTests {
    /// Another process's memory: what is at each address. Whatever is asked for is noted.
    private final class Memory {
        var pieces: [UInt64: [UInt8]]
        var asked: [Int] = []

        init(_ pieces: [UInt64: [UInt8]]) { self.pieces = pieces }

        func read(_ address: UInt64, _ limit: Int) -> [UInt8] {
            asked.append(limit)
            return Array((pieces[address] ?? []).prefix(limit))
        }
    }

    private func call(
        _ text: String, _ pieces: [UInt64: [UInt8]] = [:], on machine: SystemCall.Machine? = .x86,
        waitChannel: String = ""
    ) -> HostCall? {
        HostCall(Array(text.utf8), waitChannel: waitChannel, machine: machine, memory: Memory(pieces).read)
    }

    /// The text of a call, as the kernel writes it.
    private func text(_ number: Int, _ arguments: UInt64...) -> String {
        let six = (arguments + [UInt64](repeating: 0, count: 6)).prefix(6)
        return "\(number) " + six.map { "0x" + String($0, radix: 16) }.joined(separator: " ") + " 0x7ffd 0x7f12\n"
    }

    private func numbers<N: FixedWidthInteger>(_ numbers: N...) -> [UInt8] {
        numbers.flatMap { number in withUnsafeBytes(of: number) { Array($0) } }
    }

    private func pollEntry(_ descriptor: Int32, _ events: Int16) -> [UInt8] {
        numbers(descriptor) + numbers(events, 0)
    }

    @Test(
        "the same calls on both machines",
        arguments: [
            (SystemCall.Machine.x86, [0, 1, 45, 44, 288, 42, 281]), (.arm, [63, 64, 207, 206, 242, 203, 22]),
        ])
    func machines(machine: SystemCall.Machine, calls: [Int]) {
        let names = ["read", "write", "recv", "send", "accept4", "connect", "epoll_pwait"]
        for (number, name) in zip(calls, names) {
            let call = call(text(number, 9, 0x1000, 4_096), on: machine)
            #expect(call?.name == name)
            let all = (call?.reads ?? []).union(call?.writes ?? []).union(call?.accepts ?? [])
            #expect(all.union(call?.pollSet.map { [$0] } ?? []) == [9])
            #expect(call?.amount == (["read", "write", "recv", "send"].contains(name) ? 4_096 : nil))
        }
    }

    @Test("every number names one row")
    func table() {
        for numbers in [SystemCall.table.compactMap(\.x86), SystemCall.table.compactMap(\.arm)] {
            #expect(Set(numbers).count == numbers.count && numbers.count >= 60)
        }
        #expect(Set(SystemCall.table.map(\.name)).count == SystemCall.table.count)
    }

    @Test("MSG_WAITALL, and only there")
    func waitAll() {
        #expect(call(text(45, 3, 0, 1_000, 0x100))?.waitsForAll == true)
        #expect(call(text(45, 3, 0, 1_000, 0x40))?.waitsForAll == false)
        #expect(call(text(0, 3, 0, 1_000, 0x100))?.waitsForAll == false)
        #expect(call(text(47, 3, 0, 0x100))?.waitsForAll == true)
        #expect(call(text(44, 3, 0, 1_000, 0x100))?.waitsForAll == false)
    }

    @Test("poll's descriptors by what they are waited for")
    func poll() {
        let entries = [pollEntry(3, 1), pollEntry(4, 4), pollEntry(-5, 5), pollEntry(6, 5), pollEntry(7, 0)].flatMap(
            \.self)
        let call = call(text(7, 0x5000, 5, .max), [0x5000: entries])
        #expect(call?.kind == .poll && call?.reads == [3, 6] && call?.writes == [4, 6] && call?.accepts == [3, 6])
        #expect(self.call(text(7, 0, 0, 1_000))?.kind == .poll)
    }

    @Test(
        "a poll whose descriptors cannot be read waits for nobody knows what",
        arguments: [
            1, 2, 65_537, 0xFFFF_FFFF, UInt64.max,
        ])
    func unreadable(count: UInt64) {
        let memory = Memory([0x5000: pollEntry(3, 1).dropLast()])
        let call = HostCall(
            Array(text(7, 0x5000, count).utf8), waitChannel: "", machine: .x86, memory: memory.read)
        #expect(call?.kind == .restarted && call?.reads == [] && call?.name == "poll")
        #expect(memory.asked.allSatisfy { $0 <= 65_536 * 8 })
    }

    @Test("select's sets, of which only as many descriptors count as it says")
    func select() {
        let input = [0b0010_1000, 0, 0, 0, 0, 0, 0, 0b1000_0000, 0b11, 0, 0, 0, 0, 0, 0, 0] as [UInt8]
        #expect(call(text(23, 65, 0x1000, 0), [0x1000: input])?.reads == [3, 5, 63, 64])
        #expect(call(text(23, 4, 0x1000, 0x2000), [0x1000: input, 0x2000: input])?.writes == [3])
        #expect(call(text(270, 0, 0x1000, 0x2000))?.kind == .poll)
        #expect(call(text(23, 4, 0x3000, 0))?.kind == .restarted)
        #expect(call(text(23, 65_537, 0x1000, 0), [0x1000: input])?.kind == .restarted)
        #expect(call(text(23, 0xFFFF_FFFF, 0x1000, 0))?.reads == [])
    }

    @Test("bytes of vectors and messages are added up, or not known")
    func vectors() {
        let bytes = numbers(UInt64(0x1), 100, 0x2, 23)
        #expect(call(text(20, 5, 0x1000, 2), [0x1000: bytes])?.amount == 123)
        #expect(call(text(20, 5, 0x1000, 2))?.amount == nil)
        #expect(call(text(20, 5, 0x1000, 2))?.writes == [5])
        #expect(call(text(19, 5, 0x1000, 1_025))?.amount == nil)
        #expect(call(text(19, 5, 0x1000, 0))?.amount == 0)
        #expect(call(text(20, 5, 0x1000, 2), [0x1000: numbers(UInt64(1), .max, 2, 1)])?.amount == nil)
        let header = numbers(UInt64(0), 0, 0x1000, 2, 0, 0, 0)
        let pieces: [UInt64: [UInt8]] = [0x9000: header, 0x1000: bytes]
        #expect(call(text(46, 5, 0x9000, 0), pieces)?.amount == 123)
        #expect(call(text(46, 5, 0x9000, 0), [0x9000: Array(header.dropLast())])?.amount == nil)
        let many = call(text(299, 5, 0x9000, 3), pieces)
        #expect(many?.reads == [5] && many?.amount == nil)
    }

    @Test("two descriptors")
    func copies() {
        let file = call(text(40, 7, 3, 0, 500))
        #expect(file?.reads == [3] && file?.writes == [7] && file?.amount == 500)
        let pipe = call(text(275, 3, 0, 8, 0, 900))
        #expect(pipe?.reads == [3] && pipe?.writes == [8] && pipe?.amount == 900)
    }

    @Test("a restarted poll is told by its wait channel")
    func restarted() {
        let entry = [0x5000: pollEntry(3, 1)] as [UInt64: [UInt8]]
        let poll = call(text(219, 0x5000, 1), entry, waitChannel: "poll_schedule_timeout")
        #expect(poll?.kind == .poll && poll?.reads == [3])
        #expect(call(text(219, 0x5000, 1), entry, waitChannel: "hrtimer_nanosleep")?.kind == .other)
        #expect(call(text(219, 0x5000, 1), entry)?.kind == .restarted)
    }

    @Test("what is not in the table, and what is in no call")
    func others() {
        #expect(call(text(202, 1))?.name == "futex" && call(text(202, 1))?.kind == .other)
        #expect(call(text(4_242))?.name == "system call 4242")
        #expect(call(text(0, 3), on: nil)?.name == "system call 0")
        #expect(call("running\n")?.kind == .running)
        #expect(call("-1 0x7ffd 0x7f12\n")?.kind == .outside)
    }

    @Test(
        "a text that makes no sense is no call",
        arguments: [
            "", "\n", "7", "7 0x1 0x2", "x 0x0 0x0 0x0 0x0 0x0 0x0", "99999999999999999999 0x0 0x0 0x0 0x0 0x0 0x0",
            "0 0x0 0x0 0x0 0x0 0x0 0x10000000000000000", "0 0xg 0x0 0x0 0x0 0x0 0x0",
        ])
    func nonsense(text: String) {
        #expect(call(text) == nil)
    }

    @Test("an executable's machine, and whether Go made it")
    func executables() {
        var file = [UInt8](repeating: 0, count: 64)
        file.replaceSubrange(0..<6, with: [0x7F, 0x45, 0x4C, 0x46, 2, 1])
        func facts() -> ExecutableFacts? {
            ExecutableFacts { offset, limit in Array(file.dropFirst(offset).prefix(limit)) }
        }
        file[18] = 62
        #expect(facts()?.machine == .x86 && facts()?.isGo == false)
        file[18] = 183
        #expect(facts()?.machine == .arm)
        // Two sections at 64, the names of both in the second, at 192.
        file.replaceSubrange(40..<48, with: numbers(UInt64(64)))
        file.replaceSubrange(58..<64, with: numbers(UInt16(64), 2, 1))
        var section = [UInt8](repeating: 0, count: 64)
        section.replaceSubrange(0..<4, with: numbers(UInt32(1)))
        var names = section
        names.replaceSubrange(24..<40, with: numbers(UInt64(192), 15))
        file += section + names + [0] + Array(".go.buildinfo".utf8) + [0]
        #expect(facts()?.isGo == true)
        for count in 0..<file.count {
            let cut = file.prefix(count)
            let facts = ExecutableFacts { offset, limit in Array(cut.dropFirst(offset).prefix(limit)) }
            #expect((facts == nil) == (count < 64) && facts?.isGo != true)
        }
        file[4] = 1
        #expect(facts()?.machine == nil)
        #expect(ExecutableFacts { _, _ in Array("#!/bin/sh".utf8) } == nil)
    }
}
