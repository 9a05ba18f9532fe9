import FoundationEssentials
import Glibc
import Testing

/// What a user of the libraries compiles, as SwiftPM itself describes the package.
@Suite("Products", .timeLimit(.minutes(10)))
struct ProductTests {
    private struct Package: Decodable {
        struct Target: Decodable {
            var name: String
            var product_memberships: [String]?
        }
        var targets: [Target]
    }

    /// In a folder of its own and without the cache of manifests that all of a user's builds share: both are locked by
    /// whoever builds at the same time, and a build that gets little processor time holds its lock for minutes.
    private static func describe() throws -> Package {
        var template = Array("/tmp/socktui-products-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { _ = system("rm -rf '\(folder)'") }
        let command =
            "swift package --package-path '\(SourceTree.root)' --scratch-path '\(folder)' --manifest-cache none describe --type json"
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
