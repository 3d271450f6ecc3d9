/** Records an Event of a node set when the verdict about its hosts changes. Reads only; Events are all that it writes. */
import { type KubeObject, objectKey } from '../../api/object.ts'
import { deploymentKind, nodeSetKind, readDeployment, serviceKind, versionKind } from '../../hosts/data-plane.ts'
import { explainState, foldHosts, formatHostNames } from '../../hosts/fold-hosts.ts'
import { type HostState, type HostsInput, judgeHosts, type Verdict } from '../../hosts/judge-hosts.ts'
import { selectJudgeable } from '../../hosts/judging-work.ts'
import type { Controller } from '../../kube/controller.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'

/** Verdicts that people act on; the others come and go during a deployment. */
const reasons: Partial<Record<Verdict, string>> = {
  failed: 'HostsFailed',
  behind: 'HostsBehind',
  never: 'HostsNotDeployed',
}

/** The Events about the hosts of one node set. */
function describeHosts(nodeSet: KubeObject, states: readonly HostState[]): readonly EventRecord[] {
  const total = states.length
  const isRunning = states.some(({ verdict }) => verdict === 'running')
  // What is being deployed is judged when it has ended.
  if (isRunning || total === 0) return []
  const events = foldHosts(states).flatMap((group): readonly EventRecord[] => {
    const reason = reasons[group.verdict]
    if (reason === undefined) return []
    const why = explainState(group)
    const note = `${group.hosts.length} of ${total} hosts: ${formatHostNames(group.hosts)}${why === '' ? '' : `: ${why}`}`
    return [{ regarding: nodeSet, type: 'Warning', reason, action: 'Judge', note }]
  })
  if (events.length > 0 || !states.every(({ verdict }) => verdict === 'current')) return events
  const note = `all ${total} hosts have what is declared`
  return [{ regarding: nodeSet, type: 'Normal', reason: 'HostsCurrent', action: 'Judge', note }]
}

/** A tenant could make the operator compare for minutes, in which it serves no other namespace. */
function notJudged(regarding: KubeObject): EventRecord {
  const note = 'too many hosts, services and deployments to compare in the operator: run `stackloom hosts`'
  return { regarding, type: 'Warning', reason: 'HostsNotJudged', action: 'Judge', note }
}

/** `input` has the objects of one namespace. */
export function createHostObserver(
  input: (namespace: string) => HostsInput,
  findNodeSet: (key: string) => KubeObject | undefined,
  record: (event: EventRecord) => void,
): Controller {
  const announced = new Map<string, string>()
  const nodeSetsOf = (namespace: string): readonly string[] =>
    input(namespace).nodeSets.map(({ metadata }) => objectKey(metadata))
  const inNamespace = ({ metadata }: KubeObject): readonly string[] => nodeSetsOf(metadata.namespace ?? '')
  return {
    name: 'host-observer',
    watches: [
      { kind: nodeSetKind },
      {
        kind: deploymentKind,
        map: (object) => readDeployment(object).nodeSets.map((name) => `${object.metadata.namespace ?? ''}/${name}`),
      },
      { kind: serviceKind, map: inNamespace },
      { kind: versionKind, map: inNamespace },
    ],
    reconcile: async (request) => {
      const key = objectKey(request)
      const nodeSet = findNodeSet(key)
      if (!nodeSet || nodeSet.metadata.deletionTimestamp !== undefined) {
        announced.delete(key)
        return undefined
      }
      const all = input(nodeSet.metadata.namespace ?? '')
      const { nodeSets, tooLarge } = selectJudgeable([nodeSet], all.deployments)
      const events =
        tooLarge.length > 0 ? [notJudged(nodeSet)] : describeHosts(nodeSet, judgeHosts({ ...all, nodeSets }))
      const text = events.map(({ reason, note }) => `${reason} ${note}`).join('\n')
      // A node set that is current from the start is no news.
      const isNews =
        text !== announced.get(key) &&
        !(announced.get(key) === undefined && events.every(({ type }) => type === 'Normal'))
      if (events.length > 0) announced.set(key, text)
      if (isNews) for (const event of events) record(event)
      return undefined
    },
  }
}
