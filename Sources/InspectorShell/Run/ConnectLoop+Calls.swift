import CSockTUIRun
import Glibc
import InspectorCore
import SocketCore

/// The calls of the program.
extension ConnectLoop {
    func handle(_ notice: crun_notice) {
        switch notice.call {
        case CRUN_CONNECT: connect(notice)
        case CRUN_PEER_NAME: tellName(notice) { $0.isNamed && ($1 < 0 || crun_has_peer($1) != 0) ? $0.target : nil }
        case CRUN_OWN_NAME: tellName(notice) { connect, _ in connect.isNamed ? connect.local : nil }
        case CRUN_ERROR: tellError(notice)
        case CRUN_LISTEN:
            countListener(notice)
            pass(notice.id)
        case CRUN_EXEC:
            passed.addLimited(notice)
            pass(notice.id)
        default:
            let process = Int(crun_process(notice.thread))
            passed.change { $0.addRing(of: process) }
            calls?.noteRing(of: process)
            pass(notice.id)
        }
    }

    private func countListener(_ notice: crun_notice) {
        var facts = crun_socket()
        let socket = open(notice, &facts)
        guard socket >= 0 else { return }
        close(socket)
        if facts.family == AF_INET || facts.family == AF_INET6 { passed.change { $0.listeners += 1 } }
    }

    /// Returns what `SocketAccess.open` does for the descriptor that a call names.
    private func open(_ notice: crun_notice, _ facts: inout crun_socket) -> Int32 {
        access.open(notice.thread, notice.descriptor, in: doors.space, &facts)
    }

    // MARK: connect(2)

    private func connect(_ notice: crun_notice) {
        guard let target = address(notice) else { return }
        var facts = crun_socket()
        let socket = open(notice, &facts)
        guard socket >= 0 else { return pass(notice.id, [EPERM, EACCES].contains(errno) ? .unreadable : nil) }
        guard crun_waits(filter, notice.id) != 0 else {
            close(socket)
            return
        }
        if Int32(target.storage.ss_family) == AF_UNSPEC {
            if let connect = taken.removeValue(forKey: facts.cookie) { abandonUnlessConnected(connect) }
        } else if let before = taken[facts.cookie] {
            close(socket)
            return connectAgain(before, notice)
        } else if let reason = reason(toPass: facts, target) {
            close(socket)
            return pass(notice.id, reason)
        } else if target.family == facts.family, target.rawPort != 0, crun_has_peer(socket) == 0 {
            return take(notice, socket, facts, target)
        }
        close(socket)
        pass(notice.id)
    }

    /// Reads the address of a call. Answers the call if it is for the kernel.
    private func address(_ notice: crun_notice) -> KernelAddress? {
        var storage = sockaddr_storage()
        let length = Int(Int32(truncatingIfNeeded: notice.arguments.2))
        guard length >= MemoryLayout<sa_family_t>.size, length <= MemoryLayout<sockaddr_storage>.size else {
            pass(notice.id)
            return nil
        }
        guard crun_read(notice.thread, notice.arguments.1, &storage, length) != 0 else {
            pass(notice.id, errno == EPERM ? .unreadable : nil)
            return nil
        }
        let address = KernelAddress(storage)
        switch address.family {
        case AF_INET where length >= address.length, AF_INET6 where length >= address.length, AF_UNSPEC: return address
        case AF_UNIX: pass(notice.id, address.asksForNames ? nil : .local)
        default: pass(notice.id)
        }
        return nil
    }

    /// Why a connect does not go through the relay, or `nil` if it does.
    private func reason(toPass facts: crun_socket, _ target: KernelAddress) -> PassedConnects.Reason? {
        if facts.type == Int32(SOCK_DGRAM.rawValue) { return .datagram }
        guard facts.type == Int32(SOCK_STREAM.rawValue), facts.family == AF_INET || facts.family == AF_INET6 else {
            return .other
        }
        if facts.is_foreign != 0 { return .namespace }
        if facts.is_on_device != 0 { return .device }
        if facts.is_nonblocking != 0, access == .replacement { return .nonblocking }
        let isTCP = facts.protocol == Int32(IPPROTO_TCP) || facts.protocol == Self.multipath
        return isTCP && facts.is_fast_open == 0 && doors.door(for: target, isFull: true) != nil ? nil : .other
    }

    /// IPPROTO_MPTCP.
    private static let multipath: Int32 = 262

    private func take(_ notice: crun_notice, _ socket: Int32, _ facts: crun_socket, _ target: KernelAddress) {
        var own = sockaddr_storage()
        _ = crun_name(socket, &own)
        let local = KernelAddress(own)
        guard let address = target.address else {
            close(socket)
            return pass(notice.id)
        }
        let isNonblocking = facts.is_nonblocking != 0
        var connect = TakenConnect(
            cookie: facts.cookie, descriptor: notice.descriptor, closesOnExec: facts.closes_on_exec != 0,
            target: target, isNonblocking: isNonblocking, ownPort: local.rawPort,
            isEarly: isNonblocking && facts.protocol == Self.multipath, phase: .asked(socket: socket), call: notice.id)
        if facts.timeout > 0, !isNonblocking { connect.timeout = .microseconds(facts.timeout) }
        connect.deadline = connect.timeout.map { .now + $0 }
        if calls != nil {
            connect.file = crun_file(socket)
            trace(notice, file: connect.file)
        }
        taken[facts.cookie] = connect
        if !isNonblocking { watch(connect) }
        let (inbox, cookie) = (inbox, facts.cookie)
        var wanted = ConnectRelay.Wanted(
            cookie: cookie, target: address, local: local.isUnspecified ? nil : local.address,
            heedsBeginning: isNonblocking
        ) { @Sendable progress in inbox.post(.progress(cookie: cookie, progress)) }
        wanted.file = connect.file
        relay.want(wanted)
    }

