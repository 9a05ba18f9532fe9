// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

// libFuzzer brings its own `main`.
let fuzzer = strict + [.unsafeFlags(["-parse-as-library"])]

// A package of its own: unsafe flags would keep others from using SocketKit. `Sources/SocketCore`,
// `Sources/InspectorCore` and `Sources/CSocketKitZlib` are links to the targets, since a package cannot import the targets of
// another that are no products; `FuzzViewer` shares files with a test in the same way.
let package = Package(
    name: "fuzz",
    targets: [
        .systemLibrary(name: "CSocketKitZlib"),
        .target(name: "SocketCore", dependencies: ["CSocketKitZlib"], swiftSettings: strict),
        .target(name: "InspectorCore", dependencies: ["SocketCore"], swiftSettings: strict),
        .target(name: "FuzzSupport", swiftSettings: strict),
        .executableTarget(name: "FuzzReadQueue", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(
            name: "FuzzInspection", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(
            name: "FuzzViewer", dependencies: ["InspectorCore", "SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzWebSocket", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzInflate", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzHandshake", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzHost", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzCapture", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzAssembler", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzRecording", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzFaults", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(name: "FuzzSearch", dependencies: ["SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(
            name: "FuzzSanitizer", dependencies: ["InspectorCore", "FuzzSupport"], swiftSettings: fuzzer),
        .executableTarget(
            name: "FuzzText", dependencies: ["InspectorCore", "SocketCore", "FuzzSupport"], swiftSettings: fuzzer),
    ]
)
