import Glibc
import InspectorCore

/// From the command line to the exit status: 0 done, 1 what was asked for failed, 2 it was asked for wrongly.
enum Program {
    /// Runs the program; ends the process where a signal did.
    static func main(_ arguments: [String]) -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        raiseDescriptorLimit()
        let invocation: Invocation
        do {
            invocation = try ArgumentParser.parse(Array(arguments.dropFirst()))
        } catch {
            return complain(error.description, status: 2)
        }
        switch invocation.mode {
        case .attachable: return attachable()
        case .help: return print(CommandTable.help)
        case .version: return print("socktui \(CommandTable.version)")
        case .report(let form, let isOnce): return report(form, isOnce: isOnce, invocation)
        case .document(let document): return print(document.text)
        case .configuration, .script, .terminal: return configured(invocation, arguments)
        }
    }

    /// The runs that heed the configuration. A script does the same whoever runs it, so it heeds only what it is given.
    private static func configured(_ invocation: Invocation, _ arguments: [String]) -> Int32 {
        var configuration = Configuration()
        do {
            if case .script = invocation.mode, invocation.configuration == nil {
                configuration.isASCII = invocation.isASCII ?? false
            } else {
                configuration = try ConfigFile.configuration(invocation)
            }
        } catch {
            return complain(error.description, status: 2)
        }
        switch invocation.mode {
        case .configuration:
            let text = configuration.text(colour: Palette.standard)
            return Output.write(text, to: STDOUT_FILENO) ? 0 : 1
        case .script(let path): return with { ScriptRun.run(path, invocation, configuration, inspected: $0) }
        // What asks for a screen and has none gets text.
        case .terminal where isatty(STDOUT_FILENO) == 0 && !invocation.opening.isEmpty:
            return report(.text, isOnce: false, invocation)
        default: return TerminalRun.run(invocation, configuration, arguments)
        }
    }

    /// The usual soft limit of 1,024 descriptors is there for select(2), which is not used here.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Lists what can be attached to; 1 when there is nothing, with what to do about it.
    private static func attachable() -> Int32 {
        let entries = AttachablePrograms.list()
        guard !entries.isEmpty else {
            return complain("no program lets itself be inspected; \(AttachablePrograms.howTo)", status: 1)
        }
        return print(AttachablePrograms.table(entries))
    }

    private static func report(_ form: ReportForm, isOnce: Bool, _ invocation: Invocation) -> Int32 {
        let inspected = makeInspected(asks: false)
        let run = ReportRun(form, isOnce: isOnce, lints: invocation.lints, inspected: inspected)
        let ending = run.run(invocation.opening)
        inspected.close()
        switch ending {
        case .status(let status): return status
        case .signal(let number): CrashGuard.die(by: number)
        }
    }

    private static func with(_ run: (any Inspected) -> Int32) -> Int32 {
        let inspected = makeInspected()
        defer { inspected.close() }
        return run(inspected)
    }

    /// The engine that is looked at; `asks`: somebody is there who can judge a certificate.
    static func makeInspected(asks: Bool = true) -> any Inspected { InspectedPrograms(asks: asks) }

    /// Prints one line on stderr; gives the status back.
    static func complain(_ sentence: String, status: Int32) -> Int32 {
        Output.write("socktui: \(sentence)\n", to: STDERR_FILENO)
        return status
    }

    private static func print(_ text: String) -> Int32 {
        Output.write(text + "\n", to: STDOUT_FILENO) ? 0 : 1
    }
}

/// Whole writes to a descriptor.
enum Output {
    /// Writes all of it; false when the other end is gone or full.
    @discardableResult
    static func write(_ text: String, to descriptor: Int32) -> Bool { write(Array(text.utf8), to: descriptor) }

    /// Writes all of it; false when the other end is gone or full.
    @discardableResult
    static func write(_ all: [UInt8], to descriptor: Int32) -> Bool {
        var bytes = all[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}
