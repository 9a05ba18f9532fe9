/// Replaces the commands that a text names in braces by the keys that run them: `{connect} connects` becomes
/// `c connects`. The keys belong to the screen, which provides the standard naming.
package struct CommandNaming: Sendable {
    private let name: @Sendable (String) -> String

    package init(_ name: @escaping @Sendable (String) -> String) { self.name = name }

    package func callAsFunction(_ text: String) -> String { name(text) }
}
