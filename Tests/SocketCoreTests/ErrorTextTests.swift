import Testing

@testable import SocketCore
@testable import SocketRecords

@Suite("What an error says")
struct ErrorTextTests {
    private let address = SocketAddress.v4(host: "192.0.2.1", port: 80)

    private func failed(_ subject: SocketError.Subject, _ attempts: [SocketError.Attempt] = []) -> SocketError {
        SocketError(.system(errno: 111), operation: "connect", subject: subject, attempts: attempts)
    }

    @Test("the text is made of the subject and the errno, and of how many addresses were tried")
    func text() {
        let attempt = SocketError.Attempt(address: address, errno: 111, duration: .zero)
        #expect(failed(.address(address)).detail == "192.0.2.1:80: Connection refused")
        #expect(failed(.name("host:1")).description == "connect: host:1: Connection refused")
        #expect(
            failed(.address(address), [attempt, attempt]).detail
                == "192.0.2.1:80: Connection refused (the last of 2 addresses tried)")
        var said = failed(.name("x"))
        said.detail = "no"
        #expect(said.detail == "no" && said != failed(.name("x")))
    }

    @Test("errors that say the same are equal, and one comes back from the wire equal")
    func equality() throws {
        let error = failed(.address(address))
        var other = SocketError(
            .system(errno: 111), operation: "connect", detail: "192.0.2.1:80: Connection refused")
        #expect(error == other && error.hashValue == other.hashValue)
        other.operation = "read"
        #expect(error != other)
        #expect(try WireReader.message(error.encoded[...]) == error)
    }
}
