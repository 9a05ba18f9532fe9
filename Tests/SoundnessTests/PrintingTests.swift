import Testing

/// Foreign text reaches a terminal by one function or by the screen, and by nothing else.
@Suite("Printing")
struct PrintingTests {
    /// What ships. Development tools print as they like.
    private static let shipped = [
        "SocketCore", "SocketRecords", "SocketWorkshop", "SocketExport", "InspectorCore", "InspectorScreen",
        "SocketKit", "HostSockets", "InspectorShell", "SockTUI",
    ]
    /// The one function, and the file that hands the terminal to the screen.
    private static let writers: Set = ["StandardStream.swift", "TerminalEnvironment.swift"]

    /// Calls and names by which bytes get to standard output, standard error or the terminal.
    private static let forbidden = [
        "print(", "debugPrint(", "dump(", "puts(", "fputs(", "putchar(", "fputc(", "fwrite(", "printf(", "perror(",
        "psignal(", "syslog(", "NSLog(", "STDOUT_FILENO", "STDERR_FILENO", "stdout", "stderr", "write(1,", "write(2,",
        "writev(", "dprintf(", "FileHandle",
    ]

    @Test("only one function writes to standard output and standard error", arguments: shipped)
    func oneFunction(target: String) {
        let files = SourceTree.sources(target)
        #expect(!files.isEmpty)
        for file in files where !Self.writers.contains(file.name) {
            for (index, line) in file.lines.enumerated() {
                let code = Self.code(line)
                for name in Self.forbidden where Self.uses(name, code) {
                    Issue.record("\(file.path):\(index + 1): \(name) \(line)")
                }
            }
        }
    }

    /// A line feed in the name of a file would begin a line that seems to be the program's own.
    @Test("standard error gets single lines, in which line feeds are escaped")
    func lines() {
        for target in Self.shipped {
            for file in SourceTree.sources(target) {
                for (index, line) in file.lines.enumerated() where line.contains("StandardStream.error.write(") {
                    Issue.record("\(file.path):\(index + 1): use writeLine: \(line)")
                }
            }
        }
    }

    @Test("the C of the shell prints nothing; that of the screen writes what it was given")
    func c() {
        let files = SourceTree.files(below: "Sources").filter { $0.name.hasSuffix(".c") }
        #expect(files.count >= 4)
        for file in files {
            for (index, line) in file.lines.enumerated() {
                let code = Self.code(line)
                for name in Self.forbidden + ["STDOUT", "write("] where Self.uses(name, code) {
                    // The crash guard replays what standard error got while the screen was up.
                    if file.name == "terminal.c", ["write(", "STDERR_FILENO"].contains(name) { continue }
                    Issue.record("\(file.path):\(index + 1): \(name) \(line)")
                }
            }
        }
    }

    @Test("the check itself finds what it forbids")
    func itself() {
        #expect(Self.uses("print(", Self.code("    print(\"a\")")))
        #expect(Self.uses("stderr", Self.code("fputs(text, stderr)")))
        #expect(!Self.uses("print(", Self.code("fingerprint(certificate)")))
        #expect(!Self.uses("print(", Self.code("// print(text)")))
        #expect(!Self.uses("stderr", Self.code("let text = \"to stderr\"")))
        #expect(Self.uses("print(", Self.code("Swift.print(text)")))
        #expect(!Self.uses("dump(", Self.code("case .dump(let path):")))
    }

    /// A line without its comment and without the text of its string literals.
    private static func code(_ line: Substring) -> String {
        var code = ""
        var isText = false
        var former: Character = " "
        for character in line {
            if character == "\"" && former != "\\" { isText.toggle() }
            if !isText {
                if character == "/" && former == "/" { return code }
                code.append(character)
            }
            former = character
        }
        return code
    }

    /// Whether the name stands there by itself, and not as the end of another.
    private static func uses(_ name: String, _ code: String) -> Bool {
        var rest = code[...]
        while let start = rest.firstRange(of: name) {
            let before = code[..<start.lowerBound].last
            let after = name.last == "(" ? nil : code[start.upperBound...].first
            let isWord = { (character: Character?) in character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
            }
            let isOurs = ["func ", "case ", "."].contains { code[..<start.lowerBound].hasSuffix($0) }
            let isLibrary = ["Swift.", "Glibc."].contains { code[..<start.lowerBound].hasSuffix($0) }
            if !isWord(before), !isWord(after), !isOurs || isLibrary { return true }
            rest = code[start.upperBound...]
        }
        return false
    }
}

extension StringProtocol {
    fileprivate func firstRange(of text: String) -> Range<Index>? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(text) { return index..<self.index(index, offsetBy: text.count) }
            index = self.index(after: index)
        }
        return nil
    }
}
