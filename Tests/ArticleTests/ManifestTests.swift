import SocketTestSupport
import Testing

/// A snippet that begins with `// swift-tools-version` is a whole manifest, which no target can compile.
@Suite("Manifests of the pages", .timeLimit(.minutes(10))) struct ManifestTests {
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    /// Makes a package of each, and prints how many there are.
    private static let script = """
        set -e
        awk -v folder="$2" '
          /^```swift$/ { first = 1; next }
          /^```$/ { file = ""; first = 0 }
          first && /^\\/\\/ swift-tools-version/ {
            file = folder "/" ++count "/Package.swift"; system("mkdir " folder "/" count)
          }
          { first = 0 }
          file != "" { print >file }
        ' "$1"/README.md "$1"/docs/*.md
        count=0
        for package in "$2"/*/; do
          swift package --package-path "$package" --manifest-cache none dump-package >"$package/dump.json"
          grep -q '"SocketKit"' "$package/dump.json"
          count=$((count + 1))
        done
        echo "$count"
        """

    @Test("each can be read by SwiftPM, and depends on SocketKit")
    func manifests() throws {
        let folder = try TemporaryFolder()
        let outcome = try ChildProcess.run(
            ["bash", "-c", Self.script, "manifests", Self.root, folder.path], limit: .seconds(240))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(Int(outcome.output.filter { $0 != "\n" }) ?? 0 >= 1, "\(outcome.output)")
    }
}
