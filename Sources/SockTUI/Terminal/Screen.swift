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
    /// Reports the mouse, or not.
    func hearMouse(_ isOn: Bool)
    /// Takes the terminal again after somebody else stopped and continued the process.
    func resume()
}
