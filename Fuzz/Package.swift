// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

// libFuzzer brings its own `main`.
let fuzzer = strict + [.unsafeFlags(["-parse-as-library"])]

// A package of its own: unsafe flags would keep others from using SocketKit. `Sources/CSocketKitZlib` and the folders of
// the pure targets are links to the targets, since a package cannot import those targets of another that are not
// products; `FuzzViewer` and `FuzzMetrics` share files with tests in the same way.
let package = Package(
    name: "fuzz",
    targets: [
        .systemLibrary(name: "CSocketKitZlib"),
        .target(name: "SocketCore", dependencies: ["CSocketKitZlib"], swiftSettings: strict),
        .target(name: "SocketRecords", dependencies: ["SocketCore"], swiftSettings: strict),
        .target(name: "SocketWorkshop", dependencies: ["SocketCore"], swiftSettings: strict),
        .target(name: "SocketExport", dependencies: ["SocketRecords", "SocketWorkshop"], swiftSettings: strict),
        .target(
            name: "InspectorCore", dependencies: ["SocketCore", "SocketRecords", "SocketWorkshop"],
            swiftSettings: strict),
        .target(name: "InspectorScreen", dependencies: ["InspectorCore", "SocketRecords"], swiftSettings: strict),
        .target(name: "FuzzSupport", swiftSettings: strict),
        .executableTarget(name: "FuzzReadQueue", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(
            name: "FuzzInspection", dependencies: ["SocketRecords", "SocketWorkshop", "FuzzSupport"],
            swiftSettings: fuzzer),
        .executableTarget(
            name: "FuzzViewer", dependencies: ["InspectorScreen", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzWebSocket", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzInflate", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzHandshake", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzHost", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzCapture", dependencies: ["SocketExport", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(
            name: "FuzzAssembler", dependencies: ["SocketRecords", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(
            name: "FuzzRecording", dependencies: ["SocketRecords", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzFaults", dependencies: ["SocketWorkshop", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzSearch", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(
            name: "FuzzSanitizer", dependencies: ["InspectorCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(
            name: "FuzzMetrics", dependencies: ["InspectorCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzAgent", dependencies: ["InspectorCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(
            name: "FuzzText", dependencies: ["InspectorScreen", "FuzzSupport"], swiftSettings: fuzzer),
    ]
)
