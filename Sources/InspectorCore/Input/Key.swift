/// One key press, as the terminal told it.
package enum Key: Hashable, Sendable {
    case character(Character)
    /// Control and a lower-case letter or one of `@[\]^_`.
    case control(Character)
    /// Alt (or Esc just before) and a character.
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
