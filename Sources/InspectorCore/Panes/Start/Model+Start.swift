import SocketCore

extension Model {
    /// What the lines below the prompt stand for, in the order of their numbers.
    package var startLines: [String] {
        start.offers.recent.map(\.text) + start.offers.listening.map(\.address)
            + start.offers.programs.map { "attach \($0.path)" }
    }

    mutating func openTyped() -> [Effect] {
        var text = start.editor.text
        let typed = text.filter { !$0.isWhitespace }
        if let number = Int(typed), number > 0 {
            guard number <= startLines.count else {
                start.error = "there is no line \(number)"
                return []
            }
            text = startLines[number - 1]
        }
        switch AddressLine.parse(text) {
        case .failure(let failure):
            start.error = failure.message
            return []
        case .success(.demo):
            start.editor.commit()
            return [.startDemo]
        case .success(.connect(let target)):
            var request = OpenRequest(target)
            if target.isSecure { request.tls = TLSChoices().client(hasName: target.endpoint?.namesHost ?? false) }
            return [.connect(request)]
        case .success(.connectTLS(let endpoint)):
            var request = OpenRequest(endpoint)
            request.tls = TLSChoices().client(hasName: endpoint.namesHost)
            return [.connect(request)]
        case .success(.listenTLS(let endpoint)):
            start.error = "a TLS server needs a certificate: socktui listen tls://\(endpoint) --cert FILE"
            return []
        case .success(.listen(let target)) where target.isSecure:
            start.error = "a TLS server needs a certificate: socktui listen \(target) --cert FILE"
            return []
        case .success(.listen(let endpoint)): return [.listen(OpenRequest(endpoint))]
        case .success(.relay(let request)): return [.relay(request)]
        case .success(.attach(let name)):
            start.editor.commit()
            return [.attach(name)]
        }
    }

    /// Completes the prompt to what all lines that begin with it have in common.
    mutating func completeStart() {
        let typed = start.editor.text
        let candidates =
            (startLines + ["demo", "listen ", "relay ", "attach ", "ws://", "wss://", "udp://", "unix:", "unixgram:"])
            .filter {
                $0.hasPrefix(typed)
            }
        guard !typed.isEmpty, var common = candidates.first else { return }
        for candidate in candidates {
            while !candidate.hasPrefix(common) { common.removeLast() }
        }
        start.editor.set(common)
    }
}
