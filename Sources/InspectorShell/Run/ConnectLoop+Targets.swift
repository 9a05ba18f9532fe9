import CSockTUIRun
import Glibc
import InspectorCore
import SocketCore

/// What the program's sockets become when their targets answer.
extension ConnectLoop {
    func handle(_ progress: ConnectRelay.Progress, of cookie: UInt64) {
        guard let connect = taken[cookie] else { return }
        switch progress {
        case .begun: begin(connect)
        case .connected(let local):
            if connect.isNonblocking { begin(connect) }
            if let connect = taken[cookie] { complete(connect, local) }
        case .failed(let error): fail(connect, error)
        }
    }

    /// Puts a nonblocking socket into the state in which it would be while its target is asked.
    private func begin(_ connect: TakenConnect) {
        guard let socket = connect.held else { return }
        guard let (door, address) = doors.door(for: connect.target, isFull: !connect.isEarly) else {
            return abandon(connect)
        }
        var (destination, own) = (address.storage, sockaddr_storage())
        let error = crun_connect(socket, &destination)
        guard error == EINPROGRESS, crun_name(socket, &own) == 0 else {
            answer(connect.call, error == 0 ? ECONNABORTED : error)
            return abandon(connect)
        }
        close(socket)
        let from = KernelAddress(own)
        if connect.isEarly {
            let leg = accept(door, from)
            if leg < 0 {
                settle(connect.cookie, .failed(ECONNABORTED))
            } else {
                taken[connect.cookie]?.phase = .early(leg: leg)
            }
            passed.change { $0.early += 1 }
        } else {
            taken[connect.cookie]?.phase = .inProgress(from: from)
        }
        if !answer(connect.call, EINPROGRESS) { taken[connect.cookie]?.owed = EINPROGRESS }
    }

    private func complete(_ connect: TakenConnect, _ local: SocketAddress?) {
        taken[connect.cookie]?.local = local.flatMap {
            KernelAddress($0, isMapped: connect.target.isMapped)?.withPort(connect.ownPort)
        }
        let leg: Int32
        switch connect.phase {
        case .asked(let socket): leg = join(connect, socket)
        case .inProgress(let from): leg = open(connect, towards: from)
        case .early(let early): leg = early
        case .connected, .failed: return
        }
        // The program has closed its socket, or learned why it could not be connected.
        guard leg >= 0 else {
            taken[connect.cookie] = nil
            return relay.abandon(connect.cookie)
        }
        if taken[connect.cookie] != nil { settle(connect.cookie, .connected) }
        relay.arrive(connect.cookie, leg)
    }

    /// Connects a blocking socket, and ends the call that waits for it.
    private func join(_ connect: TakenConnect, _ socket: Int32) -> Int32 {
        defer { close(socket) }
        guard let (door, address) = doors.door(for: connect.target, isFull: false) else {
            end(connect, ECONNABORTED)
            return -1
        }
        var (destination, own) = (address.storage, sockaddr_storage())
        var (error, leg) = (crun_connect(socket, &destination), Int32(-1))
        if error == 0 {
            error = crun_name(socket, &own)
            leg = accept(door, KernelAddress(own))
            if leg < 0 { error = ECONNABORTED }
        }
        if leg >= 0, access == .replacement, !replace(connect, by: socket) {
            crun_reset(leg)
            return -1
        }
        end(connect, error)
        return leg
    }

    /// Gives the program a connected socket in the place of its own. Returns `false` if its call does not wait for that any
    /// longer; a call that begins again connects again.
    private func replace(_ connect: TakenConnect, by socket: Int32) -> Bool {
        let flag: Int32 = connect.closesOnExec ? 1 : 0
        guard crun_replace(filter, connect.call, socket, connect.descriptor, flag) == 0 else { return false }
        guard var other = taken.removeValue(forKey: connect.cookie) else { return true }
        other.cookie = crun_file(socket)
        taken[other.cookie] = other
        settle(other.cookie, .connected)
        return true
    }

    /// Ends the call that waits for a connect.
    private func end(_ connect: TakenConnect, _ error: Int32) {
        endWatch(connect.cookie)
        if !answer(connect.call, error), error == 0 { taken[connect.cookie]?.owed = 0 }
        if let call = connect.errorCall { tell(error, call) }
    }

    private func open(_ connect: TakenConnect, towards from: KernelAddress) -> Int32 {
        guard let (door, _) = doors.door(for: connect.target, isFull: true) else { return -1 }
        var (here, there) = (door.address.storage, from.plain.storage)
        // Another socket of the program, even one that listens, may have the address by now.
        guard crun_is_gone(diagnosis, connect.cookie, &there, &here) == 0 else { return -1 }
        return crun_open_towards(&here, &there)
    }

    private func accept(_ door: RelayDoors.Door, _ from: KernelAddress) -> Int32 {
        var (from, strangers) = (from.plain.storage, UInt32(0))
        let leg = crun_accept_from(door.socket, &from, &strangers)
        count(strangers)
        return leg
    }

    /// Resets connections that no call announced.
    func refuseStrangers(at listener: Int32) {
        var strangers: UInt32 = 0
        _ = crun_accept_from(listener, nil, &strangers)
        count(strangers)
    }

    private func count(_ strangers: UInt32) {
        if strangers > 0 { passed.change { $0.strangers += Int(strangers) } }
    }

    private func fail(_ connect: TakenConnect, _ error: Int32) {
        taken[connect.cookie] = nil
        switch connect.phase {
        case .asked(let socket):
            end(connect, error)
            close(socket)
        case .inProgress(let from):
            // The program sees an end of its connect, and asks for the reason, which must be there by then.
            taken[connect.cookie] = connect
            settle(connect.cookie, .failed(error))
            let leg = open(connect, towards: from)
            if leg >= 0 { crun_reset(leg) } else { taken[connect.cookie] = nil }
        case .early(let leg): crun_reset(leg)
        case .connected, .failed: break
        }
    }
}
