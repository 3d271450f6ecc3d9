/**
 * Builds the command of a run's pod, which checks SSH host keys and reports new ones in its termination message.
 *
 * Pure. A pod has no file of the operator, so variables hold what ssh reads.
 */
import type { EnvVar } from '../../../api/pod.ts'
import { formatShellCommand } from '../../../errors/shell-words.ts'
import { buildSshFiles, type HostKeys, parseKnownHosts, SSH_ARGS } from '../host-keys.ts'
import type { RunInputs } from '../run-inputs.ts'

const FOLDER = '/tmp/stackloom-ssh'
const CONFIG = `${FOLDER}/config`
const KNOWN_HOSTS = `${FOLDER}/known_hosts`

/** Marks a key in the termination message. */
const MARK = 'host-key '
/** A termination message has 4096 bytes. The keys of further hosts are reported by a later run. */
const MAX_REPORTED = 30
/** Linux limits one variable to 128 KiB. */
const VARIABLE_LENGTH = 100_000

export interface PodCommand {
  readonly args: readonly string[]
  readonly env: readonly EnvVar[]
}

/** The command as it is where the hosts are unknown. */
export function checkHostKeys(
  command: readonly string[],
  { hosts, hostKeys = {} }: Pick<RunInputs, 'hosts' | 'hostKeys'>,
): PodCommand {
  if (!hosts?.size) return { args: command, env: [] }
  const { config, knownHosts } = buildSshFiles(hosts, hostKeys, KNOWN_HOSTS)
  const configEnv = splitVariable('STACKLOOM_SSH_CONFIG', config)
  const knownEnv = splitVariable('STACKLOOM_KNOWN_HOSTS', knownHosts)
  return {
    args: ['sh', '-c', buildScript(configEnv, knownEnv), ...command],
    env: [
      { name: 'ANSIBLE_HOST_KEY_CHECKING', value: 'True' },
      { name: 'ANSIBLE_SSH_ARGS', value: formatShellCommand([...SSH_ARGS, '-F', CONFIG]) },
      ...configEnv,
      ...knownEnv,
    ],
  }
}

function splitVariable(name: string, text: string): readonly { readonly name: string; readonly value: string }[] {
  const count = Math.ceil(text.length / VARIABLE_LENGTH)
  return Array.from({ length: count }, (_, index) => ({
    name: `${name}_${index}`,
    value: text.slice(index * VARIABLE_LENGTH, (index + 1) * VARIABLE_LENGTH),
  }))
}

/**
 * Runs its arguments. The shell is the first process of the pod, which gets the signal of a deletion: it passes it on, and waits
 * for the end. Keys that ssh added to the file are new.
 */
function buildScript(config: readonly EnvVar[], knownHosts: readonly EnvVar[]): string {
  const join = (variables: readonly EnvVar[]): string => variables.map(({ name }) => `$${name}`).join('')
  return `mkdir -p ${FOLDER}
printf %s "${join(config)}" >${CONFIG}
printf %s "${join(knownHosts)}" >${KNOWN_HOSTS}
known=$(wc -l <${KNOWN_HOSTS})
"$0" "$@" &
child=$!
trap 'kill -TERM "$child"' TERM
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
if [ "$code" = 0 ]; then
  tail -n "+$((known + 1))" ${KNOWN_HOSTS} | head -n ${MAX_REPORTED} |
    while read -r line; do echo "${MARK}$line"; done >>/dev/termination-log
fi
exit "$code"`
}

/** The keys by host that a message has, and its other lines. A line that was cut off at its beginning has no mark. */
export function parseReportedKeys(message: string): { readonly hostKeys?: HostKeys; readonly rest: string } {
  const lines = message.split('\n')
  const marked = lines.filter((line) => line.startsWith(MARK)).map((line) => line.slice(MARK.length))
  const rest = lines.filter((line) => !line.startsWith(MARK)).join('\n')
  return marked.length > 0 ? { hostKeys: parseKnownHosts(marked.join('\n')), rest } : { rest }
}
