import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("libpcap")
struct PcapTests {
    @Test("where it is missing the sentence names the package, and what was looked for")
    func missing() {
        let target = CaptureTarget(interface: "lo", libraries: ["libpcap-of-nowhere.so.9"])
        let error = #expect(throws: AttachError.self) { try PacketFeed(target) }
        #expect(error?.sentence.hasPrefix("libpcap is needed (Debian: apt install libpcap0.8") == true)
        #expect(error?.sentence.contains("libpcap-of-nowhere.so.9") == true)
    }

    @Test("a library that is another one is refused by what it has not")
    func other() {
        let error = #expect(throws: AttachError.self) {
            try PacketFeed(CaptureTarget(interface: "lo", libraries: ["libz.so.1"]))
        }
        #expect(error?.sentence.contains("pcap_create") == true)
    }
}
