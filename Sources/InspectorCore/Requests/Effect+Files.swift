import SocketCore

// What an effect does to files that the user named. Under sudo and with `--secure` it is refused.

extension Effect {
    /// A path that this effect reads, writes or connects to, or `nil` if there is none, or if what performs it refuses
    /// it and has its own place for the answer.
    package var file: String? {
        switch self {
        case .connect(let request), .listen(let request): request.target.endpoint.path ?? request.tls?.file
        case .startTLS(_, let settings): settings.file
        case .relay(let request): request.file
        case .run(let request): request.arguments.first
        case .openFile(let path), .record(let path): path
        case .send(let command): command.file
        case .setDestination(_, let endpoint): endpoint.path
        case .attach, .examine, .completePath, .copy, .save, .saveTraffic, .dissect, .edit, .transmit, .remember: nil
        case .signalChild, .startDemo, .showHost, .capture, .stopRecording, .keepHistory, .mouse, .stopTransmission,
            .setPace, .find, .stopFind, .setReplies, .fault, .fetchHeld, .bell, .repaint, .suspend, .quit:
            nil
        }
    }
}

extension RelayRequest {
    fileprivate var file: String? {
        let target = if case .endpoint(let endpoint) = target { endpoint.path } else { String?.none }
        return listen.path ?? target ?? listenTLS?.file ?? targetTLS?.file
    }
}

extension SocketCommand {
    fileprivate var file: String? {
        if case .send(let request) = action { request.destination?.path } else { nil }
    }
}

extension TLSSettings {
    /// The first file that these settings name, or `nil` if there is none.
    fileprivate var file: String? {
        let trusted: String? =
            switch trust {
            case .file(let path), .folder(let path): path
            case .system, .pinned, .anything: nil
            }
        let certificate = identity.flatMap { $0.certificateFile.isEmpty ? nil : $0.certificateFile }
        return keyLogFile ?? trusted ?? certificate
    }
}
