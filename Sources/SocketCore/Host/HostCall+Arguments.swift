extension HostCall {
    /// The maximum number of descriptors, and of vector entries, read from another process's memory.
    package static let descriptorLimit = 65_536
    package static let vectorLimit = 1_024

    /// MSG_WAITALL.
    private static let waitForAll: UInt64 = 0x100

    /// The call in /proc/PID/task/TID/syscall (proc_pid_syscall(5)), with what its arguments point to.
    ///
    /// Returns `nil` if the text is truncated.
    /// - Parameter machine: The machine whose call numbers these are, or `nil` if not known, as for a 32-bit program.
    /// - Parameter memory: Reads up to the given number of bytes of the thread's memory at an address. Returns fewer if
    ///   less can be read.
    package init?(
        _ text: [UInt8], waitChannel: String, machine: SystemCall.Machine?, memory: (UInt64, Int) -> [UInt8]
    ) {
        let words = text[...].words
        guard let first = words.first else { return nil }
        if first.elementsEqual("running".utf8) {
            self.init(.running, "running")
            return
        }
        if first.elementsEqual("-1".utf8) {
            self.init(.outside, "a page fault or a signal")
            return
        }
        let arguments = words.dropFirst().prefix(6).compactMap { $0.hexadecimal }
        guard let number = first.number(Int.self), arguments.count == 6 else { return nil }
        var row = machine.flatMap { SystemCall.row(number, on: $0) }
        // The registers still hold the arguments of the call that was restarted.
        if row?.kind == .restarted, WaitChannel.isPoll(waitChannel) { row = SystemCall.row(named: "poll") }
        guard let row else {
            self.init(.other, "system call \(number)")
            return
        }
        let isTimer = row.kind == .restarted && WaitChannel.isTimer(waitChannel)
        self.init(isTimer ? .other : row.kind, row.name)
        if !read(arguments, row, memory) { kind = .restarted }
    }

    /// Returns whether the arguments could be read.
    private mutating func read(_ arguments: [UInt64], _ row: SystemCall, _ memory: (UInt64, Int) -> [UInt8]) -> Bool {
        switch row.arguments {
        case .none: return true
        case .poll: return readPoll(arguments, memory)
        case .select: return readSelect(arguments, memory)
        case .copy(let from, let to, let count):
            if let source = Self.descriptor(arguments[from]) { reads.insert(source) }
            if let target = Self.descriptor(arguments[to]) { writes.insert(target) }
            amount = arguments[count]
            return true
        case .descriptor: break
        case .buffer(let hasFlags):
            amount = arguments[2]
            waitsForAll = hasFlags && kind == .read && arguments[3] & Self.waitForAll != 0
        case .vector: amount = Self.total(arguments[1], arguments[2], memory)
        case .message(let isOne):
            waitsForAll = isOne && kind == .read && arguments[2] & Self.waitForAll != 0
            if isOne { amount = Self.messageTotal(arguments[1], memory) }
        }
        guard let descriptor = Self.descriptor(arguments[0]) else { return true }
        switch kind {
        case .read: reads = [descriptor]
        case .write, .connect: writes = [descriptor]
        case .accept: accepts = [descriptor]
        case .pollSet: pollSet = descriptor
        default: break
        }
        return true
    }

    /// Returns the low 32 bits of a register as a descriptor, or `nil` if they are negative.
    private static func descriptor(_ argument: UInt64) -> Int32? {
        let number = Int32(truncatingIfNeeded: argument)
        return number < 0 ? nil : number
    }

    /// Reads `struct pollfd` entries: a descriptor and the requested events.
    private mutating func readPoll(_ arguments: [UInt64], _ memory: (UInt64, Int) -> [UInt8]) -> Bool {
        // The kernel takes the number as unsigned int.
        let count = Int(UInt32(truncatingIfNeeded: arguments[1]))
        guard count > 0 else { return true }
        guard count <= Self.descriptorLimit else { return false }
        let bytes = memory(arguments[0], count * 8)
        guard bytes.count == count * 8 else { return false }
        let span = bytes.span.bytes
        for start in stride(from: 0, to: bytes.count, by: 8) {
            let entry = start..<(start + 8)
            guard let descriptor = span.number(Int32.self, 0, in: entry), descriptor >= 0,
                let events = span.u16(4, in: entry)
            else { continue }
            // POLLIN, POLLPRI, POLLRDNORM, POLLRDBAND; POLLOUT, POLLWRNORM, POLLWRBAND.
            if events & 0xC3 != 0 { reads.insert(descriptor) }
            if events & 0x304 != 0 { writes.insert(descriptor) }
        }
        accepts = reads
        return true
    }

    /// Reads two `fd_set` values, of which only the bytes for the number of descriptors count.
    private mutating func readSelect(_ arguments: [UInt64], _ memory: (UInt64, Int) -> [UInt8]) -> Bool {
        let count = Int(Int32(truncatingIfNeeded: arguments[0]))
        guard count > 0 else { return true }
        guard count <= Self.descriptorLimit, let input = Self.set(arguments[1], count, memory),
            let output = Self.set(arguments[2], count, memory)
        else { return false }
        (reads, writes, accepts) = (input, output, input)
        return true
    }

    private static func set(_ address: UInt64, _ count: Int, _ memory: (UInt64, Int) -> [UInt8]) -> Set<Int32>? {
        if address == 0 { return [] }
        let size = (count + 63) / 64 * 8
        let bytes = memory(address, size)
        guard bytes.count == size else { return nil }
        var found: Set<Int32> = []
        for (index, byte) in bytes.enumerated() where byte != 0 {
            for bit in 0..<8 where byte & 1 << bit != 0 && index * 8 + bit < count {
                found.insert(Int32(index * 8 + bit))
            }
        }
        return found
    }

    /// Returns the total size in `struct iovec` entries, or `nil` if they can't be read or are too many.
    private static func total(_ address: UInt64, _ count: UInt64, _ memory: (UInt64, Int) -> [UInt8]) -> UInt64? {
        guard count > 0 else { return 0 }
        guard count <= vectorLimit else { return nil }
        let bytes = memory(address, Int(count) * 16)
        guard bytes.count == Int(count) * 16 else { return nil }
        let span = bytes.span.bytes
        var total: UInt64 = 0
        for start in stride(from: 8, to: bytes.count, by: 16) {
            let (sum, overflow) = total.addingReportingOverflow(span.u64(0, in: start..<(start + 8)) ?? 0)
            if overflow { return nil }
            total = sum
        }
        return total
    }

    /// Returns the total size in the `struct iovec` entries of a `struct msghdr`.
    private static func messageTotal(_ address: UInt64, _ memory: (UInt64, Int) -> [UInt8]) -> UInt64? {
        let bytes = memory(address, 56)
        let span = bytes.span.bytes
        guard bytes.count == 56, let vector = span.u64(16, in: 0..<56), let count = span.u64(24, in: 0..<56) else {
            return nil
        }
        return total(vector, count, memory)
    }
}
