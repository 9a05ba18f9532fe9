import InspectorCore
import SocketCore

extension ComposerState {
    /// Sends the line: at once if all of its bytes are known, and otherwise through the shell.
    mutating func send(to recipient: Recipient, in shared: Shared) -> Outcome {
        if let refusal = recipient.refusal { return .hint(refusal) }
        let composer = composer(of: recipient.id, in: shared)
        switch composer.message {
        case .failure(let failure): return .error("column \(failure.column): \(failure.message)")
        case .success(let message):
            guard composer.mode == .file ? !composer.editor.isEmpty : !message.isEmpty else {
                return .hint("nothing to send")
            }
            return send(message, from: composer, to: recipient, in: shared)
        }
    }

    private mutating func send(
        _ message: [MessagePiece], from composer: Composer, to recipient: Recipient, in shared: Shared
    ) -> Outcome {
        let id = recipient.injection?.id ?? recipient.id
        var source = Transmission.Source.message(message, sequence: composer.sequence)
        let running = shared.transmissions[id]
        // The line would be sent in the middle of the file.
        if let running, case .file = running.transmission.source { return Self.isBusy(running, shared) }
        if composer.mode == .file {
            if fileFacts?.path == composer.editor.text, fileFacts?.size == nil {
                return .error("\(composer.editor.text): \(fileFacts?.problem ?? "")")
            }
            source = .file(composer.editor.text)
        }
        var transmission = Transmission(id, source, tag: composer.nextTag, pace: composer.pace)
        transmission.isMessages = composer.sendsMessages
        transmission.isBinary = composer.sendsMessages && (composer.mode == .hex || composer.mode == .file)
        if transmission.isLong, let running { return Self.isBusy(running, shared) }
        if recipient.writesTo?.role == .datagram {
            return sendDatagram(message, transmission, composer, to: recipient, in: shared)
        }
        let isTransmitted = transmission.isLong || !message.allSatisfy(\.isKnown)
        if isTransmitted, composer.sendsMessages, recipient.injection != nil {
            return .hint("a message is injected in one piece: no file, pacing or pause")
        }
        if isTransmitted, let refusal = shared.refusal(of: .transmit(transmission)) { return .error(refusal) }
        let reading = composer.readAfter.map { Effect.send(.read(id, ReadRequest($0, tag: composer.nextTag + 1))) }
        let following = [reading].compactMap { $0 } + remember(composer.line, sentTo: id, in: shared)
        edit(recipient.id, in: shared) { $0.sent() }
        if isTransmitted { return Outcome(effects: [.transmit(transmission)] + following) }
        let bytes = MessageText.preview(message, sequence: composer.sequence).bytes.compactMap { $0 }
        let notice = recipient.injection.map { Self.injected(bytes, $0) }
        return Outcome(effects: [.send(Self.write(bytes, composer, to: id))] + following, notice: notice)
    }

    private static func write(_ bytes: [UInt8], _ composer: Composer, to id: SocketID) -> SocketCommand {
        composer.sendsMessages
            ? .webSocket(id, .message(WebSocketMessage(composer.messageType(of: bytes), bytes)))
            : .write(id, WriteRequest(bytes, timeout: composer.pace.timeout, tag: composer.nextTag))
    }

    private static func isBusy(_ running: TransmissionProgress, _ shared: Shared) -> Outcome {
        .hint(running.words + shared.options.keys.naming("; {pace} stops it", in: .composer))
    }

    /// Returns the notice about injected bytes.
    static func injected(_ bytes: [UInt8], _ injection: Injection) -> Model.Notice {
        .hint("injected \(Format.count(bytes.count, "byte")) into \(injection.id), for \(injection.receiver)")
    }
}
