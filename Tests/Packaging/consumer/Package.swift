// swift-tools-version: 6.0
import PackageDescription

// The script fills in the dependency, the language mode and the program.
let package = Package(
    name: "consumer",
    dependencies: [
        // DEPENDENCY,
        .package(path: "../neighbor")
    ],
    targets: [
        .executableTarget(
            name: "echo",
            dependencies: [
                .product(name: "SocketKit", package: "socktui"), .product(name: "Neighbor", package: "neighbor"),
            ])
    ],
    swiftLanguageModes: [
        // MODE
    ]
)
