"""A local page on which pairs are judged. Only this computer can reach it, and only with the token in the address.

What is judged, and where the marks go, is known to cascade.report.judging; this hands on pages and marks.
"""

from __future__ import annotations

from hmac import compare_digest
from socket import create_server
from typing import TYPE_CHECKING, Any

from cascade.errors import BackendUnavailable, CascadeError
from cascade.evaluate.difference import difference
from cascade.io.marks import LABELS
from cascade.report.judging import Judging
from cascade.report.page import MISSING, environment, page, sides
from cascade.report.run_page import id_shown

if TYPE_CHECKING:
    from flask import Flask
    from werkzeug.serving import BaseWSGIServer
    from werkzeug.wrappers import Response

HOST = "127.0.0.1"
AROUND, LONGEST = 300, 4000
"""Characters that are shown beside a change, and of a change, unless the whole texts are asked for."""
MOST_BYTES = 1 << 16
"""Of a request."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; img-src data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def check() -> None:
    """Raises BackendUnavailable if there can be no page."""
    environment()
    try:
        import flask  # noqa: F401
    except ImportError as error:
        raise BackendUnavailable(MISSING.format("flask")) from error


def review_server(judging: Judging, token: str, port: int = 0) -> BaseWSGIServer:
    """A server on 127.0.0.1, at a free port unless one is given: `serve_forever()` serves, `port` tells it.

    Raises BackendUnavailable without flask, OSError if the port is taken.
    """
    check()
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        """Logs nothing: addresses hold the token."""

        def log_request(self, *_: Any) -> None:
            pass

    app = review_app(judging, token)
    with create_server((HOST, port)) as listening:
        server = make_server(HOST, port, app, threaded=True, request_handler=Quiet, fd=listening.fileno())
    app.config["HOSTS"] = (f"{HOST}:{server.port}",)
    return server


def review_app(judging: Judging, token: str) -> Flask:
    """The pages. A request is refused unless its Host is one of app.config["HOSTS"] and its path begins with the token;
    one that changes something also if another page sent it."""
    check()
    from flask import Flask, abort, redirect, request

    app = Flask(__name__, static_folder=None, template_folder=None)
    app.config.update(HOSTS=(), MAX_CONTENT_LENGTH=MOST_BYTES)
    script = _script()
    home = f"/{token}/"

    @app.before_request
    def allowed() -> None:
        """Refuses what does not come from the page itself."""
        if request.host not in app.config["HOSTS"]:
            abort(403)
        given = request.path.split("/")[1]
        if not compare_digest(given.encode("utf-8", "replace"), token.encode()):
            abort(403)
        if request.method not in ("GET", "HEAD"):
            own = f"http://{request.host}"
            if request.headers.get("Origin", own) != own:
                abort(403)
            if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
                abort(403)

    @app.after_request
    def guarded(response: Response) -> Response:
        response.headers.update(HEADERS)
        return response

    @app.errorhandler(CascadeError)
    def told(error: CascadeError) -> tuple[str, int]:
        return page("problem.html", told=str(error), home=home), 500

    def to(number: int | None) -> Any:
        return redirect(f"{home}done" if number is None else f"{home}pairs/{number + 1}", 303)

    @app.get(f"{home}")
    def start() -> Any:
        return to(_next(judging.marked(), 0))

    @app.get(f"{home}review.js")
    def keys() -> Any:
        return app.response_class(script, mimetype="text/javascript")

    @app.get(f"{home}pairs/<int:position>")
    def show(position: int) -> Any:
        if not 1 <= position <= len(judging.items):
            abort(404)
        return _pair_page(judging, position - 1, home, whole="whole" in request.args)

    @app.post(f"{home}pairs/<int:position>")
    def judge(position: int) -> Any:
        label = request.form.get("label", "")
        if not 1 <= position <= len(judging.items) or label not in LABELS:
            abort(400)
        judging.mark(position - 1, label)
        return to(_next(judging.marked(), position))

    @app.post(f"{home}undo")
    def undo() -> Any:
        undone = judging.undo()
        return redirect(home, 303) if undone is None else to(undone)

    @app.get(f"{home}done")
    def done() -> Any:
        marked = judging.marked()
        counts = [(label, marked.count(label)) for label in LABELS]
        return page(
            "done.html", counts=counts, left=marked.count(None), labels=str(judging.labels), home=home, undo=any(marked)
        )

    return app


def _next(marked: list[str | None], begin: int) -> int | None:
    """The first item from `begin` on that is not marked, or else from the start on; None if all are."""
    order = [*range(begin, len(marked)), *range(min(begin, len(marked)))]
    return next((number for number in order if marked[number] is None), None)


def _pair_page(judging: Judging, number: int, home: str, whole: bool) -> str:
    item, marked = judging.items[number], judging.marked()
    found = difference(*item.texts)
    return page(
        "review.html",
        position=number + 1,
        total=len(marked),
        judged=len(marked) - marked.count(None),
        name=judging.name,
        names=(id_shown(item.a), id_shown(item.b)),
        sides=sides(found.parts if whole else found.shown(AROUND, LONGEST)),
        whole=whole,
        note=item.note,
        label=marked[number],
        undo=any(marked),
        notes=judging.notes,
        home=home,
    )


def _script() -> str:
    loader = environment().loader
    assert loader is not None
    return loader.get_source(environment(), "review.js")[0]
