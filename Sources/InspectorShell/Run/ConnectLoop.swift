import CSockTUIRun
import Glibc
import InspectorCore
import SocketCore
import SocketKit

/// The thread that answers the calls of a program under the filter. All that it does is short: a call that must wait for
/// the network waits in the kernel, and the engine reports here when it is over.
final class ConnectLoop {
    let filter: Int32
    let access: SocketAccess
    /// Where the guard finds the calls that are not answered.
    private let memory: OpaquePointer?
    let inbox: ConnectInbox
    let relay: ConnectRelay
    let passed: PassedTally
    /// Has the program's calls, or `nil` if they are not traced.
    let calls: CallTap?
    /// The connects that wait, as calls, by the numbers of their notices.
    private var traced: [UInt64: (call: SocketCall, file: UInt64)] = [:]
    let doors = RelayDoors()
    /// For questions to the kernel about the program's sockets.
    let diagnosis = crun_open_diagnosis()
    /// The program's sockets whose connects were taken, by their numbers.
    var taken: [UInt64: TakenConnect] = [:]
    /// The sockets that a call waits for, and maybe some that no longer are.
    private var waiting: Set<UInt64> = []
    /// When they must be checked, or `nil` if there are none.
    private var due: ContinuousClock.Instant?
    /// The numbers of sockets whose connects are over, in that order, so that the oldest can be forgotten.
    private var settled: [UInt64] = []

    /// How many of them are remembered. A program can ask for the peer or the error of each as long as it is open.
    private static let mostSettled = 65_536
    /// How often it is checked whether a call that waits was interrupted.
    private static let checkInterval = Duration.seconds(1)

    init(
        _ gift: crun_gift, _ access: SocketAccess, inbox: ConnectInbox, relay: ConnectRelay, passed: PassedTally,
        calls: CallTap?
    ) {
        self.calls = calls
        (filter, self.access, self.inbox, self.relay, self.passed) = (gift.filter, access, inbox, relay, passed)
        memory = crun_map(gift.memory)
    }

    deinit {
        if diagnosis >= 0 { close(diagnosis) }
        crun_unmap(memory)
    }

    /// Answers until no process has the filter, or until it is told to stop.
    func run() {
        var isRunning = true
        let watched = [filter, inbox.event] + doors.sockets
        while isRunning {
            let bits = crun_wait(watched, Int32(watched.count), wait)
            // What a call announced is accepted with the call, so this is something else.
            if bits & (CRUN_HUNG_UP - 1) & ~3 != 0 { doors.sockets.forEach(refuseStrangers) }
            if bits & 1 != 0, let notice = receive() { handle(notice) }
            for message in inbox.event < 0 || bits & 2 != 0 ? inbox.take() : [] {
                switch message {
                case .progress(let cookie, let progress): handle(progress, of: cookie)
                case .stop: isRunning = false
                }
            }
            if let due, due <= .now { checkWaiting() }
            if bits & CRUN_HUNG_UP != 0, bits & 1 == 0 { isRunning = false }
        }
        for connect in Array(taken.values) {
            if case .connected = connect.phase { continue }
            abandon(connect)
        }
        doors.close()
    }

    /// The milliseconds until something must be checked, or -1.
    private var wait: Int32 {
        guard let due else { return -1 }
        let duration = max(.zero, due - .now)
        return Int32(duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000) + 1
    }

    // MARK: Calls that wait

    /// Notes that a call waits for a connect.
    func watch(_ connect: TakenConnect) {
        waiting.insert(connect.cookie)
        let next = ContinuousClock.now + Self.checkInterval
        due = min(due ?? next, connect.deadline ?? next, next)
    }

    /// Notes that none waits any longer.
    func endWatch(_ cookie: UInt64) {
        waiting.remove(cookie)
        if waiting.isEmpty { due = nil }
    }

