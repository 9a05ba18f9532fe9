import Glibc
import SocketTestSupport
import Testing

/// Arguments, variables and file names are bytes, which a shell sets in any encoding.
@Suite("The system's strings", .timeLimit(.minutes(10)))
struct SystemStringsTests {
    /// Runs a shell script in a folder of its own. `$0` is the program.
    private static func shell(_ script: String) throws -> ChildProcess.Outcome {
        let folder = try Program.folder()
        return try ChildProcess.run(
            ["sh", "-c", "cd \(folder) && " + script, Program.path], environment: Program.environment(folder))
    }

    @Test("the program that is run gets its arguments and its environment unaltered")
    func child() throws {
        let outcome = try Self.shell(
            #"""
            LATIN=$(printf '\351=\377') "$0" run -- \
                sh -c 'printf "%s " "$LATIN" "$1" | od -An -tx1' - "$(printf 'a\364\217\277\251')"
            """#)
        #expect(outcome.errors.hasPrefix(" e9 3d ff 20 61 f4 8f bf a9 20\n"), "\(outcome)")
    }

    @Test("files have the names that were given, and messages show their bytes")
    func files() throws {
        let outcome = try Self.shell(
            #"""
            name=$(printf 'caf\351.pcapng'); "$0" run --record "$name" -- true; ls | od -An -c
            "$0" open --json "$name" | tail -1; "$0" open --once "$(printf '\351')"
            """#)
        #expect(outcome.output.contains("c   a   f 351   .   p   c   a   p   n   g  \\n"), "\(outcome)")
        #expect(outcome.output.contains(#""type":"end""#), "\(outcome)")
        #expect(outcome.errors.contains(#"\xe9: No such file"#), "\(outcome)")
    }

    @Test("text that must be UTF-8 is refused where it is not")
    func refused() throws {
        let outcome = try Self.shell(#""$0" connect localhost:1 --send "$(printf 'caf\351')""#)
        #expect(outcome.status == 2 && outcome.errors == "socktui: caf\\xe9: --send must be UTF-8\n", "\(outcome)")
    }

    @Test("the arguments are known without /proc", .enabled(if: geteuid() == 0, "a mount needs root"))
    func withoutProc() throws {
        let outcome = try ChildProcess.run([
            "unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc && exec \"$0\" completions nosuch", Program.path,
        ])
        #expect(outcome.errors == "socktui: completions: needs a shell: bash, zsh or fish\n", "\(outcome)")
    }
}
