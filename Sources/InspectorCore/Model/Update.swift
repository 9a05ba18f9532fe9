import SocketCore

extension Model {
    /// Takes one message and says what is to be done about it.
    package mutating func update(_ message: Message) -> [Effect] {
        switch message {
        case .key(.control("c")): [.quit]
        case .key, .paste, .resized, .snapshot, .opened, .refused, .start: []
        }
    }
}
