/// Where everything stands on a screen of a size; shared by `update`, which has to know how much is in sight, and by
/// the views.
package struct ScreenLayout: Hashable, Sendable {
    /// Below this nothing useful fits.
    package static let least = Size(60, 16)
    /// From this width on list, talk and detail stand together.
    package static let compositeWidth = 120
    /// A rule and three rows below it.
    private static let warningRows = 4

    package let size: Size
    /// Whether list, talk and detail stand together.
    package let isComposite: Bool
    package let header: Rect
    package let tabs: Rect
    package let body: Rect
    package let status: Rect
    package let footer: Rect
    package let list: Rect
    /// Empty where the talk itself is in sight.
    package let preview: Rect
    /// The summary of warnings, below list and preview.
    package let warnings: Rect
    package let talk: Rect
    package let detail: Rect
    /// Between list and talk where they stand together.
    package let divider: Rect

    package init(_ size: Size, _ tab: Model.Tab) {
        self.size = size
        let whole = Rect(size)
        header = whole.top(1)
        tabs = whole.trimmed(top: 1).top(1)
        footer = whole.bottom(1)
        status = whole.trimmed(bottom: 1).bottom(1)
        body = whole.trimmed(top: 2, bottom: 2)
        let none = Rect(x: 0, y: 0, width: 0, height: 0)
        switch tab {
        case .list, .talk, .detail: isComposite = size.width >= Self.compositeWidth
        case .start, .events: isComposite = false
        }
        guard !isComposite else {
            let left = body.left(size.width * 3 / 5)
            let rows = max(6, body.height * 2 / 5)
            list = left.top(rows)
            preview = none
            warnings = left.trimmed(top: rows).top(Self.warningRows)
            divider = left.trimmed(top: rows + warnings.height).top(1)
            talk = left.trimmed(top: rows + warnings.height + 1)
            detail = body.right(from: left.width + 1)
            return
        }
        divider = none
        let previewRows = body.height >= 10 ? 5 : 0
        let warningRows = body.height >= 18 ? Self.warningRows : 0
        list = tab == .list ? body.trimmed(bottom: previewRows + warningRows) : none
        preview = tab == .list ? body.trimmed(bottom: warningRows).bottom(previewRows) : none
        warnings = tab == .list ? body.bottom(warningRows) : none
        talk = tab == .talk ? body : none
        detail = tab == .detail ? body : none
    }

    package var isTooSmall: Bool { size.width < Self.least.width || size.height < Self.least.height }

    /// Rows of connections in sight, the heading not counted.
    package var listRows: Int { max(0, list.height - 1) }

    /// Rows of events in sight, the heading not counted.
    package var eventRows: Int { max(0, body.height - 1) }

    /// The traffic's own rows.
    package var traffic: Rect { talkLayout.traffic }

    /// The parts of the talk.
    package var talkLayout: TalkLayout { TalkLayout(talk, margin: isComposite ? 1 : 0) }
}

/// Where the parts of the talk stand.
package struct TalkLayout: Hashable, Sendable {
    /// READ, WRITE and BYTES.
    package let queues: Rect
    package let rule: Rect
    package let traffic: Rect
    /// What is read next, the rule above the line, the line, and what it comes to.
    package let composer: Rect

    /// `margin`: columns left blank between the traffic and what stands on its right.
    package init(_ rect: Rect, margin: Int) {
        queues = rect.top(3)
        rule = rect.trimmed(top: 3).top(1)
        composer = rect.bottom(4)
        traffic = rect.trimmed(top: 4, bottom: 4).left(rect.width - margin)
    }
}
