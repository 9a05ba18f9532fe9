/// A size in columns and rows.
package struct Size: Hashable, Sendable {
    package var width: Int
    package var height: Int

    package init(_ width: Int, _ height: Int) {
        self.width = width
        self.height = height
    }
}

/// A part of the screen. A negative width or height counts as 0, so that arithmetic on small terminals is harmless.
package struct Rect: Equatable, Sendable {
    package var x: Int
    package var y: Int
    package var width: Int
    package var height: Int

    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = max(0, width)
        self.height = max(0, height)
    }
}
