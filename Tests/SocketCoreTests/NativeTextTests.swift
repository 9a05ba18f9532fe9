import SocketCore
import Testing

/// The system's strings are bytes. As text they must come back as they were.
@Suite("The system's strings")
struct NativeTextTests {
    @Test(
        "bytes become text and the same bytes again",
        arguments: [
            [], Array("plain".utf8), Array("ü\u{301}€😀".utf8), [0xE9], [0x61, 0xE9, 0x62], [0xFF, 0xFE], [0xC3],
            [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xF4, 0x8F, 0xBF, 0xA9],
            [0xF4, 0x8F, 0xBF, 0xBF], [0xF4, 0x8F, 0xBC, 0x80], Array(1...255),
        ] as [[UInt8]])
    func roundTrip(bytes: [UInt8]) {
        let text = String(native: bytes)
        #expect(text.nativeBytes == bytes)
        #expect(text.withNative { String(native: $0) } == text)
        #expect(text.withNative { String(cString: $0) }.utf8.count >= bytes.count)
    }

    @Test("different bytes are different texts, and UTF-8 is the text that it says")
    func distinct() {
        let all = (0x80...0xFF).map { String(native: [UInt8($0)]) }
        #expect(Set(all).count == 128)
        #expect(String(native: [0xE9]) != String(native: [0xF4, 0x8F, 0xBF, 0xA9]))
        #expect(String(native: Array("é".utf8)) == "é" && !"é".hasNativeBytes && String(native: [0xE9]).hasNativeBytes)
    }

    @Test("a message shows such a byte as one")
    func shown() {
        #expect(PrintableText.escaped("a" + String(native: [0xE9]) + ": no such file") == "a\\xe9: no such file")
    }

    @Test("a path has as many bytes as the system counts")
    func length() throws {
        let path = "/" + String(native: [UInt8](repeating: 0xE9, count: 106))
        #expect(try Endpoint.parse("unix:" + path) == .unix(path: path))
        #expect(throws: EndpointError.self) { try Endpoint.parse("unix:" + path + "x") }
        #expect(throws: EndpointError.self) { try Endpoint.parse("caf" + String(native: [0xE9]) + ":80") }
    }
}
