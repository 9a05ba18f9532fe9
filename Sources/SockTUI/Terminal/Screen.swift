import InspectorCore

/// What the run loop shows pictures on and gets input from: a terminal, or a script.
protocol Screen: AnyObject {
    /// Columns and rows.
    var size: Size { get }
    /// What to poll for input; nil: nothing.
    var descriptor: Int32? { get }

    /// All input that is there, without waiting.
    func input() -> [Message]
    /// Shows a picture.
    func show(_ canvas: Canvas)
    /// Forgets what was shown, so that the next picture is painted whole.
    func repaint()
    /// Gives the terminal back, stops the process as ^Z does, and takes the terminal again when it goes on.
    func suspend()
    /// Puts bytes on the terminal's clipboard; false where it has none, or they are too many for it.
    func copy(_ bytes: [UInt8]) -> Bool
    /// Gives the terminal back, runs a program in it until it ends, and takes it again; its exit status, or 128 and
    /// the signal that ended it. nil: there is no terminal.
    func run(_ arguments: [String]) -> Int32?
    /// Reports the mouse, or not.
    func hearMouse(_ isOn: Bool)
    /// Rings the bell.
    func bell()
    /// Takes the terminal again after somebody else stopped and continued the process.
    func resume()
}
