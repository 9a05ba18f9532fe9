import Glibc
import HostSockets
import InspectorCore
import SocketKit

/// Peeks at unread bytes as far as the rules allow, at most twice a second. Peeking at another user's program is
/// written to the system log, without the bytes.
package struct UnreadWatch {
    private let rules: PeekRules
    private let log: @Sendable (String) -> Void
    /// The last socket peeked at, and when.
    private var last: (socket: SocketID, time: ContinuousClock.Instant)?

    package static let pause = Duration.milliseconds(500)
    /// Peeks that are further apart are logged separately.
    private static let gap = Duration.seconds(3)

    package init(_ rules: PeekRules, log: @escaping @Sendable (String) -> Void) {
        (self.rules, self.log) = (rules, log)
    }

    /// Returns the unread bytes, or `nil` if the last peek was too recent.
    package mutating func look(
        _ request: UnreadRequest, _ socket: SocketSnapshot, _ watch: HostWatch
    ) -> UnreadLook? {
        let former = last.flatMap { $0.socket == request.socket ? $0.time : nil }
        if let former, .now - former < Self.pause { return nil }
        last = (request.socket, .now)
        let (found, note) = unread(request, socket, watch)
        var look = UnreadLook(request.socket, SystemClock().now, found)
        if let note, former.map({ .now - $0 > Self.gap }) ?? true {
            look.note = note
            log(note)
        }
        return look
    }

    /// Returns the unread bytes, and a note for the log.
    private func unread(
        _ request: UnreadRequest, _ socket: SocketSnapshot, _ watch: HostWatch
    ) -> (UnreadBytes, note: String?) {
        func refused(_ reason: String) -> (UnreadBytes, note: String?) { (UnreadBytes(reason: reason), nil) }
        if let refusal = rules.refusal { return refused(refusal) }
        guard let host = socket.host, let process = host.process, let descriptor = socket.descriptor else {
            return refused("the program that has it open is not known")
        }
        // Use the process's current user, which the kernel checks for the right to inspect it, not the user from an
        // earlier look.
        var facts = stat()
        guard stat("/proc/\(process)", &facts) == 0 else { return refused("its program has ended") }
        let isForeign = rules.isForeign(socket: host.user, program: facts.st_uid)
        guard !isForeign || rules.allowsOthers && request.isConfirmed else {
            return refused("it belongs to user \(facts.st_uid): \(PeekRules.needsOthers)")
        }
        do throws(HostObserver.Problem) {
            let found = try watch.peek(host.key, process: process, descriptor: descriptor)
            let note =
                "\(OwnUser.text) peeks at unread bytes of \(host.programText), process \(process) of user "
                + "\(facts.st_uid), descriptor \(descriptor): \(found.bytes.count) bytes"
            return (found, isForeign ? note : nil)
        } catch {
            return refused(error.sentence)
        }
    }
}

/// The user who runs this program.
package enum OwnUser {
    /// `user 0`, or under sudo `user 1000 as user 0`.
    package static var text: String {
        guard let user = Elevation.sudoUser else { return "user \(geteuid())" }
        return "user \(user) as user \(geteuid())"
    }

    /// Returns the names of this host's users (passwd(5)). Doesn't ask a directory service, which may take long.
    package static func names() -> [UInt32: String] {
        var names: [UInt32: String] = [:]
        for line in (TextFile.read("/etc/passwd", limit: 1 << 20) ?? "").split(separator: "\n") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count > 2, let number = UInt32(fields[2]), names[number] == nil else { continue }
            names[number] = Sanitizer(isASCII: false).text(fields[0].prefix(32))
        }
        return names
    }
}

/// The system log (syslog(3)).
package enum SystemLog {
    package static func write(_ sentence: String) {
        let safe = Sanitizer(isASCII: true).text(sentence)
        safe.withCString { text in withVaList([text]) { vsyslog(LOG_AUTHPRIV | LOG_NOTICE, "socktui: %s", $0) } }
    }
}

extension PeekRules {
    /// Returns the command line's rules, limited by the administrator's policy.
    /// - Parameter policy: the path of the policy file. If it exists and can't be read, peeking is forbidden.
    package func ofThisRun(policy: String = HostPolicy.path) -> PeekRules {
        var rules = self
        (rules.user, rules.sudoUser) = (geteuid(), Elevation.sudoUser)
        do throws(TextFile.Problem) {
            rules.refusal = HostPolicy.refusal(try TextFile.contents(of: policy))
        } catch {
            if error != .system(ENOENT) { rules.refusal = "\(policy): \(error.sentence)" }
        }
        return rules
    }
}
