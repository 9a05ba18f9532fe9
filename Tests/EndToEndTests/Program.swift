import Glibc
import SocketTestSupport
import Testing

/// The program under test, as it lies beside the test bundle.
enum Program {
    static let path: String = {
        var bundle = [CChar](repeating: 0, count: Int(PATH_MAX))
        readlink("/proc/self/exe", &bundle, bundle.count - 1)
        let text = String(decoding: bundle.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/socktui"
    }()

    /// A folder of one test's own; all of them go when the tests end.
    static func folder() throws -> String {
        var name = Array("\(root)/XXXXXX".utf8CString)
        try #require(mkdtemp(&name) != nil)
        return String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static let root: String = {
        mkdir("/tmp/socktui-e2e-\(getpid())", 0o700)
        atexit { _ = system("rm -rf /tmp/socktui-e2e-\(getpid())") }
        return "/tmp/socktui-e2e-\(getpid())"
    }()

    /// Variables that keep a run away from the user's own files.
    static func environment(_ folder: String) -> [String: String?] {
        [
            "XDG_STATE_HOME": folder, "HOME": folder, "LC_ALL": "C.UTF-8", "NO_COLOR": "",
            "ASAN_OPTIONS": "detect_leaks=0", "SWIFT_BACKTRACE": nil,
        ]
    }

    /// Whether this runs under a sanitizer: they handle crash signals themselves, or put them off for ever.
    static let isSanitized = dlsym(nil, "__tsan_init") ?? dlsym(nil, "__asan_init") != nil

    /// Runs it without a terminal.
    static func run(_ arguments: String...) throws -> ChildProcess.Outcome { try run(arguments) }

    /// Runs it without a terminal.
    static func run(_ arguments: [String]) throws -> ChildProcess.Outcome {
        try ChildProcess.run([path] + arguments, environment: environment(try folder()))
    }

    /// Runs it in a terminal, under a shell that says how it ended and whether the terminal's settings are as before.
    static func start(_ arguments: String = "", width: Int = 80, height: Int = 24) throws -> Tmux {
        let folder = try folder()
        let script = """
            stty -g > \(folder)/before; \(path) \(arguments); echo "ended $?"; stty -g > \(folder)/after
            cmp -s \(folder)/before \(folder)/after && echo settings kept; exec cat
            """
        return try Tmux(script, width: width, height: height, environment: environment(folder))
    }
}

extension Tmux {
    /// The screen, for a failure's comment.
    var picture: Comment { "\((try? text()) ?? "")" }

    /// Waits until the program has the screen.
    func waitForScreen() throws {
        try #require(try waitFor("#{alternate_on}", toBe: "1"), picture)
    }

    /// Expects that the program is gone with this status and left the terminal as it was.
    func expectEnd(status: Int32, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try waitFor("settings kept"), picture, sourceLocation: sourceLocation)
        #expect(try text().contains("ended \(status)\n"), picture, sourceLocation: sourceLocation)
        #expect(try format("#{alternate_on} #{cursor_flag}") == "0 1", sourceLocation: sourceLocation)
        #expect(try children().isEmpty, sourceLocation: sourceLocation)
    }
}
