import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("Notices of programs that are looked at")
struct NoticeBufferTests {
    @Test("only so many are kept until somebody looks, and the rest is counted")
    func bound() {
        var notices = NoticeBuffer()
        for number in 0..<1_000 { notices.add("\(number)") }
        let taken = notices.take()
        #expect(taken.count == NoticeBuffer.limit + 1 && taken.first == "0")
        #expect(taken.last == "\(1_000 - NoticeBuffer.limit) more notices arrived at the same time and were dropped")
        #expect(notices.take().isEmpty)
    }
}
