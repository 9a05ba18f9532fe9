import SocketCore

/// A chain of waiting in words: a sentence, a line for each link and what helps next.
struct WaitWords {
    let facts: HostFacts
    let chain: WaitChain

    private var scene: HostScene { facts.scene }
    private var last: WaitQuestion { chain.links[chain.links.count - 1].question }

    // MARK: The sentence

    /// `curl[812] waits 8.4s for nginx[77], which waits for api.py[91]`
    var claim: String {
        let names = chain.links.map { name($0) } + [target]
        var text = "\(names[0]) waits" + time(chain.age)
        for (index, name) in names.dropFirst().enumerated() {
            text += (index == 0 ? " for " : ", which waits for ") + name
        }
        return text
    }

    /// `it took 101 B 8.4s ago, has sent no answer, and is in accept4`
    var reason: String {
        if chain.ring != nil { return "each waits for the other's answer" }
        let end = chain.end
        let isNamed = [.loop, .threads, .unaccepted, .hidden, .closed].contains(end.kind)
        let isClause = isNamed && !end.words.hasPrefix("is ") || end.words.hasPrefix("the thread")
        let parts = took
        guard !isClause else {
            return parts.isEmpty ? end.words : "it \(parts.joined(separator: " and ")), and \(end.words)"
        }
        return "it " + (parts + [end.words]).listed
    }

    var sentence: String { "\(claim): \(reason)" }

    /// What has become of the last question.
    private var took: [String] {
        guard let answerer = last.answerer else { return [] }
        switch last.form {
        case .accept: return ["has not accepted the connection"]
        case .local: return []
        case .handshake:
            let queue = "\(answerer.receiveQueue ?? 0) of \(answerer.sendQueue ?? 0)"
            return ["has not answered the SYN (its backlog is full: \(queue))"]
        case .resolver: return ["has not answered the query"]
        case .tie: return ["has not answered"]
        case .answer: break
        }
        if let unread = answerer.unread, unread > 0 { return ["has \(HostRules.size(unread)) unread"] }
        guard last.asker.receivedBytes == 0, let sent = last.asker.sentBytes else {
            return ["took the request" + ago(last.age), "has not answered it"]
        }
        return ["took \(Format.size(sent))" + ago(last.age), "has sent no answer"]
    }

    private func time(_ age: Duration?) -> String { age.map { " \(Format.duration($0))" } ?? "" }
    private func ago(_ age: Duration?) -> String { age.map { " \(Format.duration($0)) ago" } ?? "" }

    // MARK: Names

    func name(_ link: WaitChain.Link) -> String {
        let asker = link.question.asker
        return link.owner.flatMap { title($0.process) } ?? scene.title(facts.asker.asking(for: asker), of: asker)
    }

    private func title(_ process: Int32) -> String? { scene.look.processes[process].map(scene.title) }

    /// The last program, or the address of the last question.
    var target: String {
        if let place = chain.ring { return name(chain.links[place]) }
        if let process = chain.end.process, let title = title(process.number) { return title }
        return address(last.asker)
    }

    private func address(_ socket: HostSocket) -> String {
        let far = socket.peer ?? last.answerer?.local
        return far.map { $0 == .unnamed ? "its peer" : HostScene.safe("\($0)") } ?? "its peer"
    }

    // MARK: Lines

    /// A line of the paragraph.
    struct Line {
        var name: String
        var place: String
        var words: String
    }

    var lines: [Line] {
        let links = chain.links.map { link in
            let place = link.owner.map { "fd \($0.descriptor) -> " } ?? "-> "
            let sure = link.certainty.map { " (\($0.rawValue) link: \(link.reason ?? ""))" } ?? ""
            let words =
                "\(asked(link.question)); \(waits(link))\(sure)" + scene.namespaceSuffix(of: link.question.asker)
            return Line(name: name(link), place: place + far(link.question), words: words)
        }
        if chain.ring != nil { return links }
        let place = chain.end.descriptor.map { "fd \($0)" } ?? ""
        let lasting = [.running, .loop].contains(chain.end.kind) ? nil : chain.end.lasting
        let words = chain.end.words + (lasting.map { " for \(Format.duration($0))" } ?? "")
        let all = [receipt, words].compactMap { $0 }.joined(separator: "; ")
        return links + [Line(name: target, place: place, words: all)]
    }

