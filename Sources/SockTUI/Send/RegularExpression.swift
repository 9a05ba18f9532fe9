import Glibc

/// POSIX extended regular expressions on bytes, as the C library has them.
enum RegularExpression {
    /// What is wrong with a pattern; nil: nothing.
    static func problem(_ pattern: String) -> String? {
        var compiled = regex_t()
        let status = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB)
        guard status != 0 else {
            regfree(&compiled)
            return nil
        }
        var text = [CChar](repeating: 0, count: 256)
        regerror(status, &compiled, &text, text.count)
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Whether a pattern that is well formed matches within these bytes, zero bytes among them.
    static func matches(_ pattern: String, _ bytes: [UInt8]) -> Bool {
        var compiled = regex_t()
        guard regcomp(&compiled, pattern, REG_EXTENDED) == 0 else { return false }
        defer { regfree(&compiled) }
        return (bytes + [0]).withUnsafeBytes { buffer in
            var match = regmatch_t(rm_so: 0, rm_eo: regoff_t(bytes.count))
            let text = buffer.bindMemory(to: CChar.self).baseAddress
            return text.map { regexec(&compiled, $0, 1, &match, REG_STARTEND) == 0 } ?? false
        }
    }
}
