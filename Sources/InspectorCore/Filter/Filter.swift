import SocketCore

/// Selects the rows to list. Words are joined by AND, `|` is OR, `!` is NOT, and parentheses group. See `FilterTerm`.
package struct Filter: Equatable, Sendable {
    /// A mistake in a filter and its position, in characters from the beginning.
    package struct Failure: Error, Equatable, Sendable {
        package var message: String
        package var range: Range<Int>
    }

    indirect enum Node: Sendable {
        case all([Node])
        case any([Node])
        case not(Node)
        case term(FilterTerm)

        var isEmpty: Bool { if case .all(let nodes) = self { nodes.isEmpty } else { false } }
    }

    /// The filter as typed.
    package let text: String
    private let root: Node

    /// Creates a filter that matches everything.
    package init() {
        text = ""
        root = .all([])
    }

    private init(text: String, root: Node) {
        self.text = text
        self.root = root
    }

    /// Parses a filter.
    package static func parse(_ text: String) -> Result<Filter, Failure> {
        var grammar = FilterGrammar(text)
        do throws(Failure) {
            let root = try grammar.read()
            return .success(Filter(text: root.isEmpty ? "" : text, root: root))
        } catch {
            return .failure(error)
        }
    }

    package static func == (left: Filter, right: Filter) -> Bool { left.text == right.text }
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Whether it matches everything.
    package var isEmpty: Bool { terms.allSatisfy { if case .unfinished = $0 { true } else { false } } }

    /// Whether it names a state, by its lowercase word.
    package func names(state: String) -> Bool {
        terms.contains { if case .key("state", let word, _) = $0 { state.hasPrefix(word) } else { false } }
    }

    /// Whether it needs kernel state.
    package var asksKernel: Bool { terms.contains { $0.asksKernel } }

    private var terms: [FilterTerm] {
        func terms(_ node: Node) -> [FilterTerm] {
            switch node {
            case .all(let nodes), .any(let nodes): nodes.flatMap(terms)
            case .not(let node): terms(node)
            case .term(let term): [term]
            }
        }
        return terms(root)
    }

    /// Returns the matching sessions, in their order.
    package func matching(_ sockets: [SocketSnapshot], _ now: MonotonicTime, _ findings: Findings) -> [SocketSnapshot] {
        let sight = Sight(now, findings)
        return sockets.filter { socket in decide(root) { $0.matches(socket, sight) } }
    }

    /// Whether a line about the program itself matches. Only its words are compared.
    package func matches(words: String) -> Bool {
        decide(root) { $0.matches(words: words) }
    }

    /// Whether an event matches: by its own words, and by its session, if a term needs that and it is still known.
    package func matches(
        _ event: SocketEvent, words: String, of socket: SocketSnapshot?, _ findings: Findings
    ) -> Bool {
        decide(root) { $0.matches(event, words: words, of: socket, findings) }
    }

    private func decide(_ node: Node, _ matches: (FilterTerm) -> Bool) -> Bool {
        switch node {
        case .all(let nodes): nodes.allSatisfy { decide($0, matches) }
        case .any(let nodes): nodes.contains { decide($0, matches) }
        // An unfinished term matches everything, negated or not.
        case .not(.term(.unfinished)): true
        case .not(let node): !decide(node, matches)
        case .term(let term): matches(term)
        }
    }
}
