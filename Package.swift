// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

// Arrows between targets are the only imports there are; Tests/SoundnessTests holds the rest of the rules.
let package = Package(
    name: "socktui",
    products: [
        .library(name: "SocketKit", targets: ["SocketKit"]),
        .executable(name: "socktui", targets: ["SockTUI"]),
        .executable(name: "simulate-sockets", targets: ["SimulateSockets"]),
        .executable(name: "autobahn-peer", targets: ["AutobahnPeer"]),
    ],
    targets: [
        // Pure: no clock, no descriptor, no queue.
        .systemLibrary(
            name: "CZlib", providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"]), .brew(["zlib"])]),
        .target(name: "SocketCore", dependencies: ["CZlib"], swiftSettings: strict),
        .target(name: "InspectorCore", dependencies: ["SocketCore"], swiftSettings: strict),

        // Shell: all that does I/O.
        .target(name: "CSystem"),
        .systemLibrary(
            name: "COpenSSL", providers: [.apt(["libssl-dev"]), .yum(["openssl-devel"]), .brew(["openssl@3"])]),
        .target(name: "SocketKit", dependencies: ["SocketCore", "CSystem", "COpenSSL"], swiftSettings: strict),
        .systemLibrary(name: "CNcurses"),
        .target(name: "CTerminal"),
        .executableTarget(
            name: "SockTUI",
            dependencies: ["SocketKit", "InspectorCore", "CNcurses", "CTerminal"],
            swiftSettings: strict),

        .target(name: "SocketTestSupport", dependencies: ["SocketKit"], swiftSettings: strict),
        // The engine on a simulated machine, driven by seeds; and the program that runs many of them.
        .target(name: "SocketSimulation", dependencies: ["SocketKit", "SocketTestSupport"], swiftSettings: strict),
        .executableTarget(name: "SimulateSockets", dependencies: ["SocketSimulation"], swiftSettings: strict),
        // The end that the Autobahn suite tests; optimized, it takes a quarter of the time.
        .executableTarget(name: "AutobahnPeer", dependencies: ["SocketKit"], swiftSettings: strict),
        .testTarget(
            name: "SocketCoreTests", dependencies: ["SocketCore", "SocketTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SocketKitTests", dependencies: ["SocketKit", "SocketTestSupport", "SocketSimulation"],
            swiftSettings: strict),
        .testTarget(
            name: "SimulationTests", dependencies: ["SocketSimulation", "SocketKit", "SocketTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "InspectorCoreTests", dependencies: ["InspectorCore"], exclude: ["Screens"], swiftSettings: strict),
        .testTarget(
            name: "SockTUITests", dependencies: ["SockTUI", "SocketTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests", dependencies: ["SocketTestSupport", "SockTUI"], swiftSettings: strict),
        .testTarget(
            name: "InteropTests", dependencies: ["SocketKit", "SockTUI", "SocketTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "ConformanceTests", dependencies: ["SocketTestSupport"], path: "Tests/Conformance",
            exclude: ["autobahn"], swiftSettings: strict),
        .testTarget(name: "SoundnessTests", swiftSettings: strict),
    ]
)
