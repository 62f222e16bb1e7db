"""Stands in for `sglang/launch_server.py`: answers like the actual server, and at once.

What it says in each case are facts about SGLang 0.5.9 to 0.5.23 on a CPU. FAKE names the case.
"""

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CASE = os.environ.get("FAKE", "good")
VOCABULARY = 512
KNOWN = {"capital": "Paris.", "2+2": "It is 4.", "prime": "2, 3, 5, 7, 11, 13", "1, 2, 3": " 5, 6"}
CUT = threading.Event()
ARGS = {"attention_backend": "torch_native", "moe_runner_backend": "auto", "random_seed": 77}


def flag(name, default=None):
    words = sys.argv[1:]
    return words[words.index(name) + 1] if name in words else default


def say(text):
    print(f"[2026-11-29 12:00:00] {text}", flush=True)


def reply_to(text):
    if CASE == "nan" or (CASE == "latenan" and "POISON" in text):
        return "!" * 24, None
    if CASE == "repeat":
        return "!" * 24, 0.0
    if CASE == "uniform":
        return "!" * 24, -math.log(VOCABULARY)
    found = next((answer for word, answer in KNOWN.items() if word in text), "All is well here.")
    return found, -0.25


def die(reason):
    say("Scheduler hit an exception: Traceback (most recent call last):")
    print('  File "/x/sglang/srt/managers/scheduler.py", line 10, in forward', flush=True)
    print("    boom()", flush=True)
    print(reason, flush=True)
    print(flush=True)
    say("Received sigquit from a child process. It usually means the child failed.")
    os.kill(os.getpid(), signal.SIGKILL)


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *words):
        pass

    def send(self, status, value=None):
        data = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path == "/health":
            self.send(503 if CASE == "unwell" else 200)
        elif self.path == "/server_info":
            state = {"attention_backend": ARGS["attention_backend"]}
            self.send(200, {**ARGS, "version": "0.5.90", "internal_states": [state]})
        else:
            self.send(404)

    def spoilt(self, text):
        """Ends the connection without an answer, or sends one that never ends."""
        if CASE in ("cut", "cut-once") and "POISON" in text and not CUT.is_set():
            if CASE == "cut-once":
                CUT.set()
            self.close_connection = True
            return True
        if CASE == "last-word" and "POISON" in text:
            self.send(500)
            die("RuntimeError: shapes do not fit")
        if CASE == "trickle" and "POISON" in text:
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                while True:
                    self.wfile.write(b" ")
                    time.sleep(0.05)
            return True
        return False

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        sampling = body.get("sampling_params", body)
        if CASE == "keyed" and self.headers.get("Authorization") != "Bearer s3cret":
            self.send(401, {"error": "Unauthorized"})
            return
        if CASE == "crowd" and sampling.get("ignore_eos") and not body.get("stream"):
            die("RuntimeError: too many at once")
        if self.spoilt(body.get("text") or ""):
            return
        if CASE == "nan" and sampling.get("temperature"):
            die("RuntimeError: probability tensor contains either `inf`, `nan` or element < 0")
        if CASE == "stuck" or (CASE == "crawl" and sampling.get("ignore_eos")):
            time.sleep(60)
        text = body.get("text") or body.get("prompt") or body["messages"][0]["content"]
        if CASE == "fragile" and "POISON" in text:
            die("RuntimeError: shapes do not fit")
        if body.get("stream"):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'data: {"text": "a"}\n\ndata: [DONE]\n\n')
            return
        said, logprob = reply_to(text)
        if CASE == "unwritable" and "POISON" in text:
            say("INFO:     Exception in ASGI application")
            print("Traceback (most recent call last):", flush=True)
            print('  File "/x/starlette/responses.py", line 5, in render', flush=True)
            print("    return json.dumps(content)", flush=True)
            print("ValueError: Out of range float values are not JSON compliant", flush=True)
            self.send(500)
            return
        other = logprob if CASE == "uniform" or logprob is None else -9.0
        if self.path == "/generate":
            meta = {"finish_reason": {"type": "stop", "matched": 2}, "completion_tokens": 24}
            if body.get("return_logprob"):
                meta["output_token_logprobs"] = [[logprob, 0, None]] * 4
                meta["output_top_logprobs"] = [[[logprob, 0, None], [other, 1, None]]] * 4
                meta["input_token_logprobs"] = [[None, 1, None], [logprob, 2, None]]
            ids = [0] * 24 if set(said) == {"!"} else list(range(24))
            self.send(200, {"text": said, "output_ids": ids, "meta_info": meta})
            return
        token = {"logprob": logprob, "top_logprobs": [{"logprob": logprob}, {"logprob": other}]}
        probabilities = {"content": [token] * 4} if body.get("logprobs") else None
        choice = {"finish_reason": "stop", "matched_stop": 2, "logprobs": probabilities}
        choice |= {"text": said, "message": {"content": said}}
        self.send(200, {"choices": [choice], "usage": {"completion_tokens": 24}})


def main():
    if CASE == "refused":
        print("usage: sglang serve [-h]")
        print("sglang serve: error: unrecognized arguments: --no-such-flag", flush=True)
        sys.exit(2)
    if CASE == "backend":
        ARGS["attention_backend"] = flag("--attention-backend", "torch_native")
        if ARGS["attention_backend"] == "intel_amx":
            say("The current platform does not support Intel AMX, will fallback to torch_native.")
            ARGS["attention_backend"] = "torch_native"
    if CASE == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # A child in a session of its own, as a server may leave one behind.
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    if CASE == "early":
        time.sleep(600)
    say(f"server_args={ARGS!r}")
    if CASE == "endless":
        # A progress bar without an end, and one line of a hundred megabytes.
        for _ in range(100):
            print("only requires not support " * 40_000, end="", flush=True)
        print("\r50%" * 50_000, end="", flush=True)
        print(flush=True)
    if CASE == "missing":
        die("ModuleNotFoundError: No module named 'flashinfer'")
    if CASE == "frozen":
        os.kill(os.getpid(), signal.SIGSTOP)
    if CASE == "silent":
        time.sleep(600)
    if CASE == "portless":
        say("ERROR:    [Errno 98] error while attempting to bind: address already in use")
        while True:
            sum(range(1000))
    host, port = flag("--host"), int(flag("--port"))
    server = ThreadingHTTPServer((host, port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say(f"INFO:     Uvicorn running on http://{host}:{port} (Press CTRL+C to quit)")
    say("KV Cache is allocated. dtype: torch.bfloat16, #tokens: 8192")
    say("The server is fired up and ready to roll!")
    if CASE == "deaf":
        while True:
            time.sleep(1)
    signal.sigwait([signal.SIGTERM])
    sys.exit(0)


if __name__ == "__main__":
    if CASE not in ("deaf", "silent", "frozen", "portless", "early"):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    main()