    func far(_ question: WaitQuestion) -> String {
        let far = question.asker.peer.flatMap { $0 == .unnamed ? nil : $0 } ?? question.answerer?.local
        return far.map { $0 == .unnamed ? "unnamed" : HostScene.safe("\($0)") } ?? "-"
    }

    /// `sent 83 B 8.4s ago`
    private func asked(_ question: WaitQuestion) -> String {
        switch question.form {
        case .answer:
            let isFirst = question.asker.receivedBytes == 0
            let what = isFirst ? "sent \(Format.size(question.asker.sentBytes ?? 0))" : "sent a request"
            return what + ago(question.age)
        case .tie: return "sent a request\(ago(question.age)), right after the last answer"
        case .accept: return "waits to be accepted" + (question.age.map { " for \(Format.duration($0))" } ?? "")
        case .handshake: return "sent a SYN" + (question.age.map { " at least \(Format.duration($0)) ago" } ?? "")
        case .resolver: return "queried a name server" + ago(question.age)
        case .local: return "waits for an answer" + (question.age.map { " for \(Format.duration($0))" } ?? "")
        }
    }

    /// `in poll for this socket`
    private func waits(_ link: WaitChain.Link) -> String {
        if let thread = link.question.thread { return "in \(thread.words) for this socket" }
        let asking = facts.asker.asking(for: link.question.asker)
        switch asking.kind {
        case .asks where asking.short.hasPrefix("epoll"), .edge: return "its event loop waits for this socket"
        case .asks: return asking.words
        case .hidden, .unseen: return "activity not visible"
        default: return asking.words.isEmpty ? "no reader" : asking.words
        }
    }

    /// What the last program has done with the question.
    private var receipt: String? {
        guard let answerer = last.answerer, chain.end.process != nil else { return nil }
        if last.form == .accept { return "has not accepted it" }
        if last.form == .handshake {
            return "its backlog is full: \(answerer.receiveQueue ?? 0) of \(answerer.sendQueue ?? 0)"
        }
        if let unread = answerer.unread, unread > 0 { return "\(HostRules.size(unread)) unread" }
        guard last.form == .answer, last.asker.receivedBytes == 0, let read = answerer.receivedBytes else { return nil }
        return "read \(Format.size(read))"
    }

    /// The heading, the sentence, a line for each link, and the next step.
    var paragraph: [String] {
        let lines = lines
        let name = lines.map { TextWidth.of($0.name) }.max() ?? 0
        let place = lines.map { TextWidth.of($0.place) }.max() ?? 0
        let more = chain.more > 0 ? " The same is true of \(Format.count(chain.more, "other wait"))." : ""
        return ["\(chain.ring == 0 ? "MUTUAL WAIT" : "WAITING"): \(sentence).\(more)"]
            + lines.map { "  \(Format.padded($0.name, to: name)) \(Format.padded($0.place, to: place))  \($0.words)" }
            + (next.map { ["Next: \($0)"] } ?? [])
    }

    // MARK: Next

    /// The command that helps next, if one does.
    var next: String? {
        let host = chain.end.process.map { HostOrdinal(ofProcess: $0.number) } ?? last.asker.host
        return command.map { scene.there($0, on: host) }
    }

    private var command: String? {
        switch chain.end.kind {
        case .handshake: return last.asker.peer?.host.map { "ip route get \($0)  # then: is a firewall in between?" }
        case .resolver: return last.asker.peer?.host.map { "dig @\($0) example.org" }
        case .far: return last.asker.peer?.port.map { "socktui capture port \($0)" }
        case .unaccepted: return last.answerer?.local?.port.map { "ss -ltnp 'sport = :\($0)'" }
        default: break
        }
        let first = chain.ring.flatMap { chain.links[$0].owner?.process }
        guard let number = chain.end.process?.number ?? first, let program = scene.look.processes[number] else {
            return nil
        }
        if chain.end.kind == .stopped {
            return program.threads.contains(where: \.isTraced) ? nil : "kill -CONT \(HostOrdinal.kernelProcess(number))"
        }
        if program.isBackend { return "psql -c 'SELECT pg_blocking_pids(\(HostOrdinal.kernelProcess(number)))'" }
        return program.stackCommand(thread: chain.end.thread)
    }
}

extension [String] {
    /// `a`, `a and b`, `a, b, and c`
    fileprivate var listed: String {
        switch count {
        case 0...1: first ?? ""
        case 2: joined(separator: " and ")
        default: dropLast().joined(separator: ", ") + ", and \(self[count - 1])"
        }
    }
}
