"""How does a page look in a real browser? Chromium within Qt, headless: it loads a page, and takes a picture of it.

It reads from stdin what to do: {"file", "width", "height", "dark", "picture", "steps"}; a step is a script to run or a
key to press. It prints what each script gave, all that the console said, and all that was asked of anybody.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

SETTLE_MS = 150  # after the page has loaded, and after a key


class Look:
    """One look at one page."""

    def __init__(self, told: dict[str, Any]) -> None:
        core, widgets, self.test = (part(name) for name in ("QtWebEngineCore", "QtWebEngineWidgets", "QtTest"))
        self.qt, self.told = part("QtCore"), told
        self.found: dict[str, Any] = {"results": [], "console": [], "asked": []}
        self.app: Any = part("QtWidgets").QApplication(sys.argv[:1])
        self.profile: Any = core.QWebEngineProfile()
        self.asked_of = listener(core, self.found["asked"])
        self.profile.setUrlRequestInterceptor(self.asked_of)
        self.page: Any = page_of(core, self.found["console"])(self.profile)
        self.view: Any = widgets.QWebEngineView()
        self.view.setPage(self.page)
        self.view.resize(told["width"], told["height"])
        self.steps: Iterator[dict[str, str]] = iter(told["steps"])

    def run(self) -> None:
        self.page.loadFinished.connect(lambda _: self.later(self.step))
        self.view.load(self.qt.QUrl.fromLocalFile(self.told["file"]))
        self.view.show()
        self.app.exec()
        print(json.dumps(self.found))
        sys.stdout.flush()
        os._exit(0)  # Chromium's own threads may take long to end

    def later(self, what: Any) -> None:
        self.qt.QTimer.singleShot(SETTLE_MS, what)

    def step(self) -> None:
        step = next(self.steps, None)
        if step is None:
            picture = self.view.grab().toImage()
            self.found["corner"] = picture.pixelColor(3, picture.height() // 2).getRgb()[:3]
            self.found["saved"] = picture.save(self.told["picture"])
            self.app.quit()
        elif "key" in step:
            key = getattr(self.qt.Qt.Key, f"Key_{step['key']}")
            self.test.QTest.keyClick(self.view.focusProxy(), key)
            self.later(self.step)
        else:
            self.page.runJavaScript(f"JSON.stringify({step['script']})", 0, self.answered)

    def answered(self, said: Any) -> None:
        self.found["results"].append(json.loads(said) if said else None)
        self.later(self.step)


def part(name: str) -> Any:
    return importlib.import_module(f"PySide6.{name}")


def page_of(core: Any, console: list[str]) -> Any:
    """A page that keeps what its console says."""

    class Page(core.QWebEnginePage):  # type: ignore[misc]
        def javaScriptConsoleMessage(self, level: Any, message: str, line: int, source: str) -> None:  # noqa: N802
            console.append(f"{level.name}: {message} ({source}:{line})")

    return Page


def listener(core: Any, asked: list[str]) -> Any:
    """Keeps what is asked of anybody."""

    class Listener(core.QWebEngineUrlRequestInterceptor):  # type: ignore[misc]
        def interceptRequest(self, request: Any) -> None:  # noqa: N802
            asked.append(request.requestUrl().toString())

    return Listener()


if __name__ == "__main__":
    given = json.load(sys.stdin)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    dark = f"--blink-settings=preferredColorScheme={0 if given['dark'] else 1}"
    os.environ["QTWEBENGINE_CHROMIUM_FLAGS"] = f"--no-sandbox --disable-gpu {dark}"
    Look(given).run()
