import Glibc
import InspectorCore

/// Bytes that a person wants outside: saved to a file, or copied where the terminal has no clipboard.
enum SavedBytes {
    /// Writes bytes, unaltered, to a file that is not there yet. A sentence that says what was done, or the error.
    static func save(
        _ path: String, _ bytes: [UInt8], missing: UInt64, droppedItems: UInt64
    ) -> Result<String, MessageText.Unsendable> {
        if let refusal = Elevation.refusal { return .failure(MessageText.Unsendable("\(path): \(refusal)")) }
        let file = open(ReadFile.expanded(path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            let why = errno == EEXIST ? "is there already; choose another name" : String(cString: strerror(errno))
            return .failure(MessageText.Unsendable("\(path): \(why)"))
        }
        defer { close(file) }
        guard FileOutput.write(bytes, to: file) else {
            return .failure(MessageText.Unsendable("\(path): \(String(cString: strerror(errno)))"))
        }
        var sentence = "saved \(Format.count(bytes.count, "byte")) to \(path)"
        if missing > 0 { sentence += "; \(missing) more were not kept" }
        if droppedItems > 0 {
            sentence += "; \(Format.count(Int(clamping: droppedItems), "older item")) had been dropped"
        }
        return .success(sentence)
    }

    /// For a terminal without a clipboard.
    static func copy(_ bytes: [UInt8]) -> Result<String, MessageText.Unsendable> {
        guard let path = StateFolder.path("clipboard"), StateFolder.replace(path, with: bytes) else {
            return .failure(MessageText.Unsendable("this terminal has no clipboard for programs; o saves to a file"))
        }
        return .success("this terminal has no clipboard for programs: \(Format.size(bytes.count)) are in \(path)")
    }
}

/// A person's editor, on a file that is there while it is open.
enum Editor {
    /// Opens bytes in `$VISUAL`, `$EDITOR` or vi; what was made of them, nil when they were not changed. Most editors end
    /// a file with a newline: the last one is removed where `bytes` did not end with one.
    /// - Throws: why that could not be done.
    static func edit(_ bytes: [UInt8], on screen: any Screen) throws(MessageText.Unsendable) -> [UInt8]? {
        if let refusal = Elevation.refusal { throw MessageText.Unsendable(refusal) }
        let folder = TerminalEnvironment.variable("TMPDIR") ?? "/tmp"
        var name = Array("\(folder)/socktui-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        let path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard file >= 0 else { throw MessageText.Unsendable("\(folder): \(String(cString: strerror(errno)))") }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        defer { unlink(path) }
        let isWritten = FileOutput.write(bytes, to: file)
        close(file)
        guard isWritten else { throw MessageText.Unsendable("\(path): \(String(cString: strerror(errno)))") }
        let editor = TerminalEnvironment.variable("VISUAL") ?? TerminalEnvironment.variable("EDITOR") ?? "vi"
        guard let status = screen.run(["/bin/sh", "-c", editor + " \"$1\"", "socktui", path]) else {
            throw MessageText.Unsendable("there is no terminal here for an editor")
        }
        guard status == 0 else {
            throw MessageText.Unsendable("\(editor) ended with status \(status); nothing was taken over")
        }
        guard var edited = try contents(path) else { return nil }
        if edited.last == 0x0A, bytes.last != 0x0A { edited.removeLast() }
        return edited == bytes ? nil : edited
    }

    private static func contents(_ path: String) throws(MessageText.Unsendable) -> [UInt8]? {
        let file = try ReadFile(path)
        guard file.size <= 1 << 20 else { throw MessageText.Unsendable("what was edited is longer than 1 MiB") }
        return try file.next(1 << 20) ?? []
    }
}
