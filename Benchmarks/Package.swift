// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

// A package of its own, so that what it measures is what a user gets: the public API of a library in another package.
let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "socktui", path: "..")],
    targets: [
        .executableTarget(
            name: "SocketKitServer", dependencies: [.product(name: "SocketKit", package: "socktui")],
            swiftSettings: strict),
        .executableTarget(
            name: "FacadeServer", dependencies: [.product(name: "CocoaAsyncSocket", package: "socktui")],
            swiftSettings: strict),
        .executableTarget(
            name: "DatagramServer", dependencies: [.product(name: "SocketKit", package: "socktui")],
            swiftSettings: strict),
        .executableTarget(
            name: "Scale", dependencies: [.product(name: "SocketKit", package: "socktui")],
            swiftSettings: strict),
    ]
)
