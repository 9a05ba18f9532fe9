import InspectorCore
import SocketCore

extension Model {
    /// The current layout of the screen.
    package var layout: ScreenLayout { layout(size, tab) }

    /// Returns the layout for a screen of this size.
    package func layout(_ size: Size, _ tab: Tab) -> ScreenLayout {
        var needs = LayoutNeeds()
        needs.hasSelection = selected != nil
        let others = list.hosts == nil ? list.programs?.rows.count : shared.hosts.count
        needs.listRows = max(2, (list.found?.matches.count ?? others ?? list.rows.count) + 1)
        needs.isZoomed = isZoomed
        needs.hasTraffic = !shared.showsHost || tab == .traffic
        if shared.findings.count > 0 {
            let width = ScreenLayout.listWidth(size, tab, isZoomed: isZoomed)
            needs.warningRows = 1 + warnings.height(shared, width: width)
        }
        return ScreenLayout(size, tab, needs)
    }

    /// Gives the pane the whole screen, or takes it back. Refuses if the pane has it anyway.
    mutating func toggleZoom() {
        var other = self
        other.isZoomed.toggle()
        guard isZoomed || other.layout != layout else {
            notice = hint("this pane already fills the screen")
            return
        }
        isZoomed.toggle()
    }

    /// Whether nothing useful fits on the screen.
    var isTooSmall: Bool { ScreenLayout.isTooSmall(size) }

    /// Measures the warnings, which affect the layout. Called when they may have changed.
    mutating func measureWarnings() {
        let width = ScreenLayout.listWidth(size, tab, isZoomed: isZoomed)
        warnings.measure(shared, selected: list.selected, width: width)
    }
}
