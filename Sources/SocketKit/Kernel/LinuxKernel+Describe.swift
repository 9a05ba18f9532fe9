import CSocketKitSystem
import Glibc
import SocketCore
import Synchronization

extension LinuxKernel {
    package func describe(_ descriptor: Int32, isTCP: Bool) -> KernelSnapshot {
        var answer = KernelSnapshot()
        var memory = csystem_memory()
        if csystem_memory(descriptor, &memory) == 0 { answer.receiveBuffer = Int(memory.receive_buffer) }
        var info = csystem_tcp_info()
        guard isTCP, csystem_tcp_info(descriptor, &info) == 0 else {
            fillQueues(of: descriptor, in: &answer)
            // SIOCINQ fails only for a listener.
            if answer.receiveQueue == nil { fillBacklog(of: descriptor, in: &answer) }
            return answer
        }
        fillState(from: info, in: &answer)
        // A listener has no byte queues. ss shows its backlog in their place.
        guard answer.state != "LISTEN" else {
            answer.receiveQueue = known(info.waiting)
            answer.sendQueue = known(info.waiting_limit)
            return answer
        }
        fillConsistently(from: &info, of: descriptor, in: &answer)
        fill(&answer, from: info)
        return answer
    }

    /// Reads the queues between two readings of TCP_INFO until both agree. Otherwise a segment that arrives in between
    /// would be counted in one and not in the other.
    private func fillConsistently(
        from info: inout csystem_tcp_info, of descriptor: Int32, in answer: inout KernelSnapshot
    ) {
        for _ in 0..<Self.mostReadings {
            fillQueues(of: descriptor, in: &answer)
            var again = csystem_tcp_info()
            guard csystem_tcp_info(descriptor, &again) == 0 else { return }
            defer { info = again }
            if info.countsAsMuch(as: again) { break }
        }
        fillState(from: info, in: &answer)
    }

    /// The most attempts at a consistent reading. A connection at full speed may never give one.
    private static let mostReadings = 8

    private func fillQueues(of descriptor: Int32, in answer: inout KernelSnapshot) {
        answer.receiveQueue = known(Int64(csystem_receive_queue(descriptor)))
        answer.sendQueue = known(Int64(csystem_send_queue(descriptor)))
    }

    /// Reports the connections that wait at a Unix-domain listener, and the most that may. A kernel without the
    /// interface is asked only once.
    private func fillBacklog(of descriptor: Int32, in answer: inout KernelSnapshot) {
        guard !Self.lacksDiagnosis.load(ordering: .relaxed) else { return }
        var (waiting, limit): (Int64, Int64) = (-1, -1)
        let failure = csystem_unix_backlog(descriptor, &waiting, &limit)
        // ENOENT is also returned if the module is missing, which must not be looked for ten times a second.
        if failure == ENOENT { Self.lacksDiagnosis.store(true, ordering: .relaxed) }
        guard failure == 0 else { return }
        answer.receiveQueue = known(waiting)
        answer.sendQueue = known(limit)
    }

    private static let lacksDiagnosis = Atomic(false)

    private func fillState(from info: csystem_tcp_info, in answer: inout KernelSnapshot) {
        answer.state = Self.stateNames.indices.contains(Int(info.state)) ? Self.stateNames[Int(info.state)] : nil
    }

    private func fill(_ answer: inout KernelSnapshot, from info: csystem_tcp_info) {
        answer.notSent = known(info.not_sent)
        answer.roundTripTime = measured(info.rtt_microseconds).map { .microseconds($0) }
        answer.congestionWindow = known(info.congestion_window)
        answer.retransmits = known(info.retransmits)
        answer.bytesSent = known(info.bytes_sent).map(UInt64.init)
        answer.bytesReceived = known(info.bytes_received).map(UInt64.init)
        answer.deliveryRate = measured(info.delivery_rate).map(UInt64.init)
        if info.busy_microseconds > 0, info.receiver_limited_microseconds >= 0 {
            answer.receiverWindowLimited =
                Double(info.receiver_limited_microseconds) / Double(info.busy_microseconds)
        }
        if info.busy_microseconds > 0, info.buffer_limited_microseconds >= 0 {
            answer.sendBufferLimited = Double(info.buffer_limited_microseconds) / Double(info.busy_microseconds)
        }
        if info.is_application_limited >= 0 { answer.isApplicationLimited = info.is_application_limited != 0 }
    }

    private func known(_ value: Int64) -> Int? {
        value < 0 ? nil : Int(value)
    }

    /// Returns `nil` for 0, which stands for no measurement yet. ss leaves it out too.
    private func measured(_ value: Int64) -> Int? {
        value <= 0 ? nil : Int(value)
    }

    /// The kernel's TCP_* states (net/tcp_states.h) in the words of ss.
    private static let stateNames = [
        "UNKNOWN", "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN", "CLOSE-WAIT",
        "LAST-ACK", "LISTEN", "CLOSING",
    ]
}

extension csystem_tcp_info {
    /// Whether no byte was received, sent, acknowledged or queued between two readings.
    fileprivate func countsAsMuch(as other: csystem_tcp_info) -> Bool {
        bytes_received == other.bytes_received && bytes_sent == other.bytes_sent && bytes_acked == other.bytes_acked
            && not_sent == other.not_sent
    }
}
