import Dispatch
import Glibc
import HostSockets
import InspectorCore
import InspectorShell
import SocketCore

/// Performs the reducer's effects on sockets. Nothing else does. Answers arrive through the inbox.
struct EffectRunner: Sendable {
    let sources: SourceList
    let inbox: Inbox
    /// Records what was opened so that the start screen can offer it again, or `nil` to keep nothing.
    var recent: RecentTargets?
    /// Records what was sent so that a later run can recall it, or `nil` to keep nothing.
    var sent: SentLines?
    var log: ProgramLog?
    /// The program of `run`.
    let child: ChildRunner
    private let transmitter: Transmitter
    private let finder: PayloadFinder
    private let dissector: Dissector
    private let peers: PeerObserver?
    /// Files are read and written here, so that a slow disk blocks neither the screen nor the engine.
    private let files = DispatchQueue(label: "socktui.files")
    private let examined = DispatchQueue(label: "socktui.examined")
    private let writes = DispatchGroup()

    /// With `findsPeers`, finds the local programs at the other ends. With `showsOutput`, shows the output of a program
    /// that is run.
    init(
        sources: SourceList, inbox: Inbox, recent: RecentTargets? = nil, sent: SentLines? = nil,
        log: ProgramLog? = nil, findsPeers: Bool = false, showsOutput: Bool = true
    ) {
        peers = findsPeers ? PeerObserver { @Sendable [sources] in sources.learn($0) } : nil
        self.sources = sources
        self.inbox = inbox
        self.recent = recent
        self.sent = sent
        self.log = log
        child = ChildRunner(sources, showsOutput: showsOutput)
        transmitter = Transmitter(sources: sources, inbox: inbox)
        finder = PayloadFinder(sources: sources, inbox: inbox)
        dissector = Dissector { @Sendable [inbox] in inbox.post(.dissection($0)) }
    }

    /// The most held bytes that can be opened in an editor.
    private static let mostEdited = 1 << 20

    /// How long the running program has to end before what is recorded of it ends.
    private static let patience = DispatchTimeInterval.milliseconds(700)

    /// Requests a snapshot, which arrives as a message.
    func requestSnapshot(_ request: SnapshotRequest) {
        child.collect()
        sources.requestSnapshot(request) { @Sendable [inbox, sources, peers, child] snapshot in
            // The present peers say nothing about a past state.
            if snapshot.moment.map({ $0.isLive && $0.shown == nil }) ?? true {
                peers?.look(snapshot, request.kernel) { @Sendable in sources.process(of: $0) }
            }
            inbox.post(
                .answer(
                    Answer(
                        snapshot, programs: sources.news(), child: child.news(), recording: sources.recordingState)))
        }
    }

    /// Requests unread bytes, which arrive as a message.
    func requestUnread(_ request: UnreadRequest) {
        sources.requestUnread(request) { @Sendable [inbox] look in if let look { inbox.post(.unread(look)) } }
    }

    /// Performs one effect, unless it names a file where files are off. The run loop performs those on the screen.
    func perform(_ effect: Effect) {
        if let refusal = Elevation.refusal, let file = effect.claims.file {
            return inbox.post(.refused("\(file): \(refusal)"))
        }
        switch effect {
        case .screen: break
        case .send(let command): sources.perform(command)
        case .connect(let request):
            note(request.address)
            sources.open({ $0.connect(request, then: $1) }, then: answer(to: request))
        case .listen(let request):
            // With TLS it could not be offered again, because the certificate is not kept.
            if request.tls == nil { note("listen \(request.target)") }
            sources.open({ $0.listen(request, then: $1) }, then: answer(to: request))
        case .startTLS(let id, let settings):
            sources.own(id, { $0.startTLS($1, settings, then: $2) }) { @Sendable [inbox] error in
                if let error { inbox.post(.refused("\(id): \(error.detail)")) }
            }
        case .relay(let request): relay(request)
        case .run(let request): child.start(request)
        case .signalChild(let number): child.signal(number)
        case .typeToChild(let bytes):
            if let refusal = child.type(bytes) { inbox.post(.refused(refusal)) }
        case .resizeChild(let columns, let rows): child.resize(columns: columns, rows: rows)
        case .attach(let name): attach(name)
        case .showHost: sources.showHost()
        case .openFile(let path): openFile(path)
        case .capture: sources.startCapture()
        case .record(let path): tell { record(path) }
        case .stopRecording: tell { stopRecording() }
        case .keepHistory(let span): tell { keepHistory(span) }
        case .startDemo: startDemo()
        case .transmit(let transmission): transmitter.start(transmission)
        case .stopTransmission(let id): transmitter.stop(id)
        case .examine(let path): examined.async { @Sendable [inbox] in inbox.post(.examined(ReadFile.facts(path))) }
        case .completePath(let typed):
            examined.async { @Sendable [inbox] in inbox.post(.paths(PathLookup.matches(typed))) }
        case .save(let path, let bytes, let missing, let droppedItems):
            tell { SavedBytes.save(path, bytes, missing: missing, droppedItems: droppedItems) }
        case .saveTraffic(let ids, let folder):
            sources.requestTraffic(of: ids) { @Sendable [self] traffic in
                tell { SavedTraffic.save(traffic, of: ids, to: folder) }
            }
        case .find(let request): finder.start(request)
        case .stopFind: finder.stop()
        case .dissect(let request): dissector.perform(request)
        case .saveCopy(let bytes): tell { SavedBytes.copy(bytes) }
        case .fault(let command):
            sources.faults.perform(command) { @Sendable [inbox] answer in
                inbox.post(answer.isRefusal ? .refused(answer.line) : .told(answer.line))
            }
        case .fetchHeld(let id):
            sources.faults.heldBytes(of: id, Self.mostEdited) { @Sendable [inbox] in inbox.post(.held(id, $0)) }
        case .setReplies(let id, let rules):
            sources.own(id, { $0.setReplies($1, rules, then: $2) }) { @Sendable [inbox] error in
                inbox.post(error.map { .refused($0.detail) } ?? .replies(id, rules))
            }
        case .remember(let peer, let line): write { [sent] in sent?.add(line, to: peer) }
        }
    }

