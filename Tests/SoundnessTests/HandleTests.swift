import Testing

/// A reference to a handle, or to a delegate, that the engine takes for a moment may turn out to be the last one. If it
/// went in the midst of a step, what the user keeps there would be destroyed in the midst of it.
@Suite("Handles")
struct HandleTests {
    private static let sources = SourceTree.sources("SocketKit")
    /// What the engine does, and not the handles themselves.
    private static let engine = sources.filter { !$0.path.contains("/Handles/") && !$0.path.contains("/Inspection/") }

    @Test("sessions hold their handles weakly in one place")
    func weakReferences() {
        let places = Self.engine.filter {
            ["weak var", "UnretainedReference<"].contains(where: $0.text.contains) && !$0.path.contains("/Trusted/")
        }
        #expect(places.map(\.name) == ["HandleReference.swift"])
    }

    /// The outbox, the list of what is retired and a connection that is held release what they hold where user code may
    /// run.
    @Test("whoever loads a handle gives it to something that outlasts the step")
    func loads() {
        var count = 0
        for file in Self.sources where file.name != "HandleReference.swift" {
            let places = ["handle.load", "listener.load"].flatMap { file.text.split(separator: $0).dropFirst() }
            for place in places {
                count += 1
                let call = place.prefix(700)
                let isKept = ["outbox.append(", "retain(", "engine.retire("].contains { call.contains($0) }
                #expect(call.hasPrefix("(in: ") || isKept, "\(file.path): \(call.prefix(120))")
            }
        }
        #expect(count >= 15)
    }

    @Test("the engine does not look at delegates, nor at filters without retiring them")
    func delegates() {
        for file in Self.engine {
            let looks = ["handle.delegate", "handle?.delegate", "$0.delegate"].contains { file.text.contains($0) }
            #expect(!looks, "\(file.path)")
            for filter in ["sendFilter", "receiveFilter"] where file.text.contains("shared.\(filter)") {
                #expect(file.text.contains("engine.retire(filter)"), "\(file.path)")
            }
        }
        for file in Self.sources where file.text.contains("in engine: EngineState) -> CallbackSnapshot") {
            #expect(file.text.contains("if let delegate { engine.retire(delegate) }"), "\(file.path)")
        }
    }
}
