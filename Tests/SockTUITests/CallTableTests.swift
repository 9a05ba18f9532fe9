import SocketCore
import Testing

@testable import InspectorShell

@Suite("The tables of system calls")
struct CallTableTests {
    #if arch(x86_64)
    @Test("each call that is handed on has one kind, and each kind one call")
    func names() {
        let names = CallTap.names.filter { !$0.isEmpty }
        // The relay answers connect(2), which the tracer does not see.
        #expect((names + ["connect"]).sorted() == SocketCall.Kind.allCases.map(\.rawValue).sorted())
    }
    #endif
}
