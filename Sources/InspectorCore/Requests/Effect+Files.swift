import SocketCore

// The files that the user named in requests.

extension RelayRequest {
    var file: String? {
        let target = if case .endpoint(let endpoint) = target { endpoint.path } else { String?.none }
        return listen.path ?? target ?? listenTLS?.file ?? targetTLS?.file
    }
}

extension SocketCommand {
    var file: String? {
        if case .send(let request) = action { request.destination?.path } else { nil }
    }
}

extension TLSSettings {
    /// The first file that these settings name, or `nil` if there is none.
    var file: String? {
        let trusted: String? =
            switch trust {
            case .file(let path), .folder(let path): path
            case .system, .pinned, .anything: nil
            }
        let certificate = identity.flatMap { $0.certificateFile.isEmpty ? nil : $0.certificateFile }
        return keyLogFile ?? trusted ?? certificate
    }
}
