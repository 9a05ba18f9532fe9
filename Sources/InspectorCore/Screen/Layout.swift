extension Rect {
    /// Creates a rectangle that covers a canvas.
    package init(_ size: Size) {
        self.init(x: 0, y: 0, width: size.width, height: size.height)
    }

    /// Returns the first `count` rows.
    package func top(_ count: Int) -> Rect {
        Rect(x: x, y: y, width: width, height: min(height, count))
    }

    /// Returns the last `count` rows.
    package func bottom(_ count: Int) -> Rect {
        let rows = min(height, max(0, count))
        return Rect(x: x, y: y + height - rows, width: width, height: rows)
    }

    /// Returns the rectangle without its first `top` and last `bottom` rows.
    package func trimmed(top: Int = 0, bottom: Int = 0) -> Rect {
        let above = min(height, max(0, top))
        return Rect(x: x, y: y + above, width: width, height: height - above - max(0, bottom))
    }

    /// Returns the left `count` columns.
    package func left(_ count: Int) -> Rect {
        Rect(x: x, y: y, width: min(width, count), height: height)
    }

    /// Returns the columns from `count` on.
    package func right(from count: Int) -> Rect {
        let skipped = min(width, max(0, count))
        return Rect(x: x + skipped, y: y, width: width - skipped, height: height)
    }

    /// Returns a rectangle of this size in the middle, no larger than this one.
    package func centered(width: Int, height: Int) -> Rect {
        let width = min(self.width, max(0, width))
        let height = min(self.height, max(0, height))
        return Rect(
            x: x + (self.width - width) / 2, y: y + (self.height - height) / 2, width: width, height: height)
    }
}
