import Testing

/// No user code runs, and no value of the user's is destroyed, while a lock is held: a deinit may take the same lock, or
/// wait for a thread that wants it.
@Suite("Locks")
struct LockTests {
    /// Members of states under a lock that hold objects of the user's, or may hold the last reference to one.
    private static let owned = [
        "userData", "configuration", "pump", "sendFilter", "receiveFilter", "delegate", "listener", "kept", "inbox",
    ]

    @Test("setters replace, and do not assign under the lock", arguments: SourceTree.sources("SocketKit"))
    func setters(file: SourceTree.File) {
        for body in Self.locked(in: file.text) {
            #expect(!body.contains("newValue"), "use Lock.replace: \(body)")
            for member in Self.owned {
                let isAssigned = ["$0.\(member) = ", "state.\(member) = "].contains { body.contains($0) }
                // What was vacant, or was moved out before, is filled.
                let isVacant = body.contains(".\(member) == nil {")
                #expect(!isAssigned || isVacant, "use Lock.replace: \(body)")
            }
        }
    }

    /// To look whether it is there is to hold it for a moment, and its last other reference may go just then.
    @Test("delegates are not looked at under the lock", arguments: SourceTree.sources("SocketKit"))
    func delegates(file: SourceTree.File) {
        for body in Self.locked(in: file.text) {
            let looks = ["$0.delegate == nil", "$0.delegate != nil", "state.delegate == nil", "state.delegate != nil"]
            #expect(!looks.contains { body.contains($0) }, "take it out of the lock first: \(body)")
        }
        // Their methods run under the lock.
        for body in Self.bodies(after: "HandleState", in: file.text) {
            #expect(![" delegate == nil", " delegate != nil"].contains { body.contains($0) }, "\(file.path)")
        }
    }

    /// The closures that run under a lock, as they stand in the text.
    private static func locked(in text: String) -> [String] { bodies(after: "withLock", in: text) }

    /// What stands in braces right after a word.
    private static func bodies(after word: String, in text: String) -> [String] {
        text.split(separator: word).dropFirst().compactMap { rest in
            guard let start = rest.firstIndex(of: "{"), rest[..<start].allSatisfy({ " (".contains($0) }) else {
                return nil
            }
            var depth = 0
            let end = rest[start...].firstIndex { character in
                depth += character == "{" ? 1 : character == "}" ? -1 : 0
                return depth == 0
            }
            return end.map { String(rest[start...$0]) }
        }
    }
}
