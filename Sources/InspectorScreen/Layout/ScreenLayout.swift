import InspectorCore

/// The position of every pane on a screen of a given size. Shared by `update`, which needs the number of visible rows,
/// and the views.
package struct ScreenLayout: Equatable, Sendable {
    /// The minimum size. Nothing useful fits below it.
    package static let least = Size(40, 10)
    /// The width from which the list, traffic and detail are shown together.
    package static let compositeWidth = 120
    package static let compositeHeight = 18
    package let size: Size
    /// Whether the list, traffic and detail are shown together.
    package let isComposite: Bool
    package let header: Rect
    package let tabs: Rect
    package let body: Rect
    package let status: Rect
    package let footer: Rect
    package let list: Rect
    /// The preview. Empty if the traffic itself is visible.
    package let preview: Rect
    /// The summary of warnings, below the list and the preview.
    package let warnings: Rect
    package let trafficPane: Rect
    package let detail: Rect
    /// The divider between list and traffic, if they are shown together.
    package let divider: Rect

    package init(_ size: Size, _ tab: Model.Tab, _ needs: LayoutNeeds) {
        self.size = size
        let whole = Rect(size)
        header = whole.top(1)
        tabs = whole.trimmed(top: 1).top(1)
        footer = whole.bottom(1)
        status = whole.trimmed(bottom: 1).bottom(1)
        body = whole.trimmed(top: 2, bottom: 2)
        let none = Rect(x: 0, y: 0, width: 0, height: 0)
        isComposite = Self.isComposite(size, tab, isZoomed: needs.isZoomed)
        if isComposite {
            let left = body.left(Self.listWidth(size, tab, isZoomed: false))
            preview = none
            detail = body.right(from: left.width + 1)
            guard needs.hasTraffic else {
                (divider, trafficPane) = (none, none)
                list = left.top(min(needs.listRows, left.height - min(needs.warningRows, left.height / 3)))
                warnings = left.trimmed(top: list.height).top(min(needs.warningRows, left.height - list.height))
                return
            }
            list = left.top(min(needs.listRows, needs.hasSelection ? max(2, left.height / 3) : left.height))
            warnings = left.trimmed(top: list.height).top(min(needs.warningRows, max(2, left.height / 5)))
            let rest = left.trimmed(top: list.height + warnings.height)
            (divider, trafficPane) = (rest.top(1), rest.trimmed(top: 1))
            return
        }
        divider = none
        trafficPane = tab == .traffic ? body : none
        detail = tab == .detail ? body : none
        guard tab == .list, !needs.isZoomed else {
            list = tab == .list ? body : none
            (preview, warnings) = (none, none)
            return
        }
        warnings = body.bottom(body.height >= 14 ? min(needs.warningRows, body.height / 4) : 0)
        let room = body.trimmed(bottom: warnings.height)
        let least = needs.hasSelection && room.height >= 9 ? Self.leastPreview : 0
        list = room.top(min(needs.hasSelection ? needs.listRows : room.height, room.height - least))
        preview = least == 0 ? none : room.trimmed(top: list.height)
    }

    /// A rule, READ, WRITE, BYTES and the last minute.
    private static let leastPreview = 5

    private static func isComposite(_ size: Size, _ tab: Model.Tab, isZoomed: Bool) -> Bool {
        switch tab {
        case .list, .traffic, .detail: size.width >= compositeWidth && size.height >= compositeHeight && !isZoomed
        case .start, .events, .output: false
        }
    }

    /// Returns the width of the list and of the warnings below it. 80 columns hold every list column that is always
    /// shown.
    static func listWidth(_ size: Size, _ tab: Model.Tab, isZoomed: Bool) -> Int {
        isComposite(size, tab, isZoomed: isZoomed) ? max(min(80, size.width - 41), size.width * 3 / 5) : size.width
    }

    package var isTooSmall: Bool { Self.isTooSmall(size) }

    static func isTooSmall(_ size: Size) -> Bool { size.width < least.width || size.height < least.height }

    /// The visible rows of connections, without the heading.
    package var listRows: Int { max(0, list.height - 1) }

    /// The visible rows of events, without the heading.
    package var eventRows: Int { max(0, body.height - 1) }

    /// The visible rows of output, without the heading.
    package var outputRows: Int { max(0, body.height - 1) }

    /// The rows of the traffic itself.
    package var traffic: Rect { trafficLayout.traffic }

    /// The parts of the traffic pane.
    package var trafficLayout: TrafficLayout { TrafficLayout(trafficPane, margin: isComposite ? 1 : 0) }
}

/// The positions of the traffic pane's parts.
package struct TrafficLayout: Equatable, Sendable {
    /// READ, WRITE and BYTES.
    package let queues: Rect
    package let rule: Rect
    package let traffic: Rect
    package let composer: Rect

    /// `margin` is the number of blank columns between the traffic and what is on its right. In a low pane the traffic
    /// keeps up to four rows. The others appear as space allows, in this order: the first queue and the line, the other
    /// queues, the rule, the next read, and the encoding of the line.
    package init(_ rect: Rect, margin: Int) {
        let others = min(8, max(3, rect.height - 4))
        queues = rect.top(min(3, others - 2))
        rule = rect.trimmed(top: queues.height).top(others > 5 ? 1 : 0)
        composer = rect.bottom(max(2, others - 4))
        traffic = rect.trimmed(top: queues.height + rule.height, bottom: composer.height).left(rect.width - margin)
    }
}
