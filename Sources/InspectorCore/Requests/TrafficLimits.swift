/// The limits of kept traffic, in bytes.
package struct TrafficLimits: Equatable, Sendable {
    /// The limit of one connection.
    package var each: Int
    /// The limit of all connections together.
    package var all: Int

    /// Creates the limits, by default those of a configuration that sets none.
    package init(each: Int = 4 << 20, all: Int = 64 << 20) { (self.each, self.all) = (each, all) }
}
