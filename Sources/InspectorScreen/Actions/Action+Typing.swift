import InspectorCore
import SocketCore

extension Action {
    /// Typed lines: on the start screen, in a field and in the composer.
    static let prompts: [Action] = [
        Action(
            "accept", nil, .key([.enter], in: [.start], "open", hint: "open", .effects { $0.openTyped() }).required,
            .key(
                [.enter], in: [.field], "accept the input", hint: { $0.field.open?.verb },
                .effects { $0.acceptField() }
            ).required,
            .key([.enter], in: [.form], "OK", hint: { $0.dialogs.verb }, .effects { $0.submitForm() }).required,
            .key([.enter], in: [.menu], "OK", hint: "choose", .effects { $0.chooseSelected() }).required,
            .key([.enter], in: [.help], "run the entry", hint: "run", .effects { $0.runHelpEntry() })),
        Action(
            "complete", nil,
            .key(
                [.tab], in: [.start], "complete from the lists below", hint: "complete", .change { $0.start.complete() }
            ),
            .key([.tab], in: [.field], "complete a command", .change { $0.completeCommand() })),
        Action(
            "send", .effects { $0.sendLine() },
            takes: .arguments("TEXT", "send exactly these bytes; \\r \\n \\x00 are escapes", Instruction.bytes) {
                $0.write($1)
            },
            .key(
                [.enter], in: [.composer], "send the line with its line ending",
                hint: \.sendingHint)),
        Action(
            "leave", .change { $0.isComposing = false },
            .key(
                [.escape], in: [.composer], "leave the line, keeping the draft; letters are commands again",
                hint: { $0.composer.search == nil ? "commands" : "as before" }
            ).required),
        Action(
            "insert-line", .effects { $0.edit(.newLine) },
            .key([.altEnter], in: [.composer], "start another line without sending")),
        Action(
            "history-up", .effects { $0.edit(.older) },
            .key(
                [.up, .control("p")], in: [.start], "the row above; earlier lines", .change { $0.start.step(-1) }),
            .key(
                [.up, .control("p")], in: [.field], "the command above; earlier lines", .change { $0.stepPalette(-1) }),
            .key(
                [.up, .control("p")], in: [.composer], "earlier line that begins with the typed text", hint: "history",
                if: { !$0.composer.editor.history.isEmpty })),
        Action(
            "history-down", .effects { $0.edit(.newer) },
            .key(
                [.down, .control("n")], in: [.start], "the row below", hint: "choose", .change { $0.start.step(1) }),
            .key([.down, .control("n")], in: [.field], "the command below", .change { $0.stepPalette(1) }),
            .key([.down, .control("n")], in: [.composer], "later line")),
        Action(
            "history-search", .change { $0.editComposer { $0.searchHistory() } },
            .key([.control("r")], in: [.composer], "search earlier lines; again: the previous match")),
        Action(
            "half-close", .effects { $0.halfCloseOrDelete() },
            .key(
                [.control("d")], in: [.composer], "on an empty line: send FIN, keep reading", hint: "half-close",
                if: \.canHalfClose)),
    ]

    /// The ending and the form of the composer's lines.
    static let composer: [Action] = [
        Action(
            "line-ending", .change { $0.editComposer { $0.ending = $0.ending.next } },
            .key([.alt("e")], in: [.composer], "line ending: CRLF, LF, none")),
        Action(
            "input-mode", .effects { $0.stepInputMode() },
            .key([.alt("t")], in: [.composer], "text; escapes and macros; hex; a file")),
        Action(
            "template", .change { $0.openTemplates() },
            .key([.alt("o")], in: [.composer], "insert a template from your file")),
        Action(
            "chord", .change { $0.composers.awaitsChord = $0.canCompose },
            .key([.control("x")], in: [.composer], "^X^E: edit the line in $EDITOR")),
        Action(
            "pace", needs: .sending, .effects { $0.openPace() },
            .key([.alt("r")], in: [.composer] + KeyContext.connections, "repeat or dribble the line; again: stop")),
        Action(
            "destination", .change { $0.changeDirection() },
            .key([.alt("d")], in: [.composer], "set where datagrams go; in a relay, to client or server")),
    ]

    /// The names of the actions that edit a line. The help lists them separately.
    package static let edits = Set(editing.map(\.name))

    private static func edit(_ edit: LineEditor.Edit, _ keys: [Key], _ help: String, inForm: String? = nil) -> Action {
        Action(
            edit.rawValue, .effects { $0.edit(edit) }, .key(keys, in: [.start, .composer, .field], help),
            .key(keys, in: [.form], inForm ?? help))
    }

    /// In the composer, Alt with an arrow goes through the history.
    private static func editWord(_ edit: LineEditor.Edit, _ key: Key, _ arrow: Key, _ help: String) -> Action {
        Action(
            edit.rawValue, .effects { $0.edit(edit) }, .key([key], in: [.composer], help),
            .key([key, arrow], in: [.start, .field, .form], help))
    }

    /// Editing a line, with the keys of readline.
    static let editing: [Action] = [
        edit(.left, [.left, .control("b")], "one character back", inForm: "one character back; previous choice"),
        edit(.right, [.right, .control("f")], "one character forward", inForm: "one character forward; next choice"),
        edit(.lineStart, [.home, .control("a")], "to the beginning of the line"),
        edit(.lineEnd, [.end, .control("e")], "to the end of the line"),
        editWord(.wordLeft, .alt("b"), .altLeft, "one word back"),
        editWord(.wordRight, .alt("f"), .altRight, "one word forward"),
        edit(.backspace, [.backspace, .control("h")], "delete the character before the cursor"),
        edit(.delete, [.delete], "delete the character at the cursor"),
        edit(.cutToEnd, [.control("k")], "cut to the end of the line"),
        edit(.cutToStart, [.control("u")], "cut to the beginning of the line"),
        edit(.cutWord, [.control("w")], "cut the word before the cursor"),
        edit(.putBack, [.control("y")], "paste the cut text"),
    ]

    /// Dialogs, and leaving a prompt.
    static let dialogs: [Action] = [
        Action(
            "next-field", .change { $0.dialogs.stepField(1) },
            .key([.tab, .down], in: [.form], "next field", hint: "next field", if: \.dialogs.hasOtherFields)),
        Action(
            "previous-field", .change { $0.dialogs.stepField(-1) },
            .key([.backTab, .up], in: [.form], "previous field")),
        Action(
            "cancel", .change { $0.dialogs.open = nil },
            .key([.escape], in: [.field], "cancel", hint: "cancel", .change { $0.cancelField() }).required,
            .key([.escape], in: [.form], "cancel", hint: "cancel").required,
            .key([.escape, "q"], in: [.menu], "cancel", hint: "cancel").required,
            .key([.escape, "q", "?", .function(1)], in: [.help], "close", hint: "close", .change { $0.help = nil })
                .required),
        Action(
            "toggle",
            .pressed {
                $0.dialogs.toggleField($1)
                return []
            },
            .key(
                [" "], in: [.form], "choose, in a field with choices", hint: "choose", if: { $0.dialogs.isOnChoice })),
    ]
}
