import Testing

@testable import InspectorCore

/// The HTTP that `host --metrics` speaks.
@Suite("Answers to requests for metrics")
struct MetricsResponseTests {
    private func answer(_ head: String) -> MetricsResponse {
        MetricsResponse(to: Array((head + "\r\n\r\n").utf8), metrics: "socktui_looks_total 3\n")
    }

    @Test(
        "each request has the answer that says what is wrong with it",
        arguments: [
            ("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9464", MetricsResponse.Status.ok),
            ("GET /metrics?x=1 HTTP/1.1\r\nhost:localhost", .ok), ("GET /metrics HTTP/1.0", .ok),
            ("GET / HTTP/1.1\r\nHost: [::1]:9464", .ok), ("GET /metric HTTP/1.1\r\nHost: [::1]", .notFound),
            ("POST /metrics HTTP/1.1\r\nHost: localhost", .badMethod),
            ("GET /metrics HTTP/1.1\r\nHost: evil.example", .forbidden),
            ("GET /metrics HTTP/1.1\r\nHost: localhost.evil.example:9464", .forbidden),
            ("GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example", .badRequest),
            ("GET /metrics", .badRequest), ("GET  /metrics HTTP/1.1", .badRequest), ("", .badRequest),
            ("GET /metrics HTTP/2.0", .badRequest),
        ])
    func statuses(head: String, status: MetricsResponse.Status) { #expect(answer(head).status == status) }

    @Test("HEAD has the head that GET has, and no body; bytes that are no text are refused")
    func head() {
        let get = answer("GET /metrics HTTP/1.1\r\nHost: localhost").bytes
        let head = answer("HEAD /metrics HTTP/1.1\r\nHost: localhost").bytes
        #expect(get == head + Array("socktui_looks_total 3\n".utf8))
        #expect(String(decoding: head, as: UTF8.self).contains("Content-Length: 22\r\n"))
        #expect(MetricsResponse(to: [0xFF, 0xFE, 13, 10, 13, 10], metrics: "").status == .badRequest)
    }

    @Test(
        "a Host field is an address or localhost",
        arguments: [
            ("127.0.0.1", true), ("127.0.0.1:80", true), ("[::1]", true), ("[::1]:80", true), ("LOCALHOST:1", true),
            ("::1", false), ("", false), ("a.b", false), ("localhost.", false), ("[localhost", false), ("1.2.3", false),
        ])
    func hosts(host: String, isAddress: Bool) { #expect(MetricsResponse.isAddress(host) == isAddress) }
}
