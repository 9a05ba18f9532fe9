/// One key press, as reported by the terminal.
package enum Key: Hashable, Sendable {
    case character(Character)
    /// Control with a lower-case letter or one of `@[\]^_`.
    case control(Character)
    /// Alt (or a preceding Esc) with a character.
    case alt(Character)
    case altEnter
    case enter, tab, backTab, escape, backspace, delete, insert
    /// An arrow with Shift.
    case shiftLeft, shiftRight
    /// An arrow with Alt.
    case altLeft, altRight
    case up, down, left, right, home, end, pageUp, pageDown
    case function(Int)
}
