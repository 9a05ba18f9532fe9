import Glibc
import SocketCore

package struct Spawn {
    package var path: String
    /// The arguments. The first one is the name that the program sees as its own.
    package var arguments: [String]
    /// Entries of the form `NAME=VALUE`, or `nil` for this program's own environment.
    package var environment: [String]?
    /// The program's standard input, output and error.
    package var streams: [Int32]
    /// A further descriptor that the program inherits under its number, or `nil` for none.
    package var inherited: Int32?
    /// The path of the terminal that controls the program's session and is its standard input, output and error.
    package var terminal: String?
    /// Whether the program gets its own session, and so its own process group and no terminal.
    package var hasOwnSession: Bool
    /// Whether the program gets its own process group in this program's session.
    package var hasOwnGroup: Bool

    package init(
        path: String, arguments: [String], environment: [String]? = nil, streams: [Int32], hasOwnSession: Bool = false,
        hasOwnGroup: Bool = false
    ) {
        (self.path, self.arguments, self.environment) = (path, arguments, environment)
        (self.streams, self.hasOwnSession, self.hasOwnGroup) = (streams, hasOwnSession, hasOwnGroup)
    }

    /// POSIX_SPAWN_SETSID, which glibc declares only for GNU sources.
    private static let setsid: Int32 = 0x80

    /// Starts the program. Returns its process, or the errno of the failure.
    package func start() -> Result<pid_t, POSIXErrno> {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        if let terminal {
            // The leader of a session gets the first terminal that it opens.
            posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
            for to in 1...2 as ClosedRange<Int32> { posix_spawn_file_actions_adddup2(&actions, 0, to) }
        }
        for (to, from) in streams.enumerated() { posix_spawn_file_actions_adddup2(&actions, from, Int32(to)) }
        // This clears the flag that closes it.
        if let inherited { posix_spawn_file_actions_adddup2(&actions, inherited, inherited) }
        // The child would inherit ignored and blocked signals.
        var signals = sigset_t()
        var none = sigset_t()
        sigemptyset(&none)
        sigemptyset(&signals)
        for number in [SIGINT, SIGQUIT, SIGTSTP, SIGPIPE, SIGXFSZ] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setsigmask(&attributes, &none)
        let place = hasOwnSession ? Self.setsid : hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | place
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var words = Self.copies(arguments)
        var variables = Self.copies(environment ?? [])
        defer { (words + variables).forEach { free($0) } }
        var child: pid_t = 0
        let error =
            environment == nil
            ? path.withNative { posix_spawn(&child, $0, &actions, &attributes, &words, environ) }
            : path.withNative { posix_spawn(&child, $0, &actions, &attributes, &words, &variables) }
        return error == 0 ? .success(child) : .failure(POSIXErrno(error))
    }

    /// Returns the texts as the vector of C strings that a program is started with. The caller frees them.
    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { $0.withNative { strdup($0) } } + [nil]
    }

    /// The backtracer settings in this program's environment.
    package static let quietBacktrace = "interactive=no,color=no"

    /// This program's environment, as `NAME=VALUE`.
    package static var ownEnvironment: [String] {
        var variables: [String] = []
        var next = environ
        while let text = next.pointee {
            variables.append(String(native: text))
            next += 1
        }
        return variables
    }
}

/// An errno as an error.
package struct POSIXErrno: Error {
    package let number: Int32
    package init(_ number: Int32) { self.number = number }
    package var words: String { String(cString: strerror(number)) }
}

/// Finds programs as a shell does.
package enum CommandPath {
    /// The reason why a program can't be started: a sentence, and a shell's status for it.
    package struct Problem: Error {
        package var sentence: String
        package var status: Int32

        package init(sentence: String, status: Int32) { (self.sentence, self.status) = (sentence, status) }
    }

    /// Returns the file of a command. A name with a slash is a path. Others are searched for in PATH.
    package static func find(_ command: String) throws(Problem) -> String {
        guard !command.utf8.contains(UInt8(ascii: "/")) else {
            try check(command, as: command)
            return command
        }
        let folders = EnvironmentVariables.value(of: "PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        var refusal: Problem?
        for folder in folders.split(separator: ":", omittingEmptySubsequences: false) where !command.isEmpty {
            let path = (folder.isEmpty ? "." : folder) + "/" + command
            do throws(Problem) {
                try check(path, as: command)
                return path
            } catch {
                if error.status == 126 { refusal = refusal ?? error }
            }
        }
        throw refusal ?? Problem(sentence: "\(command): no such command in PATH", status: 127)
    }

    private static func check(_ path: String, as command: String) throws(Problem) {
        var facts = stat()
        guard path.withNative({ stat($0, &facts) }) == 0 else { throw Problem(errno, command) }
        guard facts.st_mode & S_IFMT != S_IFDIR else { throw Problem(EISDIR, command) }
        guard path.withNative({ access($0, X_OK) }) == 0 else { throw Problem(errno, command) }
    }
}

extension CommandPath.Problem {
    package init(_ number: Int32, _ command: String) {
        sentence = "\(command): \(String(cString: strerror(number)))"
        status = number == ENOENT || number == ENOTDIR ? 127 : 126
    }
}
