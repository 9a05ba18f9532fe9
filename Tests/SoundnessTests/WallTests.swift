import Testing

@Suite("Walls")
struct WallTests {
    /// What each target may import. Whatever else one needs goes through these.
    static let allowed: [String: Set<String>] = [
        "SocketCore": [],
        "SocketRecords": ["SocketCore"],
        "SocketWorkshop": ["SocketCore"],
        "SocketExport": ["SocketCore", "SocketRecords", "SocketWorkshop"],
        "InspectorCore": ["SocketCore", "SocketRecords", "SocketWorkshop"],
        "InspectorScreen": ["SocketCore", "SocketRecords", "SocketWorkshop", "InspectorCore"],
        "SocketKit": [
            "SocketCore", "SocketRecords", "CSocketKitSystem", "CSocketKitOpenSSL", "Glibc", "Dispatch",
            "Synchronization",
        ],
        "SocketKitFoundation": ["SocketKit", "Foundation"],
        "SocketRocket": ["SocketKit", "SocketKitFoundation", "Foundation", "FoundationNetworking", "Dispatch"],
        "CocoaAsyncSocket": ["SocketKit", "CSocketKitSystem", "Foundation", "Synchronization"],
        "CocoaAsyncSocketTests": ["CocoaAsyncSocket", "SocketKit", "SocketTestSupport", "Foundation", "Testing"],
        "HostSockets": ["SocketCore", "CSocketKitSystem", "Dispatch", "Glibc", "Synchronization"],
        // No screen: what it does can be asked for by a key, a command line or another program.
        "InspectorShell": [
            "SocketKit", "SocketCore", "SocketRecords", "SocketWorkshop", "SocketExport", "InspectorCore",
            "HostSockets", "CSockTUIPcap", "CSockTUIRun", "Glibc", "Dispatch", "Synchronization",
        ],
        "SockTUI": [
            "InspectorShell", "InspectorScreen", "InspectorCore", "SocketExport", "SocketWorkshop", "SocketRecords",
            "SocketKit", "SocketCore", "HostSockets", "CSockTUINcurses", "CSockTUITerminal", "Glibc", "Dispatch",
            "Synchronization",
        ],
        "SocketTestSupport": ["SocketKit", "SocketCore", "SocketRecords", "Glibc", "Dispatch", "Synchronization"],
        "SocketSimulation": ["SocketKit", "SocketTestSupport", "Glibc", "Dispatch"],
        "SimulateSockets": ["SocketSimulation", "Glibc"],
        "AutobahnPeer": ["SocketKit", "Glibc"],
    ]

    /// The targets that show Foundation's types, so that no other needs them.
    static let foundations: Set = ["CocoaAsyncSocket", "SocketKitFoundation", "SocketRocket"]

    /// The exceptions, one file each.
    static let exceptions: [String: Set<String>] = [
        "TerminatorSearch.swift": ["Glibc"],
        "SocketError+Text.swift": ["Glibc"],
        "IPAddress.swift": ["Glibc"],
        // DEFLATE is computing: bytes in, bytes out.
        "Inflater.swift": ["CSocketKitZlib"], "Deflater.swift": ["CSocketKitZlib"],
        // Says where a value lives; nothing waits for anybody.
        "InPlace.swift": ["Synchronization"],
    ]

    @Test("every file imports only what its target may", arguments: SourceTree.swift)
    func imports(file: SourceTree.File) {
        let modules = Self.imports(of: file)
        let isFoundations = Self.foundations.contains { file.target == $0 || file.target == $0 + "Tests" }
        #expect(isFoundations || !modules.contains("Foundation"), "full Foundation is elsewhere")
        guard file.path.hasPrefix("Sources/") || Self.allowed[file.target] != nil else { return }
        let allowed = (Self.allowed[file.target] ?? []).union(Self.exceptions[file.name] ?? [])
        #expect(modules.subtracting(allowed).isEmpty)
    }

    @Test("every target has its wall")
    func targets() {
        let targets = Set(SourceTree.swift.filter { $0.path.hasPrefix("Sources/") }.map(\.target))
        #expect(targets.subtracting(Self.allowed.keys).isEmpty)
    }

    @Test("curses and libpcap are known to one file each, the C of the terminal to the crash guard and the arguments")
    func curses() {
        func users(of module: String) -> [String] {
            ["SockTUI", "InspectorShell"].flatMap(SourceTree.sources).filter {
                Self.imports(of: $0).contains(module)
            }.map(\.name)
        }
        #expect(users(of: "CSockTUINcurses") == ["CursesTerminal.swift"])
        #expect(Set(users(of: "CSockTUITerminal")) == ["CrashGuard.swift", "ProgramArguments.swift"])
        #expect(users(of: "CSockTUIPcap") == ["Pcap.swift"])
    }

    @Test("what is fuzzed is the pure core, and nothing else")
    func fuzzing() {
        let cores = [
            "SocketCore", "SocketRecords", "SocketWorkshop", "SocketExport", "InspectorCore", "InspectorScreen",
        ]
        let files = SourceTree.files(below: "Fuzz/Sources").filter { file in
            !cores.contains { file.path.hasPrefix("Fuzz/Sources/\($0)/") }
        }
        #expect(!files.isEmpty)
        for file in files {
            #expect(Self.imports(of: file).subtracting(cores + ["FuzzSupport"]).isEmpty, "\(file.path)")
        }
    }

    @Test("the small Foundation is in no program and no library")
    func foundation() {
        for file in SourceTree.swift where file.path.hasPrefix("Sources/") || Self.allowed[file.target] != nil {
            #expect(!Self.imports(of: file).contains("FoundationEssentials"), "\(file.path)")
        }
    }

    @Test("what knows Foundation is linked into nothing else")
    func foundationsUsers() {
        let users = Self.allowed.filter { $0.value.contains("CocoaAsyncSocket") }.map(\.key)
        #expect(users == ["CocoaAsyncSocketTests"])
    }

    @Test("only TLS knows OpenSSL")
    func openSSL() {
        for file in SourceTree.sources("SocketKit") where Self.imports(of: file).contains("CSocketKitOpenSSL") {
            #expect(file.path.hasPrefix("Sources/SocketKit/TLS/"), "\(file.path)")
        }
    }

    /// The modules that a file imports.
    static func imports(of file: SourceTree.File) -> Set<String> {
        Set(
            file.lines.compactMap { line in
                let words = line.split(separator: " ")
                guard let index = words.firstIndex(of: "import"), index + 1 < words.count,
                    words[..<index].allSatisfy({ $0.hasPrefix("@") || modifiers.contains($0) })
                else { return nil }
                let module = kinds.contains(words[index + 1]) ? words[index + 2] : words[index + 1]
                return String(module.prefix { $0 != "." })
            })
    }

    private static let modifiers: Set<Substring> = ["public", "package", "internal", "private", "fileprivate"]
    private static let kinds: Set<Substring> = [
        "struct", "class", "enum", "protocol", "typealias", "func", "let", "var",
    ]
}
