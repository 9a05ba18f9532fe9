import InspectorCore
import SocketKit
import SocketWorkshop

extension CommandTable {
    static let replayCommands: [Printer] = [
        Printer(
            name: "replay", operands: .reads("FILE [FILTER]"), help: "resend what a client sent; compare the answers"
        ) { (words, request) throws(UsageError) in
            try request.notePlayed("replay", words)
            return .replay(request.replay)
        },
        Printer(
            name: "sweep", operands: .reads("FILE [FILTER]"), help: "send one request split in many ways; compare"
        ) { (words, request) throws(UsageError) in
            try request.notePlayed("sweep", words)
            return .sweep(request.replay)
        },
    ]

    private static let both: Set<String> = ["replay", "sweep"]
    private static let playing: Set<String> = ["replay"]
    private static let sweeping: Set<String> = ["sweep"]

    static let replayOptions: [Option] = [
        Option(
            name: "--connect", value: .address("ADDRESS"), commands: both, help: "the server, as for socktui connect"
        ) {
            (text, request) throws(UsageError) in request.replay.address = text
        },
        Option(
            name: "--pace", value: .text("PACE"), commands: playing,
            help: "recorded, x10 (ten times as fast) or asap"
        ) {
            (text, request) throws(UsageError) in
            guard let pace = ReplayPace.parse(text) else {
                throw UsageError("--pace", "\(text) is not a pace; write recorded, x10 or asap")
            }
            request.replay.pace = pace
        },
        Option(
            name: "--match", value: .text("HOW"), commands: playing,
            help: "how to compare answers: exact, length or pattern"
        ) {
            (text, request) throws(UsageError) in
            guard let match = ReplayMatch(rawValue: text) else {
                let words = Spelling.alternatives(ReplayMatch.allCases.map(\.rawValue))
                throw UsageError("--match", "\(text) is not a kind of match; write \(words)")
            }
            request.replay.match = match
        },
        Option(
            name: "--hole", value: .text("HOLE"), commands: playing,
            help: "what may differ: offsets 17-23, or 'Date: *\\r\\n'"
        ) {
            (text, request) throws(UsageError) in
            do throws(HoleRule.Problem) {
                request.replay.holes.append(try HoleRule.parse(text))
                request.replay.holeTexts.append(text)
            } catch {
                throw UsageError("--hole", "\(text) \(error.sentence)")
            }
        },
        Option(name: "--wait", value: .text("TIME"), commands: both, help: "how long to wait for an answer; 10s") {
            (text, request) throws(UsageError) in request.replay.patience = try duration(text, "--wait")
        },
        Option(
            name: "--pause", value: .text("TIME"), commands: sweeping,
            help: "pause between the parts of a request; 20ms"
        ) {
            (text, request) throws(UsageError) in request.replay.pause = try duration(text, "--pause")
        },
        Option(name: "--parallel", value: .text("N"), commands: sweeping, help: "connections at a time; 16") {
            (text, request) throws(UsageError) in
            guard let number = Int(text), (1...1_024).contains(number) else {
                throw UsageError("--parallel", "\(text) is not a number of connections; write 1 to 1024")
            }
            request.replay.parallel = number
        },
        Option(name: "--exchange", value: .text("N"), commands: sweeping, help: "which request of the session; 1") {
            (text, request) throws(UsageError) in
            guard let number = Int(text), number >= 1 else {
                throw UsageError("--exchange", "\(text) is not the number of an exchange; the first is 1")
            }
            request.replay.exchange = number
        },
    ]
}

extension CommandTable.Request {
    fileprivate mutating func notePlayed(_ name: String, _ words: [String]) throws(UsageError) {
        guard let file = words.first, !replay.address.isEmpty else {
            throw UsageError(
                name,
                words.isEmpty
                    ? "needs a file, as in socktui \(name) session.pcapng --connect localhost:6379"
                    : "needs a server, as in --connect localhost:6379")
        }
        replay.file = file
        let text = words.dropFirst().joined(separator: " ")
        switch Filter.parse(text) {
        case .success(let filter): replay.filter = filter
        case .failure(let failure): throw UsageError(text, failure.message)
        }
        if replay.match == nil { replay.match = replay.holes.isEmpty ? .exact : .pattern }
        if replay.match == .pattern, replay.holes.isEmpty {
            throw UsageError("--match pattern", "needs --hole with what may differ")
        }
        if replay.match != .pattern, !replay.holes.isEmpty {
            throw UsageError("--hole", "needs --match pattern")
        }
        replay.isJSON = isJSON
        try noteServer()
    }

    private mutating func noteServer() throws(UsageError) {
        let text = replay.address
        let target: OpenTarget
        do throws(EndpointError) {
            target = try OpenTarget.parse(text)
            replay.tls = try settings(for: target, text, listens: false)
        } catch {
            throw UsageError("--connect", "\(error.text): \(error.problem)")
        }
        guard case .stream(let endpoint, _) = target else {
            throw UsageError("--connect", "\(text): streams only; write host:port, unix:/path or tls://host:port")
        }
        replay.endpoint = endpoint
        // There is no user to ask.
        replay.tls?.trustEvaluator = .library
    }
}
