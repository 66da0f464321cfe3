import hashlib
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from studies.data.fetch import cache_folder, fetch_file

CONTENT = b"a small file"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server():
    """A server of one file that counts requests."""

    class Handler(BaseHTTPRequestHandler):
        n_requests = 0

        def do_GET(self):
            type(self).n_requests += 1
            if self.path != "/file":
                self.send_error(404)
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.write(CONTENT)

        def log_message(self, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        served.url = f"http://127.0.0.1:{served.server_port}"
        served.handler = Handler
        yield served
        served.shutdown()
        thread.join()


def test_a_file_is_fetched_once(server, tmp_path):
    path = fetch_file(f"{server.url}/file", SHA256, "kept", tmp_path / "new")
    assert path.read_bytes() == CONTENT
    assert fetch_file(f"{server.url}/file", SHA256, "kept", tmp_path / "new") == path
    assert server.handler.n_requests == 1
    path.write_bytes(b"half a fi")
    assert fetch_file(f"{server.url}/file", SHA256, "kept", tmp_path / "new").read_bytes() == CONTENT


def test_a_wrong_file_is_not_kept(server, tmp_path):
    with pytest.raises(OSError, match=rf"gave 12 bytes with sha256 {SHA256}, and 0000 is expected.*Nothing was kept"):
        fetch_file(f"{server.url}/file", "0000", "kept", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_server_names_the_file(server, tmp_path):
    with pytest.raises(OSError, match=r"other cannot be fetched \(HTTP Error 404.*give its path"):
        fetch_file(f"{server.url}/other", SHA256, "kept", tmp_path)


def test_where_files_are_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("OLEANDER_DATA", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("OLEANDER_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "oleander"
