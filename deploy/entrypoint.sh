#!/bin/sh
# PGPASSWORD_FILE=/run/secrets/... and the like: the secret is then in no image, no compose file and no `docker inspect`.
set -eu
for name in PGPASSWORD CITEWELL_LLM_API_KEY CITEWELL_EMBEDDER_API_KEY CITEWELL_RERANKER_API_KEY; do
    eval "file=\${${name}_FILE:-}"
    if [ -n "$file" ]; then
        secret=$(cat "$file")
        export "$name=$secret"
    fi
done
exec citewell "$@"