    /// Ends calls by their timeouts, and connects for which nobody waits.
    private func checkWaiting() {
        let now = ContinuousClock.now
        let checked = waiting.filter { taken[$0]?.isWaiting == true }
        (waiting, due) = ([], nil)
        for cookie in checked {
            guard let connect = taken[cookie] else { continue }
            if let deadline = connect.deadline, deadline <= now {
                taken[cookie]?.deadline = nil
                answer(connect.call, connect.isAgain ? EALREADY : EINPROGRESS)
            }
            let isAwaited =
                crun_waits(filter, connect.call) != 0
                || connect.errorCall.map { crun_waits(filter, $0.id) != 0 } ?? false
            if isAwaited {
                taken[cookie]?.leftSince = nil
            } else if let since = connect.leftSince {
                if now - since > Self.checkInterval { abandon(connect) }
            } else {
                taken[cookie]?.leftSince = now
            }
            if let connect = taken[cookie] { watch(connect) }
        }
    }

    /// Forgets a connect and ends what was begun for it.
    func abandon(_ connect: TakenConnect) {
        answer(connect.call, ECONNABORTED)
        if let call = connect.errorCall { pass(call.id) }
        drop(connect)
        taken[connect.cookie] = nil
        relay.abandon(connect.cookie)
    }

    /// Closes what is held for a connect.
    private func drop(_ connect: TakenConnect) {
        switch connect.phase {
        case .asked(let socket): close(socket)
        case .early(let leg): crun_reset(leg)
        case .inProgress, .connected, .failed: break
        }
    }

    /// Remembers how a connect ended. Sockets that the program has closed are not told from others, so the oldest are
    /// forgotten and counted.
    func settle(_ cookie: UInt64, _ phase: TakenConnect.Phase) {
        taken[cookie]?.phase = phase
        settled.append(cookie)
        guard settled.count > Self.mostSettled else { return }
        let old = settled.prefix(Self.mostSettled / 4).filter { taken[$0]?.isOver == true }
        for cookie in old { taken[cookie] = nil }
        settled.removeFirst(Self.mostSettled / 4)
        passed.change { $0.forgotten += old.count }
    }

    // MARK: Calls and answers

    private func receive() -> crun_notice? {
        var notice = crun_notice()
        return crun_receive(filter, memory, &notice) == 0 ? notice : nil
    }

    /// Ends a call with an errno, or with 0. The caller may have been interrupted or be gone.
    @discardableResult
    func answer(_ call: UInt64, _ error: Int32) -> Bool {
        endTrace(of: call, error)
        return crun_answer(filter, memory, call, error, 0) == 0
    }

    /// ERESTARTSYS of the kernel.
    private static let interrupted: Int32 = 512

    /// Shows a connect as a call of the program, if its calls are traced. The tracer does not see it, since the filter that
    /// notifies comes first.
    func trace(_ notice: crun_notice, file: UInt64) {
        guard let calls else { return }
        let call = SocketCall(
            process: Int(crun_process(notice.thread)), thread: Int(notice.thread), .connect,
            descriptor: Int(Int32(truncatingIfNeeded: notice.arguments.0)), asked: nil, .waits,
            began: SystemClock().now)
        traced[notice.id] = (call, file)
        calls.note(call, file: file)
    }

    /// Ends what is shown of a connect. This comes before its answer, since what the program does then comes after it.
    func endTrace(of id: UInt64, _ error: Int32) {
        guard let began = traced.removeValue(forKey: id) else { return }
        let error = crun_waits(filter, id) == 0 ? Self.interrupted : error
        var call = began.call
        call.took = SystemClock().now - call.began
        call.state = error == 0 ? .returned(0) : .failed(error)
        calls?.note(call, file: began.file)
    }

    /// Lets the kernel do a call.
    func pass(_ call: UInt64, _ reason: PassedConnects.Reason? = nil) {
        if let reason { passed.change { $0.count(reason) } }
        _ = crun_answer(filter, memory, call, 0, 1)
    }
}
