import SocketCore

/// Draws the whole screen.
package func draw(_ model: Model, _ size: Size) -> Canvas {
    Canvas(size)
}
