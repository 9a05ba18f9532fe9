import Glibc
import InspectorCore

/// Exports bytes: saves them to a file, or copies them if the terminal has no clipboard.
package enum SavedBytes {
    /// Writes bytes, unaltered, to a new file. Returns a sentence that says what was done, or the error.
    package static func save(
        _ path: String, _ bytes: [UInt8], missing: UInt64, droppedItems: UInt64
    ) -> Result<String, MessageText.Unsendable> {
        if let refusal = Elevation.refusal { return .failure(MessageText.Unsendable("\(path): \(refusal)")) }
        let file = ReadFile.expanded(path).withNative { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        guard file >= 0 else {
            let why = errno == EEXIST ? "already exists; choose another name" : String(cString: strerror(errno))
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

    /// Copies bytes to a file, for a terminal without a clipboard.
    package static func copy(_ bytes: [UInt8]) -> Result<String, MessageText.Unsendable> {
        let problem = "this terminal does not let programs set the clipboard"
        guard let path = StateFolder.path("clipboard"), StateFolder.replace(path, with: bytes) else {
            return .failure(MessageText.Unsendable("\(problem); o saves to a file"))
        }
        return .success("\(problem): \(Format.size(bytes.count)) saved to \(path)")
    }
}

/// The user's editor, on a temporary file.
package enum Editor {
    /// Opens bytes in `$VISUAL`, `$EDITOR` or vi. Returns the edited bytes, or `nil` if they were not changed. Most
    /// editors end a file with a newline, so the last one is removed if `bytes` did not end with one.
    /// - Throws: the reason if that failed.
    package static func edit(_ bytes: [UInt8], on screen: any Screen) throws(MessageText.Unsendable) -> [UInt8]? {
        if let refusal = Elevation.refusal { throw MessageText.Unsendable(refusal) }
        let folder = EnvironmentVariables.value(of: "TMPDIR") ?? "/tmp"
        var name = "\(folder)/socktui-XXXXXX".nativeBytes.map(CChar.init(bitPattern:)) + [0]
        let file = mkstemp(&name)
        let path = String(native: name)
        guard file >= 0 else { throw MessageText.Unsendable("\(folder): \(String(cString: strerror(errno)))") }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        defer { path.withNative { unlink($0) } }
        let isWritten = FileOutput.write(bytes, to: file)
        close(file)
        guard isWritten else { throw MessageText.Unsendable("\(path): \(String(cString: strerror(errno)))") }
        let editor = EnvironmentVariables.value(of: "VISUAL") ?? EnvironmentVariables.value(of: "EDITOR") ?? "vi"
        guard let status = screen.run(["/bin/sh", "-c", editor + " \"$1\"", "socktui", path]) else {
            throw MessageText.Unsendable("there is no terminal for an editor")
        }
        guard status == 0 else {
            throw MessageText.Unsendable("\(editor) ended with status \(status); the text is unchanged")
        }
        guard var edited = try contents(path) else { return nil }
        if edited.last == 0x0A, bytes.last != 0x0A { edited.removeLast() }
        return edited == bytes ? nil : edited
    }

    private static func contents(_ path: String) throws(MessageText.Unsendable) -> [UInt8]? {
        let file = try ReadFile(path)
        guard file.size <= 1 << 20 else { throw MessageText.Unsendable("the edited text is longer than 1 MiB") }
        return try file.next(1 << 20) ?? []
    }
}
