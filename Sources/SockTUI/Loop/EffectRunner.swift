import InspectorCore
import SocketCore

/// Does what the reducer wants done to sockets: the only one that does. Answers come back through the inbox.
struct EffectRunner: Sendable {
    let inspected: any Inspected
    let inbox: Inbox
    /// Told what was opened, so that the start screen can offer it again; nil: nothing is kept.
    var recent: RecentTargets?
    /// Told what was sent, so that it can be recalled in another run; nil: nothing is kept.
    var sent: SentLines?
    var log: ProgramLog?
    private let transmitter: Transmitter
    private let peers: PeerFinder?

    /// `findsPeers`: whether it is found out which programs of this host are at the other ends.
    init(
        inspected: any Inspected, inbox: Inbox, recent: RecentTargets? = nil, sent: SentLines? = nil,
        log: ProgramLog? = nil, findsPeers: Bool = false
    ) {
        peers = findsPeers ? PeerFinder { @Sendable [inbox] in inbox.post(.peers($0)) } : nil
        self.inspected = inspected
        self.inbox = inbox
        self.recent = recent
        self.sent = sent
        self.log = log
        transmitter = Transmitter(inspected: inspected, inbox: inbox)
    }

    /// Asks for a snapshot; it comes as a message.
    func requestSnapshot(_ request: SnapshotRequest) {
        inspected.requestSnapshot(request) { @Sendable [inbox, inspected, peers] snapshot in
            peers?.look(snapshot, request.kernel) { @Sendable in inspected.process(of: $0) }
            if let news = inspected.news() { inbox.post(.programs(news)) }
            inbox.post(.snapshot(snapshot))
        }
    }

    /// Performs one effect; those that are about the screen are the run loop's.
    func perform(_ effect: Effect) {
        switch effect {
        case .send(let command): inspected.send(command)
        case .connect(let request):
            recent?.add(request.address)
            inspected.connect(request, then: answer(to: request))
        case .listen(let request):
            // Without the certificate, which is not kept, it could not be offered again.
            if request.tls == nil { recent?.add("listen \(request.target)") }
            inspected.listen(request, then: answer(to: request))
        case .startTLS(let id, let settings):
            inspected.startTLS(id, settings) { @Sendable [inbox] error in
                if let error { inbox.post(.refused("\(id): \(error.detail)")) }
            }
        case .relay(let request):
            if request.listenTLS == nil { recent?.add(request.text) }
            inspected.relay(request) { @Sendable [inbox] result in
                switch result {
                case .success(let id): inbox.post(.relays(id))
                case .failure(let error): inbox.post(.refused("\(request.listen): \(error.detail)"))
                }
            }
        case .attach(let name):
            inspected.attach(name) { @Sendable [inbox] result in
                switch result {
                case .success: break
                case .failure(let error): inbox.post(.refused("\(name): \(error.detail)"))
                }
            }
        case .startDemo:
            inspected.startDemo { @Sendable [inbox] error in
                if let error { inbox.post(.refused(error.description)) }
            }
        case .transmit(let transmission): transmitter.start(transmission)
        case .stopTransmission(let id): transmitter.stop(id)
        case .examine(let path): inbox.post(.examined(ReadFile.facts(path)))
        case .repaint, .suspend, .quit, .setPace, .copy, .save, .edit, .mouse, .setDestination: break
        case .setReplies(let id, let rules):
            inspected.setReplies(id, rules) { @Sendable [inbox] error in
                inbox.post(error.map { .refused($0.detail) } ?? .replies(id, rules))
            }
        case .remember(let peer, let line): sent?.add(line, to: peer)
        }
    }

    private func answer(to request: OpenRequest) -> @Sendable (Result<SocketID, SocketError>) -> Void {
        { @Sendable [self] result in
            switch result {
            case .success(let id):
                inbox.post(.opened(id, request))
                if !request.replies.isEmpty { perform(.setReplies(id, request.replies)) }
            case .failure(let error):
                let sentence = "\(request.address): \(error.detail)"
                log?.note("refused: \(sentence)")
                inbox.post(.refused(sentence))
            }
        }
    }
}
