"""Serves MiniStack on a free port of 127.0.0.1 until its standard input closes, so that it never outlives its starter."""

import os
import threading

from hypercorn.__main__ import main


def stop_with_starter():
    while os.read(0, 4096):
        pass
    os._exit(0)


threading.Thread(target=stop_with_starter, daemon=True).start()
main(["ministack.app:app", "--bind", "127.0.0.1:0", "--workers", "0"])
