#!/usr/bin/env bash
# Builds and starts the product, walks the journey and runs quick tests on the other releases of Node that `engines` names. Their
# programs come from the package `node` of npm. Server and journey may print nothing on stderr: a warning is a fault. A copy of the
# checkout has a dist/ of its own, so that other checks can run beside this one.
set -euo pipefail
cd "$(dirname "$0")/.."
releases=(22.23.3 24.21.0 26.10.0)
quick=(test/billing/wallet-rules.test.ts test/platform/ids.test.ts test/platform/keys/sealing.test.ts test/platform/batching/group-commit.test.ts
  test/platform/config/config.test.ts test/platform/jobs/scheduler.test.ts test/api/oauth/token-order.test.ts
  test/sdk/typescript.test.ts test/sdk/typescript-retries.test.ts test/sdk/typescript-webhooks.test.ts)
work=$(mktemp -d)
server=
trap 'kill "$server" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
free_port() { node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})'; }

mkdir "$work/copy"
git ls-files -z --cached --others --exclude-standard | tar --null --files-from - --ignore-failed-read -cf - | tar -xf - -C "$work/copy"
ln -s "$PWD/node_modules" "$work/copy"
# What is built already is built again only where a release needs it.
[[ ! -d dist ]] || cp -r dist "$work/copy"
cd "$work/copy"
installs=()
for release in "${releases[@]}"; do
  npm install --silent --no-save --prefix "$work/$release" "node@$release" &
  installs+=($!)
done
for install in "${installs[@]}"; do wait "$install"; done

for release in "${releases[@]}"; do
  home=$work/$release
  PATH=$home/node_modules/node/bin:$PATH
  hash -r
  [[ $(node -v) == "v$release" ]]
  node .config/build.mjs 2>/dev/null
  export SVC_DATA_DIR=$home/data SVC_PORT SVC_ADMIN_PORT SVC_DEMO_PORT
  SVC_PORT=$(free_port) SVC_ADMIN_PORT=$(free_port) SVC_DEMO_PORT=$(free_port)
  node dist/server/svc-gateway.js >"$home/out" 2>"$home/err" &
  server=$!
  for _ in $(seq 150); do node dist/server/svc-gateway.js check >/dev/null && break || sleep 0.2; done
  node dist/test/journey/main.js >"$home/journey" 2>>"$home/err" || { cat "$home/journey" "$home/err" >&2; exit 1; }
  kill -TERM "$server"
  wait "$server"
  if [[ -s $home/err ]]; then
    echo "Node $release printed on stderr:" >&2
    cat "$home/err" >&2
    exit 1
  fi
  unset SVC_DATA_DIR SVC_PORT SVC_ADMIN_PORT SVC_DEMO_PORT
  node node_modules/vitest/vitest.mjs run "${quick[@]}" >"$home/tests" 2>&1 || { cat "$home/tests" >&2; exit 1; }
  if grep -n 'Warning:' "$home/tests" >&2; then exit 1; fi
  echo "Node $release: built, started, journey and quick tests passed, no warning"
done
