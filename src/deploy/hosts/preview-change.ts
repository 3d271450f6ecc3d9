/** Says what each stage of a change of a host would do now. Reads only. */

import { withCloudFinding } from './cloud-finding.ts'
import { findNode, type HostChange } from './host-change.ts'

export interface PreviewedStep {
  readonly stage: string
  /** What it would do, or why it does nothing. */
  readonly what: string
}

/** What each stage would do now. Reads only. */
export async function previewChange(options: HostChange, stop: AbortSignal): Promise<readonly PreviewedStep[]> {
  const { action, api, host, namespace, drain, isOff, cloud } = options
  return withCloudFinding(cloud, async () => {
    const service = await api.findService()
    const instances = service ? await api.listInstances(service) : []
    const names = instances.map(({ name, status }) => `${name} (${status})`).join(', ')
    if (action === 'enable')
      return [
        {
          stage: 'enable',
          what: `let Nova schedule instances on ${host}: now ${service?.status ?? 'without a service'}`,
        },
      ]
    const leave = [
      {
        stage: 'disable',
        what: service
          ? `disable the compute service of ${service.host}: now ${service.status}`
          : 'nothing: no compute service',
      },
      {
        stage: 'drain',
        what:
          instances.length === 0
            ? 'nothing: no instances'
            : drain
              ? `migrate ${instances.length}: ${names}`
              : `stop here, because of ${instances.length} instances: ${names}`,
      },
    ]
    if (action === 'drain') return leave
    const node = await findNode(options, stop)
    const agents = await api.listAgents()
    const providers = await api.listProviders()
    const nodeSet = node?.nodeSet.metadata.name
    return [
      ...leave,
      {
        stage: 'stop',
        what: isOff
          ? 'nothing: the host is off'
          : nodeSet === undefined
            ? 'nothing: it is in no node set'
            : `stop and disable the edpm_* units of ${host} by Ansible (deployment stop-${host})`,
      },
      {
        stage: 'agents',
        what: agents.map(({ agent_type: type }) => `delete ${type}`).join(', ') || 'nothing: no agents',
      },
      {
        stage: 'compute',
        what:
          [
            ...(service ? ['delete the compute service'] : []),
            ...providers.map(({ uuid }) => `delete resource provider ${uuid}`),
          ].join(', ') || 'nothing: Nova does not know it',
      },
      {
        stage: 'node-set',
        what: nodeSet === undefined ? 'nothing: it is in no node set' : `take ${host} from node set ${nodeSet}`,
      },
      { stage: 'addresses', what: `delete IPSet ${namespace}/${host} with its Reservation` },
      { stage: 'names', what: 'take its names from what `up` made for DNS' },
      { stage: 'known-hosts', what: 'renew the known hosts of the other hosts, where they have them' },
      { stage: 'tidy', what: 'delete the deployments of this removal' },
      { stage: 'proof', what: 'prove that nothing is left' },
    ]
  })
}
