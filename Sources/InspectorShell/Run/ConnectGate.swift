import CSockTUIRun
import Glibc
import SocketCore

/// How a new process gets a filter for its connects before it becomes the program.
///
/// The process is this program again. It installs the filter, starts a guard that lets calls pass should this program
/// die, hands over the filter, and waits for a word before it executes the program.
struct ConnectGate {
    enum Outcome {
        /// It is the program now. The caller closes what it gets, and then waits for the process of the guard. A call
        /// that the program has made already is to be answered.
        case runs(crun_gift, guardProcess: pid_t, Admission)
        /// It ended before that, by a signal.
        case gone
        /// Connects can't be taken here. The process ends. The value says why.
        case refused(String)
        /// The program could not be executed. The process ends.
        case notExecuted(Int32)
    }

    /// How the program's calls are answered.
    struct Admission {
        var access: SocketAccess
        /// Why its sockets are not duplicated, as a sentence, or `nil` if they are.
        var note: String?
        var first: crun_notice?
        /// What traces the program's calls, or has why it can't, or `nil` if that was not asked for.
        var tracer: crun_tracer?
    }

    private let ours: Int32
    private let theirs: Int32

    /// Returns `nil` if no descriptor is left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard crun_report_pair(&ends) == 0 else { return nil }
        (ours, theirs) = (ends[0], ends[1])
    }

    /// Returns how to start the process that becomes the program. Its calls are traced if `isTraced`.
    func wrap(_ spawn: Spawn, isTraced: Bool) -> Spawn {
        var wrapped = spawn
        wrapped.path = "/proc/self/exe"
        wrapped.arguments =
            ["socktui", isTraced ? "--become-traced" : "--become", "\(theirs)", spawn.path] + spawn.arguments
        wrapped.inherited = theirs
        return wrapped
    }

    /// Closes both ends, if no process was started.
    func close() {
        Glibc.close(ours)
        Glibc.close(theirs)
    }

    /// Lets the process become the program, unless its connects can't be taken. `forget` takes the end of a process that
    /// does not become it, before the guard is waited for: before Linux 6.11, a zombie keeps its filter.
    func admit(_ process: pid_t, _ passed: PassedTally, isTraced: Bool, forget: () -> Void) -> Outcome {
        Glibc.close(theirs)
        defer { Glibc.close(ours) }
        var (report, gift, none) = (crun_report(), crun_gift(), crun_gift())
        guard crun_receive_report(ours, &report, &gift) != 0 else { return .gone }
        guard report.error == 0 else {
            forget()
            for ended in [report.guard, report.tracer] where ended > 0 { ChildRunner.reap(ended) }
            return .refused("\(report.step == 2 ? "seccomp" : "fork"): \(POSIXErrno(report.error).words)")
        }
        guard gift.filter >= 0 else {
            // It waits for a word.
            shutdown(ours, Int32(SHUT_RDWR))
            forget()
            for ended in [report.guard, report.tracer] where ended > 0 { ChildRunner.reap(ended) }
            return .refused("no file descriptors are left")
        }
        var tracer = crun_tracer(error: 0, process: 0, memory: -1, watch: -1)
        if isTraced { _ = crun_receive_tracer(ours, &tracer) }
        // It may have died before it told.
        if tracer.process == 0 { tracer.process = report.tracer }
        var admission: Admission
        switch probe(process, gift.filter) {
        case .success(let found): admission = found
        case .failure(let refusal):
            shutdown(ours, Int32(SHUT_RDWR))
            forget()
            gift.close(guardedBy: report.guard)
            tracer.forget()
            return .refused(refusal.reason)
        }
        let process = report.guard
        var word: UInt8 = 1
        _ = send(ours, &word, 1, Int32(MSG_NOSIGNAL))
        if isTraced { admission.tracer = tracer }
        admission.first = passExec(gift, passed)
        // The end of the stream says that the program is executing.
        guard crun_receive_report(ours, &report, &none) != 0 else {
            return .runs(gift, guardProcess: process, admission)
        }
        forget()
        gift.close(guardedBy: process)
        tracer.forget()
        return .notExecuted(report.error)
    }

    private struct Refusal: Error {
        var reason: String
    }

    /// Tries what may be done to the process's sockets.
    private func probe(_ process: pid_t, _ filter: Int32) -> Result<Admission, Refusal> {
        let duplicate = crun_take(process, theirs)
        guard duplicate < 0 else {
            Glibc.close(duplicate)
            return .success(Admission(access: .duplicate))
        }
        let refusal = "pidfd_getfd: \(POSIXErrno(errno).words)"
        let error = crun_may_replace(filter, process)
        guard error == 0 else {
            return .failure(Refusal(reason: "\(refusal), and then: \(POSIXErrno(error).words)"))
        }
        let note =
            "only blocking connects are intercepted here (\(refusal)), and each gets a new socket without its options"
        return .success(Admission(access: .replacement, note: note))
    }

    /// Lets the process execute the program, if that waits for an answer. Returns a call of the program, if it was quick.
    private func passExec(_ gift: crun_gift, _ passed: PassedTally) -> crun_notice? {
        let (watched, memory) = ([ours, gift.filter], crun_map(gift.memory))
        defer { crun_unmap(memory) }
        while true {
            let bits = crun_wait(watched, 2, -1)
            if bits & (1 | CRUN_HUNG_UP) != 0 { return nil }
            var notice = crun_notice()
            guard bits & 2 != 0, crun_receive(gift.filter, memory, &notice) == 0 else { continue }
            guard notice.call == CRUN_EXEC else { return notice }
            passed.addLimited(notice)
            _ = crun_answer(gift.filter, memory, notice.id, 0, 1)
        }
    }
}

extension crun_gift {
    /// Closes all of it, and waits until the guard ends. It does once no process has the filter.
    func close(guardedBy process: pid_t) {
        for descriptor in [filter, `guard`, memory] where descriptor >= 0 { Glibc.close(descriptor) }
        ChildRunner.reap(process)
    }
}

/// A process that a `run` started.
package enum NewProcess {
    /// Becomes the program that the arguments name, or returns if they are a user's. Call it before anything else.
    package static func become(_ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>?) {
        if let arguments { crun_become(arguments) }
    }
}
