import InspectorCore

/// Where the run loop draws canvases and reads input: a terminal, or a script.
package protocol Screen: AnyObject {
    /// Columns and rows.
    var size: Size { get }
    /// The descriptor to poll for input, or `nil` if there is none.
    var descriptor: Int32? { get }

    /// Returns all pending input, without waiting.
    func input() -> [Message]
    /// Draws a canvas.
    func show(_ canvas: Canvas)
    /// Forgets what was drawn, so that the next canvas is drawn in full.
    func repaint()
    /// Releases the terminal, stops the process as ^Z does, and takes the terminal back when the process continues.
    func suspend()
    /// Copies bytes to the terminal's clipboard. Returns `false` if it has none or they exceed its limit.
    func copy(_ bytes: [UInt8]) -> Bool
    /// Releases the terminal, runs a program in it until it ends, and takes the terminal back. Returns the program's
    /// exit status, or 128 plus the signal that ended it, or `nil` if there is no terminal.
    func run(_ arguments: [String]) -> Int32?
    /// Turns mouse reporting on or off.
    func hearMouse(_ isOn: Bool)
    /// Rings the bell.
    func bell()
    /// Takes the terminal back after another process stopped and continued this one.
    func resume()
}
