"""Serve a GGUF file over the OpenAI API on a free port of this machine: `python serve_llm.py FILE`; prints the URL."""

import sys
import threading

import xllamacpp

CONTEXT_TOKENS = 4096


def main(path: str) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.use_jinja = True
    # More would spin at every step for the cores that the other tests run on.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1])