    private func openFile(_ path: String) {
        do throws(AttachError) { try sources.openFile(path) } catch {
            inbox.post(.refused("\(path): \(error.sentence)"))
        }
    }

    private func startDemo() {
        sources.own.source.startDemo { @Sendable [inbox] error in
            if let error { inbox.post(.refused(error.description)) }
        }
    }

    private func relay(_ request: RelayRequest) {
        if request.listenTLS == nil { note(request.text) }
        sources.open({ $0.relay(request, then: $1) }) { @Sendable [self] result in
            switch result {
            case .success(let id): inbox.post(.relays(id))
            case .failure(let error):
                let listen = request.isDatagrams ? OpenTarget.datagrams(request.listen) : .stream(request.listen)
                refuse(listen.description, error, listen)
            }
        }
    }

    private func attach(_ name: String) {
        sources.attach(name) { @Sendable [inbox] error in
            if let error { inbox.post(.refused("\(name): \(error.detail)")) }
        }
    }

    /// Ends the running program, by the signal that ends this one if there is one, and waits briefly for its last
    /// output. A program that does not end by it delays the end of a recording by less than a second.
    func finish(_ signal: Int32?) {
        let stopped = DispatchSemaphore(value: 0)
        DispatchQueue.global().async { @Sendable [child] in
            child.stop(by: signal ?? SIGTERM)
            stopped.signal()
        }
        if stopped.wait(timeout: .now() + Self.patience) == .timedOut {
            sources.close()
            stopped.wait()
        }
        dissector.stop()
        _ = writes.wait(timeout: .now() + .seconds(1))
    }

    private func record(_ path: String) -> Result<String, MessageText.Unsendable> {
        do throws(SocketError) {
            try sources.startRecording(path)
            return .success("recording to \(path); :record off stops it")
        } catch {
            return .failure(MessageText.Unsendable("record: \(error.detail)"))
        }
    }

    private func stopRecording() -> Result<String, MessageText.Unsendable> {
        guard let ended = sources.stopRecording() else {
            return .failure(MessageText.Unsendable("record: not recording; :record FILE starts"))
        }
        return .success(ended.farewell)
    }

    private func keepHistory(_ span: Duration?) -> Result<String, MessageText.Unsendable> {
        do throws(SocketError) {
            try sources.keepHistory(span)
            return .success(
                span.map { "keeping the last \(Format.duration($0)) from now on" }
                    ?? "no longer keeping anything for rewinding")
        } catch {
            return .failure(MessageText.Unsendable("rewind: \(error.detail)"))
        }
    }

    private func note(_ target: String) { write { [recent] in recent?.add(target) } }

    private func write(_ work: @escaping @Sendable () -> Void) { files.async(group: writes, execute: work) }

    /// Performs file work and reports the result to the user.
    private func tell(_ work: @escaping @Sendable () -> Result<String, MessageText.Unsendable>) {
        write { [inbox] in
            switch work() {
            case .success(let sentence): inbox.post(.told(sentence))
            case .failure(let problem): inbox.post(.refused(problem.sentence))
            }
        }
    }

    private func answer(to request: OpenRequest) -> @Sendable (Result<SocketID, SocketError>) -> Void {
        { @Sendable [self] result in
            switch result {
            case .success(let id):
                inbox.post(.opened(id, request))
                if !request.replies.isEmpty { perform(.setReplies(id, request.replies)) }
            case .failure(let error): refuse(request.address, error, request.target)
            }
        }
    }

    /// Reports why something was not opened. If its address is in use, names the program that uses it.
    private func refuse(_ address: String, _ error: SocketError, _ target: OpenTarget) {
        let isNamed = error.detail.hasPrefix("\(address): ")
        let sentence = isNamed ? error.detail : "\(address): \(error.detail)"
        guard error.reason == .system(errno: EADDRINUSE), case .host(let host, let port) = target.endpoint else {
            return post(sentence)
        }
        let isDatagrams = if case .datagrams = target { true } else { false }
        DispatchQueue.global().async { @Sendable in
            let holder = AddressInUse.holder(of: port, host: host, datagrams: isDatagrams)
            post(sentence + (holder.map { ": \($0)" } ?? ""))
        }
    }

    private func post(_ refusal: String) {
        log?.note("refused: \(refusal)")
        inbox.post(.refused(refusal))
    }
}
