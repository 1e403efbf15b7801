"""Serves MiniStack on a free port of 127.0.0.1 until its standard input closes, so that it never outlives its starter.

With USE_SSL=1 by TLS, with a certificate of its own in $TMPDIR/ministack-tls/server.crt.
"""

import os
import socket
import threading


def stop_with_starter():
    while os.read(0, 4096):
        pass
    os._exit(0)


threading.Thread(target=stop_with_starter, daemon=True).start()

# Bound before MiniStack is loaded: it must know its port, to tell it to the functions that it runs.
listener = socket.create_server(("127.0.0.1", 0))
os.environ["GATEWAY_PORT"] = str(listener.getsockname()[1])

from hypercorn.__main__ import main  # noqa: E402
from ministack.core.tls import resolve_tls_material, use_ssl_enabled  # noqa: E402

arguments = ["ministack.app:app", "--bind", f"fd://{listener.fileno()}", "--workers", "0"]
if use_ssl_enabled():
    certificate, key = resolve_tls_material()
    arguments += ["--certfile", certificate, "--keyfile", key]
main(arguments)
