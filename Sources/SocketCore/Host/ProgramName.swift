/// A name that distinguishes a program from others. It never shows an argument, which may be a password.
package enum ProgramName {
    /// How an interpreter's arguments name the program it runs. Options are spelled in full.
    private struct Interpreter {
        var names: Set<String>
        /// Options followed by a value.
        var valued: Set<String> = []
        /// Options followed by what is run, a module or an archive.
        var naming: Set<String> = []
        /// Options after which there is no file, because the code itself is an argument.
        var code: Set<String> = []
    }

    private static let interpreters = [
        Interpreter(
            names: ["python", "pypy"], valued: ["-W", "-X", "--check-hash-based-pycs"], naming: ["-m"], code: ["-c"]),
        Interpreter(
            names: ["node", "nodejs"],
            valued: ["-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions"],
            code: ["-e", "--eval", "-p", "--print", "-pe", "-i"]),
        Interpreter(
            names: ["java"],
            valued: [
                "-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules", "--add-opens",
                "--add-exports", "--add-reads", "--upgrade-module-path",
            ], naming: ["-jar", "-m", "--module"]),
        Interpreter(names: ["ruby"], valued: ["-I", "-r", "-C", "-E"], code: ["-e"]),
        Interpreter(names: ["perl"], valued: ["-I"], code: ["-e", "-E"]),
        Interpreter(names: ["php"], valued: ["-c", "-d", "-S", "-t"], naming: ["-f"], code: ["-r"]),
        Interpreter(
            names: ["sh", "bash", "dash", "zsh", "ksh"], valued: ["-o", "+o", "-O", "+O", "--rcfile", "--init-file"],
            code: ["-c"]),
        Interpreter(names: ["lua", "luajit"], valued: ["-l"], code: ["-e"]),
        Interpreter(names: ["mono", "dotnet"], naming: ["exec"]),
    ]

    /// Returns the text of /proc/PID/cmdline as arguments, up to `limit` of them.
    package static func arguments(_ text: [UInt8], limit: Int = 256) -> [String] {
        var parts = text.split(separator: 0, maxSplits: limit, omittingEmptySubsequences: false).prefix(limit)
        if parts.last?.isEmpty == true { parts.removeLast() }
        return parts.map { $0.asText }
    }

    /// Returns the helpful name: for an interpreter its script, module, archive or main class, otherwise the
    /// executable's as the program gives it. `command` is `comm`, which the kernel cuts at 15 bytes.
    package static func helpful(_ arguments: [String], command: String) -> String {
        guard let first = arguments.first else { return command }
        let own = base(first)
        if let interpreter = interpreter(own), let script = script(arguments.dropFirst(), interpreter) { return script }
        return command.utf8.count == 15 && own.utf8.starts(with: command.utf8) ? own : command
    }

    /// Returns what follows the last slash, or the whole path if nothing does.
    package static func base(_ path: String) -> String {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) } ?? path
        return name.utf8.count > 1 && name.hasPrefix("-") ? String(name.dropFirst()) : name
    }

    private static func interpreter(_ name: String) -> Interpreter? {
        var stem = name[...]
        while let last = stem.last, last.isASCII, last.isNumber || last == "." { stem.removeLast() }
        return interpreters.first { $0.names.contains(String(stem)) }
    }

    private static func script(_ arguments: ArraySlice<String>, _ interpreter: Interpreter) -> String? {
        var rest = arguments
        while let word = rest.popFirst() {
            if interpreter.code.contains(word) { return nil }
            if interpreter.naming.contains(word) { return rest.first.map(base) }
            if word == "--" { return rest.first.map(base) }
            if interpreter.valued.contains(word) {
                _ = rest.popFirst()
            } else if !word.isEmpty, !word.hasPrefix("-"), !word.hasPrefix("+"), !word.hasPrefix("@") {
                return base(word)
            }
        }
        return nil
    }
}
