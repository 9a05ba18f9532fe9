import CSockTUIRun
import Glibc
import InspectorCore
import SocketKit

/// The engine's side of a program's connects: each one becomes a pair, whose leg to the target comes first.
package final class ConnectRelay: FaultTarget {
    /// How far a connect has come.
    package enum Progress: Sendable {
        /// The target was asked, or something delays that.
        case begun
        /// The target's leg is there. The value is its address on this host.
        case connected(SocketAddress?)
        case failed(Int32)
    }

    /// A connect that a program asked for.
    package struct Wanted: Sendable {
        /// The number by which the kernel knows the program's socket.
        package var cookie: UInt64
        /// The number of its file, by which calls name it, or 0 if they are not traced.
        package var file: UInt64 = 0
        package var target: SocketAddress
        /// The address that the program's socket is bound to, or `nil` if it is not.
        package var local: SocketAddress?
        /// Whether it must be told that the connect has begun. A blocking connect only waits for its end.
        package var heedsBeginning: Bool
        package var tell: @Sendable (Progress) -> Void
    }

    private struct State {
        /// The pairs whose client is not there yet.
        var awaited: [UInt64: RelayedPair] = [:]
        /// The files of their sockets, if calls are traced.
        var files: [UInt64: UInt64] = [:]
        /// The sessions of the program's legs by their files, also of those that have ended.
        var sessions = FileSessions()
        var pairs: [ObjectIdentifier: RelayedPair] = [:]
        /// The connects that a rule holds up.
        var shut: [(Wanted, number: UInt64)] = []
        var count: UInt64 = 0
    }

    private let engine: SocketEngine
    private let timeout: Duration?
    private let control: FaultControl
    private let state = Lock(State())
    private let began = SystemClock().now

    init(engine: SocketEngine, timeout: Duration?, control: FaultControl) {
        (self.engine, self.timeout, self.control) = (engine, timeout, control)
        control.add(self)
    }

    /// The number of connects so far.
    package var count: Int { state.withLock { Int($0.count) } }

    // MARK: Faults

    package func change(_ change: FaultChange) {
        for pair in state.withLock({ Array($0.pairs.values) }) { pair.change(change) }
        guard !isShut else { return }
        let waiting = state.withLock { state in
            defer { state.shut = [] }
            return state.shut
        }
        for (wanted, number) in waiting { begin(wanted, number) }
    }

    package var held: [any FaultedConnection] {
        state.withLock { Array($0.pairs.values) }.filter { $0.faulted?.isHeld == true }
    }

    package func onQueue(_ body: @escaping @Sendable () -> Void) { engine.post(body) }

    /// Whether a rule holds up all connects.
    private var isShut: Bool {
        let now = SystemClock().now
        return control.acceptRules.contains { began + $0.rule.delay <= now }
    }

    // MARK: Connects

    /// Begins a connect. `tell` is called on the engine's queue.
    package func want(_ wanted: Wanted) {
        engine.post { @Sendable [self] in
            let number = state.withLock { state in
                state.count += 1
                return state.count
            }
            guard isShut else { return begin(wanted, number) }
            state.withLock { $0.shut.append((wanted, number)) }
            if wanted.heedsBeginning { wanted.tell(.begun) }
        }
    }

    private func begin(_ wanted: Wanted, _ number: UInt64) {
        guard control.refusal(of: number, wanted.target.ip) == nil, let endpoint = Endpoint(wanted.target) else {
            return wanted.tell(.failed(ECONNREFUSED))
        }
        let pair = pair(wanted, endpoint, number)
        state.withLock { state in
            state.pairs[ObjectIdentifier(pair)] = pair
            state.awaited[wanted.cookie] = pair
            if wanted.file != 0 { state.files[wanted.cookie] = wanted.file }
        }
        pair.begin()
        // A target that failed at once says so before the end of this turn.
        if pair.target.session == nil, pair.faulted?.isHeld != true { return }
        if wanted.heedsBeginning, pair.isAwaited { wanted.tell(.begun) }
    }

    private func pair(_ wanted: Wanted, _ endpoint: Endpoint, _ number: UInt64) -> RelayedPair {
        let client = AsyncSocket(engine: engine, configuration: .relayed())
        var configuration = SocketConfiguration.relayed()
        if let local = wanted.local {
            configuration.prepareDescriptor = { @Sendable descriptor, _ in
                guard var storage = KernelAddress(local)?.storage else { return }
                _ = crun_bind_host(descriptor, &storage)
            }
        }
        let target = AsyncSocket(engine: engine, configuration: configuration)
        let request = RelayRequest(listen: endpoint, target: .endpoint(endpoint), timeout: timeout)
        let pair = RelayedPair(
            client: client, target: target, request: request, patience: .seconds(30), number: number, control: control,
            awaited: { @Sendable outcome in wanted.tell(Progress(outcome)) }
        ) { @Sendable [weak self] pair in
            self?.state.withLock { state in
                state.pairs[ObjectIdentifier(pair)] = nil
                if state.awaited[wanted.cookie] === pair {
                    (state.awaited[wanted.cookie], state.files[wanted.cookie]) = (nil, nil)
                }
            }
        }
        (client.delegate, target.delegate) = (pair, pair)
        return pair
    }

    /// Takes the leg of a program whose target is connected.
    package func arrive(_ cookie: UInt64, _ descriptor: Int32) {
        engine.post { @Sendable [self] in
            guard let pair = state.withLock({ $0.awaited.removeValue(forKey: cookie) }) else {
                return crun_reset(descriptor)
            }
            pair.arrive(descriptor)
            state.withLock { state in
                guard let file = state.files.removeValue(forKey: cookie) else { return }
                state.sessions.note(pair.client.session, of: file)
            }
        }
    }

    /// Returns the sessions of the program's legs that have these files.
    func sessions(of files: Set<UInt64>) -> [UInt64: SocketID] {
        guard !files.isEmpty else { return [:] }
        return state.withLock { state in state.sessions.known(files) }
    }

    /// Ends a connect that the program no longer waits for.
    package func abandon(_ cookie: UInt64) {
        engine.post { @Sendable [self] in
            let pair = state.withLock { state in
                state.shut.removeAll { $0.0.cookie == cookie }
                state.files[cookie] = nil
                return state.awaited.removeValue(forKey: cookie)
            }
            pair?.giveUp()
        }
    }
}

extension ConnectRelay.Progress {
    fileprivate init(_ outcome: RelayedPair.TargetOutcome) {
        switch outcome {
        case .connected(let local): self = .connected(local)
        case .failed(let error):
            switch error?.reason {
            case .system(let number): self = .failed(number)
            case .connectTimeout: self = .failed(ETIMEDOUT)
            default: self = .failed(ECONNABORTED)
            }
        }
    }
}

/// The sessions of the latest sockets by the numbers of their files. A number can come again.
struct FileSessions {
    private var sessions: [UInt64: SocketID] = [:]
    private var order: [UInt64] = []
    private static let most = 65_536

    mutating func note(_ session: SocketID?, of file: UInt64) {
        guard let session else { return }
        if sessions.updateValue(session, forKey: file) == nil { order.append(file) }
        guard order.count > Self.most else { return }
        for old in order.prefix(Self.most / 4) { sessions[old] = nil }
        order.removeFirst(Self.most / 4)
    }

    func known(_ files: Set<UInt64>) -> [UInt64: SocketID] {
        Dictionary(uniqueKeysWithValues: files.compactMap { file in sessions[file].map { (file, $0) } })
    }
}
