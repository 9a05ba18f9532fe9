/// A line that was sent, and how it was read.
package struct SentLine: Hashable, Sendable {
    package var text: String
    package var mode: Composer.Mode
    package var ending: LineEnding

    package init(text: String, mode: Composer.Mode, ending: LineEnding) {
        self.text = text
        self.mode = mode
        self.ending = ending
    }
}
