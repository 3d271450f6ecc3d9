/** SL9500: errors of the doctor itself. SL9615 to SL9629: problems of the cluster itself. */
import { problem } from '../../errors/finding.ts'
import { declareLostCommand } from '../../errors/lost-node.ts'
import { quoteShellWord } from '../../errors/shell-words.ts'

export const stuckFinalizer = problem<{
  finalizer: string
  owner: string
  alive: 'gone' | 'there' | 'unknown'
  since: string
  strip: string
}>({
  code: 'SL9615',
  severity: 'error',
  message: ({ finalizer, owner, alive, since }) =>
    `it is being deleted since ${since} and waits for ${owner} to remove ${finalizer}${alive === 'gone' ? ', but no such operator runs' : ''}`,
  remedy: ({ alive, owner, strip }) =>
    alive === 'gone'
      ? `restore ${owner} so that it can clean up; only if it was removed permanently: \`${strip}\``
      : `check the log of ${owner} for the reason; removing the finalizer skips its cleanup`,
})

export const namespaceTerminating = problem<{ reason: string; namespace: string }>({
  code: 'SL9616',
  severity: 'error',
  message: ({ reason }) => `its deletion does not finish: ${reason}`,
  remedy: ({ namespace }) =>
    `use \`stackloom down --cloud NAME\`, which deletes in the correct order; list the remaining objects: \`kubectl -n ${namespace} get all,openstackcontrolplanes,netconfigs,ipsets\``,
})

export const groupUnavailable = problem<{ group: string; reason: string }>({
  code: 'SL9617',
  severity: 'error',
  message: ({ group, reason }) => `${group} is not available: ${reason}`,
  remedy: ({ group }) =>
    `\`kubectl describe apiservice ${group}\`; if its server was removed permanently: \`kubectl delete apiservice ${group}\``,
})

export const nodeNotReady = problem<{ node: string; reason: string; held: readonly string[] }>({
  code: 'SL9618',
  severity: 'error',
  message: ({ reason, held }) =>
    `it is not ready: ${reason}${held.length === 0 ? '' : `; pods that cannot be replaced until it answers: ${formatHeld(held)}`}`,
  remedy: ({ node, held }) =>
    `\`kubectl describe node ${quoteShellWord(node)}\`; if a network change disconnected it, nmstate rolls the change back within minutes` +
    (held.length === 0 ? '' : `; if it is switched off for good: \`${declareLostCommand(node)}\``),
})

const SHOWN = 3

function formatHeld(pods: readonly string[]): string {
  const more = pods.length - SHOWN
  return `${pods.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

export const agentMissing = problem<{ agent: string; ready: number; wanted: number; namespace: string }>({
  code: 'SL9619',
  severity: 'error',
  message: ({ ready, wanted }) => `${ready} of ${wanted} pods are available: the agent is missing on the other nodes`,
  remedy: ({ agent, namespace }) =>
    `\`kubectl -n ${namespace} get pods -o wide\`; \`kubectl -n ${namespace} describe daemonset ${agent}\``,
})

export const podCannotRun = problem<{ cause: string; next: string }>({
  code: 'SL9620',
  severity: 'error',
  message: ({ cause }) => cause,
  remedy: ({ next }) => `\`${next}\``,
})

export const podUnschedulable = problem<{ reason: string; pod: string }>({
  code: 'SL9621',
  severity: 'error',
  message: ({ reason }) => `no node fits: ${reason}`,
  remedy: ({ pod }) =>
    `\`kubectl -n ${pod.split('/')[0]} describe pod ${pod.split('/')[1]}\`; free resources, add a node, or relax its nodeSelector`,
})

export const claimPending = problem<{ cause: string; next: string }>({
  code: 'SL9622',
  severity: 'error',
  message: ({ cause }) => cause,
  remedy: ({ next }) => `\`${next}\``,
})

export const noDefaultClass = problem<{ claim: string; classes: readonly string[] }>({
  code: 'SL9623',
  severity: 'error',
  message: () => 'it has no storage class, and none is the default: no volume is provisioned',
  remedy: ({ classes }) =>
    classes.length === 0
      ? 'install a storage class, or create a volume manually'
      : `set one in the control plane (storageClass: ${classes[0]}), or make it the default: \`kubectl annotate storageclass ${classes[0]} storageclass.kubernetes.io/is-default-class=true\``,
})

export const ruleFailed = problem<{ rule: string; reason: string }>({
  code: 'SL9500',
  severity: 'warning',
  message: ({ rule, reason }) => `the rule ${rule} failed: ${reason}`,
  remedy: () => 'report it together with the objects that the rule reads; all other rules were evaluated',
})
