import InspectorCore
import SocketCore

extension Model {
    /// Opens the text typed on the start screen, or the marked entry.
    mutating func openTyped() -> [Effect] {
        var text = start.editor.text
        if let target = start.target {
            text = start.matches[target].line
        } else if let number = start.number {
            start.error = "there is no line \(number)"
            return []
        }
        switch AddressLine.parse(text) {
        case .failure(let failure):
            start.error = failure.message
            return []
        case .success(let line): return open(line)
        }
    }

    private mutating func open(_ line: AddressLine) -> [Effect] {
        switch line {
        case .demo:
            start.change { $0.commit() }
            return [.startDemo]
        case .host:
            start.change { $0.commit() }
            return [.showHost]
        case .connect(let target):
            var request = OpenRequest(target)
            if target.isSecure { request.tls = TLSChoices().client(hasName: target.endpoint.namesHost) }
            return [.connect(request)]
        case .listen(let target) where target.isSecure: return needsCertificate("\(target)")
        case .listen(let target): return [.listen(OpenRequest(target))]
        case .relay(let request): return [.relay(request)]
        case .attach(let name):
            start.change { $0.commit() }
            return [.attach(name)]
        }
    }

    private mutating func needsCertificate(_ address: String) -> [Effect] {
        start.error = "a TLS server needs a certificate: socktui listen \(address) --cert FILE"
        return []
    }
}
