import SocketCore

extension Model {
    /// Sends what a composer holds: at once where all of its bytes are known, else by the shell.
    mutating func send(_ message: [MessagePiece], from composer: Composer, to id: SocketID) -> [Effect] {
        if let running = transmissions[id], case .file = running.transmission.source {
            // It would land in the middle of the file.
            notice = hint(running.words + naming("; {pace} stops it", in: .composer))
            return []
        }
        var source = Transmission.Source.message(message, sequence: composer.sequence)
        if composer.mode == .file {
            if fileFacts?.path == composer.editor.text, fileFacts?.size == nil {
                notice = error("\(composer.editor.text): \(fileFacts?.problem ?? "")")
                return []
            }
            source = .file(composer.editor.text)
        }
        var transmission = Transmission(id, source, tag: composer.nextTag, pace: composer.pace)
        transmission.isMessages = composer.sendsMessages
        transmission.isBinary = composer.sendsMessages && (composer.mode == .hex || composer.mode == .file)
        if transmission.isLong, let running = transmissions[id] {
            notice = hint(running.words + naming("; {pace} stops it", in: .composer))
            return []
        }
        if writesTo?.role == .datagram { return sendDatagram(message, transmission, composer) }
        let isTransmitted = transmission.isLong || !message.allSatisfy(\.isKnown)
        if isTransmitted, let refusal = refusal(of: .transmit(transmission)) {
            notice = error(refusal)
            return []
        }
        let reading = composer.readAfter.map { Effect.send(.read(id, ReadRequest($0, tag: composer.nextTag + 1))) }
        let following = [reading].compactMap { $0 } + remember(composer.line, sentTo: id)
        editComposer { $0.sent() }
        if isTransmitted {
            if transmission.isLong {
                var progress = TransmissionProgress(transmission)
                if case .file(let path) = source, fileFacts?.path == path { progress.total = fileFacts?.size }
                progress.began = latest?.time
                shared.transmissions[id] = progress
            }
            return [.transmit(transmission)] + following
        }
        let bytes = MessageText.preview(message, sequence: composer.sequence).bytes.compactMap { $0 }
        if let injection {
            notice = hint("injected \(Format.count(bytes.count, "byte")) into \(id), for \(injection.receiver)")
        }
        if composer.sendsMessages {
            let message = WebSocketMessage(composer.messageType(of: bytes), bytes)
            return [.send(.webSocket(id, .message(message)))] + following
        }
        return [.send(.write(id, WriteRequest(bytes, timeout: composer.pace.timeout, tag: composer.nextTag)))]
            + following
    }

    /// In file mode: finds out what is at the path, so that its size is seen before it is sent.
    mutating func examineFile() -> [Effect] {
        guard composer.mode == .file, !composer.editor.isEmpty, fileFacts?.path != composer.editor.text else {
            return []
        }
        return [.examine(composer.editor.text)]
    }

    /// Stops what is being sent to the selected connection, or asks how the next lines shall go out.
    mutating func openPace() -> [Effect] {
        guard let id = list.selected else { return [] }
        let target = injection?.id ?? id
        if transmissions[target] != nil { return [.stopTransmission(target)] }
        let pace = composer.pace
        func text(_ duration: Duration?) -> String { duration.map { Format.duration($0) } ?? "" }
        dialog = .form(
            Form(
                .pace(id),
                [
                    .text(.interval, "Repeat every", text(pace.interval), hint: "such as 5s, or empty"),
                    .text(
                        .pieces, "Chunk size", pace.dribble.map { String($0.bytes) } ?? "", hint: "bytes, or empty"),
                    .text(.gap, "Between", text(pace.dribble?.interval), hint: "such as 100ms"),
                    .text(.timeout, "Timeout", text(pace.timeout), hint: "such as 30s, or empty"),
                ]))
        return []
    }

    /// The shell tells how far it is.
    mutating func progressed(_ progress: TransmissionProgress) {
        let id = progress.transmission.socket
        guard let former = transmissions[id] else { return }
        shared.transmissions[id] = progress
        shared.transmissions[id]?.began = former.began
        guard case .message(_, let first) = progress.transmission.source, let composer = composers[id] else { return }
        let next = max(composer.sequence, first + progress.rounds)
        composers[id]?.sequence = next
    }

    /// The shell is done, was stopped, or could not go on.
    mutating func transmissionEnded(_ progress: TransmissionProgress, _ ending: TransmissionEnding) {
        let id = progress.transmission.socket
        let known = shared.transmissions.removeValue(forKey: id)
        let time = known?.began.flatMap { began in latest.map { $0.time - began } } ?? .zero
        note(progress, ending, after: time)
        switch ending {
        case .failed(let sentence): notice = error(sentence)
        case .stopped: notice = hint("stopped \(progress.words)")
        case .done: if known != nil, tab == .talk { notice = hint(progress.summary(ending, after: time)) }
        }
    }
}
