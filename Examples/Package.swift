// swift-tools-version: 6.2
import PackageDescription

// Programs that use SocketKit and CocoaAsyncSocket as any other package would. `swift run --package-path Examples forgetful-echo`
let package = Package(
    name: "examples",
    dependencies: [.package(name: "socktui", path: "..")],
    targets: [
        .executableTarget(
            name: "forgetful-echo", dependencies: [.product(name: "SocketKit", package: "socktui")]),
        .executableTarget(name: "event-log", dependencies: [.product(name: "SocketKit", package: "socktui")]),
        .executableTarget(name: "tls-client", dependencies: [.product(name: "SocketKit", package: "socktui")]),
        .executableTarget(name: "chat-room", dependencies: [.product(name: "SocketKit", package: "socktui")]),
        // Written as for CocoaAsyncSocket on a Mac, in the language of that time.
        .executableTarget(
            name: "cocoa-drop", dependencies: [.product(name: "CocoaAsyncSocket", package: "socktui")],
            swiftSettings: [.swiftLanguageMode(.v5)]),
    ]
)
