import FoundationEssentials
import Glibc
import Testing

/// What a user of the libraries compiles, as SwiftPM itself describes the package.
@Suite("Products", .timeLimit(.minutes(2)))
struct ProductTests {
    private struct Package: Decodable {
        struct Target: Decodable {
            var name: String
            var product_memberships: [String]?
        }
        var targets: [Target]
    }

    /// In a folder of its own, because the build's is locked while tests run.
    private static func describe() throws -> Package {
        var template = Array("/tmp/socktui-products-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { _ = system("rm -rf '\(folder)'") }
        let command =
            "swift package --package-path '\(SourceTree.root)' --scratch-path '\(folder)' describe --type json"
        let stream = try #require(popen("\(command) 2>/dev/null", "r"))
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer[..<count] }
        try #require(pclose(stream) == 0)
        return try JSONDecoder().decode(Package.self, from: Data(bytes))
    }

    @Test("a library's user compiles nothing of the inspector")
    func libraries() throws {
        let targets = try Self.describe().targets
        func products(_ target: String) -> Set<String>? {
            targets.first { $0.name == target }.map { Set($0.product_memberships ?? []) }
        }
        let inspector = [
            "SocketWorkshop", "SocketExport", "InspectorCore", "InspectorScreen", "InspectorShell", "HostSockets",
            "SockTUI",
        ]
        for target in inspector { #expect(products(target) == ["socktui"], "\(target)") }
        #expect(products("SocketCore")?.contains("SocketKit") == true)
    }
}