    /// Handles a further call for the same socket. The kernel ignores its address.
    private func connectAgain(_ connect: TakenConnect, _ notice: crun_notice) {
        if let owed = connect.owed {
            taken[connect.cookie]?.owed = nil
            answer(notice.id, owed)
            return
        }
        switch connect.phase {
        case .inProgress, .early, .connected: pass(notice.id)
        case .failed(let error):
            takeError(notice, connect) { crun_dissolve($0) }
            answer(notice.id, error)
        case .asked where crun_waits(filter, connect.call) != 0: answer(notice.id, EALREADY)
        // A signal interrupted the call, which begins again. With a timeout the kernel would end it, once.
        case .asked where connect.deadline != nil && !connect.isInterrupted:
            taken[connect.cookie]?.isInterrupted = true
            answer(notice.id, EINTR)
        case .asked: waitAgain(connect, notice)
        }
    }

    private func waitAgain(_ connect: TakenConnect, _ notice: crun_notice) {
        var again = connect
        (again.call, again.isAgain, again.isInterrupted) = (notice.id, true, false)
        again.deadline = again.timeout.map { .now + $0 }
        taken[connect.cookie] = again
        endTrace(of: connect.call, EINTR)
        trace(notice, file: connect.file)
        watch(again)
    }

    private func abandonUnlessConnected(_ connect: TakenConnect) {
        switch connect.phase {
        case .connected, .failed: break
        case .asked, .inProgress, .early: abandon(connect)
        }
    }

    // MARK: What is asked about a socket

    /// Writes an address that a socket would have without the relay.
    private func tellName(_ notice: crun_notice, _ name: (TakenConnect, Int32) -> KernelAddress?) {
        guard let (connect, socket) = find(notice) else { return pass(notice.id) }
        defer { close(socket) }
        guard let name = name(connect, socket) else { return pass(notice.id) }
        var room: Int32 = 0
        guard crun_read(notice.thread, notice.arguments.2, &room, 4) != 0, room >= 0 else { return pass(notice.id) }
        guard crun_waits(filter, notice.id) != 0 else { return }
        var (storage, length) = (name.storage, Int32(name.length))
        let isWritten =
            crun_write(notice.thread, notice.arguments.1, &storage, Int(min(room, length))) != 0
            && crun_write(notice.thread, notice.arguments.2, &length, 4) != 0
        answer(notice.id, isWritten ? 0 : EFAULT)
    }

    /// Answers a call for the error of a socket whose connect failed. After a signal, a program asks this way how its
    /// connect went, so the call waits for the target.
    private func tellError(_ notice: crun_notice) {
        guard let (connect, socket) = find(notice) else { return pass(notice.id) }
        close(socket)
        let call = ErrorCall(
            id: notice.id, thread: notice.thread, value: notice.arguments.3, length: notice.arguments.4)
        switch connect.phase {
        case .failed(let error):
            takeError(notice, connect) { _ in }
            tell(error, call)
        case .asked where connect.isWaiting && crun_waits(filter, connect.call) == 0:
            taken[connect.cookie]?.errorCall = call
        default: pass(notice.id)
        }
    }

    func tell(_ error: Int32, _ call: ErrorCall) {
        // After a signal, the memory may be for something else.
        guard crun_waits(filter, call.id) != 0 else { return }
        var (error, room): (Int32, Int32) = (error, 0)
        guard crun_read(call.thread, call.length, &room, 4) != 0, room >= 0 else { return pass(call.id) }
        var length = min(room, 4)
        let isWritten =
            crun_write(call.thread, call.value, &error, Int(length)) != 0
            && crun_write(call.thread, call.length, &length, 4) != 0
        answer(call.id, isWritten ? 0 : EFAULT)
    }

    /// Takes the error that the kernel has for the socket, in place of the true one, and forgets the connect.
    private func takeError(_ notice: crun_notice, _ connect: TakenConnect, _ body: (Int32) -> Void) {
        taken[connect.cookie] = nil
        let socket = crun_take(notice.thread, notice.descriptor)
        guard socket >= 0 else { return }
        _ = crun_drain_error(socket)
        body(socket)
        close(socket)
    }

    /// Returns the connect of a call's socket, and a duplicate of the socket, or -1 where there can be none.
    private func find(_ notice: crun_notice) -> (TakenConnect, Int32)? {
        guard !taken.isEmpty else { return nil }
        var (facts, socket) = (crun_socket(), Int32(-1))
        switch access {
        case .duplicate:
            socket = crun_take(notice.thread, notice.descriptor)
            guard socket >= 0 else { return nil }
            facts.cookie = crun_cookie(socket)
        case .replacement:
            guard crun_describe_from_outside(notice.thread, notice.descriptor, &facts) == 0 else { return nil }
        }
        if crun_waits(filter, notice.id) != 0, let connect = taken[facts.cookie] { return (connect, socket) }
        close(socket)
        return nil
    }
}

extension crun_notice {
    /// The descriptor that the call is about.
    fileprivate var descriptor: Int32 { Int32(truncatingIfNeeded: arguments.0) }
}

extension TakenConnect {
    /// Whether the socket has the addresses of a connection.
    fileprivate var isNamed: Bool {
        switch phase {
        case .connected, .early: true
        case .asked, .inProgress, .failed: false
        }
    }
}
