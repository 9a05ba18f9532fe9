import InspectorCore
import Testing

@testable import InspectorShell

@Suite("The tables of system calls")
struct CallTableTests {
    @Test("each call that is handed on has one kind, and each kind one call")
    func names() {
        let names = CallTap.names.filter { !$0.isEmpty }
        #expect(names.sorted() == SocketCall.Kind.allCases.map(\.rawValue).sorted())
    }
}
