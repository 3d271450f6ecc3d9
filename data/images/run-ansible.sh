#!/bin/sh
# The entry point of the sandbox's image for Ansible runs. Writes the variables of a run into the files that ansible-runner
# reads, as the entry point of upstream's image does, and starts the command of the run.
set -eu

# ssh needs a name for its user; a run may choose another than the image has.
if ! id -un >/dev/null 2>&1; then
  echo "runner-$(id -u):x:$(id -u):0:runner:/runner:/bin/sh" >>/etc/passwd
fi

document() { printf -- '---\n%s\n' "$2" >"$1"; }

if [ -n "${RUNNER_INVENTORY:-}" ]; then document /runner/inventory/inventory.yaml "$RUNNER_INVENTORY"; fi
if [ -n "${RUNNER_PLAYBOOK:-}" ]; then document /runner/project/playbook.yaml "$RUNNER_PLAYBOOK"; fi
if [ -n "${RUNNER_EXTRA_VARS:-}" ]; then document /runner/env/extravars "$RUNNER_EXTRA_VARS"; fi
if [ -n "${RUNNER_CMDLINE:-}" ]; then printf '%s\n' "$RUNNER_CMDLINE" >>/runner/env/cmdline; fi

exec "$@"
