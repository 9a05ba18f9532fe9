/// Exports the HTTP requests of one connection as POSIX shell commands that send them again with curl.
package enum CurlExport {
    /// The longest body in bytes that is passed as an argument. Longer ones go through a pipe.
    private static let longestArgument = 32_768
    /// The longest body in bytes that curl sends without first asking with Expect.
    private static let longestUnasked = 1_024

    /// Returns the commands, one for each request.
    /// - Throws: why the client's bytes are not requests, or not ones that curl can send.
    package static func text(_ bytes: [UInt8], _ row: ExportRow) throws(ExportProblem) -> String {
        var text = ""
        for request in try RecordedRequest.all(bytes) { text += try command(request, row) }
        return text
    }

    private static func command(_ request: RecordedRequest, _ row: ExportRow) throws(ExportProblem) -> String {
        let unfit = request.fields.first { $0.value.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F } }
        if let unfit { throw ExportProblem("its field \(unfit.name) has control characters") }
        if request.target.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
            throw ExportProblem("its request target has control characters")
        }
        var words = ["curl", request.version == "HTTP/1.0" ? "--http1.0" : "--http1.1", "--globoff", "--path-as-is"]
        words += method(of: request)
        words += try address(of: request, row)
        words += fields(of: request)
        var command = words.joined(separator: " ")
        guard !request.body.isEmpty else { return command + "\n" }
        if request.body.count <= longestArgument, let word = ShellWord.quoted(request.body) {
            command += " --data-raw \(word)"
        } else {
            command = "printf \(ShellWord.format(request.body)) |\n" + command + " --data-binary @-"
        }
        return command + "\n"
    }

    private static func method(of request: RecordedRequest) -> [String] {
        switch (request.method, request.body.isEmpty) {
        case ("GET", true), ("POST", false): []
        case ("HEAD", true): ["--head"]
        default: ["-X", word(request.method)]
        }
    }

    /// Returns the URL, and the options that lead to the recorded server whatever name the request has for it.
    private static func address(of request: RecordedRequest, _ row: ExportRow) throws(ExportProblem) -> [String] {
        let isSecure = row.target.hasPrefix("tls://")
        let place = isSecure ? String(row.target.dropFirst(6)) : row.target
        let host = request.values(of: "Host").first.map { String(decoding: $0, as: UTF8.self) }
        var (authority, options) = (place, [String]())
        if place.hasPrefix("unix:") {
            let path = String(place.dropFirst(5))
            guard !path.hasPrefix("@") || path.count > 1 else { throw ExportProblem("its server has no name") }
            let option = path.hasPrefix("@") ? "--abstract-unix-socket" : "--unix-socket"
            options = [option, word(path.hasPrefix("@") ? String(path.dropFirst()) : path)]
            authority = "localhost"
        } else if isSecure, let host, isPlain(host) {
            // The certificate is for the name, not for the address.
            (authority, options) = (host, ["--connect-to", word("::\(place)")])
        }
        let path = String(decoding: request.target, as: UTF8.self)
        let isInURL = path.hasPrefix("/") && path.utf8.allSatisfy { $0 < 0x80 && $0 != 0x23 }
        if !isInURL { options += ["--request-target", ShellWord.quoted(request.target) ?? "''"] }
        return options + [word("\(isSecure ? "https" : "http")://\(authority)\(isInURL ? path : "/")")]
    }

    /// Returns every recorded field, and suppresses those that curl would add.
    private static func fields(of request: RecordedRequest) -> [String] {
        var words: [String] = []
        for field in request.fields {
            if field.name.lowercased() == "content-length", !request.body.isEmpty, !request.isChunked { continue }
            let line = field.value.isEmpty ? Array("\(field.name);".utf8) : Array("\(field.name): ".utf8) + field.value
            words += ["-H", ShellWord.quoted(line) ?? "''"]
        }
        var unwanted = ["Host", "User-Agent", "Accept"]
        if !request.body.isEmpty { unwanted.append("Content-Type") }
        if request.body.count > longestUnasked { unwanted.append("Expect") }
        for name in unwanted where request.values(of: name).isEmpty { words += ["-H", word("\(name):")] }
        return words
    }

    /// Whether it is only a name and a port.
    private static func isPlain(_ host: String) -> Bool {
        !host.isEmpty
            && host.utf8.allSatisfy { byte in
                Character(Unicode.Scalar(byte)).isLetter && byte < 0x80 || (0x30...0x39).contains(byte)
                    || [0x2D, 0x2E, 0x3A, 0x5B, 0x5D].contains(byte)
            }
    }

    private static func word(_ text: String) -> String { ShellWord.quoted(Array(text.utf8)) ?? "''" }
}

/// Quotes bytes as words of a POSIX shell. The shell takes any bytes as text, and a terminal shows only printable
/// ASCII.
package enum ShellWord {
    /// Returns one word that stands for exactly these bytes, or `nil` if no shell word can.
    package static func quoted(_ bytes: [UInt8]) -> String? {
        if bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) {
            let parts = bytes.split(separator: 0x27, omittingEmptySubsequences: false)
            return "'" + parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "'\\''") + "'"
        }
        // A substitution drops trailing newlines.
        guard !bytes.contains(0), bytes.last != 0x0A else { return nil }
        return "\"$(printf \(format(bytes)))\""
    }

    /// Returns the format with which printf(1) writes these bytes.
    package static func format(_ bytes: [UInt8]) -> String {
        var text = "'"
        for byte in bytes {
            switch byte {
            // A leading hyphen would begin an option.
            case 0x2D where text == "'": text += octal(byte)
            case 0x25: text += "%%"
            case 0x27, 0x5C: text += octal(byte)
            case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += octal(byte)
            }
        }
        return text + "'"
    }

    private static func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }
}
