// swift-tools-version: 6.0
import PackageDescription

let shims = ["CSystem", "CZlib", "COpenSSL", "CNcurses", "CTerminal"]

// Target names that other packages have, or might: they must not be ours.
let package = Package(
    name: "neighbor",
    products: [.library(name: "Neighbor", targets: shims + ["SystemPackage", "WebSocket"])],
    targets: shims.map { .target(name: $0) } + [
        .target(name: "SystemPackage", dependencies: shims.map { .byName(name: $0) }),
        .target(name: "WebSocket"),
    ]
)
