/// A sent line with its mode and ending.
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
