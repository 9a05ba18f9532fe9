import SocketCore

/// The answer to a task that asks for the next element: the element, `nil` after the last one, or the error that ended
/// them.
typealias Fetched<Element> = Result<Element?, SocketError>

/// Elements that no task has fetched yet, and the tasks that wait for one.
struct Backlog<Element: Sendable>: Sendable {
    private var elements = OperationDeque<(element: Element, weight: Int)>()
    private(set) var weight = 0
    var waiters = Waiters<Fetched<Element>>()
    /// The session that was asked to hold back, or `nil` if none was or it can resume.
    private var holding: SocketID?

    var isEmpty: Bool { elements.isEmpty }
    var first: Element? { elements.isEmpty ? nil : elements[0].element }

    mutating func append(_ element: Element, weight: Int = 1) {
        elements.append((element, weight))
        self.weight += weight
    }

    mutating func popFirst() -> (element: Element, weight: Int)? {
        let first = elements.popFirst()
        weight -= first?.weight ?? 0
        return first
    }

    /// Adds an element. Returns the answer of the task that waits for it, or else the session that must hold back from
    /// now on. `session` is the current one.
    mutating func add(
        _ element: Element, while session: SocketID?, limit: Int
    ) -> (answer: Answer<Fetched<Element>>?, mustHold: SocketID?) {
        if let waiting = waiters.popFirst() { return (waiting, nil) }
        append(element)
        guard weight >= limit, let session, holding != session else { return (nil, nil) }
        holding = session
        return (nil, session)
    }

    /// Removes the next element, or returns `nil` if there is none. Also returns whether a session that holds back can
    /// resume.
    mutating func take(limit: Int) -> (element: Element, mayGoOn: Bool)? {
        guard let first = popFirst() else { return nil }
        let mayGoOn = holding != nil && weight <= limit / 2
        if mayGoOn { holding = nil }
        return (first.element, mayGoOn)
    }
}

extension Waiters {
    /// Makes `answer` wait for the next element of the current session. If there is none, returns how the last one
    /// ended.
    mutating func add<Element>(
        _ waiter: OperationID, within present: PresentSession, _ answer: @escaping Answer<Value>
    ) -> Value? where Value == Fetched<Element> {
        guard let session = present.awaited else { return .end(present.error) }
        add(waiter, of: session, answer)
        return nil
    }
}

extension Result where Failure == SocketError {
    /// How elements end: with an error, or in order (`nil`).
    static func end<Element>(_ error: SocketError?) -> Self where Success == Element? {
        error.map { .failure($0) } ?? .success(nil)
    }
}

/// A handle whose elements tasks fetch, one after the other.
protocol ElementSource: AnyObject, Sendable {
    associatedtype Element: Sendable
    var engine: SocketEngine { get }
    /// Calls `answer` with the next element, or how the elements ended, as soon as there is either.
    func fetch(as waiter: OperationID, _ answer: @escaping Answer<Fetched<Element>>)
    /// Answers a waiting task that was cancelled, unless it was already answered.
    func stopFetching(_ waiter: OperationID)
    /// Runs `body` with the waiting tasks under the handle's lock. Returns `nil` if elements go to the delegate.
    func withFetchers<R: Sendable>(_ body: (inout Waiters<Fetched<Element>>) -> R) -> R?
}

extension ElementSource {
    /// Waits for the next element, or how the elements ended. Returns `cancelled` to a task that was cancelled before it
    /// asked. Iterators call `takeReady` first, which takes neither a continuation nor an identifier.
    func next(orIfCancelled cancelled: Fetched<Element> = .success(nil)) async -> Fetched<Element> {
        let waiter = engine.names.nextOperation()
        return await waitForAnswer(orIfCancelled: cancelled) {
            fetch(as: waiter, $0)
        } onCancel: { [self] in
            stopFetching(waiter)
        }
    }

    func stopFetching(_ waiter: OperationID) {
        let answer = withFetchers { $0.remove(waiter) } ?? nil
        answer?(.success(nil))
    }

    /// Tells the tasks that wait within a session how it ended.
    func endFetching(of session: SocketID, _ error: SocketError?) {
        let answers = withFetchers { $0.takeAll(of: session) } ?? []
        for answer in answers { answer(.end(error)) }
    }

    var fetcherCount: Int { withFetchers { $0.count } ?? 0 }
}

/// A listener, whose connections tasks fetch.
protocol ConnectionSource: ElementSource {
    /// Runs `body` with the unfetched connections and the current session, under the handle's lock. Returns `nil` if
    /// connections go to the delegate.
    func withBacklog<R: Sendable>(_ body: (inout Backlog<Element>, PresentSession) -> R) -> R?
}

extension ConnectionSource {
    func withFetchers<R: Sendable>(_ body: (inout Waiters<Fetched<Element>>) -> R) -> R? {
        withBacklog { backlog, _ in body(&backlog.waiters) }
    }

    /// Gives a connection to the waiting task, or keeps it for the next one.
    func fill(_ connection: Element) {
        let answer = withBacklog { backlog, present in
            let (answer, mustHold) = backlog.add(connection, while: present.id, limit: BackPressure.connectionLimit)
            // Posted under the lock, so that hold and resume reach the engine in the order of their causes.
            if let mustHold { engine.post(.holdAccepts(mustHold, true)) }
            return answer
        }
        (answer ?? nil)?(.success(connection))
    }

    /// Removes the next connection, or returns `nil` if none has arrived.
    func takeReady() -> Element? {
        withBacklog { backlog, present in take(from: &backlog, present) } ?? nil
    }

    func fetch(as waiter: OperationID, _ answer: @escaping Answer<Fetched<Element>>) {
        let outcome = withBacklog { backlog, present -> Fetched<Element>? in
            if let element = take(from: &backlog, present) { return .success(element) }
            return backlog.waiters.add(waiter, within: present, answer)
        }
        if let outcome = outcome ?? nil { answer(outcome) }
    }

    private func take(from backlog: inout Backlog<Element>, _ present: PresentSession) -> Element? {
        guard let (element, mayGoOn) = backlog.take(limit: BackPressure.connectionLimit) else { return nil }
        // Posted under the lock, as the hold is.
        if mayGoOn, let session = present.id { engine.post(.holdAccepts(session, false)) }
        return element
    }
}
