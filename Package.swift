// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

// What such a target shows of other modules, it says at each import.
let foundation: [SwiftSetting] = [.enableUpcomingFeature("InternalImportsByDefault")]

// Arrows between targets are the only imports there are; Tests/SoundnessTests holds the rest of the rules.
let package = Package(
    name: "socktui",
    products: [
        .library(name: "SocketKit", targets: ["SocketKit"]),
        .library(name: "SocketKitFoundation", targets: ["SocketKitFoundation"]),
        .library(name: "SocketRocket", targets: ["SocketRocket"]),
        .library(name: "CocoaAsyncSocket", targets: ["CocoaAsyncSocket"]),
        .executable(name: "socktui", targets: ["SockTUI"]),
    ],
    targets: [
        // Pure: no clock, no descriptor, no queue.
        .systemLibrary(
            name: "CSocketKitZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"]), .brew(["zlib"])]),
        .target(name: "SocketCore", dependencies: ["CSocketKitZlib"], swiftSettings: strict),
        // The wire between a program and its viewer, recordings and captures.
        .target(name: "SocketRecords", dependencies: ["SocketCore"], swiftSettings: strict),
        // What the inspector does to traffic: faults, relaying, replay, patterns.
        .target(name: "SocketWorkshop", dependencies: ["SocketCore"], swiftSettings: strict),
        // From captures to other programs' formats.
        .target(name: "SocketExport", dependencies: ["SocketRecords", "SocketWorkshop"], swiftSettings: strict),
        // What the inspector knows and says, without a screen.
        .target(
            name: "InspectorCore", dependencies: ["SocketCore", "SocketRecords", "SocketWorkshop"],
            swiftSettings: strict),
        // The screen: keys, panes and the model behind them.
        .target(name: "InspectorScreen", dependencies: ["InspectorCore", "SocketRecords"], swiftSettings: strict),

        // Shell: all that does I/O.
        .target(name: "CSocketKitSystem"),
        .systemLibrary(
            name: "CSocketKitOpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .yum(["openssl-devel"]), .brew(["openssl@3"])]),
        .target(
            name: "SocketKit",
            dependencies: ["SocketCore", "SocketRecords", "CSocketKitSystem", "CSocketKitOpenSSL"],
            swiftSettings: strict),
        // What alone may import Foundation: its types for SocketKit, and the API of SocketRocket.
        .target(name: "SocketKitFoundation", dependencies: ["SocketKit"], swiftSettings: strict + foundation),
        .target(
            name: "SocketRocket", dependencies: ["SocketKit", "SocketKitFoundation"],
            swiftSettings: strict + foundation),
        // GCDAsyncSocket and GCDAsyncUdpSocket as they were.
        .target(name: "CocoaAsyncSocket", dependencies: ["SocketKit", "CSocketKitSystem"], swiftSettings: strict),
        // Looks at the sockets of other programs.
        .target(name: "HostSockets", dependencies: ["SocketCore", "CSocketKitSystem"], swiftSettings: strict),
        // No pkgConfig: Debian's ncursesw.pc has flags that make every build warn, and the header names the package.
        .systemLibrary(
            name: "CSockTUINcurses", path: "Sources/CNcurses",
            providers: [.apt(["libncurses-dev"]), .yum(["ncurses-devel"]), .brew(["ncurses"])]),
        .target(name: "CSockTUITerminal"),
        // Declares libpcap, and loads it when it is asked for: it is no dependency.
        .target(name: "CSockTUIPcap"),
        // Takes the connects of a program that is run.
        .target(name: "CSockTUIRun"),
        // What the inspector does to sockets, files and processes; it knows no screen.
        .target(
            name: "InspectorShell",
            dependencies: ["SocketKit", "SocketExport", "InspectorCore", "HostSockets", "CSockTUIPcap", "CSockTUIRun"],
            swiftSettings: strict),
        // The program: command line, terminal, run loop.
        .executableTarget(
            name: "SockTUI",
            dependencies: ["InspectorShell", "InspectorScreen", "CSockTUINcurses", "CSockTUITerminal"],
            swiftSettings: strict),

        // What follows does not ship. No product may contain it.
        .target(
            name: "SocketTestSupport", dependencies: ["SocketKit"], path: "Tests/SocketTestSupport",
            swiftSettings: strict),
        // The engine on a simulated machine, driven by seeds; and the program that runs many of them.
        .target(
            name: "SocketSimulation", dependencies: ["SocketKit", "SocketTestSupport"], path: "Tests/SocketSimulation",
            swiftSettings: strict),
        .executableTarget(
            name: "simulate-sockets", dependencies: ["SocketSimulation"], path: "Tests/SimulateSockets",
            swiftSettings: strict),
        // The end that the Autobahn suite tests; optimized, it takes a quarter of the time.
        .executableTarget(
            name: "autobahn-peer", dependencies: ["SocketKit"], path: "Tests/AutobahnPeer", swiftSettings: strict),
        .testTarget(
            name: "SocketCoreTests", dependencies: ["SocketRecords", "SocketTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SocketRecordsTests", dependencies: ["SocketRecords", "SocketTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SocketWorkshopTests", dependencies: ["SocketExport", "SocketTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SocketKitTests", dependencies: ["SocketKit", "SocketTestSupport", "SocketSimulation"],
            swiftSettings: strict),
        .testTarget(
            name: "CocoaAsyncSocketTests", dependencies: ["CocoaAsyncSocket", "SocketTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "SimulationTests", dependencies: ["SocketSimulation", "SocketKit", "SocketTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "InspectorCoreTests", dependencies: ["InspectorScreen"], exclude: ["Screens"], swiftSettings: strict),
        .testTarget(
            name: "HostSocketsTests",
            dependencies: ["HostSockets", "SocketKit", "CSocketKitSystem", "SocketTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "SockTUITests", dependencies: ["SockTUI", "InspectorShell", "SocketTestSupport", "SocketSimulation"],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests", dependencies: ["SocketTestSupport", "SockTUI"], swiftSettings: strict),
        .testTarget(
            name: "InteropTests", dependencies: ["SocketKit", "SockTUI", "SocketTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "ConformanceTests", dependencies: ["SocketTestSupport"], path: "Tests/Conformance",
            exclude: ["autobahn"], swiftSettings: strict),
        .testTarget(
            name: "SocketKitFoundationTests", dependencies: ["SocketKitFoundation", "SocketTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "SocketRocketTests", dependencies: ["SocketRocket", "SocketKit", "SocketTestSupport"],
            swiftSettings: strict),
        // The code of the documentation's articles.
        .testTarget(
            name: "ArticleTests", dependencies: ["SocketKit", "SocketTestSupport"], swiftSettings: strict),
        // What programs with a user interface set: everything is on the main actor.
        .testTarget(
            name: "IsolationTests", dependencies: ["SocketKit"],
            swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
        .testTarget(name: "SoundnessTests", swiftSettings: strict),
    ]
)
